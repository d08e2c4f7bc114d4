/* SPDX-License-Identifier: MIT
 *
 * mariadb_transaction.c - transactions on MariaDB, and noticing when somebody else ends ours.
 *
 * A receiver writes on the connection that carries its acknowledgement. It may say COMMIT there, or run
 * DDL, which commits; nothing can be set up that forbids it. And the server rolls a whole transaction
 * back by itself, to end a deadlock: what is written after that stands alone, each statement in a
 * transaction of its own. Every answer tells whether a transaction is open, but those that are errors,
 * and not everything is answered. So wherever the latest answer does not tell, the server is asked
 * before anything more is written; and the savepoint shows whether it is still the same transaction.
 *
 * A transaction that only fires is two round trips: what begins it is left unsent, and the procedure that
 * writes the first event does it. Any other statement, and whoever is given the connection, has it sent
 * before. See mariadb_held.c for one of a single event.
 */
#include <errmsg.h>
#include <mysqld_error.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "store/mariadb.h"

#define SAVEPOINT_BYTES 80

/* is_in_doubt: an error says nothing of the transaction, and the closing of a statement, which has the
 * connection's packets at one, is not answered. */
static bool
is_in_doubt(const struct mariadb_db *conn)
{
    MYSQL *handle = conn->handle;
    if (handle->status != MYSQL_STATUS_READY)
        return false;
    return conn->in_doubt || mysql_errno(handle) != 0 || handle->net.pkt_nr <= 1;
}

static bool
has_status(const struct mariadb_db *conn, unsigned flag)
{
    return (conn->handle->server_status & flag) != 0;
}

/* make_sure has the server say what the latest statement failed with (0: it did not), and with it
 * whether a transaction is open: its answer to a ping would not tell. */
static owed_status
make_sure(struct mariadb_db *conn, unsigned *ret_code, owed_error *err)
{
    *ret_code = 0;
    if (!is_in_doubt(conn))
        return OWED_OK;
    owed_status status = mariadb_do(conn, STMT_LAST_ERROR, err);
    if (status != OWED_OK)
        return status;
    MYSQL_RES *result = mysql_store_result(conn->handle);
    if (result == NULL)
        return mariadb_fail_last(conn, mariadb_file(STMT_LAST_ERROR), err);
    MYSQL_ROW row = mysql_fetch_row(result);
    if (row != NULL && row[1] != NULL)
        *ret_code = (unsigned)strtoul(row[1], NULL, 10);
    mysql_free_result(result);
    conn->in_doubt = false;
    return OWED_OK;
}

static owed_status
fail_lost(struct mariadb_db *conn, owed_error *err)
{
    conn->lost = true;
    return fail(err, OWED_ABORTED,
        "the transaction that was open on %s has been ended by somebody else, or by the server to end "
        "a deadlock: nothing more can be written in it",
        conn->place);
}

static owed_status
still_ours(struct mariadb_db *conn, owed_error *err)
{
    mariadb_hear(conn);
    if (conn->broken)
        return fail(err, OWED_UNAVAILABLE, "the connection to %s was lost", conn->place);
    if (!conn->begun || conn->unsent)
        return OWED_OK;
    unsigned code;
    owed_status status = conn->lost ? OWED_OK : make_sure(conn, &code, err);
    if (status != OWED_OK)
        return status;
    return conn->lost || !has_status(conn, SERVER_STATUS_IN_TRANS) ? fail_lost(conn, err) : OWED_OK;
}

static bool
is_read(const char *text)
{
    return strncasecmp(text, "select", 6) == 0 || strncasecmp(text, "with", 4) == 0;
}

/* is_joined tells whether an adopted connection is in a transaction. One without autocommit always is. */
static bool
is_joined(const struct mariadb_db *conn)
{
    return has_status(conn, SERVER_STATUS_IN_TRANS) || !has_status(conn, SERVER_STATUS_AUTOCOMMIT);
}

enum stmt
mariadb_beginning(const struct mariadb_db *conn, enum stmt stmt)
{
    if (!conn->unsent)
        return stmt;
    if (stmt == STMT_EVENT_INSERT)
        return STMT_EVENT_BEGIN;
    return stmt == STMT_EVENT_INSERT_LISTED ? STMT_EVENT_BEGIN_LISTED : stmt;
}

static bool
begins(enum stmt stmt)
{
    return stmt == STMT_EVENT_BEGIN || stmt == STMT_EVENT_BEGIN_LISTED;
}

static owed_status
send_begin(struct mariadb_db *conn, owed_error *err)
{
    owed_status status = mariadb_let_go(conn, err);
    if (status != OWED_OK || !conn->unsent)
        return status;
    conn->unsent = false;
    status = mariadb_do(conn, STMT_BEGIN_WRITE, err);
    conn->lost = status != OWED_OK;
    return status;
}

