/* SPDX-License-Identifier: MIT
 *
 * test_loop.c - one loop for all kinds: what wakes it, and what it hands back.
 */
#include "attempt.h"
#include "server.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"

static void
what_ends_at_once_is_handed_back_in_order(void **state)
{
    (void)state;
    struct outside *outside = outside_new();
    struct attempt attempts[10];
    for (int i = 0; i < 10; i++) {
        attempt_init(&attempts[i], i % 2 == 0 ? RUN_DISCARD : RUN_FILE, "/dev/null", STR("1"));
        assert_true(outside_builtin.room(outside, &attempts[i].receiver) >= 100);
        outside_builtin.start(outside, &attempts[i].flight);
    }
    const struct flight *flight = outside_builtin.poll(outside, NULL, 0, 10000);
    for (int i = 0; i < 10; i++, flight = flight->next) {
        assert_ptr_equal(flight, &attempts[i].flight);
        assert_int_equal(flight->outcome.verdict, OWED_VERDICT_DONE);
    }
    assert_null(flight);
    assert_null(outside_builtin.poll(outside, NULL, 0, 0));
    outside_builtin.close(outside);
}

static void
an_abandoned_flight_that_has_ended_is_not_handed_back(void **state)
{
    (void)state;
    struct outside *outside = outside_new();
    struct attempt attempts[3];
    for (int i = 0; i < 3; i++) {
        attempt_init(&attempts[i], RUN_DISCARD, NULL, STR("1"));
        outside_builtin.start(outside, &attempts[i].flight);
    }
    outside_builtin.abandon(outside, &attempts[2].flight);
    const struct flight *flight = outside_builtin.poll(outside, NULL, 0, 0);
    assert_ptr_equal(flight, &attempts[0].flight);
    assert_ptr_equal(flight->next, &attempts[1].flight);
    assert_null(flight->next->next);
    outside_builtin.close(outside);
}

static int64_t
poll_takes_us(struct outside *outside, const int *fds, size_t count, int timeout_ms)
{
    int64_t started_us = clock_monotonic_us(&clock_system);
    assert_null(outside_builtin.poll(outside, fds, count, timeout_ms));
    return clock_monotonic_us(&clock_system) - started_us;
}

static void
a_descriptor_of_the_caller_ends_the_wait(void **state)
{
    (void)state;
    struct outside *outside = outside_new();
    int quiet = eventfd(0, EFD_CLOEXEC);
    int called = eventfd(1, EFD_CLOEXEC);
    assert_true(poll_takes_us(outside, (const int[]){quiet, called}, 2, 20000) < US_PER_SECOND * 5);
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    close(ends[1]); // hung up: readable to whoever waits for it
    assert_true(
        poll_takes_us(outside, (const int[]){quiet, ends[0]}, 2, 20000) < US_PER_SECOND * 5);
    close(ends[0]);
    close(called);
    close(quiet);
    outside_builtin.close(outside);
}

static void
the_wait_ends_at_its_time(void **state)
{
    (void)state;
    struct outside *outside = outside_new();
    int quiet = eventfd(0, EFD_CLOEXEC);
    int64_t took_us = poll_takes_us(outside, &quiet, 1, 50);
    assert_true(took_us >= MILLISECONDS(50) && took_us < MILLISECONDS(5000));
    assert_true(poll_takes_us(outside, &quiet, 1, 0) < MILLISECONDS(1000));
    close(quiet);
    outside_builtin.close(outside);
}

static void
a_request_and_a_program_end_beside_each_other(void **state)
{
    (void)state;
    struct server server;
    server_start(&server, answer_by_path);
    struct outside *outside = outside_new();
    char url[64];
    struct attempt attempts[40];
    for (int i = 0; i < 40; i++) {
        attempt_init(&attempts[i], i % 4 == 0 ? RUN_EXEC : RUN_WEBHOOK,
            i % 4 == 0 ? "/bin/true" : server_url(&server, 200, url), STR("1"));
        outside_builtin.start(outside, &attempts[i].flight);
    }
    land_all(outside, 40);
    for (int i = 0; i < 40; i++)
        assert_int_equal(attempts[i].flight.outcome.verdict, OWED_VERDICT_DONE);
    outside_builtin.close(outside);
    server_stop(&server);
}

