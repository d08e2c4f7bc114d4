/* SPDX-License-Identifier: MIT
 *
 * test_store_postgres.c - a test's database on PostgreSQL.
 */
#include "test_store_kind.h"

static const char helpers[] =
    "create function micros(timestamptz) returns bigint language sql stable as "
    "'select (extract(epoch from $1) * 1000000)::bigint';"
    "create function moment(bigint) returns timestamptz language sql stable as "
    "'select timestamptz ''epoch'' + $1 * interval ''1 microsecond''';"
    "create function refuse_row() returns trigger language plpgsql as "
    "'begin raise exception ''%'', tg_argv[0]; end';"
    "create function refuse(name text, event text, on_table text, fits text, message text) "
    "returns void language plpgsql as $body$ begin execute format('create trigger %I before %s on "
    "%I for each row when (%s) execute function refuse_row(%L)', name, event, on_table, fits, "
    "message); end $body$;"
    // What stands there before anything is made is what stays.
    "create table test_helper as select oid from pg_proc where pronamespace = "
    "'public'::regnamespace";

static const char empty[] =
    "do $$ declare it record; begin "
    "perform pg_terminate_backend(pid) from pg_stat_activity "
    "where datname = current_database() and pid <> pg_backend_pid(); "
    "for it in select tgname, tgrelid::regclass as on_table from pg_trigger "
    "where not tgisinternal and tgname not like 'owed\\_%' loop "
    "execute format('drop trigger %I on %s', it.tgname, it.on_table); end loop; "
    "for it in select relname, case relkind when 'v' then 'view' else 'table' end as kind "
    "from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'v') "
    "and relname not like 'owed\\_%' and relname <> 'test_helper' loop "
    "execute format('drop %s if exists %I cascade', it.kind, it.relname); end loop; "
    "for it in select oid::regprocedure as name from pg_proc where pronamespace = "
    "'public'::regnamespace and proname not like 'owed\\_%' "
    "and oid not in (select oid from test_helper) loop "
    "execute format('drop routine if exists %s cascade', it.name); end loop; "
    "for it in select relname from pg_class where relnamespace = 'public'::regnamespace "
    "and relkind = 'r' and relname like 'owed\\_%' and relname not in ('owed_schema', 'owed_guard') "
    "loop execute format('delete from %I', it.relname); end loop; "
    "for it in select relname from pg_class where relnamespace = 'public'::regnamespace "
    "and relkind = 'S' loop execute format('alter sequence %I restart', it.relname); end loop; "
    "end $$";

static void
empty_it(struct raw *raw)
{
    raw_run(raw, empty);
}

const struct server_kind postgres_server = {
    .scheme = "postgres",
    .helpers = helpers,
    .drop = "drop database %s with (force)",
    .empty_it = empty_it,
};
