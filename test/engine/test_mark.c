/* SPDX-License-Identifier: MIT
 *
 * test_mark.c - when a claim begins at the mark, and when it looks at everything.
 */
#include "../unit.h"

#include "engine/mark.h"

#define MONO INT64_C(5000000)
#define DUE INT64_C(4102444800000000)
#define ABOUT 7

/* filled is a claim at MONO that began at from_us and was filled up to last_us. */
static struct looked
filled(int64_t from_us, int64_t last_us)
{
    return (struct looked){
        .from_us = from_us, .about = ABOUT, .mono_us = MONO, .is_filled = true, .last_us = last_us};
}

static struct mark
marked(void)
{
    struct mark mark = {0};
    const struct looked looked = filled(0, DUE);
    mark_move(&mark, &looked);
    return mark;
}

static void
the_first_look_is_a_full_one(void **state)
{
    (void)state;
    const struct mark mark = {0};
    assert_int_equal(mark_from(&mark, 0, MONO), 0);
    assert_int_equal(mark_from(&mark, ABOUT, MONO), 0);
}

static void
after_a_filled_claim_the_next_begins_where_it_ended(void **state)
{
    (void)state;
    struct mark mark = marked();
    assert_int_equal(mark_from(&mark, ABOUT, MONO), DUE);
    const struct looked next = filled(DUE, DUE + 30);
    mark_move(&mark, &next);
    assert_int_equal(mark_from(&mark, ABOUT, MONO), DUE + 30);
}

static void
what_was_handed_back_takes_no_mark_back(void **state)
{
    (void)state;
    struct mark mark = marked();
    const struct looked next = filled(DUE, DUE - 30);
    mark_move(&mark, &next);
    assert_int_equal(mark_from(&mark, ABOUT, MONO), DUE);
}

static void
a_full_look_sets_the_mark_anew_also_to_an_earlier_moment(void **state)
{
    (void)state;
    struct mark mark = marked();
    const struct looked full = filled(0, DUE - 30);
    mark_move(&mark, &full);
    assert_int_equal(mark_from(&mark, ABOUT, MONO), DUE - 30);
}

static void
a_second_after_a_full_look_comes_the_next_however_often_the_mark_has_moved(void **state)
{
    (void)state;
    struct mark mark = marked();
    struct looked next = filled(DUE, DUE + 30);
    next.mono_us = MONO + MARK_FULL_EVERY_US - 1;
    mark_move(&mark, &next);
    assert_int_equal(mark_from(&mark, ABOUT, MONO + MARK_FULL_EVERY_US - 1), DUE + 30);
    assert_int_equal(mark_from(&mark, ABOUT, MONO + MARK_FULL_EVERY_US), 0);
}

static void
a_claim_that_was_not_filled_is_followed_by_a_full_look(void **state)
{
    (void)state;
    struct mark mark = marked();
    struct looked some = filled(DUE, DUE + 30);
    some.is_filled = false;
    mark_move(&mark, &some);
    assert_int_equal(mark_from(&mark, ABOUT, MONO), 0);
    some.from_us = 0;
    mark_move(&mark, &some);
    assert_int_equal(mark_from(&mark, ABOUT, MONO), 0);
}

static void
who_asks_for_something_else_looks_at_everything(void **state)
{
    (void)state;
    struct mark mark = marked();
    assert_int_equal(mark_from(&mark, ABOUT + 1, MONO), 0);
    struct looked other = filled(0, DUE + 30);
    other.about = ABOUT + 1;
    mark_move(&mark, &other);
    assert_int_equal(mark_from(&mark, ABOUT, MONO), 0);
    assert_int_equal(mark_from(&mark, ABOUT + 1, MONO), DUE + 30);
}

static void
what_came_due_before_1970_sets_no_mark(void **state)
{
    (void)state;
    struct mark mark = {0};
    const struct looked old = filled(0, -5);
    mark_move(&mark, &old);
    assert_int_equal(mark_from(&mark, ABOUT, MONO), 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_look_is_a_full_one),
        cmocka_unit_test(after_a_filled_claim_the_next_begins_where_it_ended),
        cmocka_unit_test(what_was_handed_back_takes_no_mark_back),
        cmocka_unit_test(a_full_look_sets_the_mark_anew_also_to_an_earlier_moment),
        cmocka_unit_test(
            a_second_after_a_full_look_comes_the_next_however_often_the_mark_has_moved),
        cmocka_unit_test(a_claim_that_was_not_filled_is_followed_by_a_full_look),
        cmocka_unit_test(who_asks_for_something_else_looks_at_everything),
        cmocka_unit_test(what_came_due_before_1970_sets_no_mark),
    };
    return cmocka_run_group_tests_name("engine mark", tests, NULL, NULL);
}
