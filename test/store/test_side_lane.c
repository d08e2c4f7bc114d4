/* SPDX-License-Identifier: MIT
 *
 * test_side_lane.c - a side lane, which replays fill beside the lanes of the receivers: what stands there stays there
 * until it has ended.
 */
#include "world.h"

#include <string.h>

#include "raw.h"

#define SIDE "shop/+catchup"

static struct replayed
replay_aside(struct world *world, int64_t event_id, const char *side_lane)
{
    const struct replay asked = {
        .event_id = event_id, .keys = "[]", .side_lane = side_lane, .now_us = NOW + 9 * SECOND};
    struct replayed replayed;
    assert_ok(store_replay(world->db, &asked, &world->arena, &replayed, &world->err));
    return replayed;
}

/* row_aside brings a row to an end, and has its event replayed into the side lane. */
static int64_t
row_aside(struct world *world)
{
    int64_t id = bring_to(world, "succeeded");
    assert_int_equal(replay_aside(world, delivery(world, id).event_id, "+catchup").reopened, 1);
    assert_string_equal(delivery(world, id).lane, SIDE);
    return id;
}

static int64_t
mend(struct world *world)
{
    int64_t moved = -1;
    assert_ok(store_mend(world->db, NOW, GRACE, 100, &moved, NULL, &world->err));
    return moved;
}

static size_t
claim_aside(struct world *world, const char *claimed_by)
{
    struct claim asked = a_claim(claimed_by, NOW + 99 * SECOND, 10);
    asked.lanes = (const char *const[]){SIDE, NULL};
    return claim(world, &asked);
}

static void
set_pause(struct world *world, bool on)
{
    const struct pausing pausing = {.receiver_key = "shop.billing", .now_us = NOW};
    int64_t receivers = 0;
    assert_ok((on ? store_pause : store_resume)(world->db, &pausing, &receivers, &world->err));
    assert_int_equal(receivers, 1);
}

static void
what_is_replayed_aside_is_claimed_there_alone(void **state)
{
    struct world *world = *state;
    int64_t id = row_aside(world);
    assert_int_equal(claim_as(world, "main", NOW + 99 * SECOND, 10), 0);
    assert_int_equal(mend(world), 0);
    assert_int_equal(claim_aside(world, "side"), 1);
    assert_int_equal(world->rows[0].fence.delivery_id, id);
    assert_string_equal(world->rows[0].lane, SIDE);
    assert_int_equal(mend(world), 0);
    // Who serves every lane of the app serves it too.
    assert_ok(store_hand_back_all(world->db, "side", 0, NULL, &world->err));
    struct claim every = a_claim("every", NOW + 99 * SECOND, 10);
    every.lanes = NULL;
    every.app = "shop";
    assert_int_equal(claim(world, &every), 1);
}

static void
who_was_not_owed_it_yet_is_added_aside_too(void **state)
{
    struct world *world = *state;
    int64_t event = fire(world, EVENT);
    struct catalogue_receiver r[] = {a_receiver("shop.billing"), a_receiver("shop.mail")};
    r[1].lane = "shop/mail";
    publish(world, r, 2);
    assert_int_equal(replay_aside(world, event, "+catchup").added, 2);
    assert_int_equal(mend(world), 0);
    assert_int_equal(claim_aside(world, "side"), 2);
    // Where no side lane is named each goes to its receiver's own.
    int64_t other = fire(world, "shop.Other");
    raw_runf(
        plain(world), "update owed_event set name = '" EVENT "' where id = %lld", (long long)other);
    assert_int_equal(replay_aside(world, other, NULL).added, 2);
    assert_int_equal(
        raw_number(plain(world),
            "select count(*) from owed_delivery where lane = '" LANE "' or lane = 'shop/mail'"),
        2);
}

/* Who names targets is not at hand: one row stands for them. */
static void
a_row_that_stands_for_targets_stays_aside_as_it_is(void **state)
{
    struct world *world = *state;
    int64_t event = fire(world, EVENT);
    struct catalogue_receiver r = a_receiver("shop.billing");
    r.targets = "callback";
    publish(world, &r, 1);
    assert_int_equal(replay_aside(world, event, "+catchup").added, 1);
    int64_t id = only_delivery(world, event);
    assert_int_equal(mend(world), 0);
    assert_string_equal(delivery(world, id).lane, SIDE);
    assert_string_equal(delivery(world, id).kind, "expand");
}

