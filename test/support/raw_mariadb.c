/* SPDX-License-Identifier: MIT
 *
 * raw_mariadb.c - raw.h on MariaDB.
 */
#include "raw_kind.h"

#include <inttypes.h>
#include <mysql.h>
#include <mysqld_error.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/moment.h"

#define DEADLOCKS 10 // in a row

static const char settings[] =
    "set sql_mode = concat(@@sql_mode, ',PIPES_AS_CONCAT,ANSI_QUOTES,NO_BACKSLASH_ESCAPES'), time_zone = '+00:00', "
    "innodb_lock_wait_timeout = 10, lock_wait_timeout = 10";

struct address {
    char user[64];
    char password[64];
    char host[128];
    char database[80];
    unsigned port;
};

/* mariadb://user[:password]@host[:port]/database, as tests write it. */
static bool
parse(const char *url, struct address *address)
{
    char who[130] = "";
    char where[140] = "";
    if (sscanf(url, "%*[a-z]://%129[^@]@%139[^/]/%79[^?]", who, where, address->database) != 3)
        return false;
    const char *colon = strchr(who, ':');
    snprintf(address->user, sizeof address->user, "%.*s", (int)strcspn(who, ":"), who);
    snprintf(address->password, sizeof address->password, "%s", colon == NULL ? "" : colon + 1);
    colon = strchr(where, ':');
    snprintf(address->host, sizeof address->host, "%.*s", (int)strcspn(where, ":"), where);
    address->port = colon == NULL ? 0 : (unsigned)strtoul(colon + 1, NULL, 10);
    return true;
}

static bool mariadb_run(
    void *native, const char *statements, raw_take take, void *state, struct buf *error);

static void *
mariadb_open(const char *url, struct buf *error)
{
    struct address to = {0};
    if (!parse(url, &to)) {
        buf_printf(error, "mariadb://user@host:port/database is meant");
        return NULL;
    }
    MYSQL *conn = mysql_init(NULL);
    mysql_options(conn, MYSQL_SET_CHARSET_NAME, "utf8mb4");
    if (mysql_real_connect(conn, to.host, to.user, to.password, to.database, to.port, NULL,
            CLIENT_MULTI_STATEMENTS) != NULL &&
        mariadb_run(conn, settings, NULL, NULL, error))
        return conn;
    buf_printf(error, "%s", mysql_error(conn));
    mysql_close(conn);
    return NULL;
}

static void
mariadb_close(void *native)
{
    mysql_close(native);
}

static void
read_value(const char *text, const MYSQL_FIELD *field, struct raw_value *value)
{
    bool is_time = field->type == MYSQL_TYPE_DATETIME || field->type == MYSQL_TYPE_TIMESTAMP;
    value->is_number = is_time || IS_NUM(field->type);
    value->text = text;
    if (text == NULL || !is_time)
        return;
    char moment[MOMENT_BYTES];
    int64_t at_us = 0;
    snprintf(moment, sizeof moment, "%sZ", text);
    if (strlen(moment) > 10)
        moment[10] = 'T';
    if (!moment_read(moment, &at_us))
        return;
    snprintf(value->number, sizeof value->number, "%" PRId64, at_us);
    value->text = value->number;
}

static void
take_rows(MYSQL_RES *result, raw_take take, void *state)
{
    struct raw_value values[RAW_COLUMNS];
    unsigned count = mysql_num_fields(result);
    count = count < RAW_COLUMNS ? count : RAW_COLUMNS;
    for (MYSQL_ROW row = mysql_fetch_row(result); row != NULL; row = mysql_fetch_row(result)) {
        for (unsigned i = 0; i < count; i++)
            read_value(row[i], mysql_fetch_field_direct(result, i), &values[i]);
        if (take != NULL)
            take(state, values, count);
    }
    mysql_free_result(result);
}

static int
query(MYSQL *conn, const char *statements)
{
    return mysql_real_query(conn, statements, strlen(statements));
}

