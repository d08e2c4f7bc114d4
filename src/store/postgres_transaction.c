/* SPDX-License-Identifier: MIT
 *
 * postgres_transaction.c - transactions on PostgreSQL, and noticing when somebody else ends ours.
 *
 * Nothing is sent for its own sake where it can go with what follows: BEGIN goes with the first
 * statement, and a transaction in which nothing was run never was. A receiver has our handle and could
 * say COMMIT: before it gets it, a row is written that a constraint refuses at every commit, and taken
 * away right before our own. Just before that, if it has not yet, the server says the transaction's
 * number: if the answer to COMMIT is lost, another connection asks what became of it.
 */
#include <poll.h>
#include <string.h>

#include "base/error.h"
#include "store/postgres.h"

#define ALONE_ARGS 15     // of those that the event is inserted with
#define IN_FULL_TIMES 200 // before it is tried again whether the catalogue has caught up

void
postgres_light(struct db *db)
{
    postgres_of(db)->light_next = true;
}

/* notice_loss sees that somebody else ended the transaction that we began. Where nobody was to commit,
 * one that cannot be committed takes its place: what he writes now would commit by itself. */
static bool
notice_loss(struct postgres_db *conn)
{
    if (!conn->begun || !conn->is_sent || conn->lost)
        return conn->lost;
    conn->lost = PQtransactionStatus(conn->handle) == PQTRANS_IDLE;
    if (conn->lost && conn->guard_wanted) {
        postgres_do(conn, STMT_BEGIN_READ, NULL);
        postgres_do(conn, STMT_VETO, NULL);
    }
    return conn->lost;
}

bool
postgres_in_transaction(struct db *db)
{
    struct postgres_db *conn = postgres_of(db);
    PGTransactionStatusType status = PQtransactionStatus(conn->handle);
    if (db->adopted)
        return status == PQTRANS_INTRANS || status == PQTRANS_INERROR;
    return conn->begun && !notice_loss(conn) && (!conn->is_sent || status != PQTRANS_UNKNOWN);
}

owed_status
postgres_still_ours(struct postgres_db *conn, owed_error *err)
{
    if (conn->queue_error.status != OWED_OK) {
        if (err != NULL)
            *err = conn->queue_error;
        return conn->queue_error.status;
    }
    if (!conn->begun || !conn->is_sent)
        return OWED_OK;
    if (PQtransactionStatus(conn->handle) == PQTRANS_UNKNOWN)
        return postgres_fail_lost(conn, conn->handle, "transaction", err);
    if (!notice_loss(conn))
        return OWED_OK;
    return driver_fail_ended(conn->place, err);
}

static void
forget(struct postgres_db *conn)
{
    conn->begun = conn->is_sent = conn->lost = conn->is_light = conn->writes = false;
    conn->vetoed = conn->hurried = conn->guarded = false;
    conn->queued = 0;
    conn->held.is = false;
    conn->number = 0;
    conn->queue_error = conn->pipe_error = (owed_error){0};
}

static void
put_back_settings(struct postgres_db *conn)
{
    postgres_queue(conn, STMT_SESSION_RESET);
    if (conn->lock_timeout_ms.type != VALUE_NULL)
        postgres_queue(conn, STMT_LOCK_TIMEOUT);
}

owed_status
postgres_begin(struct db *db, bool write, owed_error *err)
{
    struct postgres_db *conn = postgres_of(db);
    owed_status status = driver_may_begin(db, conn->begun, conn->place, err);
    if (status != OWED_OK)
        return status;
    if (postgres_is_lost(conn->handle))
        return postgres_fail_lost(conn, conn->handle, "begin", err);
    forget(conn);
    if (conn->was_lent && !conn->is_pooled)
        put_back_settings(conn);
    postgres_queue(conn, write ? STMT_BEGIN_WRITE : STMT_BEGIN_READ);
    if (conn->light_next)
        postgres_queue(conn, STMT_LIGHT_COMMITS);
    conn->begun = true;
    conn->is_light = conn->light_next;
    conn->was_lent = conn->light_next = false;
    return OWED_OK;
}

/* --- committing --- */

static owed_status
had_failed(struct postgres_db *conn, owed_error *err)
{
    return fail(err, OWED_ABORTED,
        "commit: a statement of the transaction on %s had failed: it was rolled back", conn->place);
}

