/* SPDX-License-Identifier: MIT
 *
 * test_wakers.c - relays of this host hear of a commit, and a producer never waits for them.
 */
#include "fixture.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "raw.h"

struct listener {
    struct fixture *fixture;
    int fd;
    char path[100];
};

/* read_boot reads the id of this run of the kernel, as a relay writes it beside its path. */
static const char *
boot_id(void)
{
    static char id[64];
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");
    assert_non_null(file);
    assert_non_null(fgets(id, sizeof id, file));
    fclose(file);
    id[strcspn(id, "\n")] = '\0';
    return id;
}

static void
announce(struct fixture *f, const char *id, const char *boot, const char *path)
{
    struct relay_row row = {
        .id = id,
        .host = "here",
        .pid = 1,
        .boot_id = boot,
        .lanes = "[\"*\"]",
        .wake_path = path,
        .started_at_us = f->now_us,
        .heartbeat_at_us = f->now_us,
    };
    assert_ok(store_relay_heartbeat(f->other, &row, &f->err));
}

static int
setup(void **state)
{
    struct listener *listener = calloc(1, sizeof *listener);
    assert_non_null(listener);
    listener->fixture = fixture_new();
    struct fixture *f = listener->fixture;
    snprintf(listener->path, sizeof listener->path, "%s/wake", f->folder);
    listener->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    memcpy(address.sun_path, listener->path, strlen(listener->path));
    assert_int_equal(bind(listener->fd, (const struct sockaddr *)&address, sizeof address), 0);
    fixture_receiver(
        f, (owed_receiver){.key = "shop.stock", .event = &order_placed, .discard = true});
    fixture_open(f);
    *state = listener;
    return 0;
}

static int
teardown(void **state)
{
    struct listener *listener = *state;
    close(listener->fd);
    fixture_free(listener->fixture);
    free(listener);
    return 0;
}

/* heard counts, and takes, the datagrams that have come. A sent one is there at once. */
static int
heard(struct listener *listener)
{
    char byte[8];
    int count = 0;
    while (recv(listener->fd, byte, sizeof byte, 0) == 1)
        count++;
    return count;
}

static void
fire_once(struct fixture *f)
{
    fixture_begin(f);
    fixture_fire(f, &order_placed, 1);
    fixture_commit(f);
}

static void
one_byte_comes_after_a_commit_and_none_before(void **state)
{
    struct listener *listener = *state;
    struct fixture *f = listener->fixture;
    announce(f, "box-1.00000000", boot_id(), listener->path);
    fixture_begin(f);
    fixture_fire(f, &order_placed, 1);
    fixture_fire(f, &order_placed, 2);
    assert_int_equal(heard(listener), 0);
    fixture_commit(f);
    assert_int_equal(heard(listener), 1);
}

static void
nothing_comes_after_a_rollback_or_when_nothing_was_fired(void **state)
{
    struct listener *listener = *state;
    struct fixture *f = listener->fixture;
    announce(f, "box-1.00000000", boot_id(), listener->path);
    fixture_begin(f);
    fixture_fire(f, &order_placed, 1);
    owed_rollback(f->tx);
    assert_int_equal(heard(listener), 0);
    fixture_begin(f);
    fixture_commit(f);
    assert_int_equal(heard(listener), 0);
    fire_once(f);
    assert_int_equal(heard(listener), 1);
}

static void
a_new_relay_is_found_within_a_second(void **state)
{
    struct listener *listener = *state;
    struct fixture *f = listener->fixture;
    fire_once(f);
    announce(f, "box-1.00000000", boot_id(), listener->path);
    f->now_us += 999999;
    fire_once(f);
    assert_int_equal(heard(listener), 0);
    f->now_us += 1;
    fire_once(f);
    assert_int_equal(heard(listener), 1);
}

static void
only_relays_of_this_boot_are_told(void **state)
{
    struct listener *listener = *state;
    struct fixture *f = listener->fixture;
    announce(f, "box-2.00000000", "11111111-2222-3333-4444-555555555555", listener->path);
    announce(f, "box-3.00000000", boot_id(), "");
    fire_once(f);
    assert_int_equal(heard(listener), 0);
}

static void
dead_relays_and_bad_paths_do_no_harm(void **state)
{
    struct listener *listener = *state;
    struct fixture *f = listener->fixture;
    char path[300];
    announce(f, "box-0.00000000", boot_id(), "/nowhere/at/all");
    memset(path, 'x', sizeof path - 1);
    path[sizeof path - 1] = '\0';
    announce(f, "box-1.00000000", boot_id(), path);
    snprintf(path, sizeof path, "%s/shop.db", f->folder);
    announce(f, "box-2.00000000", boot_id(), path);
    announce(f, "box-3.00000000", boot_id(), listener->path);
    fire_once(f);
    assert_int_equal(heard(listener), 1);
    assert_int_equal(fixture_events(f), 1);
}

static void
a_stopped_relay_never_blocks_a_producer(void **state)
{
    struct listener *listener = *state;
    struct fixture *f = listener->fixture;
    announce(f, "box-1.00000000", boot_id(), listener->path);
    // Far more than the queue holds: a send that waits would hang here for good.
    for (int i = 0; i < 400; i++)
        fire_once(f);
    assert_int_equal(fixture_events(f), 400);
    int count = heard(listener);
    assert_in_range(count, 1, 399);
    fire_once(f);
    assert_int_equal(heard(listener), 1);
}

struct keeper {
    struct raw *raw; // holds the table of relays
    int fd;
    bool has_heard;
};

/* keep_until_told lets go of the table once a datagram is there, or after a while. */
static void *
keep_until_told(void *argument)
{
    struct keeper *keeper = argument;
    struct pollfd fd = {.fd = keeper->fd, .events = POLLIN};
    keeper->has_heard = poll(&fd, 1, 3000) == 1;
    raw_run(keeper->raw, test_store_is("mariadb") ? "unlock tables" : "rollback");
    return NULL;
}

static void
a_known_relay_is_told_before_it_is_asked_who_else_there_is(void **state)
{
    NOT_ON("sqlite", "nothing there keeps a reader waiting");
    struct listener *listener = *state;
    struct fixture *f = listener->fixture;
    owed_close(f->owed);
    f->busy_timeout_us = INT64_C(10000000);
    fixture_open(f);
    announce(f, "box-1.00000000", boot_id(), listener->path);
    fire_once(f);
    assert_int_equal(heard(listener), 1);
    f->now_us += 1000000;
    struct keeper keeper = {.raw = raw_open(f->url), .fd = listener->fd};
    raw_run(keeper.raw,
        test_store_is("mariadb") ? "lock tables owed_relay write"
                                 : "begin; lock table owed_relay in access exclusive mode");
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, keep_until_told, &keeper), 0);
    fire_once(f);
    pthread_join(thread, NULL);
    raw_close(keeper.raw);
    assert_true(keeper.has_heard);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(one_byte_comes_after_a_commit_and_none_before),
        CASE(nothing_comes_after_a_rollback_or_when_nothing_was_fired),
        CASE(a_new_relay_is_found_within_a_second),
        CASE(a_known_relay_is_told_before_it_is_asked_who_else_there_is),
        CASE(only_relays_of_this_boot_are_told),
        CASE(dead_relays_and_bad_paths_do_no_harm),
        CASE(a_stopped_relay_never_blocks_a_producer),
    };
    return RUN_ON_ALL_STORES("wakers", tests);
}
