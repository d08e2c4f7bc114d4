/* SPDX-License-Identifier: MIT
 *
 * test_quiet.c - receivers that have not succeeded for long.
 */
#include "world.h"

#include <string.h>

#include "raw.h"

#define MANY 100

/* succeed makes what a receiver is owed for an event a success of a moment. */
static void
succeed(struct world *world, int64_t event_id, const char *key, int64_t at_us)
{
    raw_runf(plain(world),
        "update owed_delivery set status = 'succeeded', succeeded_at = moment(%lld)"
        " where event_id = %lld and receiver_key = '%s'",
        (long long)at_us, (long long)event_id, key);
}

static void
keep(struct world *world, const char *key, int64_t at_us)
{
    raw_runf(plain(world),
        "insert into owed_last_success (receiver_key, last_succeeded_at) values ('%s', moment(%lld))",
        key, (long long)at_us);
}

static void
record(struct world *world, int64_t event_id, int64_t at_us)
{
    raw_runf(plain(world), "update owed_event set recorded_at = moment(%lld) where id = %lld",
        (long long)at_us, (long long)event_id);
}

/* check_quiet holds the list to keys, in that order. */
static struct quiet_row *
check_quiet(struct world *world, int64_t since_us, int32_t most_events, const char *const *keys)
{
    struct quiet_row *rows = NULL;
    size_t count = 0, expected = 0;
    assert_ok(store_quiet(
        world->other, since_us, most_events, &world->arena, &rows, &count, &world->err));
    for (; keys[expected] != NULL && expected < count; expected++)
        assert_string_equal(rows[expected].receiver_key, keys[expected]);
    assert_null(keys[expected]);
    assert_int_equal(count, expected);
    return rows;
}
#define KEYS(...) ((const char *const[]){__VA_ARGS__ __VA_OPT__(, ) NULL})

static void
a_receiver_is_quiet_once_its_last_success_is_long_ago(void **state)
{
    struct world *world = *state;
    publish_keys(world, KEYS("shop.b", "shop.a"));
    int64_t id = fire(world, EVENT);
    succeed(world, id, "shop.a", NOW);
    check_quiet(world, NOW, MANY, KEYS("shop.b"));
    const struct quiet_row *rows = check_quiet(world, NOW + 1, MANY, KEYS("shop.a", "shop.b"));
    assert_string_equal(rows[0].app, "shop");
    assert_string_equal(rows[0].event_name, EVENT);
    assert_string_equal(rows[0].lane, LANE);
    assert_int_equal(rows[0].last_success_at_us, NOW);
    assert_int_equal(rows[1].last_success_at_us, 0);
}

static void
a_success_that_was_kept_counts_where_its_rows_are_gone(void **state)
{
    struct world *world = *state;
    publish_keys(world, KEYS("shop.kept", "shop.newer", "shop.older"));
    int64_t id = fire(world, EVENT);
    succeed(world, id, "shop.newer", NOW);
    succeed(world, id, "shop.older", NOW);
    keep(world, "shop.kept", NOW);
    keep(world, "shop.newer", NOW - SECOND);
    keep(world, "shop.older", NOW + SECOND);
    check_quiet(world, NOW, MANY, KEYS());
    const struct quiet_row *rows =
        check_quiet(world, NOW + SECOND + 1, MANY, KEYS("shop.kept", "shop.newer", "shop.older"));
    assert_int_equal(rows[0].last_success_at_us, NOW);
    assert_int_equal(rows[1].last_success_at_us, NOW);
    assert_int_equal(rows[2].last_success_at_us, NOW + SECOND);
}

static void
only_durable_receivers_that_are_still_declared_can_be_quiet(void **state)
{
    struct world *world = *state;
    struct catalogue_receiver inside = a_receiver("shop.inline");
    inside.mode = "inline";
    publish(world, &inside, 1);
    publish_keys(world, KEYS("shop.a", "shop.gone"));
    raw_runf(plain(world),
        "update owed_receiver set removed_at = moment(%lld) where stored_lane = '" LANE
        "' and max_attempts = 5 and mode = 'durable'",
        (long long)NOW);
    check_quiet(world, NOW, MANY, KEYS());
    publish_keys(world, KEYS("shop.a"));
    check_quiet(world, NOW, MANY, KEYS("shop.a"));
}

