/* SPDX-License-Identifier: MIT
 *
 * test_finish_threads.c - deliveries finished by other threads while the relay runs, on real time.
 * Made to be run under a thread sanitizer, too.
 */
#include "fixture.h"

#include <pthread.h>
#include <string.h>

#include "deliver/relay.h"

#define ORDERS 600
#define THREADS 4

/* What was started and is to be finished, for whoever comes first. */
static struct office {
    pthread_mutex_t lock;
    pthread_cond_t arrived;
    owed_delivery *waiting[ORDERS * 2];
    size_t count;
    bool closed;
    bool with_function;
    atomic_int finished;
    atomic_int refused;
} office = {.lock = PTHREAD_MUTEX_INITIALIZER, .arrived = PTHREAD_COND_INITIALIZER};

static void
start(owed_delivery *delivery, const void *payload)
{
    (void)payload;
    pthread_mutex_lock(&office.lock);
    office.waiting[office.count++] = delivery;
    pthread_cond_signal(&office.arrived);
    pthread_mutex_unlock(&office.lock);
}

static owed_delivery *
next(void)
{
    pthread_mutex_lock(&office.lock);
    while (office.count == 0 && !office.closed)
        pthread_cond_wait(&office.arrived, &office.lock);
    owed_delivery *delivery = office.count == 0 ? NULL : office.waiting[--office.count];
    pthread_mutex_unlock(&office.lock);
    return delivery;
}

static owed_outcome
write_it(owed_delivery *delivery, void *state)
{
    (void)state;
    return owed_delivery_tx(delivery) != NULL ? owed_done() : owed_failed(delivery, "no store");
}

static void
finish(owed_delivery *delivery)
{
    owed_error err;
    int64_t id = owed_delivery_id(delivery);
    owed_status status = OWED_OK;
    owed_delivery_note(delivery, "desk", "4");
    if (office.with_function && id % 2 == 0)
        status = owed_finish_with(delivery, write_it, NULL, &err);
    else if (id % 3 == 0)
        status = owed_finish(delivery, owed_permanent(delivery, "order %d", (int)id), &err);
    else
        status = owed_finish(delivery, owed_done(), &err);
    if (status == OWED_OK)
        atomic_fetch_add(&office.finished, 1);
    // Too late, and harmless.
    if (owed_finish(delivery, owed_failed(delivery, "again"), &err) != OWED_OK)
        atomic_fetch_add(&office.refused, 1);
}

static void *
work(void *state)
{
    (void)state;
    for (owed_delivery *delivery = next(); delivery != NULL; delivery = next()) {
        // Some are let go without a word.
        if (owed_delivery_id(delivery) % 7 != 0)
            finish(delivery);
        owed_delivery_release(delivery);
    }
    return NULL;
}

static void
open_office(struct fixture *f, bool with_function)
{
    office.count = 0;
    office.closed = false;
    office.with_function = with_function;
    atomic_store(&office.finished, 0);
    atomic_store(&office.refused, 0);
    fixture_receiver(f,
        (owed_receiver){
            .key = "shop.async", .event = &order_placed, .start = start, .max_attempts = 1});
    owed_settings settings = fixture_settings(f);
    settings.clock = (owed_clock){0};
    settings.busy_timeout_us = OWED_SECONDS(5);
    settings.log = NULL;
    assert_ok(owed_open(&settings, &f->owed, &f->err));
    fixture_begin(f);
    for (int64_t i = 1; i <= ORDERS; i++)
        fixture_fire(f, &order_placed, i);
    fixture_commit(f);
}

/* A hook, of which the relay's own thread alone may know. */
static pthread_t relays_own;
static int entered, left, strangers;

static owed_outcome
enter(owed_delivery *delivery, void *state, void **ret_attempt_state)
{
    (void)state;
    (void)ret_attempt_state;
    entered++;
    strangers += !pthread_equal(pthread_self(), relays_own);
    owed_delivery_note(delivery, "hook", "here");
    return owed_done();
}

static owed_status
leave(owed_delivery *delivery, owed_outcome outcome, const char *text, void *attempt_state,
    void *state, owed_error *err)
{
    (void)outcome;
    (void)text;
    (void)attempt_state;
    (void)state;
    (void)err;
    left++;
    strangers += !pthread_equal(pthread_self(), relays_own);
    owed_delivery_note(delivery, "hook", "gone");
    return OWED_OK;
}

