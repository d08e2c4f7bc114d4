/* SPDX-License-Identifier: MIT
 *
 * test_clock.c - time and dice that others hand in.
 */
#include "../unit.h"

#include "base/clock.h"

static int64_t
fixed_now(void *state)
{
    return *(int64_t *)state;
}

static void
an_empty_clock_is_the_systems(void **state)
{
    (void)state;
    owed_clock clock = clock_or_system((owed_clock){0});
    int64_t first = clock_monotonic_us(&clock);
    assert_true(clock_monotonic_us(&clock) >= first);
    assert_true(clock_now_us(&clock) > INT64_C(1700000000000000));
}

static void
a_clock_of_the_callers_is_asked_for_both(void **state)
{
    (void)state;
    int64_t now = 42;
    owed_clock clock = clock_or_system((owed_clock){.now_us = fixed_now, .state = &now});
    assert_int_equal(clock_now_us(&clock), 42);
    assert_int_equal(clock_monotonic_us(&clock), 42);
}

static void
dice_fall_the_same_way_for_the_same_seed(void **state)
{
    (void)state;
    uint64_t a = 7, b = 7, c = 8;
    owed_dice x = dice_seeded(&a), y = dice_seeded(&b), z = dice_seeded(&c);
    int differing = 0;
    for (int i = 0; i < 100; i++) {
        uint64_t bits = x.next(x.state);
        assert_true(bits == y.next(y.state));
        differing += bits != z.next(z.state);
    }
    assert_true(differing > 90);
    // The generator's published first number for seed 0.
    uint64_t zero = 0;
    owed_dice known = dice_seeded(&zero);
    assert_true(known.next(known.state) == UINT64_C(0xe220a8397b1dcdaf));
}

static uint64_t
all_ones(void *state)
{
    (void)state;
    return UINT64_MAX;
}

static void
dice_unit_is_in_range_and_evenly_spread(void **state)
{
    (void)state;
    uint64_t seed = 4;
    owed_dice dice = dice_seeded(&seed);
    int tenths[10] = {0};
    for (int i = 0; i < 100000; i++) {
        double unit = dice_unit(&dice);
        assert_true(unit >= 0 && unit < 1);
        tenths[(int)(unit * 10)]++;
    }
    for (int i = 0; i < 10; i++)
        assert_in_range(tenths[i], 9500, 10500);
    owed_dice highest = {.next = all_ones};
    assert_true(dice_unit(&highest) < 1);
}

static void
dice_fill_writes_every_byte_and_no_more(void **state)
{
    (void)state;
    for (size_t len = 0; len <= 20; len++) {
        unsigned char seen[20] = {0};
        uint64_t seed = 5;
        owed_dice dice = dice_seeded(&seed);
        for (int i = 0; i < 50; i++) {
            unsigned char bytes[21] = {0};
            dice_fill(&dice, bytes, len);
            for (size_t j = 0; j < 20; j++)
                seen[j] |= bytes[j];
        }
        for (size_t j = 0; j < 20; j++)
            assert_int_equal(seen[j] != 0, j < len);
    }
    owed_dice system = dice_or_system((owed_dice){0});
    unsigned char one[16] = {0}, other[16] = {0};
    dice_fill(&system, one, sizeof one);
    dice_fill(&system, other, sizeof other);
    assert_memory_not_equal(one, other, sizeof one);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_clock_is_the_systems),
        cmocka_unit_test(a_clock_of_the_callers_is_asked_for_both),
        cmocka_unit_test(dice_fall_the_same_way_for_the_same_seed),
        cmocka_unit_test(dice_unit_is_in_range_and_evenly_spread),
        cmocka_unit_test(dice_fill_writes_every_byte_and_no_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
