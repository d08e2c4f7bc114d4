/* SPDX-License-Identifier: MIT
 *
 * test_mend.c - owed rows that follow the catalogue: to another lane, or to their end as orphans.
 */
#include "world.h"

#include <stdio.h>
#include <string.h>

/* A row of shop.a in each of the states that are owed, and one that has ended. */
struct owed_rows {
    int64_t pending, failed, held, done;
};

static struct owed_rows
make_owed_rows(struct world *world)
{
    struct owed_rows rows;
    for (int i = 0; i < 4; i++)
        rows.pending = only_delivery(world, fire(world, EVENT));
    claim_as(world, "w", NOW, 3);
    rows.failed = world->rows[0].fence.delivery_id;
    rows.held = world->rows[1].fence.delivery_id;
    rows.done = world->rows[2].fence.delivery_id;
    struct settlement failed = a_settlement(&world->rows[0].fence, "failed");
    struct settlement done = a_settlement(&world->rows[2].fence, "succeeded");
    assert_ok(store_settle(world->db, &failed, 1, NULL, &world->err));
    assert_ok(store_settle(world->db, &done, 1, NULL, &world->err));
    return rows;
}

static void
check_place(struct world *world, int64_t id, const char *lane, const char *kind)
{
    struct delivery_row row = delivery(world, id);
    assert_string_equal(row.lane, lane);
    assert_string_equal(row.kind, kind);
}

static void
owed_rows_follow_their_receiver_to_another_lane_and_kind(void **state)
{
    struct world *world = *state;
    struct catalogue_receiver r = a_receiver("shop.a");
    publish(world, &r, 1);
    struct owed_rows rows = make_owed_rows(world);
    r.lane = "shop/mail";
    publish(world, &r, 1);
    check_place(world, rows.pending, "shop/mail", "inside");
    check_place(world, rows.failed, "shop/mail", "inside");
    check_place(world, rows.held, "shop/mail", "inside");
    check_place(world, rows.done, LANE, "inside");
    r.kind = "outside";
    publish(world, &r, 1);
    check_place(world, rows.pending, "shop/mail", "outside");
    check_place(world, rows.held, "shop/mail", "outside");
    check_place(world, rows.done, LANE, "inside");
    // Who holds a row still may settle it.
    struct settlement held = a_settlement(
        &(struct fence){rows.held, "w", delivery(world, rows.held).claimed_at_us}, "succeeded");
    assert_ok(store_settle(world->db, &held, 1, NULL, &world->err));
}

static void
a_row_goes_where_its_own_receiver_is(void **state)
{
    struct world *world = *state;
    struct catalogue_receiver r[] = {a_receiver("shop.a"), a_receiver("shop.b")};
    publish(world, r, 2);
    int64_t ids[2];
    assert_int_equal(ids_of_event(world, fire(world, EVENT), ids, 2), 2);
    r[1].lane = "shop/mail";
    publish(world, r, 2);
    for (int i = 0; i < 2; i++) {
        bool moves = strcmp(delivery(world, ids[i]).receiver_key, "shop.b") == 0;
        check_place(world, ids[i], moves ? "shop/mail" : LANE, "inside");
    }
}

static void
moving_keeps_the_order_and_takes_all_rows_however_many(void **state)
{
    struct world *world = *state;
    struct catalogue_receiver r = a_receiver("shop.a");
    publish(world, &r, 1);
    assert_ok(store_begin(world->db, true, &world->err));
    int64_t first = only_delivery(world, fire(world, EVENT));
    for (int i = 0; i < 2300; i++)
        fire(world, EVENT);
    assert_ok(store_commit(world->db, &world->err));
    r.lane = "shop/aaa";
    publish(world, &r, 1);
    assert_int_equal(claim_as(world, "w", NOW, 3000), 0);
    struct claim asked = a_claim("w", NOW, 3000);
    asked.lanes = (const char *const[]){"shop/aaa", NULL};
    assert_int_equal(claim(world, &asked), 2301);
    for (size_t i = 0; i < 2301; i++)
        assert_int_equal(world->rows[i].fence.delivery_id, first + (int64_t)i);
}

