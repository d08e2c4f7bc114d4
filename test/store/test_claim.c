/* SPDX-License-Identifier: MIT
 *
 * test_claim.c - which rows a claim takes, in which order, and which it leaves alone.
 */
#include "world.h"

#include <stdio.h>
#include <string.h>

static const char *const billing[] = {"shop.billing", NULL};

static void
a_claim_gives_the_row_and_its_event(void **state)
{
    struct world *world = *state;
    publish_keys(world, billing);
    struct new_event event = an_event(EVENT);
    event.payload = STR("{\"order_id\":  7.0}");
    event.version = 4;
    event.scope = "{\"tenant\": 1}";
    event.correlation_id = "c-9";
    event.occurred_at_us = NOW - 5;
    int64_t event_id;
    bool fresh;
    assert_ok(store_insert_event(world->db, &event, &event_id, &fresh, &world->err));
    assert_int_equal(claim_as(world, "w/1", NOW + 1, 10), 1);

    const struct claimed *row = &world->rows[0];
    assert_int_equal(row->fence.delivery_id, only_delivery(world, event_id));
    assert_string_equal(row->fence.claimed_by, "w/1");
    assert_int_equal(row->fence.claimed_at_us, NOW + 1);
    assert_int_equal(row->lease_expires_at_us, NOW + 1 + LEASE);
    assert_int_equal(row->event_id, event_id);
    assert_string_equal(row->receiver_key, "shop.billing");
    assert_string_equal(row->target, "");
    assert_string_equal(row->lane, LANE);
    assert_int_equal(row->attempts, 0);
    assert_int_equal(row->max_attempts, 5);
    assert_int_equal(row->losses, 0);
    assert_memory_equal(row->event_uid, event.uid, 16);
    assert_string_equal(row->event_name, EVENT);
    assert_int_equal(row->event_version, 4);
    assert_true(str_eq(row->payload, event.payload));
    assert_int_equal(row->payload.p[row->payload.len], 0);
    assert_int_equal(row->occurred_at_us, NOW - 5);
    assert_int_equal(row->recorded_at_us, NOW);
    assert_string_equal(row->scope, "{\"tenant\": 1}");
    assert_string_equal(row->correlation_id, "c-9");

    struct delivery_row stored = delivery(world, row->fence.delivery_id);
    assert_string_equal(stored.status, "claimed");
    assert_string_equal(stored.claimed_by, "w/1");
    assert_int_equal(stored.claimed_at_us, NOW + 1);
    assert_int_equal(stored.lease_expires_at_us, NOW + 1 + LEASE);
    assert_int_equal(stored.attempts, 0);
}

static void
rows_are_claimed_by_when_they_are_available_and_then_by_id(void **state)
{
    struct world *world = *state;
    publish_keys(world, billing);
    int64_t late = only_delivery(world, fire_due(world, NOW + 20));
    int64_t first = only_delivery(world, fire_due(world, NOW + 10));
    int64_t second = only_delivery(world, fire_due(world, NOW + 10));
    claim_as(world, "w", NOW + SECOND, 10);
    check_order(world, (int64_t[]){first, second, late}, 3);
}

static void
a_row_is_claimable_from_the_moment_it_is_available(void **state)
{
    struct world *world = *state;
    publish_keys(world, billing);
    fire_due(world, NOW + 10);
    assert_int_equal(claim_as(world, "w", NOW + 9, 10), 0);
    assert_int_equal(claim_as(world, "w", NOW + 10, 10), 1);
}

static void
a_claim_takes_no_more_than_its_limit(void **state)
{
    struct world *world = *state;
    publish_keys(world, billing);
    int64_t ids[5];
    fire_many(world, 5, ids);
    claim_as(world, "w", NOW, 2);
    check_order(world, ids, 2);
    claim_as(world, "w", NOW, 2);
    check_order(world, ids + 2, 2);
    assert_int_equal(claim_as(world, "w", NOW, 0), 0);
    claim_as(world, "w", NOW, 2);
    check_order(world, ids + 4, 1);
    assert_int_equal(claim_as(world, "w", NOW, 2), 0);
}