/* is_deadlock: nothing came of a statement by itself, which met a relay at its work. */
static bool
is_deadlock(MYSQL *conn, const char *statements)
{
    unsigned status = 0;
    mariadb_get_infov(conn, MARIADB_CONNECTION_SERVER_STATUS, &status);
    return mysql_errno(conn) == ER_LOCK_DEADLOCK && strchr(statements, ';') == NULL &&
        (status & SERVER_STATUS_IN_TRANS) == 0;
}

static bool
mariadb_run(void *native, const char *statements, raw_take take, void *state, struct buf *error)
{
    // A borrowed connection takes one statement at a time.
    int failed = strchr(statements, ';') == NULL
        ? 0
        : mysql_set_server_option(native, MYSQL_OPTION_MULTI_STATEMENTS_ON);
    if (failed == 0)
        failed = query(native, statements);
    for (int tries = 1; tries < DEADLOCKS && failed != 0 && is_deadlock(native, statements);
         tries++)
        failed = query(native, statements);
    while (failed == 0) {
        MYSQL_RES *result = mysql_store_result(native);
        if (result != NULL)
            take_rows(result, take, state);
        failed = mysql_next_result(native);
    }
    if (failed > 0)
        buf_printf(error, "%s", mysql_error(native));
    return failed < 0; // -1: there is no more
}

static bool
mariadb_in_transaction(void *native)
{
    unsigned status = 0;
    mariadb_get_infov(native, MARIADB_CONNECTION_SERVER_STATUS, &status);
    return (status & SERVER_STATUS_IN_TRANS) != 0;
}

static int64_t
mariadb_session(void *native)
{
    return (int64_t)mysql_thread_id(native);
}

struct look {
    char thread[40]; // as the status names it
    struct raw_locks locks;
};

/* "LOCK WAIT 2 lock struct(s), heap size 1128, 1 row lock(s)", then "thread id 8,": a transaction. */
static void
read_transactions(void *state, const struct raw_value *values, size_t count)
{
    struct look *look = state;
    const char *thread = count < 3 ? NULL : strstr(values[2].text, look->thread);
    if (thread == NULL)
        return;
    const char *start = thread;
    while (start > values[2].text && strncmp(start, "---TRANSACTION", 14) != 0)
        start--;
    const char *wait = strstr(start, "LOCK WAIT");
    look->locks.is_waiting = wait != NULL && wait < thread;
    const char *rows = strstr(start, " row lock(s)");
    if (rows == NULL || rows > thread)
        return;
    while (rows[-1] >= '0' && rows[-1] <= '9')
        rows--;
    look->locks.rows = strtoll(rows, NULL, 10);
}

/* information_schema.innodb_trx will not do: it stays as it is while anybody reads it more often than
 * each tenth of a second, and other tests do. */
static struct raw_locks
mariadb_locks(void *native, int64_t session)
{
    struct look look = {0};
    struct buf error;
    snprintf(look.thread, sizeof look.thread, "thread id %" PRId64 ",", session);
    buf_init(&error, 4096);
    mariadb_run(native, "show engine innodb status", read_transactions, &look, &error);
    buf_done(&error);
    return look.locks;
}

static void
mariadb_several(void *native, bool on)
{
    mysql_set_server_option(
        native, on ? MYSQL_OPTION_MULTI_STATEMENTS_ON : MYSQL_OPTION_MULTI_STATEMENTS_OFF);
}

const struct raw_kind raw_mariadb = {
    .scheme = "mariadb",
    .open = mariadb_open,
    .close = mariadb_close,
    .run = mariadb_run,
    .in_transaction = mariadb_in_transaction,
    .session = mariadb_session,
    .locks = mariadb_locks,
    .several = mariadb_several,
    .fire = "call owed_fire('%s', '%s')",
    .refuse = "create trigger refuse_%s_%s before %s on %s for each row if %s then "
              "signal sqlstate '45000' set message_text = '%s'; end if",
    .allow = "drop trigger refuse_%s_%s -- %s",
};
