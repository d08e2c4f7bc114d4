/* SPDX-License-Identifier: MIT
 *
 * test_fault.c - the promises, with the connection cut at call 1, 2, 3 ... to the end: before the
 * call takes effect, and after, when only its answer is lost.
 */
#include "world.h"

#include <stdio.h>
#include <string.h>

enum { ROWS = 3 };

/* A case: act does the work on the connection that will be cut, check looks at what is left through
 * a sound one. */
struct story {
    const char *name;
    void (*prepare)(struct world *world);
    owed_status (*act)(struct world *world, struct db *db);
    void (*check)(struct world *world, owed_status answer);
};

static const char *const keys[] = {"shop.a", NULL};

static int64_t
events_there(struct world *world)
{
    struct status status;
    assert_ok(store_status(world->other, NOW, &world->arena, &status, &world->err));
    return status.events;
}

static size_t
rows_in(struct world *world, const char *status)
{
    struct filter filter = {.limit = 100, .status = status};
    struct delivery_row *rows;
    size_t count;
    assert_ok(store_deliveries(world->other, &filter, &world->arena, &rows, &count, &world->err));
    return count;
}

static void
prepare_catalogue(struct world *world)
{
    publish_keys(world, keys);
}

static owed_status
act_fire(struct world *world, struct db *db)
{
    struct new_event event = an_event(EVENT);
    event.dedupe_key = "order-7";
    int64_t id;
    bool fresh;
    owed_status status = store_begin(db, true, &world->err);
    if (status == OWED_OK)
        status = store_insert_event(db, &event, &id, &fresh, &world->err);
    if (status == OWED_OK)
        return store_commit(db, &world->err);
    store_rollback(db);
    return status;
}

static void
check_fire(struct world *world, owed_status answer)
{
    int64_t events = events_there(world);
    if (answer != OWED_UNSURE)
        assert_int_equal(events, answer == OWED_OK);
    assert_int_equal(rows_in(world, ""), events);
    // Who is not sure fires again under the same key, and has fired once.
    assert_ok(act_fire(world, world->db));
    assert_int_equal(events_there(world), 1);
    assert_int_equal(rows_in(world, "pending"), 1);
}

static void
prepare_owed(struct world *world)
{
    publish_keys(world, keys);
    for (int i = 0; i < ROWS; i++)
        fire(world, EVENT);
}

static owed_status
act_claim(struct world *world, struct db *db)
{
    struct claim asked = a_claim("first", NOW, 2);
    return store_claim(db, &asked, &world->arena, &world->rows, &world->count, &world->err);
}

static void
check_claim(struct world *world, owed_status answer)
{
    size_t held = answer == OWED_OK ? world->count : 0;
    struct claimed *first = world->rows;
    assert_int_equal(rows_in(world, ""), ROWS);
    // A statement that is a whole claim may have been kept though its answer was lost.
    bool is_one = world->db->driver->sql->statements[STMT_CLAIM_LANE] != NULL;
    if (answer != OWED_OK && answer != OWED_UNSURE && !is_one)
        assert_int_equal(rows_in(world, "pending"), ROWS);
    size_t second = claim_as(world, "second", NOW, 10);
    for (size_t i = 0; i < second; i++)
        for (size_t k = 0; k < held; k++)
            assert_int_not_equal(world->rows[i].fence.delivery_id, first[k].fence.delivery_id);
    // Nothing is lost: what the first one holds, knowingly or not, comes back when its lease lapses.
    size_t back = 0;
    while (second + back < ROWS && claim_as(world, "third", NOW + LEASE + 1, 1) == 1)
        back++;
    assert_int_equal(second + back, ROWS);
}

static void
prepare_claimed(struct world *world)
{
    prepare_owed(world);
    assert_int_equal(claim_as(world, "first", NOW, ROWS), ROWS);
}

static owed_status
act_settle(struct world *world, struct db *db)
{
    struct settlement settlements[ROWS];
    for (int i = 0; i < ROWS; i++) {
        settlements[i] = a_settlement(&world->rows[i].fence, i == 0 ? "failed" : "succeeded");
        settlements[i].verdict = i == 0 ? "failed" : NULL;
        settlements[i].attempt = 1;
    }
    return store_settle(db, settlements, ROWS, NULL, &world->err);
}

static void
check_settle(struct world *world, owed_status answer)
{
    size_t done = rows_in(world, "succeeded");
    assert_true(done == 0 || done == ROWS - 1);
    if (answer == OWED_OK)
        assert_int_equal(done, ROWS - 1);
    else if (answer != OWED_UNSURE)
        assert_int_equal(done, 0);
    assert_int_equal(rows_in(world, "failed"), done > 0);
    assert_int_equal(rows_in(world, "claimed"), done == 0 ? ROWS : 0);
    struct attempt_row *attempts;
    size_t count;
    assert_ok(store_attempts(world->other, world->rows[0].fence.delivery_id, &world->arena,
        &attempts, &count, &world->err));
    assert_int_equal(count, done > 0);
    // Writing it once more changes nothing that was written.
    owed_status again = act_settle(world, world->db);
    assert_int_equal(again, OWED_OK);
    assert_int_equal(rows_in(world, "succeeded"), ROWS - 1);
    assert_ok(store_attempts(world->other, world->rows[0].fence.delivery_id, &world->arena,
        &attempts, &count, &world->err));
    assert_int_equal(count, 1);
}

static owed_status
act_hand_back(struct world *world, struct db *db)
{
    struct fence fences[ROWS];
    for (int i = 0; i < ROWS; i++)
        fences[i] = world->rows[i].fence;
    return store_hand_back(db, fences, ROWS, NULL, &world->err);
}

