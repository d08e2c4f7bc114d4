/* SPDX-License-Identifier: MIT
 *
 * raw_postgres.c - raw.h on PostgreSQL.
 */
#include "raw_kind.h"

#include <inttypes.h>
#include <libpq-fe.h>
#include <stdio.h>
#include <string.h>

#include "base/moment.h"

enum { OID_TIMESTAMP = 1114, OID_TIMESTAMPTZ = 1184, OID_BOOL = 16 };

static const char session[] =
    "set client_min_messages = error; set timezone = 'UTC'; set lock_timeout = '10s'";

static void
be_silent(void *state, const char *text)
{
    (void)state;
    (void)text;
}

static void *
postgres_open(const char *url, struct buf *error)
{
    PGconn *conn = PQconnectdb(url);
    PQsetNoticeProcessor(conn, be_silent, NULL);
    PGresult *result = PQstatus(conn) == CONNECTION_OK ? PQexec(conn, session) : NULL;
    bool good = PQresultStatus(result) == PGRES_COMMAND_OK;
    PQclear(result);
    if (good)
        return conn;
    buf_printf(error, "%s", PQerrorMessage(conn));
    PQfinish(conn);
    return NULL;
}

static void
postgres_close(void *native)
{
    PQfinish(native);
}

/* time_text turns "2026-11-30 00:53:20.5+00" into microseconds. */
static const char *
time_text(const char *text, char number[static 64])
{
    char moment[MOMENT_BYTES];
    int64_t at_us = 0;
    snprintf(moment, sizeof moment, "%.*sZ", (int)strcspn(text, "+"), text);
    if (strlen(moment) > 10)
        moment[10] = 'T';
    if (strstr(text, "infinity") != NULL)
        at_us = *text == '-' ? INT64_MIN : INT64_MAX;
    else if (!moment_read(moment, &at_us))
        return text;
    snprintf(number, 64, "%" PRId64, at_us);
    return number;
}

static const char *
value_text(const PGresult *result, int row, char number[static 64])
{
    if (PQgetisnull(result, row, 0))
        return NULL;
    const char *text = PQgetvalue(result, row, 0);
    Oid type = PQftype(result, 0);
    if (type == OID_TIMESTAMP || type == OID_TIMESTAMPTZ)
        return time_text(text, number);
    if (type == OID_BOOL)
        return *text == 't' ? "1" : "0";
    return text;
}

/* is_undone tells whether a commit of what had failed before was answered by a rollback. */
static bool
is_undone(PGresult *result, const char *statements)
{
    return strcmp(PQcmdStatus(result), "ROLLBACK") == 0 && strstr(statements, "rollback") == NULL;
}

static bool
postgres_run(void *native, const char *statements, raw_take take, void *state, struct buf *error)
{
    PGresult *result = PQexec(native, statements);
    ExecStatusType status = PQresultStatus(result);
    bool good = status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK;
    if (good && is_undone(result, statements)) {
        buf_puts(error, "the transaction was rolled back");
        good = false;
    }
    if (!good && status != PGRES_EMPTY_QUERY)
        buf_printf(error, "%s", PQerrorMessage(native));
    char number[64];
    for (int row = 0; good && take != NULL && row < PQntuples(result); row++)
        take(state, value_text(result, row, number));
    PQclear(result);
    return good || status == PGRES_EMPTY_QUERY;
}

static bool
postgres_in_transaction(void *native)
{
    return PQtransactionStatus(native) != PQTRANS_IDLE;
}

const struct raw_kind raw_postgres = {
    .scheme = "postgres",
    .open = postgres_open,
    .close = postgres_close,
    .run = postgres_run,
    .in_transaction = postgres_in_transaction,
    .fire = "select owed_fire('%s', '%s')",
    .refuse = "select refuse('refuse_%s_%s', '%s', '%s', $condition$%s$condition$, '%s')",
    .allow = "drop trigger refuse_%s_%s on %s",
};
