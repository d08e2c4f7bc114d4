/* SPDX-License-Identifier: MIT
 *
 * test_prune_race.c - who deletes old events and who makes them owed again, on two connections, in both orders:
 * what is owed survives, and nothing is owed for an event that is gone.
 */
#include "world.h"

#include <pthread.h>
#include <stdio.h>

#include "raw.h"
#include "store/forget.h"
#include "store/prune.h"

#define WINDOW (90 * 86400 * SECOND)

/* How an event is made owed again. */
typedef int64_t (*way)(struct world *world, struct db *db, int64_t event_id, int64_t delivery_id);

static int64_t
requeue(struct world *world, struct db *db, int64_t event_id, int64_t delivery_id)
{
    (void)event_id;
    struct requeue asked = {.ids = &delivery_id, .id_count = 1, .limit = -1, .now_us = NOW};
    int64_t count = -1;
    owed_error err = {0};
    owed_status status = store_requeue(db, &asked, &count, &err);
    if (status != OWED_OK)
        print_error("requeue: %s\n", err.text);
    (void)world;
    return status == OWED_OK ? count : -1;
}

static int64_t
replay(struct world *world, struct db *db, int64_t event_id, int64_t delivery_id)
{
    (void)delivery_id;
    const struct replay asked = {.event_id = event_id, .keys = "[]", .now_us = NOW};
    struct replayed replayed = {0};
    struct arena arena;
    arena_init(&arena, 0);
    owed_error err = {0};
    owed_status status = store_replay(db, &asked, &arena, &replayed, &err);
    arena_done(&arena);
    if (status != OWED_OK)
        print_error("replay: %s\n", err.text);
    (void)world;
    return status == OWED_OK ? replayed.reopened + replayed.added : -1;
}

static const way ways[] = {requeue, replay};

/* an_old_dead_one is older than the window, and so may go. */
static int64_t
an_old_dead_one(struct world *world, int64_t *ret_event_id)
{
    int64_t id = bring_to(world, "dead");
    *ret_event_id = delivery(world, id).event_id;
    raw_runf(plain(world), "update owed_event set recorded_at = moment(%lld)",
        (long long)(NOW - WINDOW - SECOND));
    return id;
}

static int64_t
prune(struct world *world, struct db *db)
{
    const struct prune asked = {.now_us = NOW,
        .retention_us = WINDOW,
        .batch_rows = PRUNE_BATCH_ROWS,
        .limit = -1,
        .most_held = -1};
    struct prune_course course = {0};
    prune_begin(&course, &asked);
    while (!course.is_over)
        assert_ok(store_prune_step(db, &course, &world->err));
    return course.events;
}

static void
assert_whole(struct world *world, int64_t events)
{
    assert_int_equal(count_of(world, "owed_event"), events);
    assert_int_equal(count_of(world, "owed_delivery"), events);
    assert_int_equal(
        raw_number(plain(world), "select count(*) from owed_delivery where status = 'pending'"),
        events);
}

/* Who makes it owed again is in the midst of it, and prune comes. */
static void
prune_passes_over_what_is_being_made_owed_again(void **state)
{
    for (size_t i = 0; i < COUNT(ways); i++) {
        void *fresh = i == 0 ? *state : NULL;
        if (i > 0)
            world_new(&fresh);
        struct world *world = fresh;
        int64_t event = 0;
        int64_t id = an_old_dead_one(world, &event);
        assert_ok(store_begin(world->db, true, &world->err));
        assert_int_equal(ways[i](world, world->db, event, id), 1);
        // A single writer has the others wait.
        if (world->db->driver->contention != NULL)
            assert_int_equal(prune(world, world->other), 0);
        assert_ok(store_commit(world->db, &world->err));
        assert_int_equal(prune(world, world->other), 0);
        assert_whole(world, 1);
        if (i > 0)
            world_free(&fresh);
    }
}

static owed_status
forget_one(struct db *db, int64_t event_id, struct forgotten *ret, owed_error *err)
{
    char ids[32];
    snprintf(ids, sizeof ids, "[%lld]", (long long)event_id);
    const struct forgetting forgetting = {
        .event_ids = str_of(ids), .once = "settled", .most_rows = 100};
    return forget(db, &forgetting, ret, err);
}

