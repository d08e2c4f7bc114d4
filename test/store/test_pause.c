/* SPDX-License-Identifier: MIT
 *
 * test_pause.c - lanes and receivers that an operator pauses: what is owed to them is kept and flows on in order.
 */
#include "world.h"

#include <string.h>

#include "raw.h"

static int64_t
pause_it(struct world *world, const char *lane, const char *key, int64_t until_us)
{
    const struct pausing pausing = {.lane = lane,
        .receiver_key = key,
        .now_us = NOW,
        .until_us = until_us,
        .who = "ann@host",
        .reason = "the provider is down"};
    int64_t receivers = -1;
    assert_ok(store_pause(world->db, &pausing, &receivers, &world->err));
    return receivers;
}

static int64_t
resume(struct world *world, const char *lane, const char *key)
{
    const struct pausing pausing = {.lane = lane, .receiver_key = key, .now_us = NOW};
    int64_t receivers = -1;
    assert_ok(store_resume(world->db, &pausing, &receivers, &world->err));
    return receivers;
}

/* in_another_lane publishes one more receiver of EVENT. */
static void
in_another_lane(struct world *world)
{
    struct catalogue_receiver other = a_receiver("shop.mail");
    other.lane = "shop/mail";
    publish(world, &other, 1);
}

static void
what_is_owed_in_a_paused_lane_is_kept_and_flows_on_in_order(void **state)
{
    struct world *world = *state;
    publish_keys(world, (const char *const[]){"shop.billing", NULL});
    int64_t ids[4];
    fire_many(world, 3, ids);
    // One has failed and waits, one is being run.
    assert_int_equal(claim_as(world, "first", NOW, 2), 2);
    struct settlement failed = a_settlement(&world->rows[0].fence, "failed");
    struct settlement done = a_settlement(&world->rows[1].fence, "succeeded");
    assert_ok(store_settle(world->db, &failed, 1, NULL, &world->err));
    assert_int_equal(pause_it(world, LANE, NULL, 0), 1);
    ids[3] = only_delivery(world, fire(world, EVENT));
    assert_int_equal(claim_as(world, "second", NOW + 9 * LEASE, 10), 0);
    // What was being run is finished.
    assert_ok(store_settle(world->db, &done, 1, NULL, &world->err));
    assert_string_equal(delivery(world, ids[3]).lane, LANE "!shop.billing");
    assert_string_equal(status_of(world, ids[0]), "failed");
    assert_int_equal(delivery(world, ids[0]).attempts, 1);

    assert_int_equal(resume(world, LANE, NULL), 1);
    assert_int_equal(claim_as(world, "second", NOW + 9 * LEASE, 10), 3);
    const int64_t in_order[] = {ids[2], ids[3], ids[0]};
    check_order(world, in_order, 3);
    assert_int_equal(count_of(world, "owed_lane"), 0);
}

static void
other_lanes_and_receivers_go_on(void **state)
{
    struct world *world = *state;
    publish_keys(world, (const char *const[]){"shop.billing", "shop.label", NULL});
    in_another_lane(world);
    assert_int_equal(pause_it(world, "shop/mail", NULL, 0), 1);
    fire(world, EVENT);
    assert_int_equal(claim_as(world, "first", NOW, 10), 2);
    assert_int_equal(pause_it(world, NULL, "shop.label", 0), 1);
    fire(world, EVENT);
    assert_int_equal(claim_as(world, "first", NOW, 10), 1);
    assert_string_equal(world->rows[0].receiver_key, "shop.billing");
    assert_int_equal(resume(world, NULL, "shop.label"), 1);
    assert_int_equal(claim_as(world, "first", NOW, 10), 1);
    assert_string_equal(world->rows[0].receiver_key, "shop.label");
    assert_int_equal(resume(world, NULL, "shop.label"), 0);
}

static void
of_two_lanes_paused_in_one_moment_the_one_that_is_resumed_goes_on(void **state)
{
    struct world *world = *state;
    publish_keys(world, (const char *const[]){"shop.billing", NULL});
    in_another_lane(world);
    assert_int_equal(pause_it(world, LANE, NULL, 0), 1);
    assert_int_equal(pause_it(world, "shop/mail", NULL, 0), 1);
    assert_int_equal(resume(world, LANE, NULL), 1);
    fire(world, EVENT);
    assert_int_equal(claim_as(world, "first", NOW, 10), 1);
    assert_string_equal(world->rows[0].receiver_key, "shop.billing");
}

