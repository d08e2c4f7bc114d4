/* SPDX-License-Identifier: MIT
 *
 * postgres_connection.c - opening, adopting and closing PostgreSQL connections.
 *
 * Behind a pooler that hands out another
 * session for each transaction nothing may be left on a session: the process number that it invented
 * for us is not the one that the server answers with, and from then on nothing is prepared, set or
 * listened for.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "store/postgres.h"

extern const struct driver driver_postgres;

struct postgres_db *
postgres_of(struct db *db)
{
    return (struct postgres_db *)db;
}

/* --- a session --- */

static struct postgres_db *
new_connection(bool adopted)
{
    struct postgres_db *conn = calloc(1, sizeof *conn);
    if (conn == NULL)
        return NULL;
    conn->base = (struct db){.driver = &driver_postgres, .adopted = adopted};
    conn->is_unprepared = adopted;
    return conn;
}

static void
free_connection(struct postgres_db **conn)
{
    if (*conn != NULL)
        postgres_close(&(*conn)->base);
}

static owed_status
take_place(struct postgres_db *conn, owed_error *err)
{
    const PGconn *handle = conn->handle;
    if (asprintf(&conn->place, "%s on %s:%s", or_empty(PQdb(handle)), or_empty(PQhost(handle)),
            or_empty(PQport(handle))) >= 0)
        return OWED_OK;
    conn->place = NULL;
    return fail_memory(err);
}

static void
copy_text(struct value value, char *text, size_t size)
{
    snprintf(text, size, "%.*s", (int)value.bytes.len, or_empty(value.bytes.p));
}

/* know_session asks who serves us: if that is not who said hello, there is a pooler between. */
static owed_status
know_session(struct postgres_db *conn, owed_error *err)
{
    struct rows *rows;
    conn->is_unprepared = true;
    owed_status status = postgres_run(&conn->base, STMT_SESSION, NULL, 0, &rows, err);
    if (status != OWED_OK)
        return status;
    int64_t pid = postgres_next(rows) ? postgres_column(rows, 0).integer : 0;
    int64_t since_us = pid != 0 ? postgres_column(rows, 1).integer : 0;
    if (pid != 0)
        copy_text(postgres_column(rows, 2), conn->timeline, sizeof conn->timeline);
    conn->is_unprepared = conn->is_pooled = pid != PQbackendPID(conn->handle);
    if (!conn->is_pooled)
        snprintf(conn->session, sizeof conn->session, "%" PRId64 "/%" PRId64, pid, since_us);
    return postgres_finish(rows, NULL, err);
}

/* wait_for_locks sets how long a statement waits for a lock, where that was asked for. */
static owed_status
wait_for_locks(struct postgres_db *conn, owed_error *err)
{
    int64_t timeout_us = conn->options.busy_timeout_us;
    if (timeout_us == 0)
        return OWED_OK;
    int64_t ms = timeout_us / US_PER_MS;
    conn->lock_timeout_ms = (struct value){.type = VALUE_INT, .integer = ms < 1 ? 1 : ms};
    postgres_queue(conn, STMT_LOCK_TIMEOUT);
    return postgres_flush(conn, err);
}

static owed_status
set_up(struct postgres_db *conn, owed_error *err)
{
    owed_status status = take_place(conn, err);
    if (status == OWED_OK)
        status = know_session(conn, err);
    if (status != OWED_OK || conn->is_pooled)
        return status;
    status = postgres_script(&conn->base, driver_postgres.sql->session, err);
    if (status == OWED_OK)
        status = wait_for_locks(conn, err);
    conn->writes = false;
    return status;
}

static owed_status
keep_options(
    struct postgres_db *conn, const char *url, const struct db_options *options, owed_error *err)
{
    conn->options = *options;
    conn->url = strdup(url);
    conn->application = strdup(or_empty(options->application));
    conn->options.application = conn->application;
    return conn->url != NULL && conn->application != NULL ? OWED_OK : fail_memory(err);
}

owed_status
postgres_open(
    const char *url, const struct db_options *options, struct db **ret_db, owed_error *err)
{
    owed_status status = postgres_check_url(url, err);
    if (status != OWED_OK)
        return status;
    CLEANUP(free_connection) struct postgres_db *conn = new_connection(false);
    if (conn == NULL)
        return fail_memory(err);
    status = keep_options(conn, url, options, err);
    if (status == OWED_OK)
        status = postgres_connect(conn->url, &conn->options, &conn->handle, err);
    if (status == OWED_OK)
        status = set_up(conn, err);
    if (status == OWED_OK)
        *ret_db = &steal(&conn)->base;
    return status;
}

