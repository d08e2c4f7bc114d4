/* SPDX-License-Identifier: MIT
 *
 * test_shared.c - what a supervisor can tell from the shared memory, and when it is told.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "deliver/shared.h"

struct fixture {
    struct shared *shared;
    int fd;
    uint64_t seed;
};

static int
setup(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    owed_dice dice = dice_seeded(&f->seed);
    assert_int_equal(shared_new("host-1", &dice, &f->shared, &f->fd, NULL), OWED_OK);
    f->shared->slot_count = 2;
    f->shared->slots[1].role = ROLE_LOOP;
    *state = f;
    return 0;
}

static int
teardown(void **state)
{
    struct fixture *f = *state;
    shared_free(f->shared);
    close(f->fd);
    free(f);
    return 0;
}

static void
an_instance_is_the_worker_id_and_eight_digits(void **state)
{
    struct fixture *f = *state;
    int matched = 0;
    assert_int_equal(sscanf(f->shared->instance, "host-1.%*8[0-9a-f]%n", &matched), 0);
    assert_int_equal(matched, strlen(f->shared->instance));
    assert_int_equal(matched, strlen("host-1.") + 8);
}

static void
too_long_a_worker_id_is_refused(void **state)
{
    (void)state;
    char id[LIMIT_WORKER_ID_BYTES + 2];
    memset(id, 'x', sizeof id - 1);
    id[sizeof id - 1] = '\0';
    struct shared *shared = NULL;
    int fd = -1;
    owed_error err;
    assert_int_equal(shared_new(id, &dice_system, &shared, &fd, &err), OWED_LIMIT);
    assert_string_equal(err.text, "the worker id is longer than 128 bytes");
}

static void
a_seat_is_taken_once_and_leaves_nothing_behind(void **state)
{
    struct fixture *f = *state;
    char seat[32];
    int given = dup(f->fd);
    snprintf(seat, sizeof seat, "%d:1", given);
    setenv(SEAT_VARIABLE, seat, 1);

    struct shared *shared = NULL;
    int slot = -1;
    enum role role = ROLE_ALL;
    assert_int_equal(shared_take_seat(&shared, &slot, &role, NULL), OWED_OK);
    assert_int_equal(slot, 1);
    assert_int_equal(role, ROLE_LOOP);
    shared_committed(shared);
    assert_int_equal(atomic_load(&f->shared->commits), 1);
    assert_null(getenv(SEAT_VARIABLE));
    assert_int_equal(close(given), -1);
    shared_free(shared);

    assert_int_equal(shared_take_seat(&shared, &slot, &role, NULL), OWED_OK);
    assert_null(shared);
}

static void
a_made_up_seat_is_refused(void **state)
{
    (void)state;
    struct shared *shared = NULL;
    int slot;
    enum role role;
    owed_error err;
    setenv(SEAT_VARIABLE, "here", 1);
    assert_int_equal(shared_take_seat(&shared, &slot, &role, &err), OWED_BUG);
    assert_string_equal(err.text, "OWED_SEAT is for the relay's own use: unset it");
    unsetenv(SEAT_VARIABLE);
}

static void
all_wait_only_when_each_saw_the_last_commit(void **state)
{
    struct shared *shared = ((struct fixture *)*state)->shared;
    assert_false(shared_all_wait(shared));
    long long first = slot_works(shared, 0);
    long long second = slot_works(shared, 1);
    slot_waits(shared, 0, first);
    assert_false(shared_all_wait(shared));
    shared_committed(shared);                // by the second, which is still at work
    assert_false(slot_is_behind(shared, 0)); // the other one may commit more
    slot_waits(shared, 1, second);
    assert_false(shared_all_wait(shared));

    slot_waits(shared, 1, slot_works(shared, 1));
    assert_false(shared_all_wait(shared)); // the first looked before that commit
    assert_true(slot_is_behind(shared, 0));
    assert_false(slot_is_behind(shared, 1));
    slot_waits(shared, 0, slot_works(shared, 0));
    assert_true(shared_all_wait(shared));
    slot_works(shared, 1);
    assert_false(shared_all_wait(shared));
    atomic_store(&shared->slots[1].closed, true);
    assert_true(shared_all_wait(shared));
}

static void
a_hand_is_overdue_only_while_its_receiver_runs(void **state)
{
    struct shared *shared = ((struct fixture *)*state)->shared;
    unsigned turn = 0;
    unsigned again = 0;
    assert_int_equal(slot_overdue_at(shared, 0, &turn), INT64_MAX);
    struct in_hand hand = {.delivery_id = 7, .started_mono_us = 1000, .timeout_us = 500};
    slot_begin(shared, 0, &hand);
    assert_int_equal(slot_overdue_at(shared, 0, &turn), 1500);
    slot_phase(shared, 0, PHASE_ACKNOWLEDGING);
    assert_int_equal(slot_overdue_at(shared, 0, &again), INT64_MAX);
    slot_begin(shared, 0, &hand);
    assert_int_equal(slot_overdue_at(shared, 0, &again), 1500);
    assert_int_not_equal(turn, again);

    // Half written, it is nobody's.
    atomic_fetch_add(&shared->slots[0].turn, 1);
    assert_int_equal(slot_overdue_at(shared, 0, &again), INT64_MAX);
    atomic_fetch_add(&shared->slots[0].turn, 1);

    hand.timeout_us = 0;
    slot_begin(shared, 0, &hand);
    assert_int_equal(slot_overdue_at(shared, 0, &turn), INT64_MAX);
}

static void
the_hand_of_a_dead_worker_is_not_overdue_for_the_next(void **state)
{
    struct shared *shared = ((struct fixture *)*state)->shared;
    unsigned turn = 0;
    slot_begin(shared, 0, &(struct in_hand){.started_mono_us = 1000, .timeout_us = 500});
    atomic_store(&shared->slots[0].death.cause, DEATH_ITSELF);
    assert_int_equal(slot_overdue_at(shared, 0, &turn), INT64_MAX);
    slot_make_good(shared, 0);
    assert_int_equal(slot_overdue_at(shared, 0, &turn), INT64_MAX);
    assert_int_equal(atomic_load(&shared->slots[0].death.cause), DEATH_NONE);
}

/* rings counts the signals that reach this process from a child that does work. */
static int
rings(struct shared *shared, void (*work)(struct shared *))
{
    sigset_t bell;
    sigset_t old;
    sigemptyset(&bell);
    sigaddset(&bell, SIGUSR1);
    sigprocmask(SIG_BLOCK, &bell, &old);
    pid_t child = fork();
    if (child == 0) {
        work(shared);
        _exit(0);
    }
    waitpid(child, NULL, 0);
    struct timespec none = {0};
    int count = 0;
    while (sigtimedwait(&bell, NULL, &none) == SIGUSR1)
        count++;
    sigprocmask(SIG_SETMASK, &old, NULL);
    return count;
}

