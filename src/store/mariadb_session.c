/* SPDX-License-Identifier: MIT
 *
 * mariadb_session.c - who we are to the server, the server to us, and what a transaction sets for itself.
 */
#include <errno.h>
#include <inttypes.h>
#include <mysqld_error.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "store/mariadb.h"

#define START_SLACK_S \
    3 // the server's uptime is in whole seconds, and its clock is set now and then
#define GONE_POLL_NS 5000000
#define GONE_LOOKS 1000 // five seconds

/* read_facts reads the one row of the statement. */
static owed_status
read_facts(struct mariadb_db *conn, struct rows *rows, owed_error *err)
{
    if (!mariadb_next(rows))
        return OWED_OK;
    snprintf(conn->session, sizeof conn->session, "%" PRId64 "@%" PRId64,
        mariadb_column(rows, 0).integer, mariadb_column(rows, 3).integer);
    conn->max_packet = (uint64_t)mariadb_column(rows, 1).integer;
    struct str identity = mariadb_column(rows, 2).bytes;
    free(conn->identity);
    conn->identity = strndup(identity.p == NULL ? "" : identity.p, identity.len);
    return conn->identity == NULL ? fail_memory(err) : OWED_OK;
}

owed_status
mariadb_meet(struct mariadb_db *conn, owed_error *err)
{
    struct rows *rows;
    owed_status status = mariadb_run(&conn->base, STMT_SERVER, NULL, 0, &rows, err);
    if (status != OWED_OK)
        return status;
    status = read_facts(conn, rows, err);
    owed_status ended = mariadb_finish(rows, NULL, status == OWED_OK ? err : NULL);
    return status == OWED_OK ? ended : status;
}

static owed_status
set_limit(struct mariadb_db *conn, enum stmt stmt, int64_t us, owed_error *err)
{
    struct rows *rows;
    const struct value limit = {.type = VALUE_INT, .integer = us};
    owed_status status = mariadb_run(&conn->base, stmt, &limit, 1, &rows, err);
    return status == OWED_OK ? mariadb_finish(rows, NULL, err) : status;
}

owed_status
mariadb_limit(struct mariadb_db *conn, const struct db_options *options, owed_error *err)
{
    owed_status status = OWED_OK;
    int64_t busy_us = options->busy_timeout_us;
    if (busy_us != 0)
        status = set_limit(conn, STMT_LIMIT_LOCK_WAITS, busy_us < 0 ? 0 : busy_us, err);
    if (status == OWED_OK && options->statement_timeout_us > 0)
        status = set_limit(conn, STMT_LIMIT_STATEMENTS, options->statement_timeout_us, err);
    return status;
}

owed_status
mariadb_hurry(struct db *db, owed_error *err)
{
    struct mariadb_db *conn = mariadb_of(db);
    if (conn->hurried || !conn->begun)
        return OWED_OK;
    owed_status status;
    if (conn->unread > 0) {
        status = mariadb_send_statement(conn, STMT_HURRY, err);
    } else {
        status = mariadb_may_run(conn, STMT_HURRY, err);
        if (status == OWED_OK)
            status = mariadb_do(conn, STMT_HURRY, err);
    }
    conn->hurried = status == OWED_OK;
    return status;
}

void
mariadb_calm(struct mariadb_db *conn)
{
    if (conn->hurried && !conn->broken && mariadb_send_statement(conn, STMT_CALM, NULL) == OWED_OK)
        conn->hurried = false;
    if (conn->holds_back && !conn->broken &&
        mariadb_send_statement(conn, STMT_AUTOCOMMIT_ON, NULL) == OWED_OK)
        conn->holds_back = false;
}

owed_status
mariadb_now(struct db *db, int64_t *ret_now_us, owed_error *err)
{
    struct rows *rows;
    owed_status status = mariadb_run(db, STMT_CLOCK_NOW, NULL, 0, &rows, err);
    if (status != OWED_OK)
        return status;
    struct value now = {0};
    if (mariadb_next(rows))
        now = mariadb_column(rows, 0);
    status = mariadb_finish(rows, NULL, err);
    if (status == OWED_OK)
        *ret_now_us = now.integer;
    return status;
}

const char *
mariadb_session(struct db *db)
{
    return mariadb_of(db)->session;
}

const char *
mariadb_where(struct db *db)
{
    const char *identity = mariadb_of(db)->identity;
    return identity == NULL ? "" : identity;
}

const char *
mariadb_warning(struct db *db)
{
    if (mariadb_connection(mariadb_of(db)->handle))
        return NULL;
    return "the server is MySQL, not MariaDB: owed has statements for it, which are untested there";
}

/* read_session takes "41@1764439200" apart: the connection's number, and when its server started. */
static bool
read_session(const char *text, unsigned long *ret_id, int64_t *ret_started_s)
{
    char *end;
    errno = 0;
    *ret_id = strtoul(text, &end, 10);
    if (errno != 0 || end == text || *end != '@')
        return false;
    const char *rest = end + 1;
    *ret_started_s = strtoll(rest, &end, 10);
    return errno == 0 && end != rest && *end == '\0';
}

/* wait_until_gone: the server answers a KILL before the session has ended, and what that one was doing
 * may still commit. */
static owed_status
wait_until_gone(struct db *db, unsigned long id, owed_error *err)
{
    const struct value args[] = {{.type = VALUE_INT, .integer = (int64_t)id}};
    const struct timespec step = {.tv_nsec = GONE_POLL_NS};
    for (int looks = 0; looks < GONE_LOOKS; looks++) {
        struct rows *rows;
        owed_status status = mariadb_run(db, STMT_SESSION_THERE, args, 1, &rows, err);
        if (status != OWED_OK)
            return status;
        bool is_there = mariadb_next(rows) && mariadb_column(rows, 0).integer != 0;
        status = mariadb_finish(rows, NULL, err);
        if (status != OWED_OK || !is_there)
            return status;
        nanosleep(&step, NULL);
    }
    return fail(err, OWED_BUSY, "session %lu was ended %d s ago and is still there", id,
        GONE_LOOKS / (1000000000 / GONE_POLL_NS));
}

/* mariadb_end_session: numbers begin anew with the server, so that after its restart another may have
 * that one. */
owed_status
mariadb_end_session(struct db *db, const char *session, owed_error *err)
{
    struct mariadb_db *conn = mariadb_of(db);
    unsigned long id;
    unsigned long own_id;
    int64_t started_s;
    int64_t own_started_s;
    if (!read_session(session, &id, &started_s))
        return fail(err, OWED_INVALID, "'%.40s' names no session of a MariaDB server", session);
    if (!read_session(conn->session, &own_id, &own_started_s) ||
        llabs(started_s - own_started_s) > START_SLACK_S || id == own_id)
        return OWED_OK;
    mariadb_hear(conn);
    if (conn->broken)
        return fail(err, OWED_UNAVAILABLE, "the connection to %s was lost", conn->place);
    if (mysql_kill(conn->handle, id) == 0)
        return wait_until_gone(db, id, err);
    if (mysql_errno(conn->handle) == ER_NO_SUCH_THREAD)
        return OWED_OK;
    return mariadb_fail_last(conn, "end a session", err);
}
