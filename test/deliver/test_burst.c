/* SPDX-License-Identifier: MIT
 *
 * test_burst.c - twenty thousand rows: against a quota, and in whose order they run. A clock that only
 * the receivers and the relay's waits move; a figure for each test.
 */
#include "desk.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"

/* A server takes its time: there it is a tenth. */
#define ROWS (test_store_is("sqlite") ? 20000 : 2000)
#define QUOTA 500
#define HOUR OWED_HOURS(1)
#define CALL_US (US_PER_SECOND * 200 / ROWS)

/* forget lets the relay wait as often as it likes: the receivers stop it. */
static void
forget(struct desk *desk)
{
    desk->wait_count = 0;
}

/* --- a quota of so many calls an hour --- */

struct provider {
    struct desk *desk;
    int64_t hour;  // the one that is counted
    int taken;     // in it
    int calls;     // all of them
    int refused;   // of these
    int succeeded; // of these
    bool *was_deferred;
    int64_t last_id; // of those that never were
    bool is_out_of_order;
};

static owed_outcome
take_quota(owed_delivery *delivery, const void *payload)
{
    struct provider *provider = owed_delivery_state(delivery);
    const order *order = payload;
    int64_t now_us = provider->desk->f->now_us;
    int64_t hour = (now_us - FIXTURE_NOW_US) / HOUR;
    provider->calls++;
    provider->taken = hour == provider->hour ? provider->taken : 0;
    provider->hour = hour;
    if (provider->taken == QUOTA) {
        provider->refused++;
        provider->was_deferred[order->id] = true;
        int64_t left_us = FIXTURE_NOW_US + (hour + 1) * HOUR - now_us;
        return owed_defer(delivery, (double)left_us / (double)US_PER_SECOND, "quota spent");
    }
    provider->taken++;
    if (!provider->was_deferred[order->id]) {
        provider->is_out_of_order = provider->is_out_of_order || order->id < provider->last_id;
        provider->last_id = order->id;
    }
    if (++provider->succeeded == ROWS)
        owed_relay_stop(provider->desk->f->owed);
    return owed_done();
}

static void
a_quota_that_is_spent_costs_one_call_a_pause_and_no_attempt(void **state)
{
    struct desk *desk = *state;
    struct provider provider = {
        .desk = desk, .was_deferred = calloc((size_t)ROWS + 1, sizeof(bool))};
    desk->f->has_one_clock = true;
    fixture_receiver(desk->f,
        (owed_receiver){.key = "shop.mail",
            .event = &order_placed,
            .run = take_quota,
            .state = &provider,
            .give_up_after_us = OWED_HOURS(24 * 10)});
    fixture_open(desk->f);
    desk_fire_many(desk, ROWS);
    desk->at_wait = forget;
    desk->settings.poll_us = HOUR;
    desk_run(desk);
    assert_int_equal(provider.succeeded, ROWS);
    assert_count(desk, "succeeded", ROWS);
    // Each hour's quota is used whole, and what is refused then is one call.
    assert_in_range(provider.refused, ROWS / QUOTA - 1, ROWS / QUOTA);
    assert_int_equal(provider.calls, ROWS + provider.refused);
    assert_int_equal((desk->f->now_us - FIXTURE_NOW_US) / HOUR, ROWS / QUOTA - 1);
    assert_false(provider.is_out_of_order);
    assert_int_equal(desk_number(desk, "select max(attempts) from owed_delivery"), 1);
    assert_int_equal(desk_number(desk, "select max(losses) from owed_delivery"), 0);
    printf("figure: %d rows, %d an hour: %d pauses, %d calls refused, in %d simulated hours\n",
        ROWS, QUOTA, provider.refused, provider.refused, (int)(provider.hour + 1));
    free(provider.was_deferred);
}

/* --- the order of claims --- */

struct line {
    struct desk *desk;
    int calls;
    int retried_as; // the call that was the retry
    owed *second;   // fires while the relay runs
    int64_t fired;
    int64_t worst_us; // how long a new row waited
    int64_t fired_at_us[1024];
};

