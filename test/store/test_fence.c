/* SPDX-License-Identifier: MIT
 *
 * test_fence.c - nobody whose row was taken can write to it.
 */
#include "store/take.h"
#include "world.h"

#include <stdio.h>
#include <string.h>

/* The writes of a holder, each under a fence; count says how many rows they changed. */
static owed_status
do_settle(struct world *world, const struct fence *fence)
{
    struct settlement settlement = a_settlement(fence, "succeeded");
    return store_settle(world->db, &settlement, 1, NULL, &world->err);
}

static owed_status
do_expand(struct world *world, const struct fence *fence)
{
    struct settlement settlement = a_settlement(fence, "succeeded");
    settlement.expanded = true;
    bool landed = false;
    owed_status status = store_settle(world->db, &settlement, 1, &landed, &world->err);
    return status == OWED_OK && !landed ? OWED_LOST : status;
}

static owed_status
do_renew(struct world *world, const struct fence *fence)
{
    return store_renew(world->db, fence, NOW + 2 * LEASE, &world->err);
}

static owed_status
do_hand_back(struct world *world, const struct fence *fence)
{
    int64_t count = 0;
    owed_status status = store_hand_back(world->db, fence, 1, &count, &world->err);
    return status == OWED_OK && count == 0 ? OWED_LOST : status;
}

static owed_status
do_count_loss(struct world *world, const struct fence *fence)
{
    return store_count_loss(world->db, fence, &world->err);
}

static owed_status
do_hand_off(struct world *world, const struct fence *fence)
{
    return store_hand_off(world->db, fence, NOW + 2 * LEASE, &world->err);
}

static const struct {
    const char *name;
    owed_status (*call)(struct world *world, const struct fence *fence);
} writes[] = {
    {"settle", do_settle},
    {"expand", do_expand},
    {"renew", do_renew},
    {"hand back", do_hand_back},
    {"count loss", do_count_loss},
    {"hand off", do_hand_off},
};

static bool
same_row(const struct delivery_row *a, const struct delivery_row *b)
{
    return strcmp(a->status, b->status) == 0 && strcmp(a->claimed_by, b->claimed_by) == 0 &&
        a->claimed_at_us == b->claimed_at_us && a->lease_expires_at_us == b->lease_expires_at_us &&
        a->attempts == b->attempts && a->losses == b->losses &&
        a->completed_at_us == b->completed_at_us && strcmp(a->last_error, b->last_error) == 0;
}

/* refused tries every write under a fence that is not the row's. */
static void
refused(struct world *world, const struct fence *fence, int64_t id)
{
    struct delivery_row before = delivery(world, id);
    for (size_t i = 0; i < COUNT(writes); i++) {
        check_case(writes[i].call(world, fence) == OWED_LOST, writes[i].name);
        struct delivery_row after = delivery(world, id);
        check_case(same_row(&before, &after), writes[i].name);
    }
}

static void
the_holder_may_write(void **state)
{
    struct world *world = *state;
    for (size_t i = 0; i < COUNT(writes); i++) {
        bring_to(world, "claimed");
        check_case(writes[i].call(world, &world->rows[0].fence) == OWED_OK, writes[i].name);
        do_settle(world, &world->rows[0].fence); // out of the way
    }
}

static void
another_row_of_the_same_claim_is_not_this_one(void **state)
{
    struct world *world = *state;
    static const char *const keys[] = {"shop.billing", NULL};
    publish_keys(world, keys);
    fire(world, EVENT);
    int64_t left = only_delivery(world, fire(world, EVENT));
    claim_as(world, "first", NOW, 2);
    assert_ok(do_settle(world, &world->rows[0].fence));
    assert_string_equal(status_of(world, left), "claimed");
    assert_int_equal(do_settle(world, &world->rows[0].fence), OWED_LOST);
}

