/* SPDX-License-Identifier: MIT
 *
 * test_lease.c - whose lease is over, who gave a row back, and whom a row has cost a worker.
 */
#include "world.h"

#include <stdio.h>
#include <string.h>

static const char *const billing[] = {"shop.billing", NULL};

static void
a_live_lease_holds_to_its_last_moment(void **state)
{
    struct world *world = *state;
    int64_t id = bring_to(world, "claimed");
    assert_int_equal(claim_as(world, "second", NOW + LEASE, 10), 0);
    assert_int_equal(claim_as(world, "second", NOW + LEASE + 1, 10), 1);
    assert_int_equal(world->rows[0].fence.delivery_id, id);
    assert_int_equal(world->rows[0].losses, 1);
    assert_int_equal(delivery(world, id).losses, 1);
    assert_string_equal(delivery(world, id).claimed_by, "second");
}

static void
a_row_handed_back_is_claimable_at_once_and_is_no_loss(void **state)
{
    struct world *world = *state;
    int64_t id = bring_to(world, "claimed");
    int64_t back = 0;
    assert_ok(store_hand_back(world->db, &world->rows[0].fence, 1, &back, &world->err));
    assert_int_equal(back, 1);
    int64_t forgiven = 0;
    assert_ok(store_forgive_losses(world->db, "first", &forgiven, &world->err));
    assert_int_equal(forgiven, 0);
    struct delivery_row row = delivery(world, id);
    assert_string_equal(row.status, "claimed");
    assert_int_equal(row.lease_expires_at_us, 0);
    assert_int_equal(row.attempts, 0);
    assert_int_equal(claim_as(world, "second", NOW, 10), 1);
    assert_int_equal(world->rows[0].losses, 0);
    assert_int_equal(delivery(world, id).losses, 0);
}

static void
two_claims_of_a_row_never_have_the_same_fence_under_a_frozen_clock(void **state)
{
    struct world *world = *state;
    bring_to(world, "claimed");
    int64_t before = world->rows[0].fence.claimed_at_us;
    for (int i = 0; i < 3; i++) {
        // The clock stands still, and then goes back.
        int64_t now = i < 2 ? NOW : NOW - 100 * SECOND;
        assert_ok(store_hand_back(world->db, &world->rows[0].fence, 1, NULL, &world->err));
        struct claim asked = a_claim("first", now, 1);
        asked.lease_us = 200 * SECOND;
        assert_int_equal(claim(world, &asked), 1);
        assert_true(world->rows[0].fence.claimed_at_us > before);
        before = world->rows[0].fence.claimed_at_us;
        assert_int_equal(delivery(world, world->rows[0].fence.delivery_id).claimed_at_us, before);
    }
}

static void
rows_handed_back_keep_their_place_in_the_queue(void **state)
{
    struct world *world = *state;
    publish_keys(world, billing);
    int64_t ids[6];
    fire_many(world, 6, ids);
    claim_as(world, "first", NOW, 4);
    struct fence fences[2] = {world->rows[1].fence, world->rows[2].fence};
    assert_ok(store_hand_back(world->db, fences, 2, NULL, &world->err));
    claim_as(world, "second", NOW, 10);
    check_order(world, (int64_t[]){ids[1], ids[2], ids[4], ids[5]}, 4);
}

static void
a_row_with_losses_is_claimed_alone(void **state)
{
    struct world *world = *state;
    publish_keys(world, billing);
    int64_t ids[5];
    fire_many(world, 5, ids);
    claim_as(world, "first", NOW, 2);
    // The first relay dies with two rows; both are suspects, three are not.
    int64_t later = NOW + LEASE + 1;
    claim_as(world, "second", later, 10);
    check_order(world, ids, 1);
    claim_as(world, "second", later, 10);
    check_order(world, ids + 1, 1);
    claim_as(world, "second", later, 10);
    check_order(world, ids + 2, 3);
}

static void
a_due_row_with_losses_is_claimed_alone_as_well(void **state)
{
    struct world *world = *state;
    publish_keys(world, billing);
    int64_t ids[3];
    char text[128];
    fire_many(world, 3, ids);
    snprintf(text, sizeof text, "update owed_delivery set losses = 1 where id = %lld",
        (long long)ids[1]);
    raw_run(plain(world), text);
    for (int i = 0; i < 3; i++) {
        claim_as(world, "w", NOW, 10);
        check_order(world, ids + i, 1);
    }
}