/* check_adopted refuses a connection on which nothing can be said now, or not in our letters. */
static owed_status
check_adopted(const struct postgres_db *conn, owed_error *err)
{
    if (postgres_is_lost(conn->handle))
        return fail(
            err, OWED_UNAVAILABLE, "the connection to %s that was given is lost", conn->place);
    if (PQpipelineStatus(conn->handle) != PQ_PIPELINE_OFF ||
        PQtransactionStatus(conn->handle) == PQTRANS_ACTIVE)
        return fail(err, OWED_INVALID,
            "the connection to %s that was given is in the middle of something: read all results "
            "and leave pipeline mode first",
            conn->place);
    if (PQtransactionStatus(conn->handle) == PQTRANS_INERROR)
        return fail(err, OWED_INVALID,
            "a statement of the transaction that is open on %s has failed: it can only be rolled back",
            conn->place);
    const char *encoding = or_empty(PQparameterStatus(conn->handle, "client_encoding"));
    if (strcmp(encoding, "UTF8") != 0)
        return fail(err, OWED_INVALID,
            "the connection to %s that was given has client_encoding %s: it has to be UTF8",
            conn->place, encoding);
    return OWED_OK;
}

owed_status
postgres_adopt(void *native, struct db **ret_db, owed_error *err)
{
    CLEANUP(free_connection) struct postgres_db *conn = new_connection(true);
    if (conn == NULL)
        return fail_memory(err);
    conn->handle = native;
    owed_status status = take_place(conn, err);
    if (status == OWED_OK)
        status = check_adopted(conn, err);
    if (status == OWED_OK)
        *ret_db = &steal(&conn)->base;
    return status;
}

void
postgres_close(struct db *db)
{
    if (db == NULL)
        return;
    struct postgres_db *conn = postgres_of(db);
    postgres_wake_close(conn);
    postgres_end_rows(conn);
    if (!db->adopted)
        PQfinish(conn->handle);
    free(conn->url);
    free(conn->place);
    free(conn->application);
    free(conn);
}

/* --- the server's clock and its sessions --- */

owed_status
postgres_now(struct db *db, int64_t *ret_now_us, owed_error *err)
{
    struct rows *rows;
    owed_status status = postgres_run(db, STMT_CLOCK_NOW, NULL, 0, &rows, err);
    if (status != OWED_OK)
        return status;
    if (postgres_next(rows))
        *ret_now_us = postgres_column(rows, 0).integer;
    return postgres_finish(rows, NULL, err);
}

/* postgres_where asks once for each connection: a name, where nothing else is the same to all. */
const char *
postgres_where(struct db *db)
{
    struct postgres_db *conn = postgres_of(db);
    struct rows *rows;
    if (conn->where[0] != '\0' || postgres_run(db, STMT_WHERE, NULL, 0, &rows, NULL) != OWED_OK)
        return conn->where;
    if (postgres_next(rows))
        copy_text(postgres_column(rows, 0), conn->where, sizeof conn->where);
    postgres_finish(rows, NULL, NULL);
    return conn->where;
}

const char *
postgres_warning(struct db *db)
{
    if (!postgres_of(db)->is_pooled)
        return NULL;
    return "the store is reached through a pooler that hands out another session for each "
           "transaction: nothing is prepared there, and nobody is told of a commit, so relays poll";
}

const char *
postgres_session(struct db *db)
{
    return postgres_of(db)->session;
}

bool
postgres_session_values(const char *session, struct value ret_args[static 2])
{
    ret_args[0].type = VALUE_INT;
    ret_args[1].type = VALUE_TIME;
    return sscanf(session, "%" SCNd64 "/%" SCNd64, &ret_args[0].integer, &ret_args[1].integer) == 2;
}

owed_status
postgres_end_session(struct db *db, const char *session, owed_error *err)
{
    if (is_empty(session))
        return OWED_OK;
    struct value args[2];
    if (!postgres_session_values(session, args))
        return fail(err, OWED_INVALID, "'%.40s' names no session of PostgreSQL", session);
    struct rows *rows;
    owed_status status = postgres_run(db, STMT_SESSION_END, args, 2, &rows, err);
    return status == OWED_OK ? postgres_finish(rows, NULL, err) : status;
}