static void
each_write_is_of_one_row_alone(void **state)
{
    struct world *world = *state;
    static const char *const keys[] = {"shop.billing", NULL};
    publish_keys(world, keys);
    for (size_t i = 0; i < COUNT(writes); i++) {
        fire(world, EVENT);
        int64_t left = only_delivery(world, fire(world, EVENT));
        assert_int_equal(claim_as(world, "first", NOW, 2), 2);
        struct fence fences[2] = {world->rows[0].fence, world->rows[1].fence};
        struct delivery_row before = delivery(world, left);
        check_case(writes[i].call(world, &fences[0]) == OWED_OK, writes[i].name);
        struct delivery_row after = delivery(world, left);
        check_case(same_row(&before, &after), writes[i].name);
        for (int k = 0; k < 2; k++)
            do_settle(world, &fences[k]); // out of the way
    }
}

/* three_settlements are of three rows that were claimed. */
static void
three_settlements(struct world *world, const char *status, struct settlement settlements[3])
{
    publish_keys(world, (const char *const[]){"shop.billing", NULL});
    for (int i = 0; i < 3; i++)
        fire(world, EVENT);
    claim_as(world, "first", NOW, 3);
    for (size_t i = 0; i < 3; i++)
        settlements[i] = a_settlement(&world->rows[i].fence, status);
}

/* What an attempt left is its own row's, also where a neighbour of the same ledger lands. */
static void
what_an_attempt_left_is_kept_under_its_fence_alone(void **state)
{
    struct world *world = *state;
    struct settlement settlements[3];
    bool landed[3] = {false};
    three_settlements(world, "failed", settlements);
    for (size_t i = 0; i < 3; i++)
        settlements[i].result = "{\"left\":true}";
    settlements[1].fence.claimed_by = "somebody else";
    settlements[2].fence.claimed_at_us--;
    assert_ok(store_settle(world->db, settlements, 3, landed, &world->err));
    for (size_t i = 0; i < 3; i++) {
        struct delivery_row row = delivery(world, world->rows[i].fence.delivery_id);
        assert_int_equal(landed[i], i == 0);
        assert_string_equal(row.result, i == 0 ? "{\"left\":true}" : "");
    }
}

static void
somebody_else_cannot_write(void **state)
{
    struct world *world = *state;
    int64_t id = bring_to(world, "claimed");
    struct fence fence = world->rows[0].fence;
    fence.claimed_by = "second";
    refused(world, &fence, id);
}

static void
an_earlier_claim_of_the_same_holder_cannot_write(void **state)
{
    struct world *world = *state;
    int64_t id = bring_to(world, "claimed");
    struct fence old = world->rows[0].fence;
    claim_as(world, "first", NOW + LEASE + 1, 1);
    refused(world, &old, id);
}

static void
who_lost_the_row_to_another_cannot_write(void **state)
{
    struct world *world = *state;
    int64_t id = bring_to(world, "claimed");
    struct fence old = world->rows[0].fence;
    claim_as(world, "second", NOW + LEASE + 1, 1);
    refused(world, &old, id);
    assert_ok(do_settle(world, &world->rows[0].fence));
}

static void
a_row_that_is_settled_cannot_be_written_under_its_old_fence(void **state)
{
    struct world *world = *state;
    static const char *const settled[] = {"succeeded", "failed", "dead", "orphaned"};
    for (size_t i = 0; i < COUNT(settled); i++) {
        int64_t id = bring_to(world, settled[i]);
        refused(world, &world->rows[0].fence, id);
    }
}

static void
a_lapsed_lease_that_nobody_took_still_lets_its_holder_settle(void **state)
{
    struct world *world = *state;
    int64_t id = bring_to(world, "claimed");
    struct settlement late = a_settlement(&world->rows[0].fence, "succeeded");
    late.now_us = NOW + 10 * LEASE;
    assert_ok(store_settle(world->db, &late, 1, NULL, &world->err));
    assert_string_equal(status_of(world, id), "succeeded");
}

