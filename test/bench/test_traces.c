/* SPDX-License-Identifier: MIT
 *
 * test_traces.c - what a benchmark leaves goes whole, also where another is at work on it.
 */
#include "../store/world.h"

#include <string.h>

#include "bench/bench.h"
#include "bench/traces.h"
#include "raw.h"
#include "store/verbs.h"

static int64_t
fire_one_of_ours(struct world *world)
{
    int64_t id = fire(world, BENCH_EVENT);
    struct new_delivery owed = {.event_id = id,
        .receiver_key = BENCH_APP ".receiver-1",
        .lane = BENCH_APP "/default",
        .kind = "inside",
        .max_attempts = 5,
        .available_at_us = NOW};
    assert_ok(store_insert_delivery(world->db, &owed, &world->err));
    return id;
}

static int64_t delete (struct world *world, enum stmt stmt)
{
    int64_t rows = 0;
    assert_ok(change(world->db, stmt, ARGS(V_INT(100), V_INT(INT64_MAX)), &rows, &world->err));
    return rows;
}

static void
all_of_it_goes_and_nothing_of_others(void **state)
{
    struct world *world = *state;
    fire(world, EVENT);
    fire_one_of_ours(world);
    assert_ok(traces_make(world->db, &world->err));
    int64_t events = 0;
    assert_ok(traces_remove(world->db, &events, &world->err));
    assert_int_equal(events, 1);
    assert_int_equal(count_of(world, "owed_event"), 1);
    assert_int_equal(count_of(world, "owed_delivery"), 0);
    assert_true(traces_are_gone(world->db));
}

/* A server shows each statement what was committed until then. */
static void
an_event_that_came_between_its_deliveries_and_itself_stays_until_next_time(void **state)
{
    struct world *world = *state;
    fire_one_of_ours(world);
    assert_int_equal(delete (world, STMT_BENCH_DELETE_DELIVERIES), 1);
    fire_one_of_ours(world);
    assert_int_equal(delete (world, STMT_BENCH_DELETE_EVENTS), 1);
    assert_int_equal(count_of(world, "owed_event"), 1);
    assert_int_equal(count_of(world, "owed_delivery"), 1);
    assert_int_equal(delete (world, STMT_BENCH_DELETE_DELIVERIES), 1);
    assert_int_equal(delete (world, STMT_BENCH_DELETE_EVENTS), 1);
}

static void
who_comes_second_in_the_same_moment_is_told_of_the_first(void **state)
{
    struct world *world = *state;
    assert_true(traces_are_gone(world->db));
    assert_ok(traces_make(world->db, &world->err));
    assert_false(traces_are_gone(world->db));
    assert_int_equal(traces_make(world->other, &world->err), OWED_INVALID);
    assert_non_null(strstr(world->err.text, "another owed bench runs on this store"));
    assert_false(traces_are_gone(world->db)); // what the first has made
    assert_ok(traces_remove(world->db, NULL, &world->err));
}

static void
who_cannot_make_all_of_it_leaves_none(void **state)
{
    struct world *world = *state;
    raw_run(plain(world), "create table owed_bench_effect (id integer)");
    assert_int_not_equal(traces_make(world->db, &world->err), OWED_OK);
    assert_non_null(strstr(world->err.text, "owed_bench_effect"));
    assert_true(traces_are_gone(world->db));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(all_of_it_goes_and_nothing_of_others),
        TEST(an_event_that_came_between_its_deliveries_and_itself_stays_until_next_time),
        TEST(who_comes_second_in_the_same_moment_is_told_of_the_first),
        TEST(who_cannot_make_all_of_it_leaves_none),
    };
    return run_on_all_stores("bench traces", tests, COUNT(tests));
}
