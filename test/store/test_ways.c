/* SPDX-License-Identifier: MIT
 *
 * test_ways.c - a claim has several ways of picking rows; all of them keep to the same rules.
 */
#include "world.h"

#include <stdio.h>
#include <string.h>

#include "base/digest.h"

static const char *const billing[] = {"shop.billing", NULL};

enum way {
    ONE_LANE,
    SEVERAL_LANES,
    BUT_FOR_TARGETS,
    NAMED_RECEIVERS,
    EARLY,
    NAMED_BUT_FOR_TARGETS,
    WAYS
};

/* by is a claim of LANE and of shop.billing in one of the ways. */
static struct claim
by(enum way way, int64_t now_us, int32_t limit)
{
    static const char *const one[] = {LANE, NULL}, *const several[] = {"shop/none", LANE, NULL};
    static struct early early;
    early = (struct early){.due_us = now_us, .but_ids = STR("[]")};
    struct claim asked = a_claim("w", now_us, limit);
    asked.lanes = way == SEVERAL_LANES ? several : one;
    asked.receivers = way >= NAMED_RECEIVERS ? billing : NULL;
    asked.early = way == EARLY ? &early : NULL;
    static const uint8_t nothing[32];
    static const struct left_target left = {.receiver_key = "shop.billing", .digest = nothing};
    asked.but_targets = &left;
    asked.but_target_count = way == BUT_FOR_TARGETS || way == NAMED_BUT_FOR_TARGETS;
    return asked;
}

static size_t
claim_by(struct world *world, enum way way, int64_t now_us)
{
    struct claim asked = by(way, now_us, 10);
    return claim(world, &asked);
}

static void
settle_all(struct world *world, const char *status)
{
    for (size_t i = 0; i < world->count; i++) {
        struct settlement done = a_settlement(&world->rows[i].fence, status);
        assert_ok(store_settle(world->db, &done, 1, NULL, &world->err));
    }
}

/* owe adds a row by hand. */
static int64_t
owe(struct world *world, struct new_delivery owed)
{
    owed.event_id = fire(world, "shop.Other");
    owed.kind = "inside";
    owed.max_attempts = 5;
    assert_ok(store_insert_delivery(world->db, &owed, &world->err));
    return only_delivery(world, owed.event_id);
}

static void
whichever_way_rows_are_picked_their_moments_are_the_same(void **state)
{
    struct world *world = *state;
    publish_keys(world, billing);
    for (enum way way = 0; way < WAYS; way++) {
        fire_due(world, NOW + 10);
        assert_int_equal(claim_by(world, way, NOW + 9), 0);
        assert_int_equal(claim_by(world, way, NOW + 10), 1);
        assert_int_equal(claim_by(world, way, NOW + 10 + LEASE), 0);
        assert_int_equal(claim_by(world, way, NOW + 11 + LEASE), 1);
        settle_all(world, "failed"); // until NOW + 10 s
        assert_int_equal(claim_by(world, way, NOW + 10 * SECOND - 1), 0);
        assert_int_equal(claim_by(world, way, NOW + 10 * SECOND), 1);
        settle_all(world, "succeeded");
        assert_int_equal(claim_by(world, way, NOW + 99 * LEASE), 0);
    }
}

static void
whichever_way_rows_are_picked_they_come_in_the_order_of_the_queue(void **state)
{
    struct world *world = *state;
    publish_keys(world, billing);
    for (enum way way = 0; way < WAYS; way++) {
        int64_t late = only_delivery(world, fire_due(world, NOW + 20));
        int64_t first = only_delivery(world, fire_due(world, NOW + 10));
        int64_t second = only_delivery(world, fire_due(world, NOW + 10));
        claim_by(world, way, NOW + SECOND);
        check_order(world, (int64_t[]){first, second, late}, 3);
        settle_all(world, "succeeded");
    }
}