static void
a_row_handed_back_is_given_up_for_good(void **state)
{
    struct world *world = *state;
    bring_to(world, "claimed");
    assert_ok(do_hand_back(world, &world->rows[0].fence));
    assert_int_equal(do_renew(world, &world->rows[0].fence), OWED_LOST);
    assert_int_equal(do_hand_back(world, &world->rows[0].fence), OWED_LOST);
    assert_int_equal(do_count_loss(world, &world->rows[0].fence), OWED_LOST);
    assert_int_equal(do_hand_off(world, &world->rows[0].fence), OWED_LOST);
    assert_int_equal(claim_as(world, "second", NOW, 1), 1);
    assert_int_equal(world->rows[0].losses, 0);
}

static void
renewing_moves_the_lease_and_nothing_else(void **state)
{
    struct world *world = *state;
    int64_t id = bring_to(world, "claimed");
    struct fence fence = world->rows[0].fence;
    struct delivery_row before = delivery(world, id);
    assert_ok(do_renew(world, &fence));
    struct delivery_row after = delivery(world, id);
    assert_int_equal(after.lease_expires_at_us, NOW + 2 * LEASE);
    after.lease_expires_at_us = before.lease_expires_at_us;
    assert_true(same_row(&before, &after));
    assert_int_equal(claim_as(world, "second", NOW + LEASE + 1, 1), 0);
    assert_ok(do_settle(world, &fence));
}

static void
what_lands_and_what_does_not_is_told_row_by_row(void **state)
{
    struct world *world = *state;
    struct settlement settlements[3];
    three_settlements(world, "succeeded", settlements);
    settlements[1].fence.claimed_by = "second";
    bool landed[3] = {false, true, false};
    assert_ok(store_settle(world->db, settlements, 3, landed, &world->err));
    assert_true(landed[0] && !landed[1] && landed[2]);
    assert_string_equal(status_of(world, settlements[1].fence.delivery_id), "claimed");
}

static void
handing_back_all_spares_one_and_what_others_hold(void **state)
{
    struct world *world = *state;
    static const char *const keys[] = {"shop.billing", NULL};
    publish_keys(world, keys);
    for (int i = 0; i < 4; i++)
        fire(world, EVENT);
    claim_as(world, "second", NOW, 1);
    claim_as(world, "first", NOW, 3);
    int64_t back = 0;
    int64_t kept = world->rows[1].fence.delivery_id;
    assert_ok(store_hand_back_all(world->db, "first", kept, &back, &world->err));
    assert_int_equal(back, 2);
    assert_int_equal(delivery(world, kept).lease_expires_at_us, NOW + LEASE);
    assert_ok(store_hand_back_all(world->db, "first", kept, &back, &world->err));
    assert_int_equal(back, 0); // there is nothing left to give
    assert_int_equal(claim_as(world, "third", NOW, 10), 2);
    assert_int_equal(world->rows[0].losses, 0);
}

static void
a_loss_of_all_is_that_of_one_holder_and_frees_what_it_held(void **state)
{
    struct world *world = *state;
    static const char *const keys[] = {"shop.billing", NULL};
    publish_keys(world, keys);
    for (int i = 0; i < 3; i++)
        fire(world, EVENT);
    claim_as(world, "second", NOW, 1);
    int64_t others = world->rows[0].fence.delivery_id;
    claim_as(world, "first", NOW, 2);
    int64_t held = world->rows[0].fence.delivery_id;
    int64_t lost = 0;
    assert_ok(store_count_loss_all(world->db, "first", &lost, &world->err));
    assert_int_equal(lost, 2);
    assert_int_equal(delivery(world, others).losses, 0);
    assert_int_equal(delivery(world, others).lease_expires_at_us, NOW + LEASE);
    assert_int_equal(delivery(world, held).losses, 1);
    assert_int_equal(claim_as(world, "third", NOW, 10), 1); // alone
    assert_ok(store_count_loss_all(world->db, "first", &lost, &world->err));
    assert_int_equal(lost, 0);
}

