/* SPDX-License-Identifier: MIT
 *
 * test_relay_live.c - a relay on the real clock, in a thread with a handle of its own: what wakes it,
 * and how soon it stops. Its poll is a minute, so whatever happens sooner was no poll.
 */
#include "desk.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"

#define SOON_US (10 * US_PER_SECOND) // on a machine with much else to do

struct live {
    struct desk *desk;
    owed *handle;
    owed_registry *registry;
    pthread_t thread;
    bool runs;
    int started; // eventfd: an attempt began
    owed_status status;
    owed_error err;
};

/* await takes one signal, and fails the test when none comes soon. */
static void
await(int fd)
{
    struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
    assert_int_equal(poll(&poll_fd, 1, (int)(SOON_US / US_PER_MS)), 1);
    uint64_t count = 0;
    assert_int_equal(read(fd, &count, sizeof count), sizeof count);
}

static owed_outcome
signals(owed_delivery *delivery, const void *payload)
{
    (void)payload;
    struct live *live = owed_delivery_state(delivery);
    uint64_t one = 1;
    if (write(live->started, &one, sizeof one) != sizeof one)
        return owed_failed(delivery, "no signal");
    return owed_done();
}

static void *
run(void *arg)
{
    struct live *live = arg;
    const owed_relay_settings settings = {.poll_us = OWED_MINUTES(1)};
    live->status = owed_relay_run(live->handle, &settings, NULL, &live->err);
    return NULL;
}

static int
setup(void **state)
{
    struct live *live = calloc(1, sizeof *live);
    assert_non_null(live);
    void *desk = NULL;
    if (desk_setup(&desk) != 0)
        return -1;
    live->desk = desk;
    live->started = eventfd(0, EFD_CLOEXEC | EFD_SEMAPHORE);
    fixture_receiver(live->desk->f,
        (owed_receiver){
            .key = "shop.signal", .event = &order_placed, .run = signals, .state = live});
    live->desk->f->busy_timeout_us = SOON_US; // the relay writes, too
    fixture_open(live->desk->f);              // for firing; publishes
    const owed_settings settings = {
        .url = live->desk->f->url, .registry = live->desk->f->registry, .no_publish = true};
    assert_ok(owed_open(&settings, &live->handle, &live->err));
    // The fixture's clock stands still, somewhat ahead of the real one.
    live->desk->f->now_us = clock_now_us(&clock_system);
    *state = live;
    return 0;
}

static void
start(struct live *live)
{
    assert_int_equal(pthread_create(&live->thread, NULL, run, live), 0);
    live->runs = true;
}

/* end_of waits for the relay's end. */
static void
end_of(struct live *live)
{
    assert_int_equal(pthread_join(live->thread, NULL), 0);
    live->runs = false;
    assert_int_equal(live->status, OWED_OK);
}

static void
stop(struct live *live)
{
    owed_relay_stop(live->handle);
    end_of(live);
}

static int
teardown(void **state)
{
    struct live *live = *state;
    if (live->runs) // the test has failed in the midst of it
        stop(live);
    owed_close(live->handle);
    close(live->started);
    void *desk = live->desk;
    free(live);
    return desk_teardown(&desk);
}

/* settle_in has the relay deliver one, so that it is idle after it. */
static void
settle_in(struct live *live)
{
    desk_fire(live->desk, 1);
    await(live->started);
}

static void
a_commit_of_this_host_wakes_it(void **state)
{
    struct live *live = *state;
    start(live);
    settle_in(live);
    for (int64_t i = 2; i < 12; i++) {
        desk_fire(live->desk, i);
        await(live->started);
    }
    stop(live);
    assert_count(live->desk, "succeeded", 11);
}

static void
plain_sql_on_another_connection_wakes_it(void **state)
{
    NOT_ON("mariadb", "plain SQL is found there at the next poll");
    struct live *live = *state;
    start(live);
    settle_in(live);
    for (int i = 0; i < 10; i++) {
        raw_fire(live->desk->f->raw, "shop.OrderPlaced", "{\"id\": 1, \"cents\": 2}");
        await(live->started);
    }
    stop(live);
    assert_count(live->desk, "succeeded", 11);
}

static void
who_began_before_it_slept_is_not_missed(void **state)
{
    ONLY_ON("postgres", "elsewhere a relay lets nobody know that it sleeps");
    struct live *live = *state;
    struct raw *raw = live->desk->f->raw;
    raw_run(raw, "begin");
    raw_fire(raw, "shop.OrderPlaced", "{\"id\": 1, \"cents\": 2}");
    start(live);
    // It says that it sleeps, and is told of nobody who fired before.
    int64_t end_us = clock_monotonic_us(&clock_system) + SOON_US;
    while (raw_number(
               raw, "select count(*) from pg_locks where locktype = 'advisory' and objid = 2") == 0)
        assert_true(clock_monotonic_us(&clock_system) < end_us);
    raw_run(raw, "commit");
    await(live->started);
    stop(live);
}

static void
a_retry_that_falls_due_wakes_it(void **state)
{
    struct live *live = *state;
    start(live);
    settle_in(live);
    fixture_begin(live->desk->f);
    const order payload = {.id = 5, .currency = "EUR"};
    const owed_fire_options options = {.due_at_us = clock_now_us(&clock_system) + 300 * US_PER_MS};
    int64_t id = 0;
    assert_ok(owed_fire(live->desk->f->tx, &order_placed, &payload, &options, &id, &live->err));
    fixture_commit(live->desk->f);
    await(live->started);
    assert_true(clock_now_us(&clock_system) >= options.due_at_us);
    stop(live);
}

static void
an_idle_relay_stops_at_once(void **state)
{
    struct live *live = *state;
    start(live);
    settle_in(live);
    int64_t before_us = clock_monotonic_us(&clock_system);
    stop(live);
    assert_true(clock_monotonic_us(&clock_system) - before_us < SOON_US);
}

static void
a_stop_that_came_before_it_began_is_not_lost(void **state)
{
    struct live *live = *state;
    owed_relay_stop(live->handle);
    start(live);
    end_of(live);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_commit_of_this_host_wakes_it),
        TEST(plain_sql_on_another_connection_wakes_it),
        TEST(who_began_before_it_slept_is_not_missed),
        TEST(a_retry_that_falls_due_wakes_it),
        TEST(an_idle_relay_stops_at_once),
        TEST(a_stop_that_came_before_it_began_is_not_lost),
    };
    return RUN_ON_ALL_STORES("a live relay", tests);
}