static void
due_and_lapsed_rows_together_are_no_more_than_the_limit(void **state)
{
    struct world *world = *state;
    publish_keys(world, billing);
    int64_t ids[6];
    fire_many(world, 6, ids);
    claim_as(world, "w", NOW, 3);
    for (enum way way = 0; way < WAYS; way++) {
        assert_ok(store_hand_back_all(world->db, "w", 0, NULL, &world->err));
        struct claim asked = by(way, NOW, 2);
        claim(world, &asked);
        check_order(world, ids, 2);
    }
}

/* claim_among claims for receivers of a kind that are named. */
static size_t
claim_among(struct world *world, enum way way, const char *kind, const char *const *receivers)
{
    struct claim asked = by(way, NOW, 10);
    asked.kind = kind;
    asked.receivers = receivers;
    return claim(world, &asked);
}

static void
naming_receivers_widens_no_lane_and_no_kind(void **state)
{
    struct world *world = *state;
    static const char *const all[] = {"shop.a", "shop.b", "shop.c", "shop.d", NULL};
    static const char *const some[] = {"shop.b", "shop.c", NULL}, *const none[] = {"shop.b", NULL};
    struct catalogue_receiver receivers[] = {
        a_receiver("shop.a"), a_receiver("shop.b"), a_receiver("shop.c"), a_receiver("shop.d")};
    receivers[1].lane = "shop/mail";
    receivers[2].kind = "outside";
    publish(world, receivers, 4);
    for (enum way way = NAMED_RECEIVERS; way < WAYS; way++) {
        fire(world, EVENT);
        for (int round = 0; round < 2; round++) { // due, and then handed back
            assert_int_equal(claim_among(world, way, "inside", some), 0);
            assert_int_equal(claim_among(world, way, "outside", none), 0);
            assert_int_equal(claim_among(world, way, "outside", all), 1);
            assert_string_equal(world->rows[0].receiver_key, "shop.c");
            assert_int_equal(claim_among(world, way, "inside", all), 2);
            assert_string_equal(world->rows[0].receiver_key, "shop.a");
            struct claim mail = a_claim("w", NOW, 10);
            mail.lanes = (const char *const[]){"shop/mail", NULL};
            assert_int_equal(claim(world, &mail), 1);
            assert_ok(store_hand_back_all(world->db, "w", 0, NULL, &world->err));
        }
        claim_among(world, way, "inside", all);
        settle_all(world, "succeeded");
        claim_among(world, way, "outside", all);
        settle_all(world, "succeeded");
        struct claim mail = a_claim("w", NOW, 10);
        mail.lanes = (const char *const[]){"shop/mail", NULL};
        claim(world, &mail);
        settle_all(world, "succeeded");
    }
}

static void
before_its_time_only_what_failed_is_claimed_and_only_when_asked_for(void **state)
{
    struct world *world = *state;
    publish_keys(world, billing);
    int64_t failed = bring_to(world, "failed"); // until NOW + 10 s
    int64_t waits = owe(world,
        (struct new_delivery){.receiver_key = "shop.billing",
            .target = "pending, and due before it is available",
            .lane = LANE,
            .available_at_us = NOW + LEASE,
            .due_at_us = NOW});
    struct claim asked = by(EARLY, NOW, 10);
    assert_int_equal(claim(world, &asked), 0);
    struct early early = *asked.early;
    early.ignore_backoff = true;
    asked.early = &early;
    claim(world, &asked);
    check_order(world, &failed, 1);
    early.due_us = NOW + LEASE - 1;
    assert_int_equal(claim(world, &asked), 0);
    early.due_us = NOW + LEASE;
    claim(world, &asked);
    check_order(world, &waits, 1);
    settle_all(world, "succeeded");
    // One that failed before it was due is not run again before it is.
    fire_due(world, NOW + LEASE);
    assert_int_equal(claim(world, &asked), 1);
    settle_all(world, "failed"); // until NOW + 10 s
    early.due_us = NOW + LEASE - 1;
    assert_int_equal(claim(world, &asked), 0);
    early.due_us = NOW + LEASE;
    assert_int_equal(claim(world, &asked), 1);
}