static void
two_connections_never_get_the_same_row(void **state)
{
    struct world *world = *state;
    publish_keys(world, billing);
    int64_t ids[40];
    fire_many(world, 40, ids);
    struct db *dbs[] = {world->db, world->other};
    int taken[40] = {0};
    for (int round = 0; round < 10; round++) {
        struct claim asked = a_claim(round % 2 == 0 ? "a" : "b", NOW, 4);
        assert_ok(store_claim(
            dbs[round % 2], &asked, &world->arena, &world->rows, &world->count, &world->err));
        assert_int_equal(world->count, 4);
        for (size_t i = 0; i < world->count; i++)
            for (int k = 0; k < 40; k++)
                taken[k] += world->rows[i].fence.delivery_id == ids[k];
    }
    for (int k = 0; k < 40; k++)
        assert_int_equal(taken[k], 1);
}

static void
a_claim_while_another_writes_waits_or_is_busy_but_never_doubles(void **state)
{
    struct world *world = *state;
    bring_to(world, "pending");
    struct db_options hasty = {.busy_timeout_us = 1};
    struct db *third;
    assert_ok(store_open(world->url, &hasty, &third, &world->err));
    assert_ok(store_begin(world->db, true, &world->err));
    assert_int_equal(claim_as(world, "first", NOW, 1), 1); // inside the open transaction
    struct claim asked = a_claim("second", NOW, 1);
    struct claimed *rows;
    size_t count = 0;
    owed_status status = store_claim(third, &asked, &world->arena, &rows, &count, &world->err);
    assert_true(status == OWED_BUSY || (status == OWED_OK && count == 0));
    assert_ok(store_commit(world->db, &world->err));
    assert_ok(store_claim(third, &asked, &world->arena, &rows, &count, &world->err));
    assert_int_equal(count, 0);
    store_close(third);
}

static void
a_claim_keeps_to_its_lanes_and_kind(void **state)
{
    struct world *world = *state;
    struct catalogue_receiver receivers[] = {
        a_receiver("shop.a"), a_receiver("shop.b"), a_receiver("shop.c"), a_receiver("shop.d")};
    receivers[1].lane = "shop/mail";
    receivers[2].kind = "outside";
    receivers[3].lane = "shop/hooks";
    publish(world, receivers, 4);
    fire(world, EVENT);
    assert_int_equal(claim_as(world, "w", NOW, 10), 1);
    assert_string_equal(world->rows[0].receiver_key, "shop.a");

    struct claim asked = a_claim("w", NOW, 10);
    asked.lanes = (const char *const[]){"shop/mail", "shop/hooks", "shop/none", NULL};
    assert_int_equal(claim(world, &asked), 2);
    asked.kind = "outside";
    asked.lanes = (const char *const[]){LANE, NULL};
    assert_int_equal(claim(world, &asked), 1);
    assert_string_equal(world->rows[0].receiver_key, "shop.c");
    // What was handed back keeps to its lane and kind as well.
    assert_ok(store_hand_back_all(world->db, "w", 0, NULL, &world->err));
    asked.lanes = (const char *const[]){"shop/mail", LANE, NULL};
    assert_int_equal(claim(world, &asked), 1);
    assert_string_equal(world->rows[0].receiver_key, "shop.c");
    asked.kind = "inside";
    assert_int_equal(claim(world, &asked), 2);
    asked.kind = "task";
    asked.now_us = NOW + LEASE + 1;
    assert_int_equal(claim(world, &asked), 0);
}