/* answered reads what COMMIT came to: of a transaction in which something failed it is a rollback. */
static owed_status
answered(struct postgres_db *conn, PGresult *result, owed_error *err)
{
    return strcmp(PQcmdStatus(result), "COMMIT") == 0 ? OWED_OK : had_failed(conn, err);
}

static owed_status
guard_gone(struct postgres_db *conn, owed_error *err)
{
    return fail(err, OWED_ABORTED,
        "the transaction that was open on %s has been ended by somebody else: nothing of it was kept",
        conn->place);
}

/* is_gone tells whether the server has hung up already: then no COMMIT can reach it. */
static bool
is_gone(struct postgres_db *conn)
{
    struct pollfd fd = {.fd = PQsocket(conn->handle), .events = POLLIN};
    // Its last word comes before the end.
    for (int i = 0; i < 3 && !postgres_is_lost(conn->handle) && poll(&fd, 1, 0) > 0; i++)
        PQconsumeInput(conn->handle);
    return postgres_is_lost(conn->handle);
}

static bool
wants_number(const struct postgres_db *conn)
{
    return conn->writes && conn->number == 0 && !conn->is_light && !conn->is_pooled &&
        postgres_has(conn, STMT_XID);
}

/* end_by_commit sends the end of the guard and COMMIT together. */
static owed_status
end_by_commit(struct postgres_db *conn, owed_error *err)
{
    enum { NUMBER, GUARD, COMMIT, MAX };
    int places[MAX] = {-1, -1, -1};
    struct command commands[MAX];
    PGresult *results[MAX];
    size_t count = 0;
    const struct command *held = conn->held.is ? &conn->held.command : NULL;
    if (wants_number(conn)) {
        places[NUMBER] = (int)count;
        commands[count++] = (struct command){.stmt = STMT_XID, .flush = true};
    }
    if (conn->guarded) {
        places[GUARD] = (int)count;
        commands[count++] = (struct command){.stmt = STMT_GUARD_OFF};
    }
    places[COMMIT] = (int)count;
    commands[count++] = (struct command){.stmt = STMT_COMMIT};

    owed_status status = postgres_talk(conn, commands, count, results, err);
    if (status == OWED_OK)
        status = answered(conn, results[places[COMMIT]], err);
    else if (places[GUARD] >= 0 && postgres_says(results[places[GUARD]], "22012"))
        status = guard_gone(conn, err);
    else if (postgres_is_lost(conn->handle))
        status = postgres_settle_doubt(
            conn, places[NUMBER] < 0 ? NULL : results[places[NUMBER]], held, err);
    for (size_t i = 0; i < count; i++)
        PQclear(results[i]);
    return status;
}

/* end_alone commits an event that is all there is, and what is owed for it. Where the server sees more to do than
 * the statement for that does, it writes nothing: then once more, in full. */
static owed_status
end_alone(struct postgres_db *conn, owed_error *err)
{
    const struct command in_full = conn->held.command;
    conn->held.command.stmt = STMT_EVENT_INSERT_ALONE;
    conn->held.command.count = ALONE_ARGS;
    owed_status status = end_by_commit(conn, err);
    if (status != OWED_OK || conn->number != 0)
        return status;
    conn->in_full = IN_FULL_TIMES;
    conn->held.command = in_full;
    conn->held.is = true;
    conn->is_sent = false;
    postgres_queue(conn, STMT_BEGIN_WRITE);
    return end_by_commit(conn, err);
}

/* can_be_alone tells whether an event goes with its commit that the server says the transaction's number for. */
static bool
can_be_alone(struct postgres_db *conn)
{
    if (!conn->held.is || conn->held.command.stmt != STMT_EVENT_INSERT_OWN || conn->is_pooled)
        return false;
    if (conn->in_full == 0)
        return true;
    conn->in_full--;
    return false;
}