static owed_relay_counts
run(struct fixture *f)
{
    pthread_t threads[THREADS];
    for (size_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, work, NULL), 0);
    const owed_relay_settings settings = {.once = true};
    owed_relay_counts counts = {0};
    owed_status status = owed_relay_run(f->owed, &settings, &counts, &f->err);
    pthread_mutex_lock(&office.lock);
    office.closed = true;
    pthread_cond_broadcast(&office.arrived);
    pthread_mutex_unlock(&office.lock);
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    if (status != OWED_OK)
        fail_msg("owed_relay_run: %s", f->err.text);
    return counts;
}

static void
each_is_recorded_once_by_its_first_word(void **state)
{
    struct fixture *f = *state;
    open_office(f, false);
    owed_relay_counts counts = run(f);
    int released = ORDERS / 7;
    assert_int_equal(atomic_load(&office.finished), ORDERS - released);
    assert_int_equal(atomic_load(&office.refused), ORDERS - released);
    assert_int_equal(counts.succeeded + counts.dead, ORDERS);
    // Every third was refused for good, every seventh let go, and some are both.
    assert_int_equal(counts.dead, ORDERS / 3 + released - ORDERS / 21);
}

static void
functions_run_on_the_relays_own_thread(void **state)
{
    struct fixture *f = *state;
    open_office(f, true);
    owed_relay_counts counts = run(f);
    // Of the even ones only those that were let go have failed.
    assert_int_equal(counts.succeeded + counts.dead, ORDERS);
    int even = ORDERS / 14;
    int odd = (ORDERS / 3 - ORDERS / 6) + (ORDERS / 7 - ORDERS / 14) - (ORDERS / 21 - ORDERS / 42);
    assert_int_equal(counts.dead, even + odd);
}

/* fixture_held counts what a relay holds under a lease. */
static int64_t
fixture_held(struct fixture *f)
{
    struct arena arena;
    arena_init(&arena, 0);
    struct delivery_row *rows = NULL;
    size_t count = 0;
    int64_t held = 0;
    const struct filter filter = {.limit = ORDERS * 2};
    assert_ok(store_deliveries(f->other, &filter, &arena, &rows, &count, &f->err));
    for (size_t i = 0; i < count; i++)
        held += strcmp(rows[i].status, "claimed") == 0 && rows[i].lease_expires_at_us != 0;
    arena_done(&arena);
    return held;
}

static void
the_hook_is_entered_and_left_on_the_relays_own_thread(void **state)
{
    struct fixture *f = *state;
    const owed_around around = {.enter = enter, .leave = leave};
    entered = left = strangers = 0;
    relays_own = pthread_self();
    assert_ok(owed_registry_set_around(f->registry, &around, &f->err));
    open_office(f, true);
    run(f);
    assert_int_equal(entered, ORDERS);
    assert_int_equal(left, ORDERS);
    assert_int_equal(strangers, 0);
}

static void *
stop_soon(void *state)
{
    struct fixture *f = state;
    owed_delivery *first = next();
    owed_relay_stop(f->owed);
    owed_delivery_release(first);
    work(NULL);
    return NULL;
}

static void
a_relay_that_stops_takes_in_what_is_finished_meanwhile(void **state)
{
    struct fixture *f = *state;
    open_office(f, false);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, stop_soon, f), 0);
    const owed_relay_settings settings = {0};
    owed_relay_counts counts = {0};
    assert_ok(owed_relay_run(f->owed, &settings, &counts, &f->err));
    pthread_mutex_lock(&office.lock);
    office.closed = true;
    pthread_cond_broadcast(&office.arrived);
    pthread_mutex_unlock(&office.lock);
    pthread_join(thread, NULL);
    assert_true(counts.succeeded + counts.dead > 0);
    // What flew has ended, what had not begun is free, and nothing is still held.
    assert_int_equal(fixture_held(f), 0);
}

int
main(void)
{
#define FIXTURE_TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(each_is_recorded_once_by_its_first_word),
        FIXTURE_TEST(functions_run_on_the_relays_own_thread),
        FIXTURE_TEST(the_hook_is_entered_and_left_on_the_relays_own_thread),
        FIXTURE_TEST(a_relay_that_stops_takes_in_what_is_finished_meanwhile),
    };
    return RUN_ON_ALL_STORES("finishing from other threads", tests);
}
