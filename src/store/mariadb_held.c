/* SPDX-License-Identifier: MIT
 *
 * mariadb_held.c - an event whose answer nobody needs before the commit: the procedure that writes it begins
 * the transaction and commits it, so that a transaction of one event is one round trip.
 *
 * Nothing may have been sent in the transaction before it; who was lent the connection expects to be in the
 * transaction, and nothing is left unsent then. What follows after all has the event written first.
 */
#include <errmsg.h>
#include <mysqld_error.h>

#include "base/error.h"
#include "store/mariadb.h"

/* alone is the statement that writes the same event and commits it. */
static enum stmt
alone(enum stmt stmt)
{
    if (stmt == STMT_EVENT_INSERT)
        return STMT_EVENT_ALONE;
    return stmt == STMT_EVENT_INSERT_LISTED ? STMT_EVENT_ALONE_LISTED : STMT_MAX;
}

bool
mariadb_hold(struct db *db, enum stmt stmt, const struct value *args, size_t count)
{
    struct mariadb_db *conn = mariadb_of(db);
    enum stmt whole = alone(stmt);
    bool is_first = conn->unsent && !conn->held.is && conn->unread == 0 && !conn->holds_back;
    if (!is_first || whole == STMT_MAX || !mariadb_is_prepared(conn, whole) ||
        !driver_keep(&conn->held.kept, args, count))
        return false;
    conn->held.stmt = stmt;
    conn->held.is = true;
    return true;
}

bool
mariadb_holds(struct db *db)
{
    return mariadb_of(db)->held.is;
}

static owed_status
run(struct mariadb_db *conn, enum stmt stmt, owed_error *err)
{
    const struct kept_args *kept = &conn->held.kept;
    struct rows *rows;
    owed_status status = mariadb_run(&conn->base, stmt, kept->args, kept->count, &rows, err);
    return status == OWED_OK ? mariadb_finish(rows, NULL, err) : status;
}

owed_status
mariadb_let_go(struct mariadb_db *conn, owed_error *err)
{
    if (!conn->held.is)
        return OWED_OK;
    conn->held.is = false;
    owed_error why;
    owed_status status = run(conn, conn->held.stmt, &why);
    if (status == OWED_OK)
        return status;
    // Whoever fired it was told that all is well: without it nothing may be committed.
    conn->refusal = why;
    return fail_native(err, status, why.native, "%s", why.text);
}

/* is_known tells whether the event was not written for sure. Who is interrupted may have committed. */
static bool
is_known(unsigned code)
{
    switch (code) {
    case CR_SERVER_GONE_ERROR: // it could not be sent
        return true;
    case ER_QUERY_INTERRUPTED:
    case ER_STATEMENT_TIMEOUT:
        return false;
    default:
        return !mariadb_is_over(code);
    }
}

owed_status
mariadb_commit_held(struct mariadb_db *conn, owed_error *err)
{
    owed_error why;
    enum stmt whole = alone(conn->held.stmt);
    // As the server sees it, no transaction is open: the procedure ends its own.
    conn->held.is = conn->begun = conn->unsent = false;
    owed_status status = run(conn, whole, &why);
    if (status == OWED_OK)
        return status;
    // One that is interrupted does not undo what it has begun.
    if (!conn->broken && mariadb_do(conn, STMT_ROLLBACK, NULL) != OWED_OK)
        conn->broken = true;
    if (is_known((unsigned)why.native))
        return fail_native(err, status, why.native, "%s", why.text);
    return fail_native(
        err, OWED_UNSURE, why.native, "%s: whether it was done is not known", why.text);
}