static void
a_row_that_raced_a_publish_is_mended(void **state)
{
    struct world *world = *state;
    struct catalogue_receiver r[] = {a_receiver("shop.a"), a_receiver("shop.b")};
    publish(world, r, 2);
    const struct {
        const char *lane;
        const char *kind;
    } wrong[] = {{"shop/a", "inside"}, {"shop/z", "inside"}, {LANE, "expand"}, {LANE, "outside"}};
    int64_t ids[COUNT(wrong)];
    for (size_t i = 0; i < COUNT(wrong); i++) {
        struct new_delivery late = {.event_id = fire(world, "shop.Other"),
            .receiver_key = "shop.a",
            .lane = wrong[i].lane,
            .kind = wrong[i].kind,
            .max_attempts = 5,
            .available_at_us = NOW};
        assert_ok(store_insert_delivery(world->db, &late, &world->err));
        ids[i] = only_delivery(world, late.event_id);
    }
    int64_t moved = 0, orphaned = 0;
    assert_ok(store_mend(world->db, NOW, GRACE, 1, &moved, &orphaned, &world->err));
    assert_int_equal(moved, 4);
    assert_int_equal(orphaned, 0);
    for (size_t i = 0; i < COUNT(wrong); i++)
        check_place(world, ids[i], LANE, "inside");
    assert_ok(store_mend(world->db, NOW, GRACE, 1, &moved, &orphaned, &world->err));
    assert_int_equal(moved, 0);
}

static void
rows_of_a_removed_receiver_are_orphaned_after_the_grace(void **state)
{
    struct world *world = *state;
    struct catalogue_receiver r = a_receiver("shop.a");
    publish(world, &r, 1);
    struct owed_rows rows = make_owed_rows(world);
    assert_ok(store_retire(world->db, "shop", NOW, NULL, &world->err));
    int64_t orphaned = -1;
    assert_ok(store_mend(world->db, NOW + GRACE - 1, GRACE, 1, NULL, &orphaned, &world->err));
    assert_int_equal(orphaned, 0);
    // The lease of the held one is over by then; it would be claimable.
    assert_ok(
        store_renew(world->db, &(struct fence){rows.held, "w", NOW}, NOW + GRACE, &world->err));
    assert_ok(store_mend(world->db, NOW + GRACE, GRACE, 1, NULL, &orphaned, &world->err));
    assert_int_equal(orphaned, 2);
    assert_string_equal(status_of(world, rows.pending), "orphaned");
    assert_string_equal(status_of(world, rows.failed), "orphaned");
    assert_string_equal(status_of(world, rows.held), "claimed");
    assert_string_equal(status_of(world, rows.done), "succeeded");
    struct delivery_row row = delivery(world, rows.pending);
    assert_int_equal(row.completed_at_us, NOW + GRACE);
    assert_non_null(strstr(row.last_error, "'shop.a'"));
    assert_ok(store_mend(world->db, NOW + GRACE + 1, GRACE, 1, NULL, &orphaned, &world->err));
    assert_int_equal(orphaned, 1);
}

static void
rows_of_a_receiver_that_never_was_published_are_orphaned_once_they_are_old(void **state)
{
    struct world *world = *state;
    struct new_delivery owed = {.event_id = fire(world, EVENT),
        .receiver_key = "shop.ghost",
        .lane = LANE,
        .kind = "inside",
        .max_attempts = 5,
        .available_at_us = NOW + 100 * GRACE};
    assert_ok(store_insert_delivery(world->db, &owed, &world->err));
    int64_t orphaned = -1;
    assert_ok(store_mend(world->db, NOW + GRACE - 1, GRACE, 10, NULL, &orphaned, &world->err));
    assert_int_equal(orphaned, 0);
    assert_ok(store_mend(world->db, NOW + GRACE, GRACE, 10, NULL, &orphaned, &world->err));
    assert_int_equal(orphaned, 1);
}

/* owe adds a row by hand. */
static int64_t
owe(struct world *world, const char *receiver_key, const char *target, const char *kind)
{
    struct new_delivery owed = {.event_id = fire(world, "shop.Other"),
        .receiver_key = receiver_key,
        .target = target,
        .lane = LANE,
        .kind = kind,
        .max_attempts = 5,
        .available_at_us = NOW};
    assert_ok(store_insert_delivery(world->db, &owed, &world->err));
    return only_delivery(world, owed.event_id);
}