static void
a_receiver_paused_by_itself_stays_so_when_its_lane_is_resumed(void **state)
{
    struct world *world = *state;
    publish_keys(world, (const char *const[]){"shop.billing", "shop.label", NULL});
    const struct pausing earlier = {.receiver_key = "shop.label", .now_us = NOW - SECOND};
    int64_t receivers = 0;
    assert_ok(store_pause(world->db, &earlier, &receivers, &world->err));
    assert_int_equal(pause_it(world, LANE, NULL, 0), 1);
    fire(world, EVENT);
    assert_int_equal(resume(world, LANE, NULL), 1);
    assert_int_equal(claim_as(world, "first", NOW, 10), 1);
    assert_string_equal(world->rows[0].receiver_key, "shop.billing");
}

static void
a_receiver_that_comes_into_a_paused_lane_waits_along_with_it(void **state)
{
    struct world *world = *state;
    publish_keys(world, (const char *const[]){"shop.billing", NULL});
    in_another_lane(world);
    fire(world, EVENT); // what is owed by then follows
    assert_int_equal(pause_it(world, LANE, NULL, NOW + 60 * SECOND), 1);
    struct catalogue_receiver moved = a_receiver("shop.mail");
    publish(world, &moved, 1);
    publish_keys(world, (const char *const[]){"shop.new", NULL});
    fire(world, EVENT);
    assert_int_equal(claim_as(world, "first", NOW, 10), 0);
    struct lane_row *lanes;
    size_t count = 0;
    assert_ok(store_lanes(world->other, &world->arena, &lanes, &count, &world->err));
    assert_int_equal(count, 1);
    assert_int_equal(lanes[0].paused_receivers, 3);
    // It ends with the lane's, and nothing else is paused by it.
    assert_int_equal(resume(world, LANE, NULL), 3);
    assert_int_equal(claim_as(world, "first", NOW, 10), 5);
}

static void
what_was_published_while_its_lane_was_being_paused_is_paused_by_who_mends(void **state)
{
    struct world *world = *state;
    publish_keys(world, (const char *const[]){"shop.billing", NULL});
    in_another_lane(world);
    assert_int_equal(pause_it(world, LANE, NULL, NOW + 60 * SECOND), 1);
    fire(world, EVENT);
    // As a publish that the pause did not see.
    raw_run(
        plain(world), "update owed_receiver set lane = 'shop/default' where lane = 'shop/mail'");
    assert_ok(store_mend(world->db, NOW, GRACE, 100, NULL, NULL, &world->err));
    assert_int_equal(claim_as(world, "first", NOW, 10), 0);
    // One that has a pause of its own keeps it.
    assert_int_equal(pause_it(world, NULL, "shop.mail", 0), 1);
    assert_ok(store_mend(world->db, NOW, GRACE, 100, NULL, NULL, &world->err));
    assert_ok(store_mend(world->db, NOW + 60 * SECOND, GRACE, 100, NULL, NULL, &world->err));
    assert_int_equal(claim_as(world, "first", NOW + 60 * SECOND, 10), 1);
    assert_string_equal(world->rows[0].receiver_key, "shop.billing");
}

static void
a_pause_whose_time_is_over_is_ended_by_who_mends(void **state)
{
    struct world *world = *state;
    publish_keys(world, (const char *const[]){"shop.billing", NULL});
    assert_int_equal(pause_it(world, LANE, NULL, NOW + 60 * SECOND), 1);
    fire(world, EVENT);
    assert_ok(store_mend(world->db, NOW + 60 * SECOND - 1, GRACE, 100, NULL, NULL, &world->err));
    assert_int_equal(claim_as(world, "first", NOW + 60 * SECOND, 10), 0);
    assert_ok(store_mend(world->db, NOW + 60 * SECOND, GRACE, 100, NULL, NULL, &world->err));
    assert_int_equal(claim_as(world, "first", NOW + 60 * SECOND, 10), 1);
    assert_int_equal(count_of(world, "owed_lane"), 0);
    // One that has no end stays, of a lane and of a receiver.
    assert_int_equal(pause_it(world, LANE, NULL, 0), 1);
    assert_ok(store_mend(world->db, NOW + 900 * LEASE, GRACE, 100, NULL, NULL, &world->err));
    assert_int_equal(count_of(world, "owed_lane"), 1);
    assert_int_equal(resume(world, LANE, NULL), 1);
    assert_int_equal(pause_it(world, NULL, "shop.billing", 0), 1);
    assert_ok(store_mend(world->db, NOW + 900 * LEASE, GRACE, 100, NULL, NULL, &world->err));
    assert_int_equal(resume(world, NULL, "shop.billing"), 1);
    // Nor is a receiver's own pause over before its end.
    assert_int_equal(pause_it(world, NULL, "shop.billing", NOW + 60 * SECOND), 1);
    assert_ok(store_mend(world->db, NOW + 60 * SECOND - 1, GRACE, 100, NULL, NULL, &world->err));
    assert_int_equal(resume(world, NULL, "shop.billing"), 1);
}

