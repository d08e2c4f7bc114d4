/* SPDX-License-Identifier: MIT
 *
 * test_postgres_sql.c - firing from any client of PostgreSQL: what it takes, what it refuses, what it
 * leaves alone, and who may.
 */
#include "world.h"

#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

static void
a_row_written_by_hand_fans_out_whatever_the_search_path_of_its_writer(void **state)
{
    struct world *world = *state;
    struct catalogue_receiver receiver = a_receiver("shop.billing");
    publish(world, &receiver, 1);
    raw_run(plain(world),
        "begin; create temp table owed_receiver on commit drop as"
        " select * from public.owed_receiver limit 0; set local search_path = pg_catalog;"
        "insert into public.owed_event (uid, name, payload, occurred_at, recorded_at, due_at)"
        " values ('\\x00112233445566778899aabbccddeeff', '" EVENT "', '{}', now(), now(), now());"
        "select public.owed_fire('" EVENT "', '{}'); commit");
    assert_int_equal(count_of(world, "owed_delivery"), 2);
}

static void
rows_of_one_statement_fan_out_each_by_its_own_name(void **state)
{
    struct world *world = *state;
    struct catalogue_receiver receivers[] = {a_receiver("shop.billing"), a_receiver("shop.other")};
    receivers[1].event_name = "shop.Other";
    publish(world, receivers, COUNT(receivers));
    raw_run(plain(world),
        "insert into owed_event (uid, name, payload, occurred_at, recorded_at, due_at,"
        " suppressed_reason) select uuid_send(gen_random_uuid()), g.name, '{}', now(), now(), now(),"
        " g.reason from unnest('{" EVENT ",shop.Other," EVENT ",shop.Another," EVENT "}'::text[],"
        " '{\"\",\"\",\"\",\"\",quiet}'::text[]) as g (name, reason)");
    assert_int_equal(count_of(world, "owed_event"), 5);
    assert_int_equal(count_of(world, "owed_delivery"), 3);
    assert_int_equal(raw_number(plain(world),
                         "select count(*) from owed_delivery as d join owed_event as e"
                         " on e.id = d.event_id where (e.name = 'shop.Other') ="
                         " (d.receiver_key = 'shop.other') and e.suppressed_reason = ''"),
        3);
}

/* A trigger for each row, as it was once: both at a time would owe everything twice. */
static void
a_trigger_of_an_older_release_is_replaced(void **state)
{
    struct world *world = *state;
    static const char *const keys[] = {"shop.billing", NULL};
    publish_keys(world, keys);
    raw_run(plain(world),
        "drop trigger owed_event_fan_out on owed_event;"
        "create trigger owed_event_fan_out after insert on owed_event for each row"
        " when (new.suppressed_reason = '') execute function owed_event_fan_out();"
        "update owed_schema set checksum = 'old' where name = 'owed_event_fan_out'");
    int applied = 0;
    assert_ok(store_migrate(world->db, NOW, &applied, &world->err));
    assert_true(applied > 0);
    only_delivery(world, fire(world, EVENT));
    only_delivery(world, fire(world, EVENT));
}

static void
every_option_is_kept_and_named(void **state)
{
    struct world *world = *state;
    raw_run(plain(world),
        "select owed_fire(name => 'shop.X', payload => '{}', version => 3, dedupe_key => 'k',"
        " due_at => '2130-01-31 09:30+02', occurred_at => '2020-01-31 09:30+00', actor_key => 'u7',"
        " actor_label => 'Ann', correlation_id => 'c', causation_id => 12, traceparent => 't',"
        " scope => '{\"shop\": 1}')");
    assert_int_equal(raw_number(plain(world),
                         "select count(*) from owed_event where name = 'shop.X' and version = 3"
                         " and dedupe_key = 'k' and due_at = '2130-01-31 07:30+00'"
                         " and occurred_at = '2020-01-31 09:30+00' and actor_key = 'u7'"
                         " and actor_label = 'Ann' and correlation_id = 'c' and causation_id = 12"
                         " and traceparent = 't' and scope = '{\"shop\": 1}'"
                         " and recorded_at between now() - interval '1 min' and now()"),
        1);
    raw_run(plain(world),
        "select owed_fire('shop.Y', '{}', null, null, null, null, null, null, null,"
        " null, null, null)");
    assert_int_equal(raw_number(plain(world),
                         "select count(*) from owed_event where name = 'shop.Y' and version = 1"
                         " and dedupe_key is null and due_at = recorded_at and scope = '{}'"),
        1);
}

