/* SPDX-License-Identifier: MIT
 *
 * test_samples.c - percentiles, by nearest rank.
 */
#include "../unit.h"

#include "bench/samples.h"

/* add_down adds count, ..., 2, 1. */
static void
add_down(struct samples *samples, int64_t count)
{
    for (int64_t us = count; us > 0; us--)
        samples_add(samples, us);
}

static void
of_a_hundred_each_percentile_is_its_own_number(void **state)
{
    (void)state;
    struct samples samples = {0};
    struct percentiles sum = {0};
    add_down(&samples, 100);
    assert_true(samples_sum(&samples, &sum));
    assert_int_equal(sum.p50, 50);
    assert_int_equal(sum.p90, 90);
    assert_int_equal(sum.p99, 99);
    assert_int_equal(sum.max, 100);
    samples_done(&samples);
}

static void
of_few_the_rank_is_the_nearest_above(void **state)
{
    (void)state;
    static const struct {
        int64_t count;
        struct percentiles sum;
    } cases[] = {
        {1, {1, 1, 1, 1}},
        {2, {1, 2, 2, 2}},
        {3, {2, 3, 3, 3}},
        {10, {5, 9, 10, 10}},
        {11, {6, 10, 11, 11}},
        {1000, {500, 900, 990, 1000}},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct samples samples = {0};
        struct percentiles sum = {0};
        add_down(&samples, cases[i].count);
        assert_true(samples_sum(&samples, &sum));
        assert_int_equal(sum.p50, cases[i].sum.p50);
        assert_int_equal(sum.p90, cases[i].sum.p90);
        assert_int_equal(sum.p99, cases[i].sum.p99);
        assert_int_equal(sum.max, cases[i].sum.max);
        samples_done(&samples);
    }
}

static void
of_none_there_is_no_percentile(void **state)
{
    (void)state;
    struct samples samples = {0};
    struct percentiles sum = {0};
    assert_false(samples_sum(&samples, &sum));
    samples_add(&samples, 7);
    samples_clear(&samples);
    assert_false(samples_sum(&samples, &sum));
    samples_done(&samples);
}

static void
what_several_took_is_put_together(void **state)
{
    (void)state;
    struct samples one = {0}, other = {0}, none = {0};
    struct percentiles sum = {0};
    add_down(&one, 5000);
    add_down(&other, 3000);
    samples_append(&one, &other);
    samples_append(&one, &none);
    assert_int_equal(one.count, 8000);
    assert_true(samples_sum(&one, &sum));
    assert_int_equal(sum.p50, 2000);
    assert_int_equal(sum.max, 5000);
    samples_done(&one);
    samples_done(&other);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_a_hundred_each_percentile_is_its_own_number),
        cmocka_unit_test(of_few_the_rank_is_the_nearest_above),
        cmocka_unit_test(of_none_there_is_no_percentile),
        cmocka_unit_test(what_several_took_is_put_together),
    };
    return cmocka_run_group_tests_name("bench samples", tests, NULL, NULL);
}