static void
a_batch_ends_before_the_first_row_with_losses(void **state)
{
    struct world *world = *state;
    publish_keys(world, billing);
    int64_t ids[4];
    fire_many(world, 4, ids);
    claim_as(world, "first", NOW, 3);
    struct fence fences[2] = {world->rows[0].fence, world->rows[1].fence};
    assert_ok(store_hand_back(world->db, fences, 2, NULL, &world->err));
    claim_as(world, "second", NOW + LEASE + 1, 10);
    check_order(world, ids, 2);
    claim_as(world, "second", NOW + LEASE + 1, 10);
    check_order(world, ids + 2, 1);
    assert_int_equal(world->rows[0].losses, 1);
}

static void
rows_with_losses_go_together_up_to_so_many_and_with_no_other(void **state)
{
    struct world *world = *state;
    publish_keys(world, billing);
    int64_t ids[6];
    fire_many(world, 6, ids);
    claim_as(world, "first", NOW, 4);
    struct claim asked = a_claim("second", NOW + LEASE + 1, 10);
    asked.most_lost = 3;
    claim(world, &asked);
    check_order(world, ids, 3);
    claim(world, &asked);
    check_order(world, ids + 3, 1);
    claim(world, &asked);
    check_order(world, ids + 4, 2);
}

static void
a_recorded_outcome_sets_losses_back(void **state)
{
    struct world *world = *state;
    int64_t id = bring_to(world, "claimed");
    claim_as(world, "second", NOW + LEASE + 1, 1);
    assert_int_equal(world->rows[0].losses, 1);
    struct settlement failed = a_settlement(&world->rows[0].fence, "failed");
    assert_ok(store_settle(world->db, &failed, 1, NULL, &world->err));
    assert_int_equal(delivery(world, id).losses, 0);
}

static void
a_row_at_the_limit_of_losses_is_returned_for_its_end(void **state)
{
    struct world *world = *state;
    bring_to(world, "claimed");
    int64_t now = NOW;
    for (int32_t losses = 1; losses <= 3; losses++) {
        now += LEASE + 1;
        struct claim asked = a_claim("next", now, 10);
        asked.max_losses = 3;
        assert_int_equal(claim(world, &asked), 1);
        assert_int_equal(world->rows[0].losses, losses);
    }
}

static void
a_loss_can_be_counted_by_who_holds_the_row(void **state)
{
    struct world *world = *state;
    int64_t id = bring_to(world, "claimed");
    assert_ok(store_count_loss(world->db, &world->rows[0].fence, &world->err));
    struct delivery_row row = delivery(world, id);
    assert_int_equal(row.losses, 1);
    assert_int_equal(row.lease_expires_at_us, 0);
    assert_int_equal(claim_as(world, "second", NOW, 10), 1);
    assert_int_equal(world->rows[0].losses, 1);
}

static void
a_relay_back_from_an_outage_takes_back_its_losses(void **state)
{
    struct world *world = *state;
    bring_to(world, "claimed");
    int64_t forgiven = 0;
    assert_ok(store_forgive_losses(world->db, "somebody", &forgiven, &world->err));
    assert_int_equal(forgiven, 0);
    assert_ok(store_forgive_losses(world->db, "first", &forgiven, &world->err));
    assert_int_equal(forgiven, 1);
    assert_ok(
        store_forgive_losses(world->db, "first", &forgiven, &world->err)); // one, however often
    claim_as(world, "first", NOW + LEASE + 1, 10);
    assert_int_equal(world->count, 1);
    assert_int_equal(world->rows[0].losses, 0);
    // The next loss counts again.
    claim_as(world, "second", NOW + 2 * LEASE + 2, 10);
    assert_int_equal(world->rows[0].losses, 1);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_live_lease_holds_to_its_last_moment),
        TEST(a_row_handed_back_is_claimable_at_once_and_is_no_loss),
        TEST(two_claims_of_a_row_never_have_the_same_fence_under_a_frozen_clock),
        TEST(rows_handed_back_keep_their_place_in_the_queue),
        TEST(a_row_with_losses_is_claimed_alone),
        TEST(a_due_row_with_losses_is_claimed_alone_as_well),
        TEST(a_batch_ends_before_the_first_row_with_losses),
        TEST(rows_with_losses_go_together_up_to_so_many_and_with_no_other),
        TEST(a_recorded_outcome_sets_losses_back),
        TEST(a_row_at_the_limit_of_losses_is_returned_for_its_end),
        TEST(a_loss_can_be_counted_by_who_holds_the_row),
        TEST(a_relay_back_from_an_outage_takes_back_its_losses),
    };
    return run_on_all_stores("store lease", tests, COUNT(tests));
}