static void
payload_bytes_arrive_as_they_were_fired(void **state)
{
    struct world *world = *state;
    static const char *const payloads[] = {"{\"b\": 1,  \"a\": 1.10, \"a\": 1e400}",
        "{\"nul\": \"\\u0000\", \"half\": \"\\ud800\"}", " [12345678901234567890123] ",
        "\"\xf0\x9f\x8e\x89\"", "null"};
    static const char *const types[] = {"", "::text", "::json", "::varchar"};
    struct buf call;
    buf_init(&call, 4096);
    for (size_t i = 0; i < COUNT(payloads) * COUNT(types); i++) {
        const char *payload = payloads[i / COUNT(types)];
        int64_t id = raw_numberf(
            plain(world), "select owed_fire('shop.X', '%s'%s)", payload, types[i % COUNT(types)]);
        buf_clear(&call);
        buf_printf(&call, "select payload from owed_event where id = %lld", (long long)id);
        char text[256];
        raw_text(plain(world), buf_text(&call), text);
        assert_string_equal(text, payload);
    }
    buf_done(&call);
}

static void
what_is_not_fit_is_refused_in_words_and_nothing_is_written(void **state)
{
    struct world *world = *state;
    static const struct refusal cases[] = {
        {"null, '{}'", "name must be 1 to 255 characters"},
        {"'', '{}'", "name must be 1 to 255 characters"},
        {"'shop X', '{}'", "name must be 1 to 255 characters"},
        {"e'shop.X\\n', '{}'", "name must be 1 to 255 characters"},
        {"'caf\xc3\xa9', '{}'", "name must be 1 to 255 characters"},
        {"repeat('x', 256), '{}'", "name must be 1 to 255 characters"},
        {"'a', null", "payload must be JSON, not null"},
        {"'a', ''", "payload is not valid JSON"},
        {"'a', '{'", "payload is not valid JSON"},
        {"'a', '{}{}'", "payload is not valid JSON"},
        {"'a', '{}'::jsonb", "payload must be text or json"},
        {"'a', '\"' || repeat('x', 16777215) || '\"'", "payload is over 16 MiB"},
        {"'a', repeat('[', 513) || repeat(']', 513)", "payload is nested deeper than 512"},
        {"'a', repeat('[{\"x\":', 257) || '1' || repeat('}]', 257)",
            "payload is nested deeper than 512"},
        {"'a', repeat('[', 100000) || repeat(']', 100000)", "payload is nested deeper than 512"},
        {"'a', '{}', version => 0", "version must be a whole number"},
        {"'a', '{}', version => 32768", "version must be a whole number"},
        {"'a', '{}', dedupe_key => repeat('\xc3\xa9', 128)",
            "dedupe_key must be text of at most 255 bytes"},
        {"'a', '{}', actor_label => repeat('x', 256)", "actor_label must be text of at most 255"},
        {"'a', '{}', correlation_id => repeat('x', 256)", "correlation_id and traceparent must be"},
        {"'a', '{}', due_at => 'infinity'", "due_at and occurred_at must be moments"},
        {"'a', '{}', occurred_at => '1969-12-31 23:59+00'",
            "due_at and occurred_at must be moments"},
        {"'a', '{}', scope => '[]'", "scope must be a JSON object"},
        {"'a', '{}', scope => '{'", "scope is not valid JSON"},
    };
    check_refused(world, "select owed_fire", cases, COUNT(cases));
    // The longest and the deepest that is taken; brackets in texts are no depth.
    raw_run(plain(world),
        "select owed_fire(repeat('x', 255), '\"' || repeat('[', 16777214) || '\"',"
        " dedupe_key => repeat('k', 255));"
        "select owed_fire('a', repeat('[{\"x[\": ', 256) || '\"\\\"[\"' || repeat('}]', 256))");
    assert_int_equal(count_of(world, "owed_event"), 2);
}

static void
a_rollback_takes_event_and_deliveries_with_it(void **state)
{
    struct world *world = *state;
    struct catalogue_receiver receiver = a_receiver("shop.billing");
    publish(world, &receiver, 1);
    raw_run(plain(world),
        "begin; select owed_fire('" EVENT "', '{}'); savepoint s; select owed_fire('" EVENT
        "', '{}'); rollback to s; commit");
    assert_int_equal(count_of(world, "owed_event"), 1);
    assert_int_equal(count_of(world, "owed_delivery"), 1);
    raw_run(plain(world), "begin; select owed_fire('" EVENT "', '{}'); rollback");
    assert_int_equal(count_of(world, "owed_event"), 1);
}