static void
what_others_are_owed_is_not_orphaned_with_it(void **state)
{
    struct world *world = *state;
    struct catalogue_receiver r = a_receiver("shop.a");
    publish(world, &r, 1);
    int64_t orphaned = -1, fine = owe(world, "shop.a", "", "inside");
    owe(world, "shop.ghost", "", "inside");
    assert_ok(store_mend(world->db, NOW + GRACE, GRACE, 10, NULL, &orphaned, &world->err));
    assert_int_equal(orphaned, 1);
    assert_string_equal(status_of(world, fine), "pending");
    // The same for what somebody gave back.
    owe(world, "shop.ghost", "", "inside");
    assert_int_equal(claim_as(world, "w", NOW, 10), 2);
    assert_ok(store_hand_back_all(world->db, "w", 0, NULL, &world->err));
    assert_ok(store_mend(world->db, NOW + GRACE, GRACE, 10, NULL, &orphaned, &world->err));
    assert_int_equal(orphaned, 1);
    assert_string_equal(status_of(world, fine), "claimed");
}

static void
what_was_given_back_is_not_orphaned_before_it_is_old(void **state)
{
    struct world *world = *state;
    int64_t orphaned = -1;
    owe(world, "shop.ghost", "", "inside");
    assert_int_equal(claim_as(world, "w", NOW, 10), 1);
    assert_ok(store_hand_back_all(world->db, "w", 0, NULL, &world->err));
    assert_ok(store_mend(world->db, NOW + GRACE - 1, GRACE, 10, NULL, &orphaned, &world->err));
    assert_int_equal(orphaned, 0);
    assert_ok(store_mend(world->db, NOW + GRACE, GRACE, 10, NULL, &orphaned, &world->err));
    assert_int_equal(orphaned, 1);
}

static void
a_row_for_a_target_is_not_expanded_again_when_it_moves(void **state)
{
    struct world *world = *state;
    struct catalogue_receiver r = a_receiver("shop.a");
    r.targets = "callback";
    publish(world, &r, 1);
    int64_t one = owe(world, "shop.a", "somebody", "inside");
    int64_t all = owe(world, "shop.a", "", "expand");
    r.lane = "shop/mail";
    publish(world, &r, 1);
    check_place(world, one, "shop/mail", "inside");
    check_place(world, all, "shop/mail", "expand");
}

static void
without_a_grace_rows_are_orphaned_at_once(void **state)
{
    struct world *world = *state;
    struct catalogue_receiver r = a_receiver("shop.a");
    publish(world, &r, 1);
    fire(world, EVENT);
    assert_ok(store_retire(world->db, "shop", NOW, NULL, &world->err));
    int64_t orphaned = -1;
    assert_ok(store_mend(world->db, NOW, -1, 10, NULL, &orphaned, &world->err));
    assert_int_equal(orphaned, 1);
}

static void
a_row_that_is_held_does_not_hide_one_that_was_given_back(void **state)
{
    struct world *world = *state;
    static const char *const lanes[] = {"shop/a", "shop/b", NULL};
    for (int i = 0; i < 2; i++) {
        struct new_delivery owed = {.event_id = fire(world, EVENT),
            .receiver_key = "shop.ghost",
            .lane = lanes[i],
            .kind = "inside",
            .max_attempts = 5,
            .available_at_us = NOW};
        assert_ok(store_insert_delivery(world->db, &owed, &world->err));
    }
    struct claim asked = a_claim("w", NOW, 10);
    asked.lanes = lanes;
    assert_int_equal(claim(world, &asked), 2);
    assert_ok(store_hand_back(world->db, &world->rows[1].fence, 1, NULL, &world->err));
    int64_t orphaned = -1;
    assert_ok(store_mend(world->db, NOW + 1, -1, 1, NULL, &orphaned, &world->err));
    assert_int_equal(orphaned, 1);
    assert_string_equal(status_of(world, world->rows[1].fence.delivery_id), "orphaned");
}