owed_status
postgres_commit(struct db *db, owed_error *err)
{
    struct postgres_db *conn = postgres_of(db);
    postgres_collect(db, true, NULL);
    owed_status status = postgres_still_ours(conn, err);
    if (status == OWED_OK && driver_has_begun(db, conn->begun, conn->place, err) != OWED_OK)
        return OWED_BUG;
    if (status == OWED_OK && conn->vetoed)
        status = driver_fail_vetoed(err);
    if (status == OWED_OK && PQtransactionStatus(conn->handle) == PQTRANS_INERROR)
        status = had_failed(conn, err);
    bool was_anything = conn->is_sent || conn->held.is;
    if (status == OWED_OK && was_anything && is_gone(conn))
        status = postgres_fail_lost(conn, conn->handle, "commit", err);
    if (status == OWED_OK && was_anything)
        status = (can_be_alone(conn) ? end_alone : end_by_commit)(conn, err);
    if (status != OWED_OK) {
        postgres_rollback(db);
        return status;
    }
    forget(conn);
    return OWED_OK;
}

void
postgres_rollback(struct db *db)
{
    struct postgres_db *conn = postgres_of(db);
    if (db->adopted)
        return;
    bool is_sent = conn->is_sent;
    postgres_collect(db, true, NULL);
    forget(conn);
    if (!is_sent)
        return;
    postgres_sweep(db);
    PGTransactionStatusType status = PQtransactionStatus(conn->handle);
    if (status == PQTRANS_IDLE || status == PQTRANS_UNKNOWN)
        return;
    // A transaction that cannot be ended ends with its connection.
    if (postgres_do(conn, STMT_ROLLBACK, NULL) != OWED_OK)
        postgres_cut(conn->handle);
}

/* --- savepoints --- */

/* put_guard keeps what an application is about to get from being committed by it. */
static void
put_guard(struct postgres_db *conn)
{
    if (!conn->guard_wanted || conn->guarded || !conn->begun)
        return;
    postgres_queue(conn, STMT_GUARD_ON);
    conn->guarded = postgres_has(conn, STMT_GUARD_ON);
}

owed_status
postgres_savepoint(struct db *db, owed_error *err)
{
    struct postgres_db *conn = postgres_of(db);
    owed_status status = postgres_still_ours(conn, err);
    if (status != OWED_OK)
        return status;
    put_guard(conn);
    return postgres_do(conn, STMT_SAVEPOINT, err);
}

owed_status
postgres_release(struct db *db, owed_error *err)
{
    struct postgres_db *conn = postgres_of(db);
    owed_status status = postgres_still_ours(conn, err);
    return status == OWED_OK ? postgres_do(conn, STMT_RELEASE, err) : status;
}

owed_status
postgres_rollback_to(struct db *db, owed_error *err)
{
    struct postgres_db *conn = postgres_of(db);
    postgres_collect(db, true, NULL);
    conn->pipe_error = (owed_error){0};
    owed_status status = postgres_still_ours(conn, err);
    if (status == OWED_OK)
        status = postgres_do(conn, STMT_ROLLBACK_TO, err);
    if (status != OWED_OK)
        return status;
    conn->vetoed = false;
    // What was set after the savepoint went with it.
    if (conn->hurried)
        postgres_queue(conn, STMT_HURRY);
    return OWED_OK;
}

/* --- what others must not do --- */

void
postgres_guard(struct db *db, bool on)
{
    postgres_of(db)->guard_wanted = on;
}

void
postgres_veto(struct db *db)
{
    struct postgres_db *conn = postgres_of(db);
    if (!postgres_in_transaction(db))
        return;
    conn->vetoed = true;
    // A transaction in which something failed can only be rolled back.
    postgres_do(conn, STMT_VETO, NULL);
}

owed_status
postgres_hurry(struct db *db, owed_error *err)
{
    struct postgres_db *conn = postgres_of(db);
    owed_status status = postgres_still_ours(conn, err);
    if (status != OWED_OK)
        return status;
    conn->hurried = true;
    postgres_queue(conn, STMT_HURRY);
    return OWED_OK;
}

PGconn *
postgres_lend(struct postgres_db *conn)
{
    put_guard(conn);
    conn->was_lent = conn->is_shared = true;
    conn->writes = true;
    if (conn->begun && conn->queued > 0 && postgres_flush(conn, &conn->queue_error) == OWED_OK)
        conn->queue_error = (owed_error){0};
    return conn->handle;
}

void *
postgres_native(struct db *db)
{
    struct postgres_db *conn = postgres_of(db);
    if (db->adopted)
        return conn->handle;
    postgres_collect(db, true, NULL);
    return postgres_lend(conn);
}
