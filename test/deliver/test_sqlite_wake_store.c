/* SPDX-License-Identifier: MIT
 *
 * test_wake_store.c - a waiting relay notices what another process commits with plain SQL.
 *
 * Nobody sends a datagram here and no wait comes to its end: a wake-up that is lost fails the test.
 */
#include "fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "deliver/wake.h"

#define ROUNDS 1000
#define LOST_US OWED_SECONDS(30)
#define USUAL_US 10000 // a round, its commits and both processes' turns included

struct pair {
    int go[2]; // the producer reads how often it may commit
    pid_t producer;
};

static int64_t
mono_us(void)
{
    return clock_monotonic_us(&clock_system);
}

/* produce commits one row for each byte that it is given; the first at once. */
static _Noreturn void
produce(const char *url, int go)
{
    struct db *db = NULL;
    const struct db_options options = {.busy_timeout_us = OWED_SECONDS(5)};
    owed_error err;
    if (store_open(url, &options, &db, &err) != OWED_OK)
        _exit(1);
    char byte;
    do {
        if (!fixture_try(db, "insert into app (id) values (1)"))
            _exit(1);
    } while (read(go, &byte, 1) == 1);
    store_close(db);
    _exit(0);
}

static void
start(struct pair *pair, const char *url)
{
    assert_int_equal(pipe(pair->go), 0);
    pair->producer = fork();
    if (pair->producer == 0) {
        close(pair->go[1]);
        produce(url, pair->go[0]);
    }
    close(pair->go[0]);
}

static void
end(struct pair *pair)
{
    close(pair->go[1]);
    int status = 1;
    assert_int_equal(waitpid(pair->producer, &status, 0), pair->producer);
    assert_int_equal(status, 0);
}

/* await_rows looks and waits by turns, as a relay does, until so many rows are there. */
static void
await_rows(struct fixture *f, struct wake *wake, size_t expected)
{
    while (fixture_rows(f) < expected)
        assert_true(wake_wait(wake, LOST_US));
}

static void
no_commit_of_another_process_is_missed_in_a_thousand_rounds(void **state)
{
    struct fixture *f = *state;
    fixture_open(f);
    fixture_table(f);
    struct wake *wake = NULL;
    assert_ok(wake_open(f->owed, "here-1.01234567/0", &wake, &f->err));
    struct pair pair;
    int64_t began_us = mono_us();
    start(&pair, f->url);
    for (size_t i = 1; i <= ROUNDS; i++) {
        await_rows(f, wake, i);
        if (i < ROUNDS)
            assert_int_equal(write(pair.go[1], "g", 1), 1);
    }
    int64_t round_us = (mono_us() - began_us) / ROUNDS;
    end(&pair);
    print_message("a round took %d us\n", (int)round_us);
    assert_in_range(round_us, 0, USUAL_US);
    assert_true(wake_is_proven(wake));
    wake_close(wake);
}

static void
a_commit_between_the_look_and_the_wait_ends_the_wait(void **state)
{
    struct fixture *f = *state;
    fixture_open(f);
    fixture_table(f);
    struct wake *wake = NULL;
    assert_ok(wake_open(f->owed, "here-1.01234567/0", &wake, &f->err));
    while (wake_wait(wake, 0))
        ;
    assert_int_equal(fixture_rows(f), 0);
    struct pair pair;
    start(&pair, f->url);
    end(&pair); // it has committed: nothing is going to come any more
    assert_true(wake_wait(wake, LOST_US));
    wake_close(wake);
}

static void
the_socket_lies_beside_the_store_and_goes_with_its_relay(void **state)
{
    struct fixture *f = *state;
    fixture_open(f);
    struct wake *wake = NULL;
    assert_ok(wake_open(f->owed, "here-1.01234567/0", &wake, &f->err));
    char path[200];
    snprintf(path, sizeof path, "%s", wake_path(wake));
    assert_int_equal(strncmp(path, f->folder, strlen(f->folder)), 0);
    assert_int_equal(access(path, F_OK), 0);
    wake_close(wake);
    assert_int_equal(access(path, F_OK), -1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(no_commit_of_another_process_is_missed_in_a_thousand_rounds),
        TEST(a_commit_between_the_look_and_the_wait_ends_the_wait),
        TEST(the_socket_lies_beside_the_store_and_goes_with_its_relay),
    };
    return RUN_ON_SQLITE("wake store", tests);
}
