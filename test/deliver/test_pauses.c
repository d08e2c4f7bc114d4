/* SPDX-License-Identifier: MIT
 *
 * test_pauses.c - the table of pauses that the workers of a relay share.
 */
#include "../unit.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "deliver/pauses.h"

static int
setup(void **state)
{
    void *memory = mmap(
        NULL, sizeof(struct pauses), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(memory != MAP_FAILED);
    pauses_init(memory);
    *state = memory;
    return 0;
}

static int
teardown(void **state)
{
    munmap(*state, sizeof(struct pauses));
    return 0;
}

static const struct pause_of mail = {.name = "shop/mail"};
static const struct pause_of hooks = {.name = "shop/hooks"};

static void
a_pause_holds_its_lane_alone_until_its_very_end(void **state)
{
    struct pauses *pauses = *state;
    assert_false(pauses_any(pauses));
    pauses_add(pauses, &mail, 1000);
    assert_true(pauses_any(pauses));
    assert_int_equal(pauses_ask(pauses, &mail, 1, 999), HOLD_HELD);
    assert_int_equal(pauses_ask(pauses, &hooks, 1, 999), HOLD_NONE);
    assert_int_equal(pauses_ask(pauses, &mail, 1, 1000), HOLD_TRIAL);
}

static void
a_target_is_neither_a_lane_nor_another_target(void **state)
{
    struct pauses *pauses = *state;
    const struct pause_of a = {.kind = PAUSE_TARGET, .name = "shop/mail", .digest = {1}};
    const struct pause_of b = {.kind = PAUSE_TARGET, .name = "shop/mail", .digest = {2}};
    const struct pause_of c = {.kind = PAUSE_TARGET, .name = "shop/other", .digest = {1}};
    pauses_add(pauses, &a, 1000);
    assert_int_equal(pauses_ask(pauses, &a, 1, 0), HOLD_HELD);
    assert_int_equal(pauses_ask(pauses, &b, 1, 0), HOLD_NONE);
    assert_int_equal(pauses_ask(pauses, &c, 1, 0), HOLD_NONE);
    assert_int_equal(pauses_ask(pauses, &mail, 1, 0), HOLD_NONE);
}

static void
a_pause_that_ends_later_stays(void **state)
{
    struct pauses *pauses = *state;
    pauses_add(pauses, &mail, 3600);
    pauses_add(pauses, &mail, 60);
    assert_int_equal(pauses_ask(pauses, &mail, 1, 3599), HOLD_HELD);
    pauses_add(pauses, &mail, 7200);
    assert_int_equal(pauses_ask(pauses, &mail, 1, 7199), HOLD_HELD);
    assert_int_equal(pauses_ask(pauses, &mail, 1, 7200), HOLD_TRIAL);
}

static void
after_it_one_row_of_all_workers_is_on_trial(void **state)
{
    struct pauses *pauses = *state;
    pauses_add(pauses, &mail, 1000);
    assert_int_equal(pauses_ask(pauses, &mail, 1, 1000), HOLD_TRIAL);
    assert_int_equal(pauses_ask(pauses, &mail, 1, 1000), HOLD_HELD);
    assert_int_equal(pauses_ask(pauses, &mail, 2, 1000), HOLD_HELD);
    pauses_release(pauses, &mail, 2); // not its own
    assert_int_equal(pauses_ask(pauses, &mail, 2, 1000), HOLD_HELD);
    pauses_release(pauses, &mail, 1);
    assert_int_equal(pauses_ask(pauses, &mail, 2, 1000), HOLD_TRIAL);
    pauses_release_all(pauses, 2);
    assert_int_equal(pauses_ask(pauses, &mail, 1, 1000), HOLD_TRIAL);
}

static void
what_started_after_it_ends_it_and_what_flew_before_does_not(void **state)
{
    struct pauses *pauses = *state;
    pauses_add(pauses, &mail, 1000);
    pauses_add(pauses, &hooks, 1000);
    pauses_end(pauses, &mail, 0);
    pauses_end(pauses, &mail, 999);
    assert_int_equal(pauses_ask(pauses, &mail, 1, 1000), HOLD_TRIAL);
    pauses_end(pauses, &mail, 1000);
    assert_int_equal(pauses_ask(pauses, &mail, 1, 1000), HOLD_NONE);
    assert_int_equal(pauses_ask(pauses, &hooks, 1, 999), HOLD_HELD);
}

static void
claims_leave_out_what_is_paused_or_on_trial(void **state)
{
    struct pauses *pauses = *state;
    static struct pause_of list[PAUSES];
    assert_int_equal(pauses_list(pauses, 0, list), 0);
    pauses_add(pauses, &mail, 1000);
    pauses_add(pauses, &hooks, 2000);
    assert_int_equal(pauses_list(pauses, 999, list), 2);
    assert_int_equal(pauses_list(pauses, 1000, list), 1);
    assert_string_equal(list[0].name, "shop/hooks");
    assert_int_equal(pauses_ask(pauses, &mail, 1, 1000), HOLD_TRIAL);
    assert_int_equal(pauses_list(pauses, 1000, list), 2);
    pauses_release(pauses, &mail, 1);
    assert_int_equal(pauses_list(pauses, 2000, list), 0);
}

static void
the_next_end_is_known_and_whether_somebody_elses_trial_is_on(void **state)
{
    struct pauses *pauses = *state;
    bool is_tried = true;
    assert_int_equal(pauses_next_us(pauses, 1, 0, &is_tried), INT64_MAX);
    assert_false(is_tried);
    pauses_add(pauses, &mail, 1000);
    pauses_add(pauses, &hooks, 2000);
    assert_int_equal(pauses_next_us(pauses, 1, 999, &is_tried), 1000);
    assert_int_equal(pauses_next_us(pauses, 1, 1000, &is_tried), 2000);
    assert_int_equal(pauses_next_us(pauses, 1, 2000, &is_tried), INT64_MAX);
    assert_false(is_tried);
    pauses_ask(pauses, &mail, 1, 1000);
    pauses_next_us(pauses, 1, 1000, &is_tried);
    assert_false(is_tried);
    pauses_next_us(pauses, 2, 1000, &is_tried);
    assert_true(is_tried);
}

static void
a_full_table_forgets_what_ends_first(void **state)
{
    struct pauses *pauses = *state;
    struct pause_of of = {.kind = PAUSE_TARGET, .name = "shop.hook"};
    for (int i = 0; i <= PAUSES; i++) {
        memcpy(of.digest, &i, sizeof i);
        pauses_add(pauses, &of, 1000 + i);
        assert_int_equal(pauses_ask(pauses, &of, 1, 0), HOLD_HELD);
    }
    int first = 0;
    memcpy(of.digest, &first, sizeof first);
    assert_int_equal(pauses_ask(pauses, &of, 1, 0), HOLD_NONE);
}

static void
a_worker_that_dies_with_the_table_in_hand_holds_up_nobody(void **state)
{
    struct pauses *pauses = *state;
    pauses_add(pauses, &mail, 1000);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        pthread_mutex_lock(&pauses->lock);
        _exit(0);
    }
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(pauses_ask(pauses, &mail, 1, 999), HOLD_HELD);
    pauses_add(pauses, &hooks, 1000);
    assert_int_equal(pauses_ask(pauses, &hooks, 1, 999), HOLD_HELD);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_pause_holds_its_lane_alone_until_its_very_end),
        TEST(a_target_is_neither_a_lane_nor_another_target),
        TEST(a_pause_that_ends_later_stays),
        TEST(after_it_one_row_of_all_workers_is_on_trial),
        TEST(what_started_after_it_ends_it_and_what_flew_before_does_not),
        TEST(claims_leave_out_what_is_paused_or_on_trial),
        TEST(the_next_end_is_known_and_whether_somebody_elses_trial_is_on),
        TEST(a_full_table_forgets_what_ends_first),
        TEST(a_worker_that_dies_with_the_table_in_hand_holds_up_nobody),
    };
    return cmocka_run_group_tests_name("deliver pauses", tests, NULL, NULL);
}
