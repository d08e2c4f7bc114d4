/* SPDX-License-Identifier: MIT
 *
 * test_postgres_alone.c - an event that is all its transaction writes, committed in one round trip together
 * with what is owed for it.
 */
#include "world.h"

#include "raw.h"

static const struct new_delivery own = {.receiver_key = "shop.own",
    .lane = LANE,
    .kind = "inside",
    .max_attempts = 5,
    .available_at_us = NOW};

/* commit_alone fires EVENT in a transaction of its own, without being told its id. */
static void
commit_alone(struct world *world, size_t own_count)
{
    struct new_event event = an_event(EVENT);
    event.own = &own;
    event.own_count = own_count;
    event.may_wait = true;
    int64_t id = 0;
    bool fresh = false;
    assert_ok(store_begin(world->db, true, &world->err));
    assert_ok(store_insert_event(world->db, &event, &id, &fresh, &world->err));
    assert_int_equal(id, 0);
    assert_ok(store_commit(world->db, &world->err));
}

/* get_ready has the statement prepared, by an event that nobody is owed. */
static void
get_ready(struct world *world)
{
    struct new_event event = an_event("shop.Ready");
    event.may_wait = true;
    int64_t id = 0;
    bool fresh = false;
    assert_ok(store_begin(world->db, true, &world->err));
    assert_ok(store_insert_event(world->db, &event, &id, &fresh, &world->err));
    assert_ok(store_commit(world->db, &world->err));
    assert_true(id > 0);
}

/* assert_owed holds what is owed for the newest event to "receiver target due" of each, after NOW in us. */
static void
assert_owed(struct world *world, const char *expected)
{
    char text[256];
    raw_text(plain(world),
        "select coalesce(string_agg(receiver_key || ' ' || kind || ' ' || target || '+'"
        " || micros(available_at) - 4102444800000000, ', ' order by receiver_key), '')"
        " from owed_delivery where event_id = (select max(id) from owed_event)",
        text);
    assert_string_equal(text, expected);
}

/* put_trigger_off: who is owed something then is owed it by the event's own statement. */
static void
put_trigger_off(struct world *world)
{
    world->store.is_spoilt = true;
    raw_run(plain(world), "alter table owed_event disable trigger owed_event_fan_out");
}

static void
it_is_owed_by_its_own_statement_to_whom_the_trigger_would_owe_it(void **state)
{
    struct world *world = *state;
    struct catalogue_receiver receivers[] = {a_receiver("shop.a"), a_receiver("shop.any"),
        a_receiver("shop.gone"), a_receiver("shop.going"), a_receiver("shop.inline"),
        a_receiver("shop.later"), a_receiver("shop.other"), a_receiver("shop.targets")};
    receivers[1].event_name = "*";
    receivers[4].mode = "inline";
    receivers[5].due_us = 3;
    receivers[6].event_name = "shop.Other";
    receivers[7].targets = "callback";
    publish(world, receivers, COUNT(receivers));
    raw_runf(plain(world),
        "update owed_receiver set removed_at = moment(%lld) where key = 'shop.gone'",
        (long long)(NOW - GRACE));
    raw_runf(plain(world),
        "update owed_receiver set removed_at = moment(%lld) where key = 'shop.going'",
        (long long)(NOW - GRACE + 1));
    const char *expected = "shop.a inside +0, shop.any inside +0, shop.going inside +0, "
                           "shop.later inside +3, shop.targets expand +0";
    get_ready(world);
    fire(world, EVENT);
    assert_owed(world, expected);
    put_trigger_off(world);
    commit_alone(world, 0);
    assert_owed(world, expected);
    assert_int_equal(count_of(world, "owed_event"), 3);
}

static void
a_receiver_of_the_process_is_owed_it_once_whether_the_catalogue_has_it_or_not(void **state)
{
    struct world *world = *state;
    publish_keys(world, (const char *[]){"shop.a", NULL});
    get_ready(world);
    commit_alone(world, 1);
    assert_owed(world, "shop.a inside +0, shop.own inside +0");
    assert_int_equal(count_of(world, "owed_event"), 2);

    struct catalogue_receiver receiver = a_receiver(own.receiver_key);
    publish(world, &receiver, 1);
    commit_alone(world, 1);
    assert_owed(world, "shop.a inside +0, shop.own inside +0");
    // As long as it is published for another event the catalogue has it not.
    raw_run(
        plain(world), "update owed_receiver set event_name = 'shop.Other' where key = 'shop.own'");
    commit_alone(world, 1);
    assert_owed(world, "shop.a inside +0, shop.own inside +0");
    assert_int_equal(count_of(world, "owed_event"), 4);
}

static void
where_the_catalogue_lacks_a_receiver_that_is_not_tried_again_for_a_while(void **state)
{
    struct world *world = *state;
    get_ready(world);
    commit_alone(world, 1);
    publish_keys(world, (const char *[]){own.receiver_key, NULL});
    put_trigger_off(world);
    publish_keys(world, (const char *[]){"shop.a", NULL});
    commit_alone(world, 1);
    assert_owed(world, "shop.own inside +0"); // by the process: the trigger is off
    for (int i = 0; i < 200; i++)
        commit_alone(world, 1);
    assert_owed(world, "shop.a inside +0, shop.own inside +0");
}