static void
without_names_every_receivers_rows_are_picked_in_the_lane_and_kind(void **state)
{
    struct world *world = *state;
    struct catalogue_receiver receivers[] = {
        a_receiver("shop.a"), a_receiver("shop.b"), a_receiver("shop.c"), a_receiver("shop.d")};
    receivers[1].lane = "shop/mail";
    receivers[2].kind = "outside";
    publish(world, receivers, 4);
    fire(world, EVENT);
    for (int round = 0; round < 2; round++) { // due, and then handed back
        assert_int_equal(claim_among(world, BUT_FOR_TARGETS, "outside", NULL), 1);
        assert_string_equal(world->rows[0].receiver_key, "shop.c");
        assert_int_equal(claim_among(world, BUT_FOR_TARGETS, "inside", NULL), 2);
        assert_string_equal(world->rows[0].receiver_key, "shop.a");
        assert_string_equal(world->rows[1].receiver_key, "shop.d");
        assert_ok(store_hand_back_all(world->db, "w", 0, NULL, &world->err));
    }
}

static void
rows_of_targets_that_are_to_be_left_are_left(void **state)
{
    struct world *world = *state;
    static const char *const targets[] = {"one", "two"};
    for (int i = 0; i < 4; i++)
        owe(world,
            (struct new_delivery){.receiver_key = i < 2 ? "shop.a" : "shop.b",
                .target = targets[i % 2],
                .lane = LANE,
                .available_at_us = NOW});
    struct str one = STR("one");
    uint8_t digest[32];
    assert_true(sha256(&one, 1, digest));
    const struct left_target left = {.receiver_key = "shop.a", .digest = digest};
    struct claim asked = a_claim("w", NOW, 10);
    asked.but_targets = &left;
    asked.but_target_count = 1;
    for (int round = 0; round < 2; round++) { // due, and then handed back
        assert_int_equal(claim(world, &asked), 3);
        for (size_t i = 0; i < 3; i++)
            assert_true(strcmp(world->rows[i].receiver_key, "shop.a") != 0 ||
                strcmp(world->rows[i].target, "one") != 0);
        assert_int_equal(claim_as(world, "w", NOW, 10), 1);
        assert_ok(store_hand_back_all(world->db, "w", 0, NULL, &world->err));
    }
}

static void
rows_that_are_to_be_left_are_left(void **state)
{
    struct world *world = *state;
    publish_keys(world, billing);
    int64_t ids[2];
    fire_many(world, 2, ids);
    char text[32];
    snprintf(text, sizeof text, "[%lld]", (long long)ids[0]);
    struct claim asked = by(EARLY, NOW, 10);
    struct early early = *asked.early;
    early.but_ids = str_of(text);
    asked.early = &early;
    claim(world, &asked);
    check_order(world, ids + 1, 1);
    settle_all(world, "succeeded");
    claim_as(world, "w", NOW, 10);
    assert_ok(store_hand_back_all(world->db, "w", 0, NULL, &world->err));
    assert_int_equal(claim(world, &asked), 0);
}

static size_t
claim_one(struct world *world, int64_t id, int64_t now_us)
{
    struct claim asked = by(EARLY, now_us, 10);
    asked.early = NULL;
    asked.delivery_id = id;
    return claim(world, &asked);
}

static void
one_row_is_claimed_by_its_id_at_the_same_moments(void **state)
{
    struct world *world = *state;
    publish_keys(world, billing);
    fire(world, EVENT);
    int64_t id = only_delivery(world, fire_due(world, NOW + 10));
    assert_int_equal(claim_one(world, id, NOW + 9), 0);
    assert_int_equal(claim_one(world, id, NOW + 10), 1);
    assert_int_equal(world->rows[0].fence.delivery_id, id);
    assert_int_equal(claim_one(world, id, NOW + 10 + LEASE), 0);
    assert_int_equal(claim_one(world, id, NOW + 11 + LEASE), 1);
    settle_all(world, "failed"); // until NOW + 10 s
    assert_int_equal(claim_one(world, id, NOW + 10 * SECOND - 1), 0);
    assert_int_equal(claim_one(world, id, NOW + 10 * SECOND), 1);
    settle_all(world, "succeeded");
    assert_int_equal(claim_one(world, id, NOW + 99 * LEASE), 0);
}