void
mariadb_has_begun(struct mariadb_db *conn, owed_status status)
{
    if (!conn->unsent)
        return;
    // What failed may have begun it, and nothing else was done in it.
    bool is_over = conn->broken || conn->lost;
    if (status != OWED_OK && !is_over && mariadb_do(conn, STMT_ROLLBACK, NULL) == OWED_OK)
        return;
    conn->unsent = false;
}

/* keep_nothing leaves a transaction open in which nothing can be written: whoever says COMMIT
 * commits nothing, and what is written meanwhile is refused, not done on its own. */
static void
keep_nothing(struct mariadb_db *conn)
{
    if (mariadb_do(conn, STMT_ROLLBACK, NULL) == OWED_OK)
        mariadb_do(conn, STMT_BEGIN_READ, NULL);
}

void *
mariadb_native(struct db *db)
{
    struct mariadb_db *conn = mariadb_of(db);
    conn->is_shared = conn->was_lent = true;
    mariadb_hear(conn);
    if (conn->refusal.status != OWED_OK && !conn->broken)
        keep_nothing(conn);
    return send_begin(conn, NULL) == OWED_OK || conn->broken ? conn->handle : NULL;
}

owed_status
mariadb_may_run(struct mariadb_db *conn, enum stmt stmt, owed_error *err)
{
    owed_status status = still_ours(conn, err);
    if (status == OWED_OK)
        status = mariadb_collect(&conn->base, true, err);
    if (status == OWED_OK && !begins(stmt))
        status = send_begin(conn, err);
    const char *text = conn->base.driver->sql->statements[stmt];
    if (status != OWED_OK || !conn->base.adopted || text == NULL || is_read(text))
        return status;
    unsigned code;
    status = make_sure(conn, &code, err);
    if (status != OWED_OK || is_joined(conn))
        return status;
    return fail(err, OWED_ABORTED,
        "%s: the transaction that was joined on %s is over: nothing more can be written in it",
        mariadb_file(stmt), conn->place);
}

owed_status
mariadb_goes_on(struct mariadb_db *conn, owed_error *err)
{
    if (!conn->begun || has_status(conn, SERVER_STATUS_IN_TRANS))
        return OWED_OK;
    return mariadb_do(conn, STMT_BEGIN_WRITE, err);
}

static void
forget(struct mariadb_db *conn)
{
    conn->begun = conn->unsent = conn->lost = conn->vetoed = conn->is_undone = false;
    conn->held.is = false;
    conn->savepoints = 0;
    conn->refusal = (owed_error){0};
}

void
mariadb_light(struct db *db)
{
    (void)db; // how durable a commit is, is the whole server's setting
}

owed_status
mariadb_begin(struct db *db, bool write, owed_error *err)
{
    struct mariadb_db *conn = mariadb_of(db);
    owed_status status = driver_may_begin(db, conn->begun, conn->place, err);
    if (status == OWED_OK)
        status = still_ours(conn, err);
    if (status != OWED_OK)
        return status;
    mariadb_calm(conn);
    conn->unsent = write && !conn->is_shared;
    if (!conn->unsent)
        status = mariadb_do(conn, write ? STMT_BEGIN_WRITE : STMT_BEGIN_READ, err);
    conn->begun = status == OWED_OK;
    conn->in_doubt = false;
    return status;
}

/* end_by_commit says COMMIT. Where the connection broke before it could be sent, nothing happened; where
 * it broke later, nobody knows. */
static owed_status
end_by_commit(struct mariadb_db *conn, owed_error *err)
{
    owed_status status = mariadb_do(conn, STMT_COMMIT, err);
    unsigned code = mysql_errno(conn->handle);
    if (status == OWED_OK || !mariadb_is_over(code) || code == CR_SERVER_GONE_ERROR)
        return status;
    return fail_native(err, OWED_UNSURE, (int)code,
        "commit: %s (%s): whether it was done is not known", mysql_error(conn->handle),
        conn->place);
}

owed_status
mariadb_commit(struct db *db, owed_error *err)
{
    struct mariadb_db *conn = mariadb_of(db);
    owed_status status = still_ours(conn, err);
    if (status == OWED_OK && driver_has_begun(db, conn->begun, conn->place, err) != OWED_OK)
        return OWED_BUG;
    if (status == OWED_OK)
        status = mariadb_collect(db, true, err);
    if (status == OWED_OK && conn->vetoed)
        status = driver_fail_vetoed(err);
    if (status == OWED_OK && conn->held.is)
        status = mariadb_commit_held(conn, err);
    else if (status == OWED_OK && !conn->unsent)
        status = end_by_commit(conn, err);
    if (status != OWED_OK) {
        mariadb_rollback(db);
        return status;
    }
    forget(conn);
    mariadb_calm(conn);
    return OWED_OK;
}

