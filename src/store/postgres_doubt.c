/* SPDX-License-Identifier: MIT
 *
 * postgres_doubt.c - what became of a commit whose answer was lost: another connection asks.
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

/* ask_once asks another connection what became of a transaction; NULL: it did not answer. */
static PGresult *
ask_once(struct postgres_db *conn, PGconn *handle, const char *xid)
{
    const char *sql = conn->base.driver->sql->statements[STMT_XID_STATUS];
    const char *const values[] = {xid, conn->timeline};
    if (PQsendQueryParams(handle, sql, 2, NULL, values, NULL, NULL, 0) != 1)
        return NULL;
    PGresult *result = postgres_get(handle, postgres_monotonic_us() + US_PER_SECOND);
    for (PGresult *more; (more = postgres_get(handle, postgres_monotonic_us() + US_PER_SECOND));)
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

static void
finish_handle(PGconn **handle)
{
    PQfinish(*handle);
}

/* fate asks until the server knows: a commit that nobody waits for any more may be still under way. */
static owed_status
fate(struct postgres_db *conn, const char *xid)
{
    CLEANUP(finish_handle) PGconn *handle = NULL;
    if (!postgres_has(conn, STMT_XID_STATUS) ||
        postgres_connect(conn->url, &conn->options, &handle, NULL) != OWED_OK)
        return OWED_UNSURE;
    owed_status status = OWED_BUSY;
    for (int i = 0; i < ASK_TIMES && status == OWED_BUSY; i++) {
        if (i > 0)
            poll(NULL, 0, ASK_EVERY_MS);
        CLEANUP(clear_result) PGresult *result = ask_once(conn, handle, xid);
        status = read_fate(result);
    }
    return status == OWED_BUSY ? OWED_UNSURE : status;
}

static owed_status
fate_of(struct postgres_db *conn, int64_t number)
{
    char text[32];
    snprintf(text, sizeof text, "%" PRId64, number);
    return fate(conn, text);
}

owed_status
postgres_settle_doubt(struct postgres_db *conn, const PGresult *number, owed_error *err)
{
    owed_status status = OWED_UNSURE;
    if (conn->number != 0)
        status = fate_of(conn, conn->number);
    else if (PQresultErrorField(number, PG_DIAG_SQLSTATE) != NULL)
        status = OWED_ABORTED;
    else if (number != NULL && PQntuples(number) == 1) {
        // Who has no number has written nothing.
        struct value xid = postgres_value(number, 0, 0);
        status = xid.type == VALUE_INT ? fate_of(conn, xid.integer) : OWED_OK;
    }
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
