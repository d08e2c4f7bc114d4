/* SPDX-License-Identifier: MIT
 *
 * test_states.c - every happening is tried on a row in every state: what the table of states says
 * happens, and nothing else does.
 */
#include "world.h"

#include <string.h>

#include "engine/states.h"
#include "store/take.h"

/* Each tries its happening on a row of shop.billing that was brought to a state, under the fence of
 * its latest claim; the row itself tells what came of it. */
typedef void (*attempt)(struct world *world, const struct fence *fence, int64_t id);

static void
try_fire(struct world *world, const struct fence *fence, int64_t id)
{
    (void)fence;
    struct new_delivery again = {.event_id = delivery(world, id).event_id,
        .receiver_key = "shop.billing",
        .lane = "shop/other",
        .kind = "outside",
        .max_attempts = 1,
        .available_at_us = NOW};
    assert_ok(store_insert_delivery(world->db, &again, &world->err));
}

static void
try_claim(struct world *world, const struct fence *fence, int64_t id)
{
    (void)fence;
    (void)id;
    claim_as(world, "second", NOW + LEASE, 10);
}

static void
try_claim_later(struct world *world, const struct fence *fence, int64_t id)
{
    (void)fence;
    (void)id;
    claim_as(world, "second", NOW + 100 * LEASE, 10);
}

static void
try_settle(struct world *world, const struct fence *fence, const char *status)
{
    struct settlement settlement = a_settlement(fence, status);
    bool landed = false;
    owed_status answer = store_settle(world->db, &settlement, 1, &landed, &world->err);
    assert_int_equal(answer, landed ? OWED_OK : OWED_LOST);
}

static void
try_succeed(struct world *world, const struct fence *fence, int64_t id)
{
    (void)id;
    try_settle(world, fence, "succeeded");
}

static void
try_fail(struct world *world, const struct fence *fence, int64_t id)
{
    (void)id;
    try_settle(world, fence, "failed");
}

static void
try_exhaust(struct world *world, const struct fence *fence, int64_t id)
{
    (void)id;
    try_settle(world, fence, "dead");
}

static void
try_not_yet(struct world *world, const struct fence *fence, int64_t id)
{
    (void)id;
    try_settle(world, fence, "pending");
}

static void
try_hand_back(struct world *world, const struct fence *fence, int64_t id)
{
    (void)id;
    assert_ok(store_hand_back(world->db, fence, 1, NULL, &world->err));
}

static void
try_hand_off(struct world *world, const struct fence *fence, int64_t id)
{
    (void)id;
    (void)store_hand_off(world->db, fence, NOW + 3 * LEASE, &world->err);
}

static void
try_take(struct world *world, const struct fence *fence, int64_t id)
{
    (void)id;
    const struct taking taking = {
        .fence = *fence, .claimed_by = "task", .now_us = NOW, .lease_us = LEASE};
    struct claimed row;
    (void)store_take(world->db, &taking, &world->arena, &row, &world->err);
}

static void
try_orphan(struct world *world, const struct fence *fence, int64_t id)
{
    (void)fence;
    (void)id;
    assert_ok(store_retire(world->db, "shop", NOW, NULL, &world->err));
    int64_t late = NOW + 100 * LEASE;
    assert_ok(store_mend(world->db, late, GRACE, 10, NULL, NULL, &world->err));
}

static void
try_requeue(struct world *world, const struct fence *fence, int64_t id)
{
    (void)fence;
    struct requeue requeue = {
        .ids = &id, .id_count = 1, .orphaned = true, .limit = -1, .now_us = NOW};
    assert_ok(store_requeue(world->db, &requeue, NULL, &world->err));
}

static void
try_cancel(struct world *world, const struct fence *fence, int64_t id)
{
    (void)fence;
    const struct requeue which = {.ids = &id, .id_count = 1, .limit = -1, .now_us = NOW};
    assert_ok(store_cancel(world->db, &which, NULL, NULL, &world->err));
}

static void
try_replay(struct world *world, const struct fence *fence, int64_t id)
{
    (void)fence;
    const struct replay replay = {
        .event_id = delivery(world, id).event_id, .keys = "[]", .now_us = NOW};
    struct replayed replayed;
    assert_ok(store_replay(world->db, &replay, &world->arena, &replayed, &world->err));
}