/* count_starts starts what there is room for, and says how many that were. */
static int
count_starts(struct outside *outside, struct attempt *attempts, const struct receiver *receiver)
{
    int started = 0;
    for (; outside_builtin.room(outside, receiver) > 0; started++) {
        attempts[started].flight.delivery.receiver = receiver;
        outside_builtin.start(outside, &attempts[started].flight);
    }
    return started;
}

static void
a_dead_destination_leaves_room_for_the_others(void **state)
{
    (void)state;
    struct server server;
    server_start(&server, answer_together);
    server.wanted = SIZE_MAX; // it never answers
    struct outside *outside = outside_new();
    struct attempt *attempts = calloc(200, sizeof *attempts);
    char url[64];
    server_url(&server, 1, url);
    for (int i = 0; i < 200; i++)
        attempt_init(&attempts[i], RUN_WEBHOOK, url, STR("1"));
    const struct receiver *dead = &attempts[0].receiver;
    const struct receiver *second = &attempts[1].receiver;
    assert_int_equal(outside_builtin.room(outside, second), 200);

    int first_took = count_starts(outside, attempts, dead);
    assert_int_equal(first_took, 175);
    assert_int_equal(outside_builtin.room(outside, second), 25);
    int second_took = count_starts(outside, attempts + first_took, second);
    assert_int_equal(second_took, 25);

    // As the first one's end, they are divided evenly.
    for (int i = 0; i < 100; i++)
        outside_builtin.abandon(outside, &attempts[i].flight);
    assert_int_equal(outside_builtin.room(outside, dead), 87 - 75);
    assert_int_equal(outside_builtin.room(outside, second), 87 - 25);
    assert_int_equal(outside_builtin.room(outside, &attempts[2].receiver), 175 / 3);
    outside_builtin.close(outside);
    server_stop(&server);
    free(attempts);
}

static void
a_closed_connection_raises_no_sigpipe_while_the_loop_is_open(void **state)
{
    (void)state;
    signal(SIGPIPE, SIG_DFL);
    struct outside *outside = outside_new();
    raise(SIGPIPE); // as a TLS library might
    outside_builtin.close(outside);
    sigset_t signals;
    assert_int_equal(sigpending(&signals), 0);
    assert_int_equal(sigismember(&signals, SIGPIPE), 0);
    assert_int_equal(pthread_sigmask(SIG_BLOCK, NULL, &signals), 0);
    assert_int_equal(sigismember(&signals, SIGPIPE), 0);
}

static void
a_receiver_in_c_is_not_for_the_loop(void **state)
{
    (void)state;
    struct outside *outside = outside_new();
    struct attempt attempt;
    attempt_init(&attempt, RUN_FUNCTION, NULL, STR("1"));
    assert_int_equal(outside_builtin.room(outside, &attempt.receiver), 0);
    fly(outside, &attempt);
    assert_int_equal(attempt.flight.outcome.verdict, OWED_VERDICT_FAILED);
    outside_builtin.close(outside);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_ends_at_once_is_handed_back_in_order),
        cmocka_unit_test(an_abandoned_flight_that_has_ended_is_not_handed_back),
        cmocka_unit_test(a_descriptor_of_the_caller_ends_the_wait),
        cmocka_unit_test(the_wait_ends_at_its_time),
        cmocka_unit_test(a_request_and_a_program_end_beside_each_other),
        cmocka_unit_test(a_dead_destination_leaves_room_for_the_others),
        cmocka_unit_test(a_closed_connection_raises_no_sigpipe_while_the_loop_is_open),
        cmocka_unit_test(a_receiver_in_c_is_not_for_the_loop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