static void
an_outcome_is_written_as_it_was_decided(void **state)
{
    struct world *world = *state;
    int64_t id = bring_to(world, "claimed");
    struct settlement failed = a_settlement(&world->rows[0].fence, "failed");
    failed.verdict = "failed";
    failed.attempt = 1;
    failed.started_at_us = NOW + 1;
    failed.duration_us = 500;
    failed.code = 503;
    failed.excerpt = "busy";
    assert_ok(store_settle(world->db, &failed, 1, NULL, &world->err));
    struct delivery_row row = delivery(world, id);
    assert_string_equal(row.status, "failed");
    assert_int_equal(row.attempts, 1);
    assert_int_equal(row.available_at_us, NOW + 10 * SECOND);
    assert_string_equal(row.last_error, "it did not work");
    assert_int_equal(row.completed_at_us, 0);
    assert_int_equal(row.lease_expires_at_us, 0);

    claim_as(world, "first", NOW + 10 * SECOND, 1);
    struct settlement done = a_settlement(&world->rows[0].fence, "succeeded");
    done.attempts = 2;
    assert_ok(store_settle(world->db, &done, 1, NULL, &world->err));
    row = delivery(world, id);
    assert_string_equal(row.last_error, "");
    assert_int_equal(row.attempts, 2);
    assert_int_equal(row.completed_at_us, NOW + SECOND);
    assert_int_equal(row.succeeded_at_us, NOW + SECOND);
    assert_int_equal(row.available_at_us, NOW + 10 * SECOND);

    struct attempt_row *attempts;
    size_t count;
    assert_ok(store_attempts(world->db, id, &world->arena, &attempts, &count, &world->err));
    assert_int_equal(count, 1);
    assert_string_equal(attempts[0].verdict, "failed");
    assert_string_equal(attempts[0].error, "it did not work");
    assert_string_equal(attempts[0].excerpt, "busy");
    assert_int_equal(attempts[0].code, 503);
    assert_int_equal(attempts[0].duration_us, 500);
    assert_int_equal(attempts[0].started_at_us, NOW + 1);
}

static void
only_the_latest_hundred_attempts_are_kept(void **state)
{
    struct world *world = *state;
    int64_t id = bring_to(world, "claimed");
    int64_t now = NOW;
    for (int32_t attempt = 1; attempt <= 103; attempt++) {
        struct settlement failed = a_settlement(&world->rows[0].fence, "failed");
        failed.verdict = "failed";
        failed.attempts = failed.attempt = attempt;
        failed.available_at_us = now;
        assert_ok(store_settle(world->db, &failed, 1, NULL, &world->err));
        assert_int_equal(claim_as(world, "first", now, 1), 1);
    }
    struct attempt_row *attempts;
    size_t count;
    assert_ok(store_attempts(world->db, id, &world->arena, &attempts, &count, &world->err));
    assert_int_equal(count, 100);
    assert_int_equal(attempts[0].attempt, 4);
    assert_int_equal(attempts[99].attempt, 103);
}

