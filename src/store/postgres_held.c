/* SPDX-License-Identifier: MIT
 *
 * postgres_held.c - a statement whose answer nobody needs before the commit: both go out together, so that a
 * transaction of one statement is one round trip.
 *
 * Nothing may have been sent in the transaction before it. Who was lent the connection, in this transaction or
 * in one before, may go on to use it: he expects to be in the transaction, may go back to a savepoint, or look
 * for what should be there.
 */
#include "store/postgres.h"

bool
postgres_hold(struct db *db, enum stmt stmt, const struct value *args, size_t count)
{
    struct postgres_db *conn = postgres_of(db);
    const struct command command = {.stmt = stmt, .args = args, .count = count};
    // Nothing but BEGIN waits to be sent.
    bool is_first = conn->begun && !conn->is_sent && conn->queued == 1 && !conn->held.is;
    bool is_ours = !conn->is_shared && !conn->is_unprepared;
    bool is_ready = is_ours && !postgres_wants_preparing(conn, &command);
    if (!is_first || !is_ready || !driver_keep(&conn->held.kept, args, count))
        return false;
    // The number that tells what became of a commit has to come before it.
    bool says_number = stmt == STMT_EVENT_INSERT_OWN;
    conn->held.command = (struct command){
        .stmt = stmt, .args = conn->held.kept.args, .count = count, .flush = says_number};
    conn->held.is = true;
    conn->writes = !says_number;
    return true;
}

bool
postgres_holds(struct db *db)
{
    return postgres_of(db)->held.is;
}