static void
a_row_that_ended_since_it_was_picked_is_not_moved(void **state)
{
    struct world *world = *state;
    struct catalogue_receiver r = a_receiver("shop.a");
    publish(world, &r, 1);
    struct owed_rows rows = make_owed_rows(world);
    r.lane = "shop/mail";
    publish(world, &r, 1);
    char ids[100];
    snprintf(ids, sizeof ids, "[%lld]", (long long)rows.done);
    const struct value values[] = {{.type = VALUE_TEXT, .bytes = str_of(ids)}};
    struct rows *run;
    int64_t changed = -1;
    assert_ok(
        world->db->driver->run(world->db, STMT_MOVE, values, COUNT(values), &run, &world->err));
    assert_ok(world->db->driver->finish(run, &changed, &world->err));
    assert_int_equal(changed, 0);
    check_place(world, rows.done, LANE, "inside");
}

static void
rows_that_changed_since_they_were_picked_are_not_orphaned(void **state)
{
    struct world *world = *state;
    struct catalogue_receiver r = a_receiver("shop.a");
    publish(world, &r, 1);
    struct owed_rows rows = make_owed_rows(world);
    char ids[100];
    snprintf(ids, sizeof ids, "[%lld,%lld]", (long long)rows.held, (long long)rows.done);
    // Between the look and the write somebody claimed one, and another was done.
    const struct value values[] = {{.type = VALUE_TEXT, .bytes = str_of(ids)},
        {.type = VALUE_TIME, .integer = NOW}, {.type = VALUE_TEXT, .bytes = STR("gone")}};
    struct rows *run;
    int64_t changed = -1;
    assert_ok(
        world->db->driver->run(world->db, STMT_ORPHAN, values, COUNT(values), &run, &world->err));
    assert_ok(world->db->driver->finish(run, &changed, &world->err));
    assert_int_equal(changed, 0);
    assert_string_equal(status_of(world, rows.held), "claimed");
    assert_string_equal(status_of(world, rows.done), "succeeded");
}

static void
who_looks_whether_anything_is_to_be_mended_keeps_no_row_from_a_claim(void **state)
{
    NOT_ON("sqlite", "nobody claims there while somebody else's transaction has written");
    struct world *world = *state;
    struct catalogue_receiver receivers[] = {a_receiver("shop.a"), a_receiver("shop.b")};
    receivers[0].kind = receivers[1].kind = "outside";
    publish(world, receivers, 2);
    for (int i = 0; i < 3; i++)
        fire(world, EVENT);
    bool any = true;
    assert_ok(store_begin(world->db, true, &world->err));
    assert_ok(store_mend_look(world->db, NOW, 0, &any, &world->err));
    assert_false(any);
    struct claim asked = a_claim("w", NOW, 10);
    asked.kind = "outside";
    assert_ok(
        store_claim(world->other, &asked, &world->arena, &world->rows, &world->count, &world->err));
    assert_int_equal(world->count, 6);
    store_rollback(world->db);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(owed_rows_follow_their_receiver_to_another_lane_and_kind),
        TEST(a_row_goes_where_its_own_receiver_is),
        TEST(moving_keeps_the_order_and_takes_all_rows_however_many),
        TEST(a_row_that_raced_a_publish_is_mended),
        TEST(rows_of_a_removed_receiver_are_orphaned_after_the_grace),
        TEST(rows_of_a_receiver_that_never_was_published_are_orphaned_once_they_are_old),
        TEST(what_others_are_owed_is_not_orphaned_with_it),
        TEST(what_was_given_back_is_not_orphaned_before_it_is_old),
        TEST(a_row_for_a_target_is_not_expanded_again_when_it_moves),
        TEST(without_a_grace_rows_are_orphaned_at_once),
        TEST(a_row_that_is_held_does_not_hide_one_that_was_given_back),
        TEST(a_row_that_ended_since_it_was_picked_is_not_moved),
        TEST(rows_that_changed_since_they_were_picked_are_not_orphaned),
        TEST(who_looks_whether_anything_is_to_be_mended_keeps_no_row_from_a_claim),
    };
    return run_on_all_stores("store mend", tests, COUNT(tests));
}