static void
outcomes_written_together_keep_their_texts_byte_for_byte(void **state)
{
    static const char *const texts[] = {"", "null", "NULL", "{", "},{", "a,b", "\"quoted\"", "\\",
        "\\\"", " space ", "line\nbreak\ttab", "\xc3\xa9\xe2\x82\xac",
        "'; drop table owed_event; --"};
    struct world *world = *state;
    static const char *const keys[] = {"shop.billing", NULL};
    publish_keys(world, keys);
    int64_t ids[COUNT(texts)];
    fire_many(world, COUNT(texts), ids);
    assert_int_equal(claim_as(world, "first", NOW, 20), COUNT(texts));
    struct settlement failed[COUNT(texts)];
    bool landed[COUNT(texts)];
    for (size_t i = 0; i < COUNT(texts); i++) {
        failed[i] = a_settlement(&world->rows[i].fence, "failed");
        failed[i].verdict = i % 2 == 0 ? "failed" : NULL;
        failed[i].attempt = (int32_t)i + 1;
        failed[i].last_error = texts[i];
        failed[i].excerpt = texts[COUNT(texts) - 1 - i];
    }
    assert_ok(store_settle(world->db, failed, COUNT(texts), landed, &world->err));
    for (size_t i = 0; i < COUNT(texts); i++) {
        assert_true(landed[i]);
        assert_string_equal(delivery(world, ids[i]).last_error, texts[i]);
        struct attempt_row *attempts;
        size_t count;
        assert_ok(store_attempts(world->db, ids[i], &world->arena, &attempts, &count, &world->err));
        assert_int_equal(count, i % 2 == 0 ? 1 : 0);
        if (count == 0)
            continue;
        assert_int_equal(attempts[0].attempt, i + 1);
        assert_string_equal(attempts[0].error, texts[i]);
        assert_string_equal(attempts[0].excerpt, texts[COUNT(texts) - 1 - i]);
    }
}

/* settle_both settles two rows as succeeded under fences that differ from theirs by so much. */
static void
settle_both(
    struct world *world, const char *verdict, const char *claimed_by, int64_t later_us, bool lands)
{
    struct settlement done[2];
    bool landed[2] = {!lands, !lands};
    for (size_t i = 0; i < 2; i++) {
        struct fence fence = world->rows[i].fence;
        fence.claimed_by = claimed_by;
        fence.claimed_at_us += later_us;
        done[i] = a_settlement(&fence, "succeeded");
        done[i].verdict = verdict;
        done[i].attempt = 1;
    }
    assert_ok(store_settle(world->db, done, 2, landed, &world->err));
    for (size_t i = 0; i < 2; i++)
        assert_true(landed[i] == lands);
}

static void
see_successes_held_to_their_fence(struct world *world, const char *verdict)
{
    int64_t ids[2];
    fire_many(world, 2, ids);
    assert_int_equal(claim_as(world, "w/1", NOW, 10), 2);
    settle_both(world, verdict, "w/2", 0, false);
    settle_both(world, verdict, "w/1", 1, false);
    settle_both(world, verdict, "w/1", 0, true);
    assert_int_equal(delivery(world, ids[1]).attempts, 1);
    struct attempt_row *attempts;
    size_t count;
    assert_ok(store_attempts(world->db, ids[1], &world->arena, &attempts, &count, &world->err));
    assert_int_equal(count, verdict == NULL ? 0 : 1);
}

static void
successes_written_together_are_each_held_to_their_fence(void **state)
{
    static const char *const keys[] = {"shop.billing", NULL};
    struct world *world = *state;
    publish_keys(world, keys);
    see_successes_held_to_their_fence(world, NULL);
    see_successes_held_to_their_fence(world, "succeeded");
}

static void
outcomes_join_the_transaction_that_is_open(void **state)
{
    struct world *world = *state;
    int64_t id = bring_to(world, "claimed");
    assert_ok(store_begin(world->db, true, &world->err));
    assert_ok(do_settle(world, &world->rows[0].fence));
    assert_true(store_in_transaction(world->db));
    store_rollback(world->db);
    assert_string_equal(status_of(world, id), "claimed");
}

/* take_three owes three rows, claims them as "first", and has "second" take the middle one over. */
static void
take_three(struct world *world, int64_t ids[3], struct settlement settlements[3])
{
    publish_keys(world, (const char *const[]){"shop.billing", NULL});
    fire_many(world, 3, ids);
    assert_int_equal(claim_as(world, "first", NOW, 10), 3);
    for (int64_t i = 0; i < 3; i++) {
        settlements[i] = a_settlement(&world->rows[i].fence, "succeeded");
        settlements[i].now_us = NOW + SECOND + i;
    }
    assert_ok(store_hand_back(world->db, &settlements[1].fence, 1, NULL, &world->err));
    assert_int_equal(claim_as(world, "second", NOW + 1, 10), 1);
}

