/* SPDX-License-Identifier: MIT
 *
 * test_postgres_many.c - events that are written together with what is owed for them, by one statement.
 */
#include "world.h"

#include "raw.h"
#include "store/events.h"

#define OTHER "shop.Other"
#define MANY 3

static const struct own_receiver own = {
    .event_name = EVENT, .key = "shop.own", .lane = LANE, .kind = "inside", .max_attempts = 5};

/* fire_several fires so many in the transaction that is open; the dedupe key is the first one's. */
static void
fire_several(struct world *world, const char *dedupe_key, size_t own_count)
{
    struct new_event events[MANY];
    struct written_event written[MANY];
    size_t done = 0;
    bool is_torn = false;
    for (size_t i = 0; i < MANY; i++)
        events[i] = an_event(EVENT);
    events[0].dedupe_key = dedupe_key;
    events[0].due_at_us = NOW - 5;
    events[1].due_at_us = NOW + 5;
    events[2].name = OTHER;
    const struct new_events all = {events, MANY, &own, own_count};
    assert_ok(store_insert_events(world->db, &all, written, &done, &is_torn, &world->err));
    assert_int_equal(done, MANY);
    for (size_t i = 0; i < MANY; i++)
        assert_true(written[i].is_new);
}

static void
commit_several(struct world *world, const char *dedupe_key)
{
    assert_ok(store_begin(world->db, true, &world->err));
    fire_several(world, dedupe_key, 0);
    assert_ok(store_commit(world->db, &world->err));
}

/* assert_owed holds what is owed for the newest events, "receiver kind target+due", due after NOW in us. */
static void
assert_owed(struct world *world, const char *expected)
{
    char text[512];
    raw_text(plain(world),
        "select coalesce(string_agg(receiver_key || ' ' || kind || ' ' || target || "
        "to_char(micros(available_at) - 4102444800000000, 'SGFM9'), ', ' order by event_id, receiver_key), '')"
        " from owed_delivery where event_id > (select max(id) - 3 from owed_event)",
        text);
    assert_string_equal(text, expected);
}

static void
they_are_owed_by_their_own_statement_to_whom_the_trigger_would_owe_them(void **state)
{
    struct world *world = *state;
    struct catalogue_receiver receivers[] = {a_receiver("shop.a"), a_receiver("shop.any"),
        a_receiver("shop.gone"), a_receiver("shop.going"), a_receiver("shop.inline"),
        a_receiver("shop.later"), a_receiver("shop.other"), a_receiver("shop.targets")};
    receivers[1].event_name = "*";
    receivers[4].mode = "inline";
    receivers[5].due_us = 3;
    receivers[6].event_name = OTHER;
    receivers[7].targets = "callback";
    publish(world, receivers, COUNT(receivers));
    raw_runf(plain(world),
        "update owed_receiver set removed_at = moment(%lld) where key = 'shop.gone'",
        (long long)(NOW - GRACE));
    raw_runf(plain(world),
        "update owed_receiver set removed_at = moment(%lld) where key = 'shop.going'",
        (long long)(NOW - GRACE + 1));
    const char *expected =
        "shop.a inside +0, shop.any inside +0, shop.going inside +0, shop.later inside +3,"
        " shop.targets expand +0, shop.a inside +5, shop.any inside +5, shop.going inside +5,"
        " shop.later inside +8, shop.targets expand +5, shop.any inside +0, shop.other inside +0";
    commit_several(world, "a key");
    assert_owed(world, expected);
    world->store.is_spoilt = true;
    raw_run(plain(world), "alter table owed_event disable trigger owed_event_fan_out");
    commit_several(world, NULL);
    assert_owed(world, expected);
    assert_int_equal(count_of(world, "owed_event"), 2 * MANY);
}

static void
what_the_transaction_fires_after_them_is_owed_by_the_trigger(void **state)
{
    struct world *world = *state;
    publish_keys(world, (const char *[]){"shop.a", NULL});
    assert_ok(store_begin(world->db, true, &world->err));
    fire_several(world, NULL, 0);
    fire(world, EVENT);
    assert_ok(store_commit(world->db, &world->err));
    assert_owed(world, "shop.a inside +5, shop.a inside +0");
    assert_int_equal(count_of(world, "owed_delivery"), 3);
}

