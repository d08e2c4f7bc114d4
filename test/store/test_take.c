/* SPDX-License-Identifier: MIT
 *
 * test_take.c - a claim that is handed on is taken once, and only as it was handed on.
 */
#include "store/take.h"
#include "world.h"

#include <pthread.h>
#include <string.h>

static owed_status
take_on(struct world *world, struct db *db, const struct fence *fence, const char *claimed_by,
    int64_t now_us, struct claimed *ret_row)
{
    const struct taking taking = {
        .fence = *fence, .claimed_by = claimed_by, .now_us = now_us, .lease_us = LEASE};
    return store_take(db, &taking, &world->arena, ret_row, &world->err);
}

static owed_status
take(struct world *world, const struct fence *fence, struct claimed *ret_row)
{
    return take_on(world, world->db, fence, "task.1", NOW + SECOND, ret_row);
}

static bool
same_claim(const struct delivery_row *a, const struct delivery_row *b)
{
    return strcmp(a->status, b->status) == 0 && strcmp(a->claimed_by, b->claimed_by) == 0 &&
        a->claimed_at_us == b->claimed_at_us && a->lease_expires_at_us == b->lease_expires_at_us &&
        a->losses == b->losses;
}

static void
refused(struct world *world, const struct fence *fence, int64_t id)
{
    struct claimed row;
    struct delivery_row before = delivery(world, id);
    assert_int_equal(take(world, fence, &row), OWED_LOST);
    assert_int_equal(world->err.status, OWED_LOST);
    struct delivery_row after = delivery(world, id);
    assert_true(same_claim(&before, &after));
}

static void
a_take_moves_the_claim_and_gives_the_row_with_its_event(void **state)
{
    struct world *world = *state;
    int64_t id = bring_to(world, "claimed");
    struct claimed first = world->rows[0], row = {0};
    assert_ok(take(world, &first.fence, &row));
    assert_int_equal(row.fence.delivery_id, id);
    assert_string_equal(row.fence.claimed_by, "task.1");
    assert_string_equal(row.receiver_key, first.receiver_key);
    assert_string_equal(row.event_name, first.event_name);
    assert_int_equal(row.payload.len, first.payload.len);
    assert_memory_equal(row.payload.p, first.payload.p, first.payload.len);
    struct delivery_row now = delivery(world, id);
    assert_string_equal(now.status, "claimed");
    assert_string_equal(now.claimed_by, "task.1");
    assert_int_equal(now.claimed_at_us, row.fence.claimed_at_us);
    assert_int_equal(now.claimed_at_us, NOW + SECOND);
    assert_int_equal(now.lease_expires_at_us, NOW + SECOND + LEASE);
    assert_int_equal(now.attempts, 0);
    // The fence that came with the row is the one that writes.
    struct settlement done = a_settlement(&first.fence, "succeeded");
    assert_int_equal(store_settle(world->db, &done, 1, NULL, &world->err), OWED_LOST);
    done = a_settlement(&row.fence, "succeeded");
    assert_ok(store_settle(world->db, &done, 1, NULL, &world->err));
    assert_int_equal(delivery(world, id).losses, 0);
}

static void
the_same_claim_is_taken_once(void **state)
{
    struct world *world = *state;
    int64_t id = bring_to(world, "claimed");
    struct fence handed = world->rows[0].fence;
    struct claimed row;
    assert_ok(take(world, &handed, &row));
    refused(world, &handed, id);
    assert_int_equal(
        take_on(world, world->other, &handed, "task.2", NOW + SECOND, &row), OWED_LOST);
}

enum { RACES = 20 };

/* One of two that were handed the same claims. */
struct taker {
    struct db *db;
    const char *claimed_by;
    const struct claimed *handed;
    int taken[RACES];
    pthread_barrier_t *start;
};

static void *
take_all(void *argument)
{
    struct taker *taker = argument;
    struct arena arena;
    arena_init(&arena, 0);
    for (int i = 0; i < RACES; i++) {
        const struct taking taking = {.fence = taker->handed[i].fence,
            .claimed_by = taker->claimed_by,
            .now_us = NOW,
            .lease_us = LEASE};
        struct claimed row;
        owed_error err;
        owed_status status = OWED_BUSY;
        pthread_barrier_wait(taker->start);
        while (status == OWED_BUSY)
            status = store_take(taker->db, &taking, &arena, &row, &err);
        taker->taken[i] = status == OWED_OK ? 1 : status == OWED_LOST ? 0 : -1;
    }
    arena_done(&arena);
    return NULL;
}