static void
of_two_that_fire_one_key_the_second_waits_and_learns_what_became_of_the_first(void **state)
{
    struct world *world = *state;
    struct catalogue_receiver receiver = a_receiver("shop.billing");
    publish(world, &receiver, 1);
    for (int commits = 0; commits < 2; commits++) {
        raw_run(plain(world), "delete from owed_event; delete from owed_delivery; begin");
        int64_t id =
            raw_number(plain(world), "select owed_fire('" EVENT "', '{}', dedupe_key => 'A-1')");
        struct raw *rival = raw_open(world->url);
        PGconn *conn = raw_native(rival);
        assert_int_equal(
            PQsendQuery(conn, "select owed_fire('" EVENT "', '[1]', dedupe_key => 'A-1')"), 1);
        raw_await_waiter(plain(world), raw_session(rival));
        raw_run(plain(world), commits ? "commit" : "rollback");
        PGresult *result = PQgetResult(conn);
        assert_int_equal(PQresultStatus(result), PGRES_TUPLES_OK);
        assert_true((strtoll(PQgetvalue(result, 0, 0), NULL, 10) == id) == commits);
        PQclear(result);
        raw_close(rival);
        assert_int_equal(count_of(world, "owed_event"), 1);
        assert_int_equal(count_of(world, "owed_delivery"), 1);
    }
}

/* as runs statements as a role; what it may not do fails with the words, NULL: it may. */
static void
as(struct world *world, const char *role, const char *statements, const char *words)
{
    raw_runf(plain(world), "set session authorization %s", role);
    if (words == NULL)
        raw_run(plain(world), statements);
    else
        raw_refused(plain(world), statements, words);
    raw_run(plain(world), "reset session authorization; reset search_path");
}

#define ROLE "owed_test_producer"

static void
who_may_fire_may_do_nothing_else(void **state)
{
    struct world *world = *state;
    struct catalogue_receiver receiver = a_receiver("shop.billing");
    publish(world, &receiver, 1);
    world->store.is_spoilt = true;
    raw_run(plain(world),
        "do $$ begin create role " ROLE "; exception when duplicate_object then null; end $$;"
        "create schema trap; create table trap.owed_event (like owed_event including all);"
        "create table trap.owed_delivery (like owed_delivery including all);"
        "grant usage on schema trap to " ROLE "; grant all on all tables in schema trap to " ROLE);
    as(world, ROLE, "select owed_fire('" EVENT "', '{}')",
        "permission denied for function owed_fire");
    raw_run(plain(world),
        "grant execute on function owed_fire(text, text, integer, text, timestamptz, timestamptz,"
        " text, text, text, bigint, text, text) to " ROLE);
    as(world, ROLE, "select owed_fire('" EVENT "', '{}', dedupe_key => 'k', due_at => now())",
        NULL);
    as(world, ROLE, "set search_path = trap, public; select owed_fire('" EVENT "', '{}')", NULL);
    as(world, ROLE,
        "create temp table owed_event (like trap.owed_event including all);"
        "select owed_fire('" EVENT "', '{}'); drop table pg_temp.owed_event",
        NULL);
    assert_int_equal(count_of(world, "owed_event"), 3);
    assert_int_equal(count_of(world, "owed_delivery"), 3);
    as(world, ROLE, "select payload from owed_event", "permission denied");
    as(world, ROLE, "delete from owed_delivery", "permission denied");
    as(world, ROLE, "insert into owed_event (uid) values ('')", "permission denied");
    as(world, ROLE, "select owed_settle(1, '', 'epoch', 'succeeded', 1, now(), '', now(), now())",
        "permission denied");
    // What was granted outlives the next migrate.
    assert_ok(store_migrate(world->db, NOW, NULL, &world->err));
    as(world, ROLE, "select owed_fire('" EVENT "', '{}')", NULL);
    raw_run(plain(world), "drop owned by " ROLE "; drop role " ROLE "; drop schema trap cascade");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_row_written_by_hand_fans_out_whatever_the_search_path_of_its_writer),
        TEST(rows_of_one_statement_fan_out_each_by_its_own_name),
        TEST(a_trigger_of_an_older_release_is_replaced),
        TEST(every_option_is_kept_and_named),
        TEST(payload_bytes_arrive_as_they_were_fired),
        TEST(what_is_not_fit_is_refused_in_words_and_nothing_is_written),
        TEST(a_rollback_takes_event_and_deliveries_with_it),
        TEST(of_two_that_fire_one_key_the_second_waits_and_learns_what_became_of_the_first),
        TEST(who_may_fire_may_do_nothing_else),
    };
    return run_on_stores("postgres", "postgres sql", tests, COUNT(tests));
}
