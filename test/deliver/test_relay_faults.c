/* SPDX-License-Identifier: MIT
 *
 * test_relay_faults.c - the store fails at call 1, 2, 3 ... of a relay's run: at the end every delivery
 * has ended, and what each receiver wrote is there exactly once.
 */
#include "desk.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/clock.h"

#define CALLS_MAX 400
#define ORDERS 3

/* Each receiver writes its own number behind the order's. */
static void
write_mark(struct actor *actor, owed_delivery *delivery, const order *order)
{
    write_row(delivery, order->id * 10 + *(int *)actor->state);
}

static owed_outcome
marks(struct actor *actor, owed_delivery *delivery, const order *order)
{
    write_mark(actor, delivery, order);
    return owed_done();
}

static owed_outcome
marks_at_the_second_attempt(struct actor *actor, owed_delivery *delivery, const order *order)
{
    write_mark(actor, delivery, order);
    return owed_delivery_attempt(delivery) == 1 ? owed_failed(delivery, "not yet") : owed_done();
}

static owed_outcome
quiet(struct actor *actor, owed_delivery *delivery, const order *order)
{
    return asks_for_nothing(actor, delivery, order);
}

static owed_outcome
mark_the_end(owed_delivery *delivery, void *state)
{
    (void)state;
    write_row(delivery, owed_delivery_event_id(delivery) * 10 + 4);
    return owed_done();
}

static void
starts(owed_delivery *delivery, const void *payload)
{
    (void)payload;
    owed_error err;
    assert_ok(owed_finish_with(delivery, mark_the_end, NULL, &err));
    owed_delivery_release(delivery);
}

/* A hook around each attempt, which is left as often as it is entered. */
static int inside_the_hook;

static owed_outcome
enter(owed_delivery *delivery, void *state, void **ret_attempt_state)
{
    (void)delivery;
    (void)state;
    (void)ret_attempt_state;
    inside_the_hook++;
    return owed_done();
}

static owed_status
leave(owed_delivery *delivery, owed_outcome outcome, const char *text, void *attempt_state,
    void *state, owed_error *err)
{
    (void)delivery;
    (void)outcome;
    (void)text;
    (void)attempt_state;
    (void)state;
    (void)err;
    inside_the_hook--;
    return OWED_OK;
}

struct crew {
    struct actor plain, grouped, late, quiet;
    int one, two, three;
};

static void
do_always(struct actor *actor, act act, int *mark)
{
    for (size_t i = 0; i < DESK_ORDERS; i++)
        actor->acts[i] = act;
    actor->state = mark;
}

static void
open_crew(struct desk *desk, struct crew *crew)
{
    *crew = (struct crew){.one = 1, .two = 2, .three = 3};
    do_always(&crew->plain, marks, &crew->one);
    do_always(&crew->grouped, marks, &crew->two);
    do_always(&crew->late, marks_at_the_second_attempt, &crew->three);
    do_always(&crew->quiet, quiet, NULL);
    desk_receiver(desk, &crew->plain, (owed_receiver){.key = "shop.plain"});
    desk_receiver(
        desk, &crew->grouped, (owed_receiver){.key = "shop.grouped", .database_only = true});
    desk_receiver(desk, &crew->late, (owed_receiver){.key = "shop.late", .database_only = true});
    desk_receiver(desk, &crew->quiet, (owed_receiver){.key = "shop.quiet"});
    const owed_receiver async = {.key = "shop.async", .event = &order_placed, .start = starts};
    fixture_receiver(desk->f, async);
    fixture_open(desk->f);
}

/* check_round tells whether the orders of one round were all delivered, each to its full effect. */
static void
check_round(struct desk *desk, int64_t first, int64_t call)
{
    for (int64_t id = first; id < first + ORDERS; id++)
        for (int mark = 1; mark <= 3; mark++)
            if (desk_written(desk, id * 10 + mark) != 1)
                fail_msg("failing at call %" PRId64 ": mark %d was written %" PRId64 " times", call,
                    mark, desk_written(desk, id * 10 + mark));
    // Those that were finished with a function marked the event, not the order.
    int64_t marks = desk_number(desk, "select count(*) from app where id % 10 = 4");
    int64_t events = desk_number(desk, "select count(*) from owed_event");
    if (marks != events)
        fail_msg("failing at call %" PRId64 ": %" PRId64 " events were marked %" PRId64 " times",
            call, events, marks);
    int64_t open =
        desk_number(desk, "select count(*) from owed_delivery where status <> 'succeeded'");
    if (open != 0)
        fail_msg("failing at call %" PRId64 ": %" PRId64 " rows did not succeed", call, open);
}