static void
of_two_that_take_at_the_same_instant_one_has_the_row(void **state)
{
    struct world *world = *state;
    int64_t ids[RACES];
    static const char *const keys[] = {"shop.billing", NULL};
    publish_keys(world, keys);
    fire_many(world, RACES, ids);
    assert_int_equal(claim_as(world, "first", NOW, RACES), RACES);
    pthread_barrier_t start;
    assert_int_equal(pthread_barrier_init(&start, NULL, 2), 0);
    struct taker one = {world->db, "task.1", world->rows, {0}, &start};
    struct taker two = {world->other, "task.2", world->rows, {0}, &start};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, take_all, &two), 0);
    take_all(&one);
    pthread_join(thread, NULL);
    pthread_barrier_destroy(&start);
    for (int i = 0; i < RACES; i++) {
        assert_int_equal(one.taken[i] + two.taken[i], 1);
        assert_string_equal(delivery(world, ids[i]).claimed_by, one.taken[i] ? "task.1" : "task.2");
    }
}

static void
a_claim_that_is_not_the_rows_takes_nothing(void **state)
{
    struct world *world = *state;
    int64_t id = bring_to(world, "claimed");
    struct fence right = world->rows[0].fence;
    const struct fence wrong[] = {
        {id, "second", right.claimed_at_us},
        {id, right.claimed_by, right.claimed_at_us - 1},
        {id, right.claimed_by, right.claimed_at_us + 1},
        {id, right.claimed_by, 0},
        {id, "", right.claimed_at_us},
        {id, NULL, right.claimed_at_us},
        {id, NULL, 0},
        {id + 1, right.claimed_by, right.claimed_at_us},
    };
    for (size_t i = 0; i < COUNT(wrong); i++)
        refused(world, &wrong[i], id);
    struct claimed row;
    assert_ok(take(world, &right, &row));
}

static void
only_the_row_that_was_handed_on_is_taken(void **state)
{
    struct world *world = *state;
    static const char *const keys[] = {"shop.billing", NULL};
    publish_keys(world, keys);
    fire(world, EVENT);
    fire(world, EVENT);
    assert_int_equal(claim_as(world, "first", NOW, 2), 2);
    struct fence one = world->rows[0].fence, other = world->rows[1].fence;
    assert_int_equal(one.claimed_at_us, other.claimed_at_us);
    struct delivery_row before = delivery(world, other.delivery_id);
    struct claimed row;
    assert_ok(take(world, &one, &row));
    struct delivery_row after = delivery(world, other.delivery_id);
    assert_true(same_claim(&before, &after));
}

static void
a_row_that_is_not_claimed_is_not_taken(void **state)
{
    struct world *world = *state;
    static const char *const others[] = {"succeeded", "failed", "dead", "orphaned"};
    for (size_t i = 0; i < COUNT(others); i++) {
        int64_t id = bring_to(world, others[i]);
        refused(world, &world->rows[0].fence, id);
    }
}

static void
a_claim_that_is_over_and_was_taken_by_another_is_stale(void **state)
{
    struct world *world = *state;
    int64_t id = bring_to(world, "claimed");
    struct fence handed = world->rows[0].fence;
    assert_int_equal(claim_as(world, "second", NOW + LEASE + 1, 1), 1);
    refused(world, &handed, id);
    struct claimed row;
    assert_ok(take(world, &world->rows[0].fence, &row));
}

static void
a_late_message_still_takes_a_row_that_nobody_else_took(void **state)
{
    struct world *world = *state;
    int64_t id = bring_to(world, "claimed");
    struct claimed row;
    int64_t late = NOW + 5 * LEASE;
    assert_ok(take_on(world, world->db, &world->rows[0].fence, "task.1", late, &row));
    assert_int_equal(delivery(world, id).lease_expires_at_us, late + LEASE);
    assert_int_equal(claim_as(world, "second", late, 1), 0);
}

static void
the_fence_of_a_take_is_a_new_one_on_a_clock_that_went_back(void **state)
{
    struct world *world = *state;
    int64_t id = bring_to(world, "claimed");
    struct fence handed = world->rows[0].fence;
    struct claimed row;
    assert_ok(take_on(world, world->db, &handed, handed.claimed_by, NOW - SECOND, &row));
    assert_true(row.fence.claimed_at_us > handed.claimed_at_us);
    assert_int_equal(delivery(world, id).claimed_at_us, row.fence.claimed_at_us);
    refused(world, &handed, id);
}

static void
handing_off_gives_a_lease_and_keeps_the_claim(void **state)
{
    struct world *world = *state;
    int64_t id = bring_to(world, "claimed");
    struct fence fence = world->rows[0].fence;
    assert_ok(store_hand_off(world->db, &fence, NOW + 3 * LEASE, &world->err));
    struct delivery_row row = delivery(world, id);
    assert_string_equal(row.status, "claimed");
    assert_string_equal(row.claimed_by, fence.claimed_by);
    assert_int_equal(row.claimed_at_us, fence.claimed_at_us);
    assert_int_equal(row.lease_expires_at_us, NOW + 3 * LEASE);
    assert_int_equal(claim_as(world, "second", NOW + 3 * LEASE, 1), 0);
    struct claimed taken;
    assert_ok(take(world, &fence, &taken));
}