static void
a_paused_receiver_keeps_its_rows_aside_back_as_well(void **state)
{
    struct world *world = *state;
    int64_t id = row_aside(world);
    set_pause(world, true);
    assert_int_equal(claim_aside(world, "side"), 0);
    assert_int_equal(mend(world), 0);
    struct lane_row *lanes = NULL;
    size_t count = 0;
    assert_ok(store_lanes(world->db, &world->arena, &lanes, &count, &world->err));
    assert_int_equal(count, 2);
    assert_string_equal(lanes[0].lane, SIDE);
    assert_int_equal(lanes[0].waiting, 0);
    assert_int_equal(lanes[0].paused_waiting, 1);
    assert_int_equal(lanes[1].waiting + lanes[1].paused_waiting, 0);
    set_pause(world, false);
    assert_string_equal(delivery(world, id).lane, SIDE);
    assert_ok(store_lanes(world->db, &world->arena, &lanes, &count, &world->err));
    assert_int_equal(lanes[0].waiting, 1);
    assert_int_equal(lanes[0].paused_waiting, 0);
    assert_int_equal(claim_aside(world, "side"), 1);
    // Also what somebody holds, for when it comes back.
    set_pause(world, true);
    assert_ok(store_hand_back_all(world->db, "side", 0, NULL, &world->err));
    assert_int_equal(claim_aside(world, "side"), 0);
    set_pause(world, false);
    assert_int_equal(claim_aside(world, "side"), 1);
    assert_string_equal(world->rows[0].lane, SIDE);
}

static void
what_is_replayed_for_a_paused_receiver_waits_aside(void **state)
{
    struct world *world = *state;
    int64_t id = bring_to(world, "succeeded");
    set_pause(world, true);
    int64_t fresh = fire(world, "shop.Other");
    raw_runf(
        plain(world), "update owed_event set name = '" EVENT "' where id = %lld", (long long)fresh);
    assert_int_equal(replay_aside(world, delivery(world, id).event_id, "+catchup").reopened, 1);
    assert_int_equal(replay_aside(world, fresh, "+catchup").added, 1);
    assert_int_equal(claim_aside(world, "side"), 0);
    assert_int_equal(mend(world), 0);
    set_pause(world, false);
    assert_int_equal(claim_aside(world, "side"), 2);
}

static void
a_receiver_that_is_published_elsewhere_leaves_its_rows_aside_where_they_are(void **state)
{
    struct world *world = *state;
    int64_t id = row_aside(world);
    struct catalogue_receiver moved = a_receiver("shop.billing");
    moved.lane = "shop/mail";
    publish(world, &moved, 1);
    assert_string_equal(delivery(world, id).lane, SIDE);
    moved.kind = "outside";
    publish(world, &moved, 1);
    assert_string_equal(delivery(world, id).lane, SIDE);
    assert_string_equal(delivery(world, id).kind, "outside");
    moved.kind = "inside";
    publish(world, &moved, 1);
    assert_string_equal(delivery(world, id).kind, "inside");
    assert_int_equal(mend(world), 0);
}

/* set_lane writes a lane by hand. */
static void
set_lane(struct world *world, int64_t id, const char *lane)
{
    raw_runf(
        plain(world), "update owed_delivery set lane = '%s' where id = %lld", lane, (long long)id);
}

static void
a_side_lane_is_one_of_its_own_app_and_of_nothing_else(void **state)
{
    struct world *world = *state;
    int64_t id = row_aside(world);
    static const char *const wrong[] = {"a/+catchup", "z/+catchup", "shop/!mail", "shop/#x",
        "shop/,x", "shop/a", "shop/z", "shop/default!shop.billing", "shop/a/+catchup"};
    for (int held = 0; held < 2; held++) {
        for (size_t i = 0; i < COUNT(wrong); i++) {
            set_lane(world, id, wrong[i]);
            assert_int_equal(mend(world), 1);
            assert_string_equal(delivery(world, id).lane, LANE);
            assert_int_equal(mend(world), 0);
        }
        static const char *const right[][2] = {{"shop/+a", "shop/+a"}, {"shop/!+a", "shop/+a"}};
        for (size_t i = 0; i < COUNT(right); i++) {
            set_lane(world, id, right[i][0]);
            assert_int_equal(mend(world), i);
            assert_string_equal(delivery(world, id).lane, right[i][1]);
        }
        set_lane(world, id, LANE);
        assert_int_equal(claim_as(world, "first", NOW + 99 * SECOND, 10), held == 0 ? 1 : 0);
    }
}