static void
begin_a_short_one(struct shared *shared)
{
    slot_begin(shared, 0, &(struct in_hand){.started_mono_us = 1000, .timeout_us = 500});
}

static void
begin_an_unbounded_one(struct shared *shared)
{
    slot_begin(shared, 0, &(struct in_hand){.started_mono_us = 1000});
}

static void
come_to_rest(struct shared *shared)
{
    slot_waits(shared, 0, slot_works(shared, 0));
}

static void
the_supervisor_is_rung_only_when_it_would_oversleep(void **state)
{
    struct shared *shared = ((struct fixture *)*state)->shared;
    atomic_store(&shared->look_at_us, INT64_MAX);
    assert_int_equal(rings(shared, begin_a_short_one), 1);
    assert_int_equal(rings(shared, begin_an_unbounded_one), 0);
    atomic_store(&shared->look_at_us, 1400);
    assert_int_equal(rings(shared, begin_a_short_one), 0);
}

static void
rest_is_told_only_to_who_waits_for_it(void **state)
{
    struct shared *shared = ((struct fixture *)*state)->shared;
    assert_int_equal(rings(shared, come_to_rest), 0);
    shared->once = true;
    assert_int_equal(rings(shared, come_to_rest), 1);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(an_instance_is_the_worker_id_and_eight_digits),
        CASE(too_long_a_worker_id_is_refused),
        CASE(a_seat_is_taken_once_and_leaves_nothing_behind),
        CASE(a_made_up_seat_is_refused),
        CASE(all_wait_only_when_each_saw_the_last_commit),
        CASE(a_hand_is_overdue_only_while_its_receiver_runs),
        CASE(the_hand_of_a_dead_worker_is_not_overdue_for_the_next),
        CASE(the_supervisor_is_rung_only_when_it_would_oversleep),
        CASE(rest_is_told_only_to_who_waits_for_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