static void
many_are_handed_off_with_one_commit_and_which_were_lost_is_noted(void **state)
{
    struct world *world = *state;
    bring_to(world, "claimed");
    const struct fence fence = world->rows[0].fence;
    struct fence stale = fence;
    stale.claimed_at_us--;
    struct handing handings[] = {
        {.fence = stale, .lease_expires_at_us = NOW + 2 * LEASE, .is_lost = false},
        {.fence = fence, .lease_expires_at_us = NOW + 3 * LEASE, .is_lost = true},
        {.fence = stale, .lease_expires_at_us = NOW + 4 * LEASE, .is_lost = false},
    };
    assert_ok(store_hand_off_all(world->db, handings, 3, &world->err));
    assert_true(handings[0].is_lost);
    assert_false(handings[1].is_lost);
    assert_true(handings[2].is_lost);
    assert_int_equal(delivery(world, fence.delivery_id).lease_expires_at_us, NOW + 3 * LEASE);
    assert_false(store_in_transaction(world->db));
}

static void
a_message_that_was_lost_is_no_loss_and_a_taker_that_died_is_one(void **state)
{
    struct world *world = *state;
    int64_t id = bring_to(world, "claimed");
    int64_t now = NOW;
    for (int i = 0; i < 3; i++) {
        assert_ok(store_hand_off(world->db, &world->rows[0].fence, now + LEASE, &world->err));
        now += LEASE + 1;
        assert_int_equal(claim_as(world, "first", now, 1), 1);
        assert_int_equal(world->rows[0].losses, 0);
    }
    for (int32_t losses = 1; losses <= 3; losses++) {
        struct claimed taken;
        assert_ok(store_hand_off(world->db, &world->rows[0].fence, now + LEASE, &world->err));
        assert_ok(take_on(world, world->db, &world->rows[0].fence, "task.1", now, &taken));
        assert_int_equal(taken.losses, losses - 1);
        assert_int_equal(delivery(world, id).losses, losses - 1);
        now += LEASE + 1;
        assert_int_equal(claim_as(world, "first", now, 1), 1);
        assert_int_equal(world->rows[0].losses, losses);
    }
}

static void
a_loss_that_is_taken_off_beforehand_is_taken_off_once(void **state)
{
    struct world *world = *state;
    int64_t id = bring_to(world, "claimed");
    for (int i = 0; i < 3; i++)
        assert_ok(store_hand_off(world->db, &world->rows[0].fence, NOW + LEASE, &world->err));
    // One that dies with it, and one more: the first lapse alone is made good.
    assert_int_equal(claim_as(world, "first", NOW + LEASE + 1, 1), 1);
    assert_int_equal(delivery(world, id).losses, 0);
    assert_int_equal(claim_as(world, "second", NOW + 2 * LEASE + 2, 1), 1);
    assert_int_equal(delivery(world, id).losses, 1);
}

static void
a_take_in_a_transaction_that_is_undone_was_none(void **state)
{
    struct world *world = *state;
    int64_t id = bring_to(world, "claimed");
    struct fence handed = world->rows[0].fence;
    struct claimed row;
    struct delivery_row before = delivery(world, id);
    assert_ok(store_begin(world->db, true, &world->err));
    assert_ok(take(world, &handed, &row));
    store_rollback(world->db);
    struct delivery_row after = delivery(world, id);
    assert_true(same_claim(&before, &after));
    assert_ok(take(world, &handed, &row));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_take_moves_the_claim_and_gives_the_row_with_its_event),
        TEST(the_same_claim_is_taken_once),
        TEST(of_two_that_take_at_the_same_instant_one_has_the_row),
        TEST(a_claim_that_is_not_the_rows_takes_nothing),
        TEST(only_the_row_that_was_handed_on_is_taken),
        TEST(a_row_that_is_not_claimed_is_not_taken),
        TEST(a_claim_that_is_over_and_was_taken_by_another_is_stale),
        TEST(a_late_message_still_takes_a_row_that_nobody_else_took),
        TEST(the_fence_of_a_take_is_a_new_one_on_a_clock_that_went_back),
        TEST(handing_off_gives_a_lease_and_keeps_the_claim),
        TEST(many_are_handed_off_with_one_commit_and_which_were_lost_is_noted),
        TEST(a_message_that_was_lost_is_no_loss_and_a_taker_that_died_is_one),
        TEST(a_loss_that_is_taken_off_beforehand_is_taken_off_once),
        TEST(a_take_in_a_transaction_that_is_undone_was_none),
    };
    return run_on_all_stores("store take", tests, COUNT(tests));
}