static void
lanes_say_what_waits_in_them_and_why(void **state)
{
    struct world *world = *state;
    publish_keys(world, (const char *const[]){"shop.billing", "shop.label", NULL});
    in_another_lane(world);
    fire(world, EVENT);
    assert_int_equal(pause_it(world, "shop/mail", NULL, NOW + 60 * SECOND), 1);
    assert_int_equal(pause_it(world, NULL, "shop.label", 0), 1);
    struct lane_row *lanes = NULL;
    size_t count = 0;
    assert_ok(store_lanes(world->db, &world->arena, &lanes, &count, &world->err));
    assert_int_equal(count, 2);
    assert_string_equal(lanes[0].lane, LANE);
    assert_int_equal(lanes[0].receivers, 2);
    assert_int_equal(lanes[0].paused_receivers, 1);
    assert_int_equal(lanes[0].waiting, 1);
    assert_int_equal(lanes[0].paused_waiting, 1);
    assert_int_equal(lanes[0].paused_at_us, 0);
    assert_string_equal(lanes[1].lane, "shop/mail");
    assert_int_equal(lanes[1].paused_receivers, 1);
    assert_int_equal(lanes[1].waiting, 0);
    assert_int_equal(lanes[1].paused_waiting, 1);
    assert_int_equal(lanes[1].paused_at_us, NOW);
    assert_int_equal(lanes[1].paused_until_us, NOW + 60 * SECOND);
    assert_string_equal(lanes[1].paused_by, "ann@host");
    assert_string_equal(lanes[1].reason, "the provider is down");
}

static void
what_is_paused_is_listed_a_lane_once_and_a_receiver_that_waits_alone(void **state)
{
    struct world *world = *state;
    publish_keys(world, (const char *const[]){"shop.billing", "shop.label", "shop.early", NULL});
    in_another_lane(world);
    struct catalogue_receiver gone = a_receiver("shop.gone");
    gone.lane = "shop/gone";
    publish(world, &gone, 1);
    struct paused_row *paused;
    size_t count;
    assert_ok(store_paused(world->other, &world->arena, &paused, &count, &world->err));
    assert_int_equal(count, 0);
    pause_it(world, NULL, "shop.mail", NOW + 9 * SECOND);
    pause_it(world, NULL, "shop.gone", 0);
    raw_runf(plain(world),
        "update owed_receiver set removed_at = moment(%lld) where stored_lane like '%%!shop.gone'",
        (long long)NOW);
    pause_it(world, LANE, NULL, 0); // shop.billing and shop.label go along with it
    // One of them was paused by itself before.
    raw_runf(plain(world),
        "update owed_receiver set paused_at = moment(%lld) where stored_lane like '%%!shop.early'",
        (long long)(NOW - SECOND));
    // A lane that is there without a pause is none.
    raw_run(plain(world), "insert into owed_lane (lane) values ('shop/idle')");
    assert_ok(store_paused(world->other, &world->arena, &paused, &count, &world->err));
    assert_int_equal(count, 3);
    assert_string_equal(paused[0].lane, LANE);
    assert_string_equal(paused[0].receiver_key, "");
    assert_string_equal(paused[0].paused_by, "ann@host");
    assert_int_equal(paused[0].paused_at_us, NOW);
    assert_int_equal(paused[0].paused_until_us, 0);
    assert_string_equal(paused[1].lane, LANE);
    assert_string_equal(paused[1].receiver_key, "shop.early");
    assert_string_equal(paused[2].lane, "shop/mail");
    assert_string_equal(paused[2].receiver_key, "shop.mail");
    assert_int_equal(paused[2].paused_until_us, NOW + 9 * SECOND);
    assert_string_equal(paused[2].reason, "the provider is down");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_is_owed_in_a_paused_lane_is_kept_and_flows_on_in_order),
        TEST(other_lanes_and_receivers_go_on),
        TEST(of_two_lanes_paused_in_one_moment_the_one_that_is_resumed_goes_on),
        TEST(a_receiver_paused_by_itself_stays_so_when_its_lane_is_resumed),
        TEST(a_receiver_that_comes_into_a_paused_lane_waits_along_with_it),
        TEST(what_was_published_while_its_lane_was_being_paused_is_paused_by_who_mends),
        TEST(a_pause_whose_time_is_over_is_ended_by_who_mends),
        TEST(what_is_paused_is_listed_a_lane_once_and_a_receiver_that_waits_alone),
        TEST(lanes_say_what_waits_in_them_and_why),
    };
    return run_on_all_stores("store pause", tests, COUNT(tests));
}