void
mariadb_rollback(struct db *db)
{
    struct mariadb_db *conn = mariadb_of(db);
    if (db->adopted)
        return;
    mariadb_hear(conn);
    bool was_open = (conn->begun && !conn->unsent) || has_status(conn, SERVER_STATUS_IN_TRANS);
    forget(conn);
    // What is not rolled back would be committed with autocommit.
    if (was_open && !conn->broken && mariadb_do(conn, STMT_ROLLBACK, NULL) != OWED_OK)
        conn->broken = conn->broken || conn->holds_back;
    mariadb_calm(conn);
}

bool
mariadb_in_transaction(struct db *db)
{
    struct mariadb_db *conn = mariadb_of(db);
    if (db->adopted)
        return !conn->broken && is_joined(conn);
    return conn->begun && !conn->lost && !conn->broken &&
        (conn->unsent || conn->unread > 0 || has_status(conn, SERVER_STATUS_IN_TRANS));
}

/* do_savepoint says a statement of the innermost savepoint. One that bears the name of another takes its
 * place here, so that those within one of ours bear numbers. */
static owed_status
do_savepoint(struct mariadb_db *conn, enum stmt stmt, unsigned level, owed_error *err)
{
    char text[SAVEPOINT_BYTES];
    const char *plain = conn->base.driver->sql->statements[stmt];
    int len = (int)strcspn(plain, "\n");
    if (level <= 1)
        snprintf(text, sizeof text, "%.*s", len, plain);
    else
        snprintf(text, sizeof text, "%.*s_%u", len, plain, level);
    if (mysql_real_query(conn->handle, text, strlen(text)) == 0)
        return OWED_OK;
    return mariadb_fail_last(conn, mariadb_file(stmt), err);
}

owed_status
mariadb_savepoint(struct db *db, owed_error *err)
{
    struct mariadb_db *conn = mariadb_of(db);
    owed_status status = mariadb_may_run(conn, STMT_SAVEPOINT, err);
    if (status == OWED_OK)
        status = do_savepoint(conn, STMT_SAVEPOINT, conn->savepoints + 1, err);
    conn->savepoints += status == OWED_OK;
    return status;
}

/* end_savepoint reads the refusal of a savepoint that is not there: whoever ended the transaction took it. */
static owed_status
end_savepoint(struct db *db, enum stmt stmt, owed_error *err)
{
    struct mariadb_db *conn = mariadb_of(db);
    owed_status status = still_ours(conn, err);
    if (status != OWED_OK)
        return status;
    unsigned level = conn->savepoints;
    conn->savepoints -= stmt == STMT_RELEASE && level > 0;
    status = do_savepoint(conn, stmt, level, err);
    if (status == OWED_OK || mysql_errno(conn->handle) != ER_SP_DOES_NOT_EXIST)
        return status;
    conn->lost = conn->begun;
    return fail_native(err, OWED_ABORTED, ER_SP_DOES_NOT_EXIST,
        "the savepoint on %s is gone: somebody else has ended it, or the transaction", conn->place);
}

owed_status
mariadb_release(struct db *db, owed_error *err)
{
    return end_savepoint(db, STMT_RELEASE, err);
}

owed_status
mariadb_rollback_to(struct db *db, owed_error *err)
{
    owed_status status = end_savepoint(db, STMT_ROLLBACK_TO, err);
    if (status == OWED_OK)
        mariadb_of(db)->refusal = (owed_error){0};
    return status;
}

void
mariadb_guard(struct db *db, bool on)
{
    (void)db; // see settles_early
    (void)on;
}

void
mariadb_veto(struct db *db)
{
    struct mariadb_db *conn = mariadb_of(db);
    if (!mariadb_in_transaction(db))
        return;
    conn->vetoed = true;
    conn->unsent = conn->held.is = false;
    keep_nothing(conn);
}

owed_status
mariadb_contention(struct db *db, bool failed)
{
    struct mariadb_db *conn = mariadb_of(db);
    bool was_open = has_status(conn, SERVER_STATUS_IN_TRANS);
    if (conn->broken)
        return OWED_UNAVAILABLE;
    if (conn->is_undone)
        return OWED_ABORTED;
    // What was sent is asked about by collect.
    if (conn->unread > 0 && !failed)
        return OWED_OK;
    // A client that looks for further results forgets the code of an error.
    conn->in_doubt = conn->in_doubt || failed;
    if (!conn->begun || conn->unsent || !is_in_doubt(conn))
        return OWED_OK;
    unsigned code;
    if (make_sure(conn, &code, NULL) != OWED_OK)
        return OWED_UNAVAILABLE;
    // No answer has said that it ended, and yet it is over: it ended with an error.
    if (was_open && !has_status(conn, SERVER_STATUS_IN_TRANS)) {
        conn->lost = true;
        return OWED_ABORTED;
    }
    return code == ER_LOCK_WAIT_TIMEOUT ? OWED_BUSY : OWED_OK;
}