static owed_outcome
asks_for_a_minute_once(owed_delivery *delivery, const void *payload)
{
    struct line *line = owed_delivery_state(delivery);
    const order *order = payload;
    line->calls++;
    line->desk->f->now_us += CALL_US;
    if (order->id != 0)
        return owed_done();
    if (owed_delivery_attempt(delivery) == 1)
        return owed_retry_after(delivery, 60, "busy");
    line->retried_as = line->calls;
    return owed_done();
}

static void
a_retry_due_in_a_minute_runs_after_the_rows_that_were_due_before_it(void **state)
{
    struct desk *desk = *state;
    struct line line = {.desk = desk};
    desk->f->has_one_clock = true;
    fixture_receiver(desk->f,
        (owed_receiver){.key = "shop.line",
            .event = &order_placed,
            .run = asks_for_a_minute_once,
            .state = &line});
    fixture_open(desk->f);
    desk_fire(desk, 0);
    desk_fire_many(desk, ROWS);
    desk_once(desk);
    // All of them take more than three times that minute.
    assert_int_equal(line.calls, ROWS + 2);
    assert_int_equal(line.retried_as, ROWS + 2);
    printf("figure: due after 60 s, run as call %d of %d\n", line.retried_as, line.calls);
}

#define FAILING (test_store_is("sqlite") ? 1000 : 200)
#define NEW (test_store_is("sqlite") ? 200 : 40)

static void
fire_new(struct line *line)
{
    owed_tx *tx = NULL;
    owed_error err = {0};
    order payload = {.id = FAILING + 1 + line->fired, .currency = "EUR"};
    line->fired_at_us[line->fired++] = line->desk->f->now_us;
    assert_ok(owed_begin(line->second, &tx, &err));
    assert_ok(owed_fire(tx, &order_placed, &payload, NULL, NULL, &err));
    assert_ok(owed_commit(tx, &err));
}

static owed_outcome
fails_when_old(owed_delivery *delivery, const void *payload)
{
    struct line *line = owed_delivery_state(delivery);
    const order *order = payload;
    line->desk->f->now_us += CALL_US;
    if (++line->calls % 50 == 0 && line->fired < NEW)
        fire_new(line);
    if (order->id <= FAILING)
        return owed_retry_after(delivery, 1, "down");
    int64_t place = order->id - FAILING - 1;
    int64_t waited_us = line->desk->f->now_us - line->fired_at_us[place];
    line->worst_us = waited_us > line->worst_us ? waited_us : line->worst_us;
    if (place == NEW - 1)
        owed_relay_stop(line->desk->f->owed);
    return owed_done();
}

static void
new_rows_are_not_starved_by_rows_that_fail_on_every_attempt(void **state)
{
    struct desk *desk = *state;
    struct line line = {.desk = desk};
    desk->f->has_one_clock = true;
    fixture_receiver(desk->f,
        (owed_receiver){.key = "shop.line",
            .event = &order_placed,
            .run = fails_when_old,
            .state = &line,
            .max_attempts = 1000000});
    fixture_open(desk->f);
    owed_settings settings = fixture_settings(desk->f);
    assert_ok(owed_open(&settings, &line.second, &desk->f->err));
    desk_fire_many(desk, FAILING);
    desk->at_wait = forget;
    desk_run(desk);
    owed_close(line.second);
    assert_count(desk, "succeeded", NEW);
    // The failing ones alone would fill all the time there is. A new row waits for one round of them.
    assert_in_range(line.worst_us, 0, (uint64_t)(FAILING * CALL_US * 2));
    printf("figure: behind %d rows that fail for ever, a new row waits %.1f s at most\n", FAILING,
        (double)line.worst_us / (double)US_PER_SECOND);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, desk_setup, desk_teardown)

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        TEST(a_quota_that_is_spent_costs_one_call_a_pause_and_no_attempt),
        TEST(a_retry_due_in_a_minute_runs_after_the_rows_that_were_due_before_it),
        TEST(new_rows_are_not_starved_by_rows_that_fail_on_every_attempt),
    };
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    return RUN_ON_ALL_STORES("deliver burst", tests);
}