static void
once_it_has_ended_nothing_of_it_is_special(void **state)
{
    struct world *world = *state;
    int64_t id = row_aside(world);
    assert_int_equal(claim_aside(world, "side"), 1);
    struct settlement dead = a_settlement(&world->rows[0].fence, "dead");
    assert_ok(store_settle(world->db, &dead, 1, NULL, &world->err));
    struct lane_row *lanes = NULL;
    size_t count = 0;
    assert_ok(store_lanes(world->db, &world->arena, &lanes, &count, &world->err));
    assert_int_equal(count, 1);
    const struct requeue which = {.ids = &id, .id_count = 1, .limit = -1, .now_us = NOW};
    int64_t requeued = 0;
    assert_ok(store_requeue(world->db, &which, &requeued, &world->err));
    assert_int_equal(requeued, 1);
    assert_string_equal(delivery(world, id).lane, LANE);

    // The same after a cancel.
    for (int aside = 1; aside >= 0; aside--) {
        int64_t running = 0;
        assert_ok(store_cancel(world->db, &which, &requeued, &running, &world->err));
        assert_int_equal(requeued, 1);
        int64_t event_id = delivery(world, id).event_id;
        assert_int_equal(replay_aside(world, event_id, aside ? "+catchup" : NULL).reopened, 1);
        assert_string_equal(delivery(world, id).lane, aside ? SIDE : LANE);
    }
}

/* owe_target owes an event to a target, as who expands a row of that lane does. */
static void
owe_target(struct world *world, int64_t event_id, const char *lane, bool again)
{
    const struct new_delivery owed = {.event_id = event_id,
        .receiver_key = "shop.billing",
        .target = "one",
        .lane = lane,
        .kind = "inside",
        .max_attempts = 5,
        .available_at_us = NOW,
        .again = again};
    assert_ok(store_insert_delivery(world->db, &owed, &world->err));
}

static void
targets_stand_where_the_row_stood_that_named_them(void **state)
{
    struct world *world = *state;
    struct catalogue_receiver r = a_receiver("shop.billing");
    publish(world, &r, 1);
    int64_t event = fire(world, "shop.Other");
    owe_target(world, event, SIDE, false);
    int64_t id = only_delivery(world, event);
    assert_string_equal(delivery(world, id).lane, SIDE);
    static const struct {
        const char *lane, *stands_in, *paused;
    } cases[] = {
        {LANE, LANE, LANE "!shop.billing"},
        {"shop/elsewhere", LANE, LANE "!shop.billing"},
        {SIDE, SIDE, "shop/!+catchup"},
        {"shop/!+catchup", SIDE, "shop/!+catchup"},
        {"z/+catchup", LANE, LANE "!shop.billing"},
    };
    for (int paused = 0; paused < 2; paused++) {
        for (size_t i = 0; i < COUNT(cases); i++) {
            const char *right = paused ? cases[i].paused : cases[i].stands_in;
            raw_runf(plain(world), "update owed_delivery set status = 'succeeded' where id = %lld",
                (long long)id);
            owe_target(world, event, cases[i].lane, true);
            assert_string_equal(status_of(world, id), "pending");
            assert_string_equal(delivery(world, id).lane, right);
            int64_t fresh = fire(world, "shop.Other");
            owe_target(world, fresh, cases[i].lane, false);
            assert_string_equal(delivery(world, only_delivery(world, fresh)).lane, right);
        }
        if (!paused)
            set_pause(world, true);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_is_replayed_aside_is_claimed_there_alone),
        TEST(who_was_not_owed_it_yet_is_added_aside_too),
        TEST(a_row_that_stands_for_targets_stays_aside_as_it_is),
        TEST(a_paused_receiver_keeps_its_rows_aside_back_as_well),
        TEST(what_is_replayed_for_a_paused_receiver_waits_aside),
        TEST(a_receiver_that_is_published_elsewhere_leaves_its_rows_aside_where_they_are),
        TEST(a_side_lane_is_one_of_its_own_app_and_of_nothing_else),
        TEST(once_it_has_ended_nothing_of_it_is_special),
        TEST(targets_stand_where_the_row_stood_that_named_them),
    };
    return run_on_all_stores("store side lane", tests, COUNT(tests));
}
