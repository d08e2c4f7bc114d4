/* SPDX-License-Identifier: MIT
 *
 * test_store_mariadb.c - a test's database on MariaDB.
 */
#include "test_store_kind.h"

#include "base/buf.h"

static const char helpers[] = "create function micros(t datetime(6)) returns bigint deterministic "
                              "return timestampdiff(microsecond, '1970-01-01', t);"
                              "create function moment(n bigint) returns datetime(6) deterministic "
                              "return '1970-01-01' + interval n microsecond";

/* Each row is a statement, here and below. Where ids begin anew nothing may be left of the old ones: a
 * deleted entry of the same key keeps those who insert waiting for each other until it is purged. */
static const char kills[] = "select concat('kill ', id) from information_schema.processlist "
                            "where db = database() and id <> connection_id()";

static const char statements[] =
    "select concat('drop trigger \"', trigger_name, '\"') "
    "from information_schema.triggers where trigger_schema = database() "
    "and trigger_name not like 'owed\\_%' "
    "union all select concat('drop ', if(table_type = 'VIEW', 'view', 'table'), ' \"', table_name, "
    "'\"') from information_schema.tables where table_schema = database() "
    "and table_name not like 'owed\\_%' "
    "union all select concat('drop ', routine_type, ' \"', routine_name, '\"') "
    "from information_schema.routines where routine_schema = database() "
    "and routine_name not like 'owed\\_%' and routine_name not in ('micros', 'moment') "
    "union all select concat(if(auto_increment > 1, 'truncate table \"', 'delete from \"'), table_name, "
    "'\"') from information_schema.tables "
    "where table_schema = database() and table_type <> 'VIEW' and table_name like 'owed\\_%' "
    "and table_name not in ('owed_schema', 'owed_guard')";

static void
add_statement(void *state, const char *text)
{
    buf_printf(state, "%s; ", text);
}

/* kill ends a session, which may just have ended by itself. */
static void
kill_session(void *state, const char *text)
{
    raw_try(state, text);
}

static void
empty_it(struct raw *raw)
{
    raw_rows(raw, kills, kill_session, raw);
    struct buf script;
    buf_init(&script, 1 << 20);
    buf_puts(&script, "set foreign_key_checks = 0; ");
    raw_rows(raw, statements, add_statement, &script);
    raw_run(raw, buf_text(&script));
    buf_done(&script);
}

const struct server_kind mariadb_server = {
    .scheme = "mariadb",
    .helpers = helpers,
    .drop = "drop database %s",
    .empty_it = empty_it,
};
