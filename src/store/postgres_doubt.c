/* SPDX-License-Identifier: MIT
 *
 * postgres_doubt.c - what became of a commit whose answer was lost: another connection asks.
 *
 * It asks for the number of the transaction. Where that was lost, too, since it was on its way together with all
 * that the transaction did, it makes sure that the session is gone, and looks for what it wrote.
 */
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "store/postgres.h"

#define ASK_TIMES 20
#define ASK_EVERY_MS 100
#define ASK_WAIT_US US_PER_SECOND
#define END_WAIT_US (6 * US_PER_SECOND) // a little more than the statement waits
#define EVENT_RECORDED_AT 6             // among the arguments of an insert

static void
finish_handle(PGconn **handle)
{
    PQfinish(*handle);
}

/* ask runs a statement on another connection; NULL: it did not answer. */
static PGresult *
ask(const struct postgres_db *conn, PGconn *handle, const struct command *command, int64_t wait_us)
{
    const char *sql = conn->base.driver->sql->statements[command->stmt];
    struct bound bound;
    if (sql == NULL || !postgres_bind(command, &bound) ||
        PQsendQueryParams(handle, sql, bound.count, bound.types, bound.values, bound.lengths,
            bound.formats, 0) != 1)
        return NULL;
    PGresult *result = postgres_get(handle, postgres_monotonic_us() + wait_us);
    for (PGresult *more; (more = postgres_get(handle, postgres_monotonic_us() + wait_us));)
        PQclear(more);
    return result;
}

static owed_status
read_fate(const PGresult *result)
{
    const char *said = PQresultStatus(result) == PGRES_TUPLES_OK && PQntuples(result) == 1
        ? PQgetvalue(result, 0, 0)
        : "";
    if (strcmp(said, "committed") == 0)
        return OWED_OK;
    if (strcmp(said, "aborted") == 0)
        return OWED_ABORTED;
    return strcmp(said, "in progress") == 0 ? OWED_BUSY : OWED_UNSURE;
}

static struct value
text_value(const char *text)
{
    return (struct value){.type = VALUE_TEXT, .bytes = str_of(text)};
}

/* fate asks until the server knows: a commit that nobody waits for any more may be still under way. */
static owed_status
fate(struct postgres_db *conn, int64_t number)
{
    CLEANUP(finish_handle) PGconn *handle = NULL;
    if (postgres_connect(conn->url, &conn->options, &handle, NULL) != OWED_OK)
        return OWED_UNSURE;
    const struct value args[] = {
        {.type = VALUE_INT, .integer = number}, text_value(conn->timeline)};
    const struct command command = {.stmt = STMT_XID_STATUS, .args = args, .count = 2};
    owed_status status = OWED_BUSY;
    for (int i = 0; i < ASK_TIMES && status == OWED_BUSY; i++) {
        if (i > 0)
            poll(NULL, 0, ASK_EVERY_MS);
        CLEANUP(clear_result) PGresult *result = ask(conn, handle, &command, ASK_WAIT_US);
        status = read_fate(result);
    }
    return status == OWED_BUSY ? OWED_UNSURE : status;
}

/* is_ended makes sure that the session whose connection was lost does nothing any more. */
static bool
is_ended(struct postgres_db *conn, PGconn *handle)
{
    struct value args[2];
    if (!postgres_session_values(conn->session, args))
        return false;
    const struct command command = {.stmt = STMT_SESSION_END, .args = args, .count = 2};
    // One that ends by itself at that moment is seen, and cannot be ended: then it is gone the next time.
    for (int i = 0; i < 2; i++) {
        CLEANUP(clear_result) PGresult *result = ask(conn, handle, &command, END_WAIT_US);
        if (PQresultStatus(result) != PGRES_TUPLES_OK)
            return false;
        if (PQntuples(result) == 0 || strcmp(PQgetvalue(result, 0, 0), "t") == 0)
            return true;
    }
    return false;
}

/* fate_of_event: the event was all that the transaction wrote, and its uid comes never again. */
static owed_status
fate_of_event(struct postgres_db *conn, const struct command *insert)
{
    CLEANUP(finish_handle) PGconn *handle = NULL;
    if (postgres_connect(conn->url, &conn->options, &handle, NULL) != OWED_OK ||
        !is_ended(conn, handle))
        return OWED_UNSURE;
    const struct value args[] = {insert->args[0], insert->args[1], text_value(conn->timeline),
        insert->args[EVENT_RECORDED_AT]};
    const struct command command = {.stmt = STMT_EVENT_STATUS, .args = args, .count = 4};
    CLEANUP(clear_result) PGresult *result = ask(conn, handle, &command, ASK_WAIT_US);
    return read_fate(result);
}

static owed_status
settle(struct postgres_db *conn, const PGresult *number, const struct command *held)
{
    if (conn->number != 0)
        return fate(conn, conn->number);
    if (PQresultErrorField(number, PG_DIAG_SQLSTATE) != NULL)
        return OWED_ABORTED;
    if (number == NULL || PQntuples(number) != 1)
        return held != NULL ? fate_of_event(conn, held) : OWED_UNSURE;
    // Who has no number has written nothing.
    struct value xid = postgres_value(number, 0, 0);
    return xid.type == VALUE_INT ? fate(conn, xid.integer) : OWED_OK;
}

owed_status
postgres_settle_doubt(
    struct postgres_db *conn, const PGresult *number, const struct command *held, owed_error *err)
{
    owed_status status = settle(conn, number, held);
    if (status == OWED_OK)
        return OWED_OK;
    if (status == OWED_ABORTED)
        return fail(err, OWED_UNAVAILABLE,
            "commit: the connection to %s was lost before it happened; nothing was written",
            conn->place);
    return fail(err, OWED_UNSURE,
        "commit: the connection to %s was lost before the answer came: whether it happened is not "
        "known",
        conn->place);
}