static void
a_lapsed_row_is_taken_over_in_its_own_lane_and_kind_alone(void **state)
{
    struct world *world = *state;
    struct catalogue_receiver receivers[] = {
        a_receiver("shop.a"), a_receiver("shop.b"), a_receiver("shop.c")};
    receivers[1].lane = "shop/mail";
    receivers[2].kind = "outside";
    publish(world, receivers, 3);
    fire(world, EVENT);
    struct claim dying = a_claim("dying", NOW, 10);
    dying.lanes = (const char *const[]){LANE, "shop/mail", NULL};
    assert_int_equal(claim(world, &dying), 2);
    dying.kind = "outside";
    assert_int_equal(claim(world, &dying), 1);

    const int64_t later = NOW + LEASE + 1;
    struct claim asked = a_claim("w", later, 10);
    asked.lanes = (const char *const[]){"shop/hooks", "shop/none", NULL};
    assert_int_equal(claim(world, &asked), 0);
    asked.lanes = (const char *const[]){"shop/none", NULL};
    assert_int_equal(claim(world, &asked), 0);
    asked.receivers = (const char *const[]){"shop.a", "shop.b", "shop.c", NULL};
    assert_int_equal(claim(world, &asked), 0);
    // One at a time, since each is a suspect; none of another lane or kind.
    asked = a_claim("w", later, 10);
    assert_int_equal(claim(world, &asked), 1);
    assert_string_equal(world->rows[0].receiver_key, "shop.a");
    assert_int_equal(claim(world, &asked), 0);
    asked.receivers = (const char *const[]){"shop.a", "shop.b", "shop.c", NULL};
    assert_int_equal(claim(world, &asked), 0);
    asked.receivers = NULL;
    asked.kind = "outside";
    asked.lanes = (const char *const[]){LANE, "shop/none", NULL};
    assert_int_equal(claim(world, &asked), 1);
    assert_string_equal(world->rows[0].receiver_key, "shop.c");
    assert_int_equal(claim(world, &asked), 0);
}

static void
several_lanes_are_merged_in_the_order_of_the_queue(void **state)
{
    struct world *world = *state;
    struct catalogue_receiver receivers[] = {a_receiver("shop.a"), a_receiver("shop.b")};
    receivers[1].lane = "shop/mail";
    receivers[1].event_name = "shop.Mail";
    publish(world, receivers, 2);
    int64_t ids[6];
    for (int i = 0; i < 6; i++)
        ids[i] = only_delivery(world, fire(world, i % 2 == 0 ? EVENT : "shop.Mail"));
    struct claim asked = a_claim("w", NOW, 5);
    asked.lanes = (const char *const[]){"shop/mail", LANE, NULL};
    claim(world, &asked);
    check_order(world, ids, 5);
}

static void
no_lanes_means_every_lane_of_the_app_but_paused_ones(void **state)
{
    struct world *world = *state;
    const struct {
        const char *lane;
        bool taken;
    } lanes[] = {{"shop/a", true}, {"shop/a!shop.x", false}, {"shop/a-b", true},
        {"shop/b!shop.y", false}, {"shop/default", true}, {"shop/z.9_", true}, {"shop2/a", false},
        {"shoo/a", false}, {"shop-2/a", false}};
    int64_t event_id = fire(world, "shop.Nothing");
    for (size_t i = 0; i < COUNT(lanes); i++) {
        struct new_delivery owed = {.event_id = event_id,
            .receiver_key = lanes[i].lane,
            .lane = lanes[i].lane,
            .kind = "inside",
            .max_attempts = 5,
            .available_at_us = NOW};
        assert_ok(store_insert_delivery(world->db, &owed, &world->err));
    }
    struct claim asked = a_claim("w", NOW, 100);
    asked.lanes = NULL;
    claim(world, &asked);
    for (size_t i = 0; i < COUNT(lanes); i++) {
        bool taken = false;
        for (size_t k = 0; k < world->count; k++)
            taken = taken || strcmp(world->rows[k].lane, lanes[i].lane) == 0;
        check_case(taken == lanes[i].taken, lanes[i].lane);
    }
    // What is claimed alone keeps its lane known, too.
    assert_int_equal(store_hand_back_all(world->db, "w", 0, NULL, &world->err), OWED_OK);
    assert_int_equal(claim(world, &asked), 4);
}

