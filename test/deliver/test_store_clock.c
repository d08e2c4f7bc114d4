/* SPDX-License-Identifier: MIT
 *
 * test_store_clock.c - a store whose clock is not the host's, and a handle that goes by it.
 */
#include "fixture.h"

#include <poll.h>

#include "base/clock.h"
#include "deliver/store_clock.h"

#define HOUR_US (3600 * US_PER_SECOND)
#define SLOW_MS 100

/* A store that is ahead of the host, and slow to say so. */
struct tower {
    struct db db;
    int64_t ahead_us;
    int slow; // so many answers come late, and are wrong by a minute
    bool is_gone;
    int calls;
};

static owed_status
tower_now(struct db *db, int64_t *ret_now_us, owed_error *err)
{
    struct tower *tower = (struct tower *)db;
    tower->calls++;
    if (tower->is_gone) {
        *err = (owed_error){.status = OWED_UNAVAILABLE, .text = "nobody is there"};
        return OWED_UNAVAILABLE;
    }
    bool is_slow = tower->calls <= tower->slow;
    if (is_slow)
        poll(NULL, 0, SLOW_MS);
    *ret_now_us =
        clock_now_us(&clock_system) + tower->ahead_us + (is_slow ? 60 * US_PER_SECOND : 0);
    return OWED_OK;
}

static const struct driver tower_driver = {.now = tower_now};

static struct tower
a_tower(int64_t ahead_us)
{
    return (struct tower){.db = {.driver = &tower_driver}, .ahead_us = ahead_us};
}

static int64_t
ahead_us(const struct store_clock *clock)
{
    owed_clock read = store_clock_of((struct store_clock *)(uintptr_t)clock);
    return clock_now_us(&read) - clock_now_us(&clock_system);
}

static void
assert_near(int64_t got, int64_t expected)
{
    if (got < expected - US_PER_SECOND || got > expected + US_PER_SECOND)
        fail_msg("%lld is not near %lld", (long long)got, (long long)expected);
}

static void
before_it_is_read_it_is_the_hosts(void **state)
{
    (void)state;
    struct store_clock clock;
    store_clock_init(&clock);
    assert_near(ahead_us(&clock), 0);
}

static void
it_follows_the_store_however_far_off_the_host_is(void **state)
{
    (void)state;
    struct store_clock clock;
    owed_error err = {0};
    const int64_t offs[] = {HOUR_US, -HOUR_US, 0};
    store_clock_init(&clock);
    for (size_t i = 0; i < 3; i++) {
        struct tower tower = a_tower(offs[i]);
        assert_ok(store_clock_read(&clock, &tower.db, &err));
        assert_near(ahead_us(&clock), offs[i]);
    }
}

static void
of_several_answers_the_quickest_counts(void **state)
{
    (void)state;
    struct store_clock clock;
    owed_error err = {0};
    struct tower tower = a_tower(HOUR_US);
    tower.slow = 2;
    store_clock_init(&clock);
    assert_ok(store_clock_read(&clock, &tower.db, &err));
    assert_near(ahead_us(&clock), HOUR_US);
    assert_int_equal(tower.calls, 3);
}

static void
a_store_that_is_always_slow_is_asked_thrice(void **state)
{
    (void)state;
    struct store_clock clock;
    owed_error err = {0};
    struct tower tower = a_tower(HOUR_US);
    tower.slow = 10;
    store_clock_init(&clock);
    assert_ok(store_clock_read(&clock, &tower.db, &err));
    assert_int_equal(tower.calls, 3);
}

static void
without_an_answer_it_goes_on_as_before(void **state)
{
    (void)state;
    struct store_clock clock;
    owed_error err = {0};
    struct tower tower = a_tower(HOUR_US);
    store_clock_init(&clock);
    assert_ok(store_clock_read(&clock, &tower.db, &err));
    tower.is_gone = true;
    assert_status(OWED_UNAVAILABLE, store_clock_read(&clock, &tower.db, &err));
    assert_near(ahead_us(&clock), HOUR_US);
}

/* read_tower has a handle read the clock of a store that is an hour ahead. */
static void
read_tower(struct fixture *f)
{
    struct tower tower = a_tower(HOUR_US);
    struct db *real = f->owed->db;
    f->owed->db = &tower.db;
    assert_ok(handle_read_clock(f->owed, &f->err));
    f->owed->db = real;
}

static void
a_handle_without_a_clock_goes_by_the_stores(void **state)
{
    struct fixture *f = *state;
    owed_settings settings = fixture_settings(f);
    settings.clock = (owed_clock){0};
    assert_ok(owed_open(&settings, &f->owed, &f->err));
    read_tower(f);
    assert_near(clock_now_us(&f->owed->clock) - clock_now_us(&clock_system), HOUR_US);
    assert_near(clock_monotonic_us(&f->owed->clock) - clock_monotonic_us(&clock_system), 0);
    // Log lines stay with the host's.
    assert_near(clock_now_us(&f->owed->log.clock) - clock_now_us(&clock_system), 0);
    fixture_begin(f);
    int64_t id = fixture_fire(f, &order_placed, 1);
    fixture_commit(f);
    struct arena arena;
    arena_init(&arena, 0);
    assert_near(fixture_event(f, id, &arena).recorded_at_us - clock_now_us(&clock_system), HOUR_US);
    arena_done(&arena);
}

static void
a_clock_of_the_callers_own_stays(void **state)
{
    struct fixture *f = *state;
    fixture_open(f);
    read_tower(f);
    assert_int_equal(clock_now_us(&f->owed->clock), FIXTURE_NOW_US);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(before_it_is_read_it_is_the_hosts),
        cmocka_unit_test(it_follows_the_store_however_far_off_the_host_is),
        cmocka_unit_test(of_several_answers_the_quickest_counts),
        cmocka_unit_test(a_store_that_is_always_slow_is_asked_thrice),
        cmocka_unit_test(without_an_answer_it_goes_on_as_before),
        cmocka_unit_test_setup_teardown(
            a_handle_without_a_clock_goes_by_the_stores, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(
            a_clock_of_the_callers_own_stays, fixture_setup, fixture_teardown),
    };
    return RUN_ON_ALL_STORES("the store's clock", tests);
}
