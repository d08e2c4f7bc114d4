/* SPDX-License-Identifier: MIT
 *
 * test_leases.c - a row is kept while its turn comes, and acknowledgements that can wait are gathered.
 */
#include "desk.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/clock.h"

static const owed_receiver stock = {.key = "shop.stock"};

static void
open_with(struct desk *desk, struct actor *actor, owed_receiver receiver)
{
    desk_receiver(desk, actor, receiver);
    fixture_open(desk->f);
}

static int64_t
lease_of(struct desk *desk, int64_t event_id)
{
    char sql[128];
    snprintf(sql, sizeof sql,
        "select lease_expires_at from owed_delivery where event_id = %" PRId64, event_id);
    return desk_number(desk, sql);
}

struct leases {
    int64_t at_turn[DESK_ORDERS]; // the row's own lease, when it runs
};

static owed_outcome
takes_2_minutes(struct actor *actor, owed_delivery *delivery, const order *order)
{
    struct leases *leases = actor->state;
    leases->at_turn[order->id] =
        lease_of(actor->desk, owed_delivery_event_id(delivery)) - actor->desk->f->now_us;
    actor->desk->f->now_us += OWED_MINUTES(2);
    return owed_done();
}

static void
a_lease_is_renewed_at_the_rows_turn_when_less_than_half_is_left(void **state)
{
    struct desk *desk = *state;
    struct leases leases = {{0}};
    struct actor actor = {.state = &leases};
    for (size_t i = 0; i < DESK_ORDERS; i++)
        actor.acts[i] = takes_2_minutes;
    open_with(desk, &actor, stock);
    desk_fire_many(desk, 3);
    desk_once(desk);
    assert_int_equal(leases.at_turn[1], OWED_MINUTES(5));
    assert_int_equal(leases.at_turn[2], OWED_MINUTES(3)); // not yet half spent: no write
    assert_int_equal(leases.at_turn[3], OWED_MINUTES(5));
    assert_count(desk, "succeeded", 3);
}

static void
a_receiver_may_want_a_longer_lease_than_the_relay(void **state)
{
    struct desk *desk = *state;
    struct leases leases = {{0}};
    struct actor actor = {.state = &leases, .acts = {[1] = takes_2_minutes}};
    open_with(desk, &actor, (owed_receiver){.key = "shop.stock", .lease_us = OWED_HOURS(1)});
    desk_fire(desk, 1);
    desk_once(desk);
    assert_int_equal(leases.at_turn[1], OWED_HOURS(1));
}

static owed_outcome
robs_the_next(struct actor *actor, owed_delivery *delivery, const order *order)
{
    (void)order;
    char sql[128];
    snprintf(sql, sizeof sql, "select id from owed_delivery where event_id = %" PRId64,
        owed_delivery_event_id(delivery) + 1);
    rob(actor->desk, desk_number(actor->desk, sql));
    actor->desk->f->now_us += OWED_MINUTES(4);
    return owed_done();
}

static void
a_row_that_was_lost_before_its_turn_is_not_run(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {.acts = {[1] = robs_the_next}};
    open_with(desk, &actor, stock);
    desk_fire_many(desk, 3);
    desk->settings.passes = 1;
    desk_run(desk);
    assert_int_equal(actor.calls, 2);
    assert_int_equal(actor.orders[1], 3);
    assert_count(desk, "succeeded", 2);
    assert_true(desk_logged(desk, "row lost before it ran"));
}

static void
a_lapsed_claim_is_taken_strictly_after_its_lease_and_is_a_loss(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {0};
    open_with(desk, &actor, stock);
    desk_fire(desk, 1);
    char sql[200];
    snprintf(sql, sizeof sql,
        "update owed_delivery set status = 'claimed', claimed_by = 'dead', claimed_at = moment(5), "
        "lease_expires_at = moment(%" PRId64 ")",
        FIXTURE_NOW_US);
    raw_run(desk->f->raw, sql);
    desk_once(desk);
    assert_int_equal(actor.calls, 0);
    desk->f->now_us++;
    desk_once(desk);
    assert_int_equal(actor.calls, 1);
    assert_count(desk, "succeeded", 1);
}

/* --- gathering --- */

struct sight {
    int64_t claimed[DESK_ORDERS]; // when each order's turn came
    int64_t takes_us;
};