static void
what_an_applications_trigger_fires_with_them_is_owed_too(void **state)
{
    struct world *world = *state;
    struct catalogue_receiver receivers[] = {a_receiver("shop.a"), a_receiver("shop.echo")};
    receivers[1].event_name = "shop.Echo";
    publish(world, receivers, COUNT(receivers));
    world->store.is_spoilt = true;
    raw_run(plain(world),
        "create function app_echo() returns trigger language plpgsql as"
        " $$ begin perform owed_fire('shop.Echo', '{}'); return null; end $$;"
        "create trigger app_echo after insert on owed_event for each row"
        " when (new.name = '" EVENT "') execute function app_echo()");
    commit_several(world, NULL);
    assert_int_equal(count_of(world, "owed_delivery where receiver_key = 'shop.a'"), 2);
    assert_int_equal(count_of(world, "owed_delivery where receiver_key = 'shop.echo'"), 2);
}

static void
what_an_applications_trigger_makes_of_them_is_what_is_owed(void **state)
{
    struct world *world = *state;
    struct catalogue_receiver receivers[] = {
        a_receiver("shop.a"), a_receiver("shop.any"), a_receiver("shop.late")};
    receivers[1].event_name = "*";
    receivers[2].event_name = "shop.Late";
    publish(world, receivers, COUNT(receivers));
    world->store.is_spoilt = true;
    raw_run(plain(world),
        "create function app_change() returns trigger language plpgsql as $$ begin"
        " if new.name = '" OTHER "' then new.suppressed_reason = 'no'; end if;"
        " if new.due_at > new.recorded_at then new.name = 'shop.Late';"
        " new.due_at = new.due_at + interval '2 microseconds'; end if;"
        " return new; end $$;"
        "create trigger app_change before insert on owed_event for each row"
        " execute function app_change()");
    commit_several(world, NULL);
    assert_owed(
        world, "shop.a inside +0, shop.any inside +0, shop.any inside +7, shop.late inside +7");
}

static void
a_receiver_of_the_process_is_owed_them_whatever_the_catalogue_has_it_as(void **state)
{
    struct world *world = *state;
    static const char *const other_than_published[] = {"event_name = 'shop.Elsewhere'",
        "event_name = '" EVENT "', mode = 'inline'",
        "mode = 'durable', removed_at = moment(4102443000000000)"};
    publish_keys(world, (const char *[]){own.key, NULL});
    for (size_t i = 0; i < COUNT(other_than_published); i++) {
        raw_runf(plain(world), "update owed_receiver set %s", other_than_published[i]);
        assert_ok(store_begin(world->db, true, &world->err));
        fire_several(world, NULL, 1);
        assert_ok(store_commit(world->db, &world->err));
        assert_owed(world, "shop.own inside -5, shop.own inside +5");
    }
}

static void
a_large_catalogue_is_not_walked_for_them(void **state)
{
    struct world *world = *state;
    publish_keys(world, (const char *[]){own.key, NULL});
    raw_run(plain(world),
        "insert into owed_receiver (key, app, event_name, mode, kind, lane, max_attempts, published_at)"
        " select 'a' || i, 'x', 'a' || i, 'durable', 'inside', 'x/default', 5, now()"
        " from generate_series(1, 5000) as i; analyze owed_receiver");
    assert_ok(store_begin(world->db, true, &world->err));
    fire_several(world, NULL, 1);
    int64_t read = raw_number(raw_of(world->db),
        "select seq_tup_read + idx_tup_fetch from pg_stat_xact_user_tables"
        " where relid = 'owed_receiver'::regclass");
    assert_in_range(read, 1, 20);
    assert_ok(store_commit(world->db, &world->err));
}

static void
endpoints_get_them(void **state)
{
    struct world *world = *state;
    struct catalogue_receiver receivers[] = {a_receiver("shop.a"), a_receiver("owed.webhooks")};
    receivers[1].targets = "endpoints";
    receivers[1].kind = "outside";
    receivers[1].event_name = "*";
    publish(world, receivers, COUNT(receivers));
    raw_run(plain(world),
        "insert into owed_endpoint (id, digest, url, secret, created_at, updated_at) values"
        " ('ep', sha256('ep'), 'https://a.example', 'secret', now(), now());"
        "insert into owed_subscription (endpoint_id, event_name) values ('ep', '" EVENT "')");
    commit_several(world, NULL);
    assert_owed(world,
        "owed.webhooks outside ep+0, shop.a inside +0, owed.webhooks outside ep+5, shop.a inside +5");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(they_are_owed_by_their_own_statement_to_whom_the_trigger_would_owe_them),
        TEST(what_the_transaction_fires_after_them_is_owed_by_the_trigger),
        TEST(what_an_applications_trigger_fires_with_them_is_owed_too),
        TEST(what_an_applications_trigger_makes_of_them_is_what_is_owed),
        TEST(a_receiver_of_the_process_is_owed_them_whatever_the_catalogue_has_it_as),
        TEST(a_large_catalogue_is_not_walked_for_them),
        TEST(endpoints_get_them),
    };
    return run_on_stores("postgres", "postgres many", tests, COUNT(tests));
}
