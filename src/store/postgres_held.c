/* SPDX-License-Identifier: MIT
 *
 * postgres_held.c - a statement whose answer nobody needs before the commit: both go out together, so that a
 * transaction of one statement is one round trip.
 *
 * Nothing may have been sent in the transaction before it. Who was lent the connection, in this transaction or
 * in one before, may go on to use it: he expects to be in the transaction, may go back to a savepoint, or look
 * for what should be there.
 */
#include <string.h>

#include "store/postgres.h"

/* keep_args copies arguments; false: they are too long. */
static bool
keep_args(struct held *held, const struct value *args, size_t count)
{
    size_t len = 0;
    for (size_t i = 0; i < count; i++) {
        held->args[i] = args[i];
        if (args[i].bytes.len == 0)
            continue;
        if (args[i].bytes.len > sizeof held->bytes - len)
            return false;
        held->args[i].bytes.p = memcpy(held->bytes + len, args[i].bytes.p, args[i].bytes.len);
        len += args[i].bytes.len;
    }
    return true;
}

bool
postgres_hold(struct db *db, enum stmt stmt, const struct value *args, size_t count)
{
    struct postgres_db *conn = postgres_of(db);
    const struct command command = {.stmt = stmt, .args = args, .count = count};
    // Nothing but BEGIN waits to be sent.
    bool is_first = conn->begun && !conn->is_sent && conn->queued == 1 && !conn->held.is;
    bool is_ours = !conn->is_shared && !conn->is_unprepared;
    bool is_ready = is_ours && !postgres_wants_preparing(conn, &command);
    if (!is_first || !is_ready || !keep_args(&conn->held, args, count))
        return false;
    // The number that tells what became of a commit has to come before it.
    bool says_number = stmt == STMT_EVENT_INSERT_OWN;
    conn->held.command = (struct command){
        .stmt = stmt, .args = conn->held.args, .count = count, .flush = says_number};
    conn->held.is = true;
    conn->writes = !says_number;
    return true;
}

bool
postgres_holds(struct db *db)
{
    return postgres_of(db)->held.is;
}
