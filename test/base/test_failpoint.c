/* SPDX-License-Identifier: MIT
 *
 * test_failpoint.c - a process ends at the place and the time that were asked for.
 */
#include "../unit.h"

#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/failpoint.h"

/* survives runs a child that reaches "here" so many times, and "elsewhere" once before each. */
static bool
survives(const char *wanted, int times)
{
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        unsetenv("OWED_FAILPOINT");
        if (wanted != NULL)
            setenv("OWED_FAILPOINT", wanted, 1);
        for (int i = 0; i < times; i++) {
            failpoint("elsewhere");
            failpoint("here");
        }
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status) || WTERMSIG(status) == SIGKILL);
    return WIFEXITED(status);
}

static void
the_process_is_killed_when_the_place_is_reached_for_the_nth_time(void **state)
{
    (void)state;
    assert_true(survives("here:3", 2));
    assert_false(survives("here:3", 3));
    assert_false(survives("here", 1));
    assert_false(survives("here:1", 1));
}

static void
nothing_else_kills_it(void **state)
{
    (void)state;
    assert_true(survives(NULL, 5));
    assert_true(survives("", 5));
    assert_true(survives("her:1", 5));
    assert_true(survives("here2:1", 5));
    assert_true(survives("here:0", 5));
    assert_true(survives("here:x", 5));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_process_is_killed_when_the_place_is_reached_for_the_nth_time),
        cmocka_unit_test(nothing_else_kills_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