static void
check_hand_back(struct world *world, owed_status answer)
{
    assert_int_equal(rows_in(world, "claimed"), ROWS);
    size_t free_now = claim_as(world, "second", NOW, 10);
    assert_true(free_now == 0 || free_now == ROWS);
    if (answer == OWED_OK)
        assert_int_equal(free_now, ROWS);
    else if (answer != OWED_UNSURE)
        assert_int_equal(free_now, 0);
    size_t back = 0;
    while (free_now + back < ROWS && claim_as(world, "third", NOW + LEASE + 1, 1) == 1)
        back++;
    assert_int_equal(free_now + back, ROWS);
}

static owed_status
act_publish(struct world *world, struct db *db)
{
    struct catalogue_receiver moved = a_receiver("shop.a"), fresh = a_receiver("shop.b");
    moved.lane = "shop/moved";
    const struct catalogue_receiver receivers[] = {moved, fresh};
    struct publication publication = {
        .app = "shop", .release = 1, .now_us = NOW, .receivers = receivers, .receiver_count = 2};
    return store_publish(db, &publication, NULL, &world->err);
}

static void
check_publish(struct world *world, owed_status answer)
{
    struct catalogue_receiver *receivers;
    size_t count;
    assert_ok(
        store_catalogue_receivers(world->other, &world->arena, &receivers, &count, &world->err));
    assert_true(count == 1 || count == 2);
    if (answer == OWED_OK)
        assert_int_equal(count, 2);
    assert_string_equal(receivers[0].lane, count == 2 ? "shop/moved" : LANE);
    // The rows are all there, and follow once somebody mends.
    assert_ok(store_mend(world->db, NOW, GRACE, 100, NULL, NULL, &world->err));
    struct filter filter = {.limit = 100, .lane = receivers[0].lane};
    struct delivery_row *rows;
    size_t there;
    assert_ok(store_deliveries(world->other, &filter, &world->arena, &rows, &there, &world->err));
    assert_int_equal(there, ROWS);
    assert_ok(act_publish(world, world->db));
}

static const struct story stories[] = {
    {"fire", prepare_catalogue, act_fire, check_fire},
    {"claim", prepare_owed, act_claim, check_claim},
    {"settle", prepare_claimed, act_settle, check_settle},
    {"hand back", prepare_claimed, act_hand_back, check_hand_back},
    {"publish", prepare_owed, act_publish, check_publish},
};

/* cut_at runs a story with the n-th call cut; false: the story has fewer calls. */
static bool
cut_at(const struct story *story, int64_t n, bool after)
{
    void *state = NULL;
    world_new(&state);
    struct world *world = state;
    story->prepare(world);
    struct db_options options = {.busy_timeout_us = SECOND};
    struct db *inner;
    assert_ok(store_open(world->url, &options, &inner, &world->err));
    struct fault fault = {.fail_at = n, .status = OWED_UNAVAILABLE, .after = after};
    struct db *db = driver_fault_wrap(inner, &fault);
    assert_non_null(db);
    owed_status answer = story->act(world, db);
    bool was_cut = fault.calls >= n;
    assert_false(store_in_transaction(db));
    store_close(db);
    if (was_cut)
        assert_int_not_equal(answer, OWED_OK);
    else
        assert_int_equal(answer, OWED_OK);
    story->check(world, answer);
    world_free(&state);
    return was_cut;
}

static void
cut_everywhere(const char *name)
{
    const struct story *story = stories;
    while (strcmp(story->name, name) != 0)
        story++;
    for (int after = 0; after < 2; after++) {
        int64_t n = 1;
        while (cut_at(story, n, after == 1))
            n++;
        assert_true(n > (test_store_is("sqlite") ? 2 : 1)); // a claim may be one statement
    }
}

static void
a_fire_is_there_if_and_only_if_its_commit_was(void **state)
{
    (void)state;
    cut_everywhere("fire");
}

static void
a_claim_loses_no_row_and_doubles_none(void **state)
{
    (void)state;
    cut_everywhere("claim");
}

static void
outcomes_land_together_or_not_at_all(void **state)
{
    (void)state;
    cut_everywhere("settle");
}

static void
rows_handed_back_are_free_or_still_held(void **state)
{
    (void)state;
    cut_everywhere("hand back");
}

static void
a_publish_is_whole_and_its_rows_are_mended(void **state)
{
    (void)state;
    cut_everywhere("publish");
}

static void
a_cut_connection_stays_cut_until_the_count_is_set_anew(void **state)
{
    struct world *world = *state;
    struct db_options options = {0};
    struct db *inner;
    assert_ok(store_open(world->url, &options, &inner, &world->err));
    struct fault fault = {.fail_at = 2, .status = OWED_UNAVAILABLE};
    struct db *db = driver_fault_wrap(inner, &fault);
    assert_int_equal(act_fire(world, db), OWED_UNAVAILABLE);
    assert_int_equal(act_fire(world, db), OWED_UNAVAILABLE);
    assert_int_equal(events_there(world), 0);
    fault = (struct fault){0};
    assert_ok(act_fire(world, db));
    assert_int_equal(events_there(world), 1);
    store_close(db);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_fire_is_there_if_and_only_if_its_commit_was),
        cmocka_unit_test(a_claim_loses_no_row_and_doubles_none),
        cmocka_unit_test(outcomes_land_together_or_not_at_all),
        cmocka_unit_test(rows_handed_back_are_free_or_still_held),
        cmocka_unit_test(a_publish_is_whole_and_its_rows_are_mended),
        TEST(a_cut_connection_stays_cut_until_the_count_is_set_anew),
    };
    return run_on_all_stores("store fault", tests, COUNT(tests));
}