static void
endpoints_get_it(void **state)
{
    struct world *world = *state;
    struct catalogue_receiver receiver = a_receiver("owed.webhooks");
    receiver.targets = "endpoints";
    receiver.kind = "outside";
    publish(world, &receiver, 1);
    raw_run(plain(world),
        "insert into owed_endpoint (id, digest, url, secret, created_at, updated_at) values"
        " ('ep', sha256('ep'), 'https://a.example', 'secret', now(), now());"
        "insert into owed_subscription (endpoint_id, event_name) values ('ep', '*')");
    get_ready(world);
    commit_alone(world, 0);
    assert_owed(world, "owed.webhooks outside ep+0");
    assert_int_equal(count_of(world, "owed_event"), 2);
}

static void
what_the_session_fires_after_it_is_owed_by_the_trigger(void **state)
{
    struct world *world = *state;
    publish_keys(world, (const char *[]){"shop.a", NULL});
    get_ready(world);
    commit_alone(world, 0);
    assert_int_equal(count_of(world, "owed_delivery"), 1);
    fire(world, EVENT);
    assert_owed(world, "shop.a inside +0");
    assert_int_equal(count_of(world, "owed_delivery"), 2);
}

static void
one_that_goes_with_another_statement_is_owed_by_the_trigger_as_is_what_follows(void **state)
{
    struct world *world = *state;
    publish_keys(world, (const char *[]){"shop.a", NULL});
    get_ready(world);
    struct new_event event = an_event(EVENT);
    event.may_wait = true;
    int64_t id = 0;
    bool fresh = false;
    assert_ok(store_begin(world->db, true, &world->err));
    for (int i = 0; i < 2; i++) {
        event.uid[0]++;
        assert_ok(store_insert_event(world->db, &event, &id, &fresh, &world->err));
    }
    assert_true(id > 0);
    assert_ok(store_commit(world->db, &world->err));
    assert_int_equal(count_of(world, "owed_delivery"), 2);
}

static void
what_an_applications_trigger_makes_of_it_is_what_is_owed(void **state)
{
    struct world *world = *state;
    struct catalogue_receiver receivers[] = {
        a_receiver("shop.a"), a_receiver("shop.any"), a_receiver("shop.late")};
    receivers[1].event_name = "*";
    receivers[2].event_name = "shop.Late";
    publish(world, receivers, COUNT(receivers));
    get_ready(world);
    world->store.is_spoilt = true;
    raw_run(plain(world),
        "create function app_change() returns trigger language plpgsql as $$ begin"
        " new.name = 'shop.Late'; new.due_at = new.recorded_at + interval '2 microseconds';"
        " return new; end $$;"
        "create trigger app_change before insert on owed_event for each row"
        " execute function app_change()");
    commit_alone(world, 0);
    assert_owed(world, "shop.any inside +2, shop.late inside +2");
    raw_run(plain(world),
        "create or replace function app_change() returns trigger language plpgsql as $$ begin"
        " new.suppressed_reason = 'no'; return new; end $$");
    commit_alone(world, 0);
    assert_owed(world, "");
    assert_int_equal(count_of(world, "owed_event"), 3);
}

static void
what_an_applications_trigger_fires_with_it_is_owed_too(void **state)
{
    struct world *world = *state;
    struct catalogue_receiver receivers[] = {a_receiver("shop.a"), a_receiver("shop.echo")};
    receivers[1].event_name = "shop.Echo";
    publish(world, receivers, COUNT(receivers));
    get_ready(world);
    world->store.is_spoilt = true;
    raw_run(plain(world),
        "create function app_echo() returns trigger language plpgsql as"
        " $$ begin perform owed_fire('shop.Echo', '{}'); return null; end $$;"
        "create trigger app_echo after insert on owed_event for each row"
        " when (new.name = '" EVENT "') execute function app_echo()");
    commit_alone(world, 0);
    assert_int_equal(count_of(world, "owed_delivery where receiver_key = 'shop.a'"), 1);
    assert_int_equal(count_of(world, "owed_delivery where receiver_key = 'shop.echo'"), 1);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(it_is_owed_by_its_own_statement_to_whom_the_trigger_would_owe_it),
        TEST(a_receiver_of_the_process_is_owed_it_once_whether_the_catalogue_has_it_or_not),
        TEST(where_the_catalogue_lacks_a_receiver_that_is_not_tried_again_for_a_while),
        TEST(endpoints_get_it),
        TEST(what_the_session_fires_after_it_is_owed_by_the_trigger),
        TEST(what_an_applications_trigger_makes_of_it_is_what_is_owed),
        TEST(what_an_applications_trigger_fires_with_it_is_owed_too),
        TEST(one_that_goes_with_another_statement_is_owed_by_the_trigger_as_is_what_follows),
    };
    return run_on_stores("postgres", "postgres alone", tests, COUNT(tests));
}