/* run_with_fault runs the relay on a connection that fails at a call; false: there was no such call. */
static bool
run_with_fault(struct desk *desk, int64_t first, int64_t call, owed_status status, bool after)
{
    owed *handle = desk->f->owed;
    fixture_begin(desk->f);
    for (int64_t id = first; id < first + ORDERS; id++)
        fixture_fire(desk->f, &order_placed, id);
    fixture_commit(desk->f);
    struct fault fault = {.fail_at = call, .status = status, .after = after};
    struct db *broken = driver_fault_wrap(handle->db, &fault);
    handle->db = broken;
    desk->settings.once = true;
    desk->wait_count = 0;
    owed_status ended = relay_work(handle, &desk->settings, &desk->seat, NULL, &desk->f->err);
    bool was_reached = fault.calls >= call;
    // A relay that could not even begin says so; nobody else gives up.
    if (ended != OWED_OK && fault.calls > call)
        fail_msg("failing at call %" PRId64 ": %s", call, desk->f->err.text);
    bool is_broken = handle->db == broken;
    if (is_broken) {
        store_close(broken);
        const struct db_options options = {.busy_timeout_us = US_PER_MS};
        assert_ok(store_open(desk->f->url, &options, &handle->db, &desk->f->err));
    }
    // Whoever came back holds nothing that it does not run.
    if (ended == OWED_OK && !is_broken)
        assert_int_equal(desk_number(desk,
                             "select count(*) from owed_delivery where status = "
                             "'claimed' and lease_expires_at > moment(0)"),
            0);
    // Retries are due; so is what a lost claim holds.
    for (int i = 0; i < 2; i++) {
        desk->f->now_us += OWED_HOURS(2);
        desk_once(desk);
    }
    return was_reached;
}

static void
fail_at_every_call(struct desk *desk, owed_status status, bool after, bool is_hooked)
{
    struct crew crew;
    open_crew(desk, &crew);
    const owed_around around = {.enter = enter, .leave = leave};
    inside_the_hook = 0;
    if (is_hooked)
        assert_ok(owed_set_around(desk->f->owed, &around, &desk->f->err));
    // A server takes its time: each test has its own share of the calls there.
    bool is_quick = test_store_is("sqlite");
    int64_t call = is_quick ? 1 : 1 + after + 2 * is_hooked;
    for (; call < CALLS_MAX; call += is_quick ? 1 : 4) {
        int64_t first = call * ORDERS;
        bool was_reached = run_with_fault(desk, first, call, status, after);
        check_round(desk, first, call);
        assert_int_equal(inside_the_hook, 0);
        if (!was_reached)
            break;
    }
    assert_in_range(call, 30, CALLS_MAX - 1);
    // Nobody took a row: what was written before its answer was lost is not called discarded.
    assert_false(desk_logged(desk, "result discarded"));
    assert_int_equal(desk_number(desk, "select count(*) from owed_delivery where losses > 0"), 0);
    assert_int_equal(
        desk_number(
            desk, "select max(attempts) from owed_delivery where receiver_key <> 'shop.late'"),
        1);
    assert_int_equal(desk_number(desk, "select max(attempts) from owed_delivery"), 2);
}

static void
a_store_that_goes_away_at_any_call_costs_nothing(void **state)
{
    fail_at_every_call(*state, OWED_UNAVAILABLE, false, false);
}

static void
an_answer_that_is_lost_at_any_call_costs_nothing(void **state)
{
    fail_at_every_call(*state, OWED_UNAVAILABLE, true, false);
}

static void
a_busy_store_costs_nothing(void **state)
{
    fail_at_every_call(*state, OWED_BUSY, false, false);
}

static void
with_a_hook_it_is_left_as_often_as_it_was_entered(void **state)
{
    fail_at_every_call(*state, OWED_UNAVAILABLE, false, true);
}

static void
with_a_hook_a_lost_answer_costs_nothing_either(void **state)
{
    fail_at_every_call(*state, OWED_UNAVAILABLE, true, true);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, desk_setup, desk_teardown)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_store_that_goes_away_at_any_call_costs_nothing),
        TEST(an_answer_that_is_lost_at_any_call_costs_nothing),
        TEST(a_busy_store_costs_nothing),
        TEST(with_a_hook_it_is_left_as_often_as_it_was_entered),
        TEST(with_a_hook_a_lost_answer_costs_nothing_either),
    };
    return RUN_ON_ALL_STORES("a relay whose store fails", tests);
}
