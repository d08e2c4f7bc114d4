/* SPDX-License-Identifier: MIT
 *
 * postgres_error.c - what PostgreSQL's errors mean to the caller, and sentences without a password.
 */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "store/postgres.h"

/* What an SQLSTATE, or all that begin so, mean; the first that fits. All others: STORE. */
static const struct {
    const char *prefix;
    owed_status status;
} meanings[] = {
    {"08", OWED_UNAVAILABLE},    // connection
    {"25006", OWED_UNAVAILABLE}, // read-only: a failover left us on the wrong server
    {"25P01", OWED_ABORTED},     // no transaction
    {"25P03", OWED_UNAVAILABLE}, // idle in transaction for too long
    {"28", OWED_UNAVAILABLE},    // who we are
    {"3B001", OWED_ABORTED},     // no such savepoint
    {"3D000", OWED_UNAVAILABLE}, // no such database
    {"3F000", OWED_SCHEMA},
    {"40001", OWED_BUSY},
    {"40003", OWED_UNSURE},
    {"40P01", OWED_BUSY}, // deadlock
    {"42P01", OWED_SCHEMA},
    {"42883", OWED_SCHEMA},
    {"42703", OWED_SCHEMA},
    {"53", OWED_UNAVAILABLE}, // too many connections, no memory, no disk
    {"54", OWED_LIMIT},
    {"22001", OWED_LIMIT},
    {"22003", OWED_LIMIT},
    {"22008", OWED_LIMIT},
    {"22021", OWED_INVALID},
    {"22P05", OWED_INVALID},
    {"55006", OWED_BUSY},
    {"55P03", OWED_BUSY},
    {"57", OWED_UNAVAILABLE}, // shut down, cancelled, not yet up
    {"58", OWED_UNAVAILABLE},
    {"XX001", OWED_UNAVAILABLE},
    {"XX002", OWED_UNAVAILABLE},
};

static owed_status
meaning(const char *sqlstate)
{
    for (size_t i = 0; i < sizeof meanings / sizeof meanings[0]; i++)
        if (strncmp(sqlstate, meanings[i].prefix, strlen(meanings[i].prefix)) == 0)
            return meanings[i].status;
    return OWED_STORE;
}

/* pack makes a number of five signs, six bits each, as PostgreSQL itself does. */
static int
pack(const char *sqlstate)
{
    int packed = 0;
    for (int i = 0; i < 5 && sqlstate[i] != '\0'; i++)
        packed += ((sqlstate[i] - '0') & 0x3f) << (6 * i);
    return packed;
}

bool
postgres_says(const PGresult *result, const char *sqlstate)
{
    const char *said = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    return said != NULL && strcmp(said, sqlstate) == 0;
}

static void
strike_out(char *text, const char *secret)
{
    size_t len = strlen(secret);
    if (len == 0)
        return;
    for (char *p = strstr(text, secret); p != NULL; p = strstr(p, secret)) {
        memset(p, '*', len);
        p += len;
    }
}

void
postgres_sentence(PGconn *handle, const char *said, char *text, size_t size)
{
    snprintf(text, size, "%s", said);
    strike_out(text, or_empty(handle == NULL ? NULL : PQpass(handle)));
    size_t len = strlen(text);
    while (len > 0 && is_space(text[len - 1]))
        text[--len] = '\0';
    for (char *p = text; *p != '\0'; p++)
        if (is_space(*p))
            *p = ' ';
}

/* advice: an unknown name is one of owed's own, as there are no others in its statements. An account
 * without a right may be one that is meant to do nothing but fire. */
static const char *
advice(owed_status status, const char *sqlstate)
{
    if (strcmp(sqlstate, "42501") == 0)
        return ": this account has not the right; all but firing in SQL and making the tables takes "
               "usage on their schema, and select, insert, update and delete on the tables of owed, "
               "as those have that a relay runs as";
    return status == OWED_SCHEMA
        ? ": the tables of owed are missing or of another version: run owed "
          "init or owed migrate"
        : "";
}

owed_status
postgres_fail_lost(
    const struct postgres_db *conn, PGconn *handle, const char *what, owed_error *err)
{
    if (conn->is_overdue)
        return fail(err, OWED_UNAVAILABLE, "%s: no answer from %s within %lld ms", what,
            conn->place, (long long)(conn->options.statement_timeout_us / US_PER_MS));
    char text[sizeof err->text];
    postgres_sentence(handle, handle == NULL ? "" : PQerrorMessage(handle), text, sizeof text);
    return fail(err, OWED_UNAVAILABLE, "%s: the connection to %s was lost%s%s", what, conn->place,
        text[0] == '\0' ? "" : ": ", text);
}

owed_status
postgres_fail(
    const struct postgres_db *conn, const PGresult *result, const char *what, owed_error *err)
{
    const char *sqlstate = result == NULL ? NULL : PQresultErrorField(result, PG_DIAG_SQLSTATE);
    if (sqlstate == NULL)
        return postgres_fail_lost(conn, conn->handle, what, err);
    const char *said = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
    char text[sizeof err->text];
    postgres_sentence(conn->handle, or_empty(said), text, sizeof text);
    owed_status status = meaning(sqlstate);
    return fail_native(err, status, pack(sqlstate), "%s: %s (%s, SQLSTATE %s)%s", what, text,
        conn->place, sqlstate, advice(status, sqlstate));
}