static void
the_newest_events_that_it_wants_are_looked_through(void **state)
{
    struct world *world = *state;
    struct catalogue_receiver any = a_receiver("shop.any");
    any.event_name = "*";
    publish(world, &any, 1);
    publish_keys(world, KEYS("shop.a"));
    int64_t old = fire(world, EVENT);
    succeed(world, old, "shop.a", NOW);
    succeed(world, old, "shop.any", NOW);
    int64_t other = 0;
    for (int i = 0; i < 3; i++)
        other = fire(world, "shop.Other");
    // Of any event the newest are others; of its own there is one.
    check_quiet(world, NOW, 3, KEYS("shop.any"));
    check_quiet(world, NOW, 4, KEYS());
    succeed(world, other, "shop.any", NOW);
    check_quiet(world, NOW, 3, KEYS());
    for (int i = 0; i < 3; i++)
        fire(world, EVENT);
    check_quiet(world, NOW, 3, KEYS("shop.a", "shop.any"));
    check_quiet(world, NOW, 4, KEYS());
}

static void
a_success_with_an_event_that_it_no_longer_wants_is_not_looked_for(void **state)
{
    struct world *world = *state;
    publish_keys(world, KEYS("shop.a"));
    int64_t id = fire(world, EVENT);
    succeed(world, id, "shop.a", NOW);
    struct catalogue_receiver moved = a_receiver("shop.a");
    moved.event_name = "shop.Other";
    publish(world, &moved, 1);
    check_quiet(world, NOW, MANY, KEYS("shop.a"));
}

static void
it_is_told_what_was_owed_since_the_last_success(void **state)
{
    struct world *world = *state;
    publish_keys(world, KEYS("shop.a"));
    int64_t ids[4];
    fire_many(world, 3, ids);
    struct event_row *events;
    size_t count;
    const struct filter all = {.limit = 10};
    assert_ok(store_events(world->db, &all, &world->arena, &events, &count, &world->err));
    for (size_t i = 0; i < 3; i++)
        record(world, events[i].id, NOW + (int64_t)(3 - i) * SECOND); // the newest first
    const struct quiet_row *rows = check_quiet(world, NOW + 9 * SECOND, MANY, KEYS("shop.a"));
    assert_int_equal(rows[0].events, 3);
    assert_int_equal(rows[0].last_event_at_us, NOW + 3 * SECOND);
    succeed(world, events[2].id, "shop.a", NOW + SECOND); // of what was recorded in that moment
    rows = check_quiet(world, NOW + 9 * SECOND, MANY, KEYS("shop.a"));
    assert_int_equal(rows[0].events, 2);
    keep(world, "shop.a", NOW + 3 * SECOND);
    rows = check_quiet(world, NOW + 9 * SECOND, MANY, KEYS("shop.a"));
    assert_int_equal(rows[0].events, 0);
    assert_int_equal(rows[0].last_event_at_us, 0);
}

static void
a_success_that_a_relay_noted_only_moves_forward(void **state)
{
    struct world *world = *state;
    publish_keys(world, KEYS("shop.a", "shop.b"));
    const struct success first[] = {{"shop.b", NOW}, {"shop.a", NOW + 5}};
    assert_ok(store_note_successes(world->db, first, 2, &world->err));
    check_quiet(world, NOW, MANY, KEYS());
    const struct success later[] = {{"shop.a", NOW + 4}, {"shop.b", NOW + 7}};
    assert_ok(store_note_successes(world->db, later, 2, &world->err));
    const struct quiet_row *rows = check_quiet(world, NOW + 8, MANY, KEYS("shop.a", "shop.b"));
    assert_int_equal(rows[0].last_success_at_us, NOW + 5);
    assert_int_equal(rows[1].last_success_at_us, NOW + 7);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_receiver_is_quiet_once_its_last_success_is_long_ago),
        TEST(a_success_that_was_kept_counts_where_its_rows_are_gone),
        TEST(a_success_that_a_relay_noted_only_moves_forward),
        TEST(only_durable_receivers_that_are_still_declared_can_be_quiet),
        TEST(the_newest_events_that_it_wants_are_looked_through),
        TEST(a_success_with_an_event_that_it_no_longer_wants_is_not_looked_for),
        TEST(it_is_told_what_was_owed_since_the_last_success),
    };
    return run_on_all_stores("store quiet", tests, COUNT(tests));
}