static void
successes_are_told_row_by_row_and_each_has_its_own_moment(void **state)
{
    struct world *world = *state;
    int64_t ids[3];
    struct settlement settlements[3];
    bool landed[3] = {false, true, false};
    take_three(world, ids, settlements);
    assert_ok(store_settle(world->db, settlements, 3, landed, &world->err));
    assert_true(landed[0] && !landed[1] && landed[2]);
    assert_string_equal(status_of(world, ids[1]), "claimed");
    for (int64_t i = 0; i < 3; i += 2) {
        struct delivery_row row = delivery(world, ids[i]);
        assert_string_equal(row.status, "succeeded");
        assert_int_equal(row.attempts, 1);
        assert_int_equal(row.completed_at_us, NOW + SECOND + i);
        assert_int_equal(row.succeeded_at_us, NOW + SECOND + i);
    }
    // A second writing changes nothing of it.
    bool again[3] = {true, true, true};
    for (int64_t i = 0; i < 3; i++)
        settlements[i].now_us++;
    assert_ok(store_settle(world->db, settlements, 3, again, &world->err));
    assert_false(again[0] || again[1] || again[2]);
    assert_int_equal(delivery(world, ids[0]).completed_at_us, NOW + SECOND);
}

/* see_attempt looks at what is kept of a row's only attempt, which was the n-th of three. */
static void
see_attempt(struct world *world, int64_t id, int64_t n)
{
    struct attempt_row *attempts;
    size_t count;
    assert_ok(store_attempts(world->db, id, &world->arena, &attempts, &count, &world->err));
    assert_int_equal(count, 1);
    assert_string_equal(attempts[0].verdict, "succeeded");
    assert_string_equal(attempts[0].error, "");
    assert_string_equal(attempts[0].excerpt, n == 0 ? "{\"a\": \"b\\c\"}" : "");
    assert_int_equal(attempts[0].attempt, 3);
    assert_int_equal(attempts[0].code, 200 + n);
    assert_int_equal(attempts[0].duration_us, 500 + n);
    assert_int_equal(attempts[0].started_at_us, NOW + n);
}

static void
of_successes_that_are_kept_those_that_land_leave_an_attempt_each(void **state)
{
    struct world *world = *state;
    int64_t ids[3];
    struct settlement settlements[3];
    bool landed[3] = {false, true, false};
    take_three(world, ids, settlements);
    for (int64_t i = 0; i < 3; i++) {
        settlements[i].verdict = "succeeded";
        settlements[i].attempts = 3;
        settlements[i].attempt = 3;
        settlements[i].started_at_us = NOW + i;
        settlements[i].duration_us = 500 + i;
        settlements[i].code = (int32_t)(200 + i);
        settlements[i].excerpt = i == 0 ? "{\"a\": \"b\\c\"}" : "";
    }
    for (int times = 0; times < 2; times++)
        assert_ok(store_settle(world->db, settlements, 3, times == 0 ? landed : NULL, &world->err));
    assert_true(landed[0] && !landed[1] && landed[2]);
    for (int64_t i = 0; i < 3; i += 2) {
        struct delivery_row row = delivery(world, ids[i]);
        assert_string_equal(row.status, "succeeded");
        assert_int_equal(row.attempts, 3);
        assert_int_equal(row.completed_at_us, NOW + SECOND + i);
        assert_int_equal(row.succeeded_at_us, NOW + SECOND + i);
        assert_int_equal(row.lease_expires_at_us, 0);
        see_attempt(world, ids[i], i);
    }
    struct attempt_row *attempts;
    size_t count;
    assert_ok(store_attempts(world->db, ids[1], &world->arena, &attempts, &count, &world->err));
    assert_int_equal(count, 0);
}