struct rival {
    struct world *world;
    way way;
    int64_t event_id;
    int64_t delivery_id;
    int64_t count;
};

static void *
make_owed(void *state)
{
    struct rival *rival = state;
    rival->count =
        rival->way(rival->world, rival->world->other, rival->event_id, rival->delivery_id);
    return NULL;
}

/* Prune has found it due and deleted it, has not committed, and an operator wants it owed again. */
static void
try_behind_prune(struct world *world, way way, bool commits)
{
    int64_t event = 0;
    int64_t id = an_old_dead_one(world, &event);
    struct rival rival = {
        .world = world, .way = way, .event_id = event, .delivery_id = id, .count = -2};
    bool waits = world->db->driver->contention != NULL;
    int64_t session = waits ? raw_session(raw_of(world->other)) : 0;
    struct forgotten forgotten;
    assert_ok(store_begin(world->db, true, &world->err));
    assert_ok(forget_one(world->db, event, &forgotten, &world->err));
    assert_int_equal(forgotten.events, 1);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, make_owed, &rival), 0);
    if (waits)
        raw_await_waiter(plain(world), session);
    if (commits)
        assert_ok(store_commit(world->db, &world->err));
    else
        store_rollback(world->db);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(rival.count, commits ? 0 : 1);
    assert_whole(world, commits ? 0 : 1);
}

static void
who_comes_after_prune_waits_and_makes_nothing_owed_for_what_is_gone(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(ways); i++)
        for (int commits = 0; commits < 2; commits++) {
            void *world = NULL;
            world_new(&world);
            try_behind_prune(world, ways[i], commits == 1);
            world_free(&world);
        }
}

/* --- of two that delete --- */

/* Who deletes one event on the other connection. */
struct cleaner {
    struct world *world;
    int64_t event_id;
    struct forgotten forgotten;
};

static void *
clean(void *state)
{
    struct cleaner *cleaner = state;
    struct db *db = cleaner->world->other;
    owed_error err = {0};
    owed_status status = store_begin(db, true, &err);
    if (status == OWED_OK)
        status = forget_one(db, cleaner->event_id, &cleaner->forgotten, &err);
    if (status == OWED_OK)
        status = store_commit(db, &err);
    if (status != OWED_OK)
        print_error("the other: %s\n", err.text);
    return NULL;
}

/* an_event_of is of one receiver that succeeded at that moment. */
static int64_t
an_event_of(struct world *world, int64_t succeeded_at_us)
{
    int64_t id = bring_to(world, "succeeded");
    raw_runf(plain(world), "update owed_delivery set succeeded_at = moment(%lld) where id = %lld",
        (long long)succeeded_at_us, (long long)id);
    return delivery(world, id).event_id;
}

static void
a_last_success_that_somebody_else_keeps_just_now_is_not_moved_back(void **state)
{
    struct world *world = *state;
    int64_t newer = an_event_of(world, NOW);
    struct cleaner rival = {.world = world, .event_id = an_event_of(world, NOW - 100 * SECOND)};
    bool waits = world->db->driver->contention != NULL;
    int64_t session = waits ? raw_session(raw_of(world->other)) : 0;
    struct forgotten forgotten;
    assert_ok(store_begin(world->db, true, &world->err));
    assert_ok(forget_one(world->db, newer, &forgotten, &world->err));
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, clean, &rival), 0);
    if (waits)
        raw_await_waiter(plain(world), session);
    assert_ok(store_commit(world->db, &world->err));
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(rival.forgotten.events, 1);
    assert_int_equal(count_of(world, "owed_event"), 0);
    assert_int_equal(
        raw_number(plain(world), "select micros(last_succeeded_at) from owed_last_success"), NOW);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(prune_passes_over_what_is_being_made_owed_again),
        cmocka_unit_test(who_comes_after_prune_waits_and_makes_nothing_owed_for_what_is_gone),
        TEST(a_last_success_that_somebody_else_keeps_just_now_is_not_moved_back),
    };
    return run_on_all_stores("store prune race", tests, COUNT(tests));
}