static const attempt attempts[HAPPENS_COUNT] = {
    [HAPPENS_FIRE] = try_fire,
    [HAPPENS_CLAIM] = try_claim,
    [HAPPENS_LAPSE] = try_claim_later,
    [HAPPENS_SUCCEED] = try_succeed,
    [HAPPENS_FAIL] = try_fail,
    [HAPPENS_EXHAUST] = try_exhaust,
    [HAPPENS_DEFER] = try_fail,
    [HAPPENS_GIVE_UP] = try_exhaust,
    [HAPPENS_NOT_YET] = try_not_yet,
    [HAPPENS_LOSE] = try_exhaust,
    [HAPPENS_HAND_OFF] = try_hand_off,
    [HAPPENS_TAKE] = try_take,
    [HAPPENS_NOT_SENT] = try_fail,
    [HAPPENS_HAND_BACK] = try_hand_back,
    [HAPPENS_ORPHAN] = try_orphan,
    [HAPPENS_REQUEUE] = try_requeue,
    [HAPPENS_CANCEL] = try_cancel,
    [HAPPENS_REPLAY] = try_replay,
};

/* expected finds where a happening leads. A claim long after is a claim as well: which of the two it
 * is depends on the row alone. */
static const struct edge *
expected(enum state from, enum happening happening)
{
    const struct edge *edge = edge_find(from, happening);
    return edge == NULL && happening == HAPPENS_LAPSE ? edge_find(from, HAPPENS_CLAIM) : edge;
}

static bool
is_untouched(const struct delivery_row *before, const struct delivery_row *after)
{
    return strcmp(before->status, after->status) == 0 &&
        strcmp(before->claimed_by, after->claimed_by) == 0 &&
        before->claimed_at_us == after->claimed_at_us &&
        before->lease_expires_at_us == after->lease_expires_at_us &&
        before->attempts == after->attempts && before->available_at_us == after->available_at_us &&
        strcmp(before->lane, after->lane) == 0 && before->losses == after->losses &&
        before->completed_at_us == after->completed_at_us;
}

static void
try_pair(struct world *world, enum state from, enum happening happening)
{
    int64_t id = bring_to(world, state_name(from));
    struct fence fence = {.delivery_id = id, .claimed_by = "first", .claimed_at_us = NOW};
    struct delivery_row before = delivery(world, id);
    attempts[happening](world, &fence, id);
    struct delivery_row after = delivery(world, id);
    const struct edge *edge = expected(from, happening);
    bool right = edge == NULL
        ? is_untouched(&before, &after)
        : strcmp(after.status, state_name(edge->to)) == 0 && !is_untouched(&before, &after);
    if (!right)
        print_error(
            "%s, %s: became %s\n", state_name(from), happening_name(happening), after.status);
    assert_true(right);
}

static void
what_the_table_says_happens_and_nothing_else_does(void **state)
{
    // A store of its own for each pair: the rows of one must not be claimed by another.
    (void)state;
    for (int from = STATE_PENDING; from < STATE_COUNT; from++)
        for (int happening = 0; happening < HAPPENS_COUNT; happening++) {
            void *world = NULL;
            world_new(&world);
            try_pair(world, (enum state)from, (enum happening)happening);
            world_free(&world);
        }
}

static void
a_row_comes_into_being_by_a_fire_alone(void **state)
{
    struct world *world = *state;
    assert_string_equal(state_name(edge_find(STATE_NONE, HAPPENS_FIRE)->to),
        status_of(world, bring_to(world, "pending")));
    for (int happening = 0; happening < HAPPENS_COUNT; happening++)
        if (happening != HAPPENS_FIRE)
            assert_null(edge_find(STATE_NONE, (enum happening)happening));
    struct fence none = {.delivery_id = 999, .claimed_by = "first", .claimed_at_us = NOW};
    for (int happening = HAPPENS_SUCCEED; happening <= HAPPENS_HAND_BACK; happening++)
        attempts[happening](world, &none, 999);
    struct delivery_row row;
    assert_int_equal(
        store_delivery(world->db, 999, &world->arena, &row, &world->err), OWED_NOT_FOUND);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_the_table_says_happens_and_nothing_else_does),
        TEST(a_row_comes_into_being_by_a_fire_alone),
    };
    return run_on_all_stores("store states", tests, COUNT(tests));
}
