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

enum {
    OID_BOOL = 16,
    OID_INT8 = 20,
    OID_INT2 = 21,
    OID_INT4 = 23,
    OID_FLOAT8 = 701,
    OID_TIMESTAMP = 1114,
    OID_TIMESTAMPTZ = 1184,
    OID_NUMERIC = 1700
};

static const char settings[] =
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
    PGresult *result = PQstatus(conn) == CONNECTION_OK ? PQexec(conn, settings) : NULL;
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
time_text(const char *text, char number[static 32])
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
    snprintf(number, 32, "%" PRId64, at_us);
    return number;
}

static void
read_value(const PGresult *result, int row, int column, struct raw_value *value)
{
    Oid type = PQftype(result, column);
    const char *text = PQgetisnull(result, row, column) ? NULL : PQgetvalue(result, row, column);
    bool is_time = type == OID_TIMESTAMP || type == OID_TIMESTAMPTZ;
    value->is_number = is_time || type == OID_BOOL || type == OID_INT8 || type == OID_INT2 ||
        type == OID_INT4 || type == OID_NUMERIC || type == OID_FLOAT8;
    value->text = text;
    if (text != NULL && is_time)
        value->text = time_text(text, value->number);
    if (text != NULL && type == OID_BOOL)
        value->text = *text == 't' ? "1" : "0";
}

static void
take_rows(const PGresult *result, raw_take take, void *state)
{
    struct raw_value values[RAW_COLUMNS];
    int count = PQnfields(result) < RAW_COLUMNS ? PQnfields(result) : RAW_COLUMNS;
    for (int row = 0; row < PQntuples(result); row++) {
        for (int column = 0; column < count; column++)
            read_value(result, row, column, &values[column]);
        take(state, values, (size_t)count);
    }
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
    if (good && take != NULL)
        take_rows(result, take, state);
    PQclear(result);
    return good || status == PGRES_EMPTY_QUERY;
}

static bool
postgres_in_transaction(void *native)
{
    return PQtransactionStatus(native) != PQTRANS_IDLE;
}

static int64_t
postgres_session(void *native)
{
    return PQbackendPID(native);
}

static void
see_waiter(void *state, const struct raw_value *values, size_t count)
{
    struct raw_locks *locks = state;
    locks->is_waiting = count > 0 && strcmp(values[0].text, "0") != 0;
}

static struct raw_locks
postgres_locks(void *native, int64_t session)
{
    struct raw_locks locks = {0};
    struct buf error;
    char query[128];
    snprintf(query, sizeof query,
        "select count(*) from pg_locks where pid = %" PRId64 " and not granted", session);
    buf_init(&error, 4096);
    postgres_run(native, query, see_waiter, &locks, &error);
    buf_done(&error);
    return locks;
}

const struct raw_kind raw_postgres = {
    .scheme = "postgres",
    .open = postgres_open,
    .close = postgres_close,
    .run = postgres_run,
    .in_transaction = postgres_in_transaction,
    .session = postgres_session,
    .locks = postgres_locks,
    .fire = "select owed_fire('%s', '%s')",
    .refuse = "select refuse('refuse_%s_%s', '%s', '%s', $condition$%s$condition$, '%s')",
    .allow = "drop trigger refuse_%s_%s on %s",
};
