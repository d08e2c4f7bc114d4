/* SPDX-License-Identifier: MIT
 *
 * test_alone.c - whether another process has the store open.
 */
#include "fixture.h"

#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"

/* A process that opens the store once it is asked in, and ends once it is let go. */
struct guest {
    pid_t pid;
    int door; // a byte asks it in, closing it lets it go
    int voice;
};

static void
be_guest(const char *url, int door, int voice)
{
    struct db_options options = {.busy_timeout_us = US_PER_SECOND};
    struct db *db = NULL;
    char byte = 0;
    if (read(door, &byte, 1) != 1)
        _exit(0);
    if (store_open(url, &options, &db, NULL) != OWED_OK || store_check(db, NULL) != OWED_OK)
        _exit(1);
    if (write(voice, "x", 1) != 1)
        _exit(2);
    // Until the door is closed.
    _exit(read(door, &byte, 1) == 0 ? 0 : 3);
}

/* invite makes the process while this one has nothing open: SQLite does not outlive a fork. */
static struct guest
invite(struct fixture *f)
{
    int door[2];
    int voice[2];
    store_close(f->other);
    f->other = NULL;
    raw_close(f->raw);
    f->raw = NULL;
    assert_int_equal(pipe(door), 0);
    assert_int_equal(pipe(voice), 0);
    struct guest guest = {.pid = fork(), .door = door[1], .voice = voice[0]};
    assert_true(guest.pid >= 0);
    if (guest.pid == 0) {
        close(door[1]);
        close(voice[0]);
        be_guest(f->url, door[0], voice[1]);
    }
    close(door[0]);
    close(voice[1]);
    fixture_open(f);
    return guest;
}

static void
ask_in(const struct guest *guest)
{
    char byte = 0;
    assert_int_equal(write(guest->door, "x", 1), 1);
    assert_int_equal(read(guest->voice, &byte, 1), 1);
}

static void
let_go(const struct guest *guest)
{
    int status = 0;
    close(guest->door);
    close(guest->voice);
    assert_int_equal(waitpid(guest->pid, &status, 0), guest->pid);
    assert_int_equal(status, 0);
}

static bool
is_me(void *state, int pid)
{
    (void)state;
    return pid == getpid();
}

static bool
is_one_of_two(void *state, int pid)
{
    return pid == getpid() || pid == *(const int *)state;
}

static bool
alone(struct fixture *f, bool (*is_ours)(void *state, int pid), void *state)
{
    return f->owed->db->driver->alone(f->owed->db, is_ours, state);
}

static void
a_process_that_has_the_store_open_is_noticed_until_it_ends(void **state)
{
    struct fixture *f = *state;
    struct guest guest = invite(f);
    assert_true(alone(f, is_me, NULL));
    ask_in(&guest);
    assert_false(alone(f, is_me, NULL));
    let_go(&guest);
    assert_true(alone(f, is_me, NULL));
}

static void
a_process_of_our_own_does_not_count(void **state)
{
    struct fixture *f = *state;
    struct guest guest = invite(f);
    int pid = (int)guest.pid;
    ask_in(&guest);
    assert_true(alone(f, is_one_of_two, &pid));
    let_go(&guest);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_process_that_has_the_store_open_is_noticed_until_it_ends),
        CASE(a_process_of_our_own_does_not_count),
    };
    return RUN_ON_SQLITE("alone", tests);
}