static void
a_relay_that_knows_some_receivers_claims_theirs_alone(void **state)
{
    struct world *world = *state;
    static const char *const keys[] = {"shop.a", "shop.b", "shop.c", NULL};
    publish_keys(world, keys);
    fire(world, EVENT);
    fire(world, EVENT);
    struct claim asked = a_claim("w", NOW, 10);
    asked.receivers = (const char *const[]){"shop.c", "shop.a", "shop.unknown", NULL};
    assert_int_equal(claim(world, &asked), 4);
    for (size_t i = 1; i < 4; i++)
        assert_true(world->rows[i].fence.delivery_id > world->rows[i - 1].fence.delivery_id);
    for (size_t i = 0; i < 4; i++)
        assert_string_not_equal(world->rows[i].receiver_key, "shop.b");

    // The other one's row lapses in the hands of a third: it is none of ours either.
    struct claim theirs = a_claim("third", NOW, 10);
    assert_int_equal(claim(world, &theirs), 2);
    asked.now_us = NOW + LEASE + 1;
    assert_int_equal(claim(world, &asked), 1); // its own, lapsed and alone
    assert_string_not_equal(world->rows[0].receiver_key, "shop.b");
    asked.receivers = (const char *const[]){NULL};
    assert_int_equal(claim(world, &asked), 0);
}

static void
a_batch_is_bounded_by_its_payloads_with_one_row_at_least(void **state)
{
    struct world *world = *state;
    publish_keys(world, billing);
    int64_t ids[3];
    fire_many(world, 3, ids);
    struct claim asked = a_claim("w", NOW, 10);
    size_t one = sizeof "{\"order_id\": 7}" - 1;
    asked.max_bytes = 2 * one;
    claim(world, &asked);
    check_order(world, ids, 2);
    asked.max_bytes = 1;
    claim(world, &asked);
    check_order(world, ids + 2, 1);
}

/* Claims of every shape that a relay makes. */
static size_t
shapes_of_claims(int64_t now_us, struct claim shapes[static 4])
{
    static const char *const two[] = {LANE, "shop/mail", NULL};
    static const uint8_t nobody[32] = {1};
    static const struct left_target left = {.receiver_key = "shop.billing", .digest = nobody};
    for (size_t i = 0; i < 4; i++)
        shapes[i] = a_claim("w", now_us, 10);
    shapes[1].lanes = two;
    shapes[2].receivers = billing;
    shapes[3].but_targets = &left;
    shapes[3].but_target_count = 1;
    return 4;
}

static void
a_claim_with_a_mark_leaves_out_what_came_due_before_it(void **state)
{
    struct world *world = *state;
    publish_keys(world, billing);
    struct claim shapes[4];
    for (size_t i = 0; i < shapes_of_claims(NOW + SECOND, shapes); i++) {
        int64_t before = only_delivery(world, fire_due(world, NOW + 10));
        int64_t at = only_delivery(world, fire_due(world, NOW + 20));
        int64_t after = only_delivery(world, fire_due(world, NOW + 30));
        shapes[i].mark_us = NOW + 31;
        assert_int_equal(claim(world, &shapes[i]), 0);
        shapes[i].mark_us = NOW + 20;
        claim(world, &shapes[i]);
        check_order(world, (int64_t[]){at, after}, 2);
        shapes[i].mark_us = 0;
        claim(world, &shapes[i]);
        check_order(world, &before, 1);
    }
}

static void
owe_in(struct world *world, const char *lane)
{
    struct new_delivery owed = {.event_id = fire(world, "shop.Nothing"),
        .receiver_key = lane,
        .lane = lane,
        .kind = "inside",
        .max_attempts = 5,
        .available_at_us = NOW};
    assert_ok(store_insert_delivery(world->db, &owed, &world->err));
}

static void
a_claim_with_a_mark_keeps_to_the_lanes_that_the_last_full_look_found(void **state)
{
    struct world *world = *state;
    struct found_lanes found = {0};
    struct claim asked = a_claim("w", NOW, 100);
    asked.lanes = NULL;
    asked.found = &found;
    owe_in(world, "shop/a");
    assert_int_equal(claim(world, &asked), 1);
    owe_in(world, "shop/b");
    owe_in(world, "shop/a");
    asked.mark_us = NOW;
    assert_int_equal(claim(world, &asked), 1);
    assert_string_equal(world->rows[0].lane, "shop/a");
    asked.mark_us = 0;
    assert_int_equal(claim(world, &asked), 1);
    assert_string_equal(world->rows[0].lane, "shop/b");
    owe_in(world, "shop/b");
    asked.mark_us = NOW;
    assert_int_equal(claim(world, &asked), 1);
    found_lanes_done(&found);
}