/* claim_events claims for shop.billing what is owed of two events at most. */
static size_t
claim_events(struct world *world, int64_t first, int64_t second, int64_t now_us)
{
    const int64_t events[] = {first, second};
    struct claim asked = a_claim("eager.1", now_us, 10);
    asked.receivers = billing;
    asked.event_ids = events;
    asked.event_count = 2;
    return claim(world, &asked);
}

static void
of_an_event_is_claimed_what_is_owed_for_the_first_time(void **state)
{
    struct world *world = *state;
    static const char *const keys[] = {"shop.billing", "shop.label", NULL};
    publish_keys(world, keys);
    fire(world, EVENT);
    int64_t event_id = fire(world, EVENT);
    assert_int_equal(claim_events(world, event_id, 0, NOW - 1), 0);
    assert_int_equal(claim_events(world, event_id, 0, NOW), 1);
    assert_int_equal(world->rows[0].event_id, event_id);
    assert_string_equal(world->rows[0].receiver_key, "shop.billing");
    // Not what others hold, nor what failed.
    assert_int_equal(claim_events(world, event_id, 0, NOW + 9 * LEASE), 0);
    settle_all(world, "failed");
    assert_int_equal(claim_events(world, event_id, 0, NOW + 9 * LEASE), 0);
}

static void
of_several_events_rows_come_in_the_order_of_the_queue_up_to_the_limit(void **state)
{
    struct world *world = *state;
    publish_keys(world, billing);
    int64_t late = fire_due(world, NOW + 20), first = fire_due(world, NOW + 10);
    const int64_t events[] = {late, first};
    struct claim asked = a_claim("eager.1", NOW + SECOND, 1);
    asked.receivers = billing;
    asked.event_ids = events;
    asked.event_count = 2;
    assert_int_equal(claim(world, &asked), 1);
    assert_int_equal(world->rows[0].event_id, first);
    assert_int_equal(claim(world, &asked), 1);
    assert_int_equal(world->rows[0].event_id, late);
}

static void
of_an_event_nothing_is_claimed_that_is_paused_or_of_another_kind(void **state)
{
    struct world *world = *state;
    int64_t paused = owe(world,
        (struct new_delivery){
            .receiver_key = "shop.billing", .lane = LANE "!shop.billing", .available_at_us = NOW});
    assert_int_equal(claim_events(world, delivery(world, paused).event_id, 0, NOW), 0);
    struct catalogue_receiver outside = a_receiver("shop.billing");
    outside.kind = "outside";
    publish(world, &outside, 1);
    assert_int_equal(claim_events(world, fire(world, EVENT), 0, NOW), 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(whichever_way_rows_are_picked_their_moments_are_the_same),
        TEST(whichever_way_rows_are_picked_they_come_in_the_order_of_the_queue),
        TEST(due_and_lapsed_rows_together_are_no_more_than_the_limit),
        TEST(naming_receivers_widens_no_lane_and_no_kind),
        TEST(before_its_time_only_what_failed_is_claimed_and_only_when_asked_for),
        TEST(without_names_every_receivers_rows_are_picked_in_the_lane_and_kind),
        TEST(rows_of_targets_that_are_to_be_left_are_left),
        TEST(rows_that_are_to_be_left_are_left),
        TEST(one_row_is_claimed_by_its_id_at_the_same_moments),
        TEST(of_an_event_is_claimed_what_is_owed_for_the_first_time),
        TEST(of_several_events_rows_come_in_the_order_of_the_queue_up_to_the_limit),
        TEST(of_an_event_nothing_is_claimed_that_is_paused_or_of_another_kind),
    };
    return run_on_all_stores("store ways", tests, COUNT(tests));
}