static owed_outcome
looks(struct actor *actor, owed_delivery *delivery, const order *order)
{
    (void)delivery;
    struct sight *sight = actor->state;
    sight->claimed[order->id] = desk_count(actor->desk, "claimed");
    actor->desk->f->now_us += sight->takes_us;
    return owed_done();
}

static void
look_on(struct desk *desk, struct actor *actor, struct sight *sight, int64_t count)
{
    actor->state = sight;
    for (size_t i = 0; i < DESK_ORDERS; i++)
        actor->acts[i] = looks;
    open_with(desk, actor, stock);
    desk_fire_many(desk, count);
    desk_once(desk);
    assert_count(desk, "succeeded", count);
}

static void
acknowledgements_of_receivers_that_ask_for_nothing_are_written_together(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {0};
    struct sight sight = {.takes_us = US_PER_MS};
    look_on(desk, &actor, &sight, 6);
    for (int64_t i = 1; i <= 6; i++)
        assert_int_equal(sight.claimed[i], 6);
}

static void
none_waits_longer_than_fifty_milliseconds(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {0};
    struct sight sight = {.takes_us = 18 * US_PER_MS};
    look_on(desk, &actor, &sight, 6);
    // The first is noted after 18 ms, and 54 ms old when the fifth one's turn comes.
    assert_int_equal(sight.claimed[4], 6);
    assert_int_equal(sight.claimed[5], 2);
}

static void
they_are_written_before_a_receiver_that_takes_long(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {0};
    struct sight sight = {.takes_us = 30 * US_PER_MS};
    look_on(desk, &actor, &sight, 4);
    for (int64_t i = 1; i <= 4; i++)
        assert_int_equal(sight.claimed[i], 5 - i);
}

static void
they_are_written_before_a_receiver_that_was_never_timed(void **state)
{
    struct desk *desk = *state;
    struct sight sight = {0};
    struct sight other_sight = {0};
    struct actor actor = {.state = &sight, .acts = {[1] = looks}};
    struct actor other = {.state = &other_sight, .acts = {[1] = looks}};
    desk_receiver(desk, &actor, stock);
    desk_receiver(desk, &other, (owed_receiver){.key = "shop.other"});
    fixture_open(desk->f);
    desk_fire(desk, 1);
    desk_once(desk);
    assert_int_equal(sight.claimed[1] + other_sight.claimed[1], 3);
}

static void
they_are_written_before_a_transaction_begins(void **state)
{
    struct desk *desk = *state;
    struct sight sight = {0};
    struct actor actor = {.state = &sight, .acts = {[1] = looks, [2] = looks}};
    open_with(desk, &actor, stock);
    desk_fire_many(desk, 3);
    desk->settings.passes = 1;
    desk_run(desk);
    assert_int_equal(sight.claimed[2], 3);
    assert_count(desk, "succeeded", 3);
    assert_int_equal(desk_written(desk, 3), 1);
}

static void
each_one_is_fenced_by_itself(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {
        .acts = {[1] = asks_for_nothing, [2] = robs_the_next, [3] = asks_for_nothing}};
    open_with(desk, &actor, stock);
    desk_fire_many(desk, 4);
    actor.acts[4] = asks_for_nothing;
    desk->settings.passes = 1;
    desk->settings.lease_us = OWED_HOURS(1);
    desk_run(desk);
    assert_count(desk, "succeeded", 3);
    assert_int_equal(actor.calls, 4);
    assert_true(desk_logged(desk, "result discarded"));
    assert_int_equal(desk->counts.succeeded, 3);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, desk_setup, desk_teardown)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_lease_is_renewed_at_the_rows_turn_when_less_than_half_is_left),
        TEST(a_receiver_may_want_a_longer_lease_than_the_relay),
        TEST(a_row_that_was_lost_before_its_turn_is_not_run),
        TEST(a_lapsed_claim_is_taken_strictly_after_its_lease_and_is_a_loss),
        TEST(acknowledgements_of_receivers_that_ask_for_nothing_are_written_together),
        TEST(none_waits_longer_than_fifty_milliseconds),
        TEST(they_are_written_before_a_receiver_that_takes_long),
        TEST(they_are_written_before_a_receiver_that_was_never_timed),
        TEST(they_are_written_before_a_transaction_begins),
        TEST(each_one_is_fenced_by_itself),
    };
    return RUN_ON_ALL_STORES("leases", tests);
}