static void
no_mark_hides_what_was_handed_back(void **state)
{
    struct world *world = *state;
    publish_keys(world, billing);
    int64_t ids[2];
    fire_many(world, 2, ids);
    struct claim shapes[4];
    assert_int_equal(claim_as(world, "w", NOW, 10), 2);
    for (size_t i = 0; i < shapes_of_claims(NOW + SECOND, shapes); i++) {
        assert_ok(store_hand_back_all(world->db, "w", 0, NULL, &world->err));
        shapes[i].mark_us = NOW + SECOND;
        claim(world, &shapes[i]);
        check_order(world, ids, 2);
    }
}

static void
a_lapsed_lease_is_for_a_claim_without_a_mark(void **state)
{
    struct world *world = *state;
    int64_t id = bring_to(world, "claimed");
    struct claim shapes[4];
    int64_t later = NOW;
    for (int i = 0; i < 4; i++) {
        later += LEASE + 1;
        shapes_of_claims(later, shapes);
        shapes[i].mark_us = NOW;
        assert_int_equal(claim(world, &shapes[i]), 0);
        shapes[i].mark_us = 0;
        claim(world, &shapes[i]);
        check_order(world, &id, 1);
    }
}

static void
ended_rows_are_never_claimed(void **state)
{
    struct world *world = *state;
    static const char *const ended[] = {"succeeded", "dead", "orphaned", "cancelled"};
    for (size_t i = 0; i < COUNT(ended); i++) {
        bring_to(world, ended[i]);
        check_case(claim_as(world, "second", NOW + 100 * LEASE, 10) == 0, ended[i]);
    }
}

static void
a_failed_row_waits_for_its_moment(void **state)
{
    struct world *world = *state;
    int64_t id = bring_to(world, "failed");
    assert_int_equal(claim_as(world, "second", NOW + 10 * SECOND - 1, 10), 0);
    assert_int_equal(claim_as(world, "second", NOW + 10 * SECOND, 10), 1);
    assert_int_equal(world->rows[0].fence.delivery_id, id);
    assert_int_equal(world->rows[0].attempts, 1);
}

static void
next_due_is_when_the_next_row_can_be_claimed(void **state)
{
    struct world *world = *state;
    struct claim asked = a_claim("w", NOW, 10);
    int64_t at = 0;
    assert_ok(store_next_due(world->db, &asked, &at, &world->err));
    assert_true(at == INT64_MAX);
    publish_keys(world, billing);
    fire_due(world, NOW + 50);
    assert_ok(store_next_due(world->db, &asked, &at, &world->err));
    assert_int_equal(at, NOW + 50);
    asked.now_us = NOW + 50;
    assert_int_equal(claim(world, &asked), 1);
    assert_ok(store_next_due(world->db, &asked, &at, &world->err));
    assert_int_equal(at, NOW + 50 + LEASE + 1);
    asked.now_us = at - 1;
    assert_int_equal(claim(world, &asked), 0);
    asked.receivers = (const char *const[]){"shop.other", NULL};
    assert_ok(store_next_due(world->db, &asked, &at, &world->err));
    assert_true(at == INT64_MAX);
    asked.receivers = billing;
    asked.lanes = NULL;
    assert_ok(store_next_due(world->db, &asked, &at, &world->err));
    assert_int_equal(at, NOW + 50 + LEASE + 1);
    assert_ok(store_hand_back_all(world->db, "w", 0, NULL, &world->err));
    assert_ok(store_next_due(world->db, &asked, &at, &world->err));
    assert_int_equal(at, 0);
}

/* The world's connection, before whose transaction begins somebody else is quicker. */
static struct {
    struct driver driver;
    const struct driver *real;
    struct world *world;
    void (*quicker)(struct world *world); // once
} race;

static owed_status
begin_late(struct db *db, bool write, owed_error *err)
{
    void (*quicker)(struct world * world) = race.quicker;
    race.quicker = NULL;
    if (quicker != NULL)
        quicker(race.world);
    return race.real->begin(db, write, err);
}