static void
what_goes_along_with_a_claim_lands_as_it_would_alone(void **state)
{
    struct world *world = *state;
    int64_t ids[3], more[1];
    struct settlement settlements[3];
    bool landed[3] = {false, true, false};
    take_three(world, ids, settlements);
    fire_many(world, 1, more);
    struct along along = {settlements, 3, landed, false};
    struct claim asked = a_claim("first", NOW + 2 * SECOND, 10);
    asked.along = &along;
    assert_int_equal(claim(world, &asked), 1);
    check_order(world, more, 1);
    assert_true(along.is_written || !store_claims_along(world->db));
    if (!along.is_written)
        return;
    assert_true(landed[0] && !landed[1] && landed[2]);
    assert_string_equal(status_of(world, ids[0]), "succeeded");
    assert_string_equal(status_of(world, ids[1]), "claimed");
}

static void
what_goes_along_with_a_claim_is_not_claimed_again_though_its_lease_is_over(void **state)
{
    struct world *world = *state;
    int64_t ids[3], more[1];
    struct settlement settlements[3];
    bool landed[3] = {false, true, false};
    take_three(world, ids, settlements);
    fire_many(world, 1, more);
    struct along along = {settlements, 3, landed, false};
    struct claim asked = a_claim("first", NOW + 10 * LEASE, 10);
    asked.along = &along;
    size_t count = claim(world, &asked);
    if (!store_claims_along(world->db))
        return;
    assert_int_equal(count, 1); // one that was lost with somebody goes alone
    assert_true(landed[0] && !landed[1] && landed[2]);
    check_order(world, ids + 1, 1);
    assert_string_equal(status_of(world, ids[0]), "succeeded");
    assert_string_equal(status_of(world, ids[2]), "succeeded");
}

static void
nothing_goes_along_with_a_claim_that_finds_nothing(void **state)
{
    struct world *world = *state;
    int64_t ids[3];
    struct settlement settlements[3];
    bool landed[3] = {false, false, false};
    take_three(world, ids, settlements);
    struct along along = {settlements, 3, landed, false};
    struct claim asked = a_claim("first", NOW + 2, 10);
    asked.along = &along;
    assert_int_equal(claim(world, &asked), 0);
    assert_false(along.is_written);
    assert_string_equal(status_of(world, ids[0]), "claimed");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_holder_may_write),
        TEST(another_row_of_the_same_claim_is_not_this_one),
        TEST(each_write_is_of_one_row_alone),
        TEST(what_an_attempt_left_is_kept_under_its_fence_alone),
        TEST(somebody_else_cannot_write),
        TEST(an_earlier_claim_of_the_same_holder_cannot_write),
        TEST(who_lost_the_row_to_another_cannot_write),
        TEST(a_row_that_is_settled_cannot_be_written_under_its_old_fence),
        TEST(a_lapsed_lease_that_nobody_took_still_lets_its_holder_settle),
        TEST(a_row_handed_back_is_given_up_for_good),
        TEST(renewing_moves_the_lease_and_nothing_else),
        TEST(what_lands_and_what_does_not_is_told_row_by_row),
        TEST(successes_are_told_row_by_row_and_each_has_its_own_moment),
        TEST(of_successes_that_are_kept_those_that_land_leave_an_attempt_each),
        TEST(what_goes_along_with_a_claim_lands_as_it_would_alone),
        TEST(what_goes_along_with_a_claim_is_not_claimed_again_though_its_lease_is_over),
        TEST(nothing_goes_along_with_a_claim_that_finds_nothing),
        TEST(handing_back_all_spares_one_and_what_others_hold),
        TEST(a_loss_of_all_is_that_of_one_holder_and_frees_what_it_held),
        TEST(an_outcome_is_written_as_it_was_decided),
        TEST(only_the_latest_hundred_attempts_are_kept),
        TEST(outcomes_written_together_keep_their_texts_byte_for_byte),
        TEST(successes_written_together_are_each_held_to_their_fence),
        TEST(outcomes_join_the_transaction_that_is_open),
    };
    return run_on_all_stores("store fence", tests, COUNT(tests));
}