static void
be_late(struct world *world, void (*quicker)(struct world *world))
{
    race.real = world->db->driver;
    race.driver = *race.real;
    race.driver.begin = begin_late;
    race.world = world;
    race.quicker = quicker;
    world->db->driver = &race.driver;
}

static void
cancels_the_first(struct world *world)
{
    raw_run(plain(world),
        "update owed_delivery set status = 'cancelled' where id = (select min(id) from owed_delivery)");
}

static void
fires_one(struct world *world)
{
    raw_fire(plain(world), EVENT, "{}");
}

static void
what_somebody_changes_just_before_a_claim_has_the_store_is_claimed_as_it_is_then(void **state)
{
    ONLY_ON("sqlite", "elsewhere what a claim reads is locked by that");
    struct world *world = *state;
    publish_keys(world, billing);
    int64_t ids[3];
    fire_many(world, 3, ids);
    be_late(world, cancels_the_first);
    assert_int_equal(claim_as(world, "w", NOW, 10), 2);
    assert_null(race.quicker);
    world->db->driver = race.real;
    assert_string_equal(status_of(world, ids[0]), "cancelled");
    check_order(world, ids + 1, 2);
}

static void
what_somebody_fires_just_before_a_claim_has_the_store_is_claimed_as_well(void **state)
{
    ONLY_ON("sqlite", "elsewhere what a claim reads is locked by that");
    struct world *world = *state;
    publish_keys(world, billing);
    fire(world, EVENT);
    be_late(world, fires_one);
    assert_int_equal(claim_as(world, "w", INT64_MAX / 2, 10), 2);
    world->db->driver = race.real;
}

static void
count_call(void *state)
{
    ++*(int *)state;
}

static void
a_claim_that_finds_nothing_keeps_nobody_from_writing(void **state)
{
    ONLY_ON("sqlite", "elsewhere nobody waits for a single writer");
    struct world *world = *state;
    publish_keys(world, billing);
    int locked = 0;
    struct claim asked = a_claim("w", NOW, 10);
    asked.locked = count_call;
    asked.locked_state = &locked;
    assert_int_equal(claim(world, &asked), 0);
    assert_int_equal(locked, 0);
    fire(world, EVENT);
    assert_int_equal(claim(world, &asked), 1);
    assert_int_equal(locked, 1);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_claim_gives_the_row_and_its_event),
        TEST(rows_are_claimed_by_when_they_are_available_and_then_by_id),
        TEST(a_row_is_claimable_from_the_moment_it_is_available),
        TEST(a_claim_takes_no_more_than_its_limit),
        TEST(two_connections_never_get_the_same_row),
        TEST(a_claim_while_another_writes_waits_or_is_busy_but_never_doubles),
        TEST(a_claim_keeps_to_its_lanes_and_kind),
        TEST(a_lapsed_row_is_taken_over_in_its_own_lane_and_kind_alone),
        TEST(several_lanes_are_merged_in_the_order_of_the_queue),
        TEST(no_lanes_means_every_lane_of_the_app_but_paused_ones),
        TEST(a_relay_that_knows_some_receivers_claims_theirs_alone),
        TEST(a_batch_is_bounded_by_its_payloads_with_one_row_at_least),
        TEST(a_claim_with_a_mark_leaves_out_what_came_due_before_it),
        TEST(a_claim_with_a_mark_keeps_to_the_lanes_that_the_last_full_look_found),
        TEST(no_mark_hides_what_was_handed_back),
        TEST(a_lapsed_lease_is_for_a_claim_without_a_mark),
        TEST(ended_rows_are_never_claimed),
        TEST(a_failed_row_waits_for_its_moment),
        TEST(next_due_is_when_the_next_row_can_be_claimed),
        TEST(what_somebody_changes_just_before_a_claim_has_the_store_is_claimed_as_it_is_then),
        TEST(what_somebody_fires_just_before_a_claim_has_the_store_is_claimed_as_well),
        TEST(a_claim_that_finds_nothing_keeps_nobody_from_writing),
    };
    return run_on_all_stores("store claim", tests, COUNT(tests));
}
