/* SPDX-License-Identifier: MIT
 *
 * test_task.c - what a message brings to a task runs once, under its own claim, with all the rules of
 * an attempt; what comes twice, late or wrong runs nothing.
 */
#include "site.h"

#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "store/take.h"

#define LEASE OWED_MINUTES(5)
#define CALLS_MAX 200

/* hand_on opens the site, fires order 1 and hands its delivery on. */
static void
hand_on(struct site *site, owed_receiver receiver)
{
    site_open(site, receiver);
    desk_fire(site->desk, 1);
    site_once(site);
    assert_int_equal(site_handed_on(site), 1);
}

static const char *
take(struct site *site, int64_t delivery_id, const char *claimed_by, int64_t claimed_at_us)
{
    const char *recorded = "untouched";
    assert_ok(owed_take_and_deliver(site->desk->f->owed, delivery_id, claimed_by, claimed_at_us,
        &recorded, &site->desk->f->err));
    return recorded;
}

static bool
is_dropped(const struct site *site)
{
    return desk_logged(site->desk, "level=warning msg=\"task message dropped, nothing was run\"");
}

/* --- once --- */

static void
a_task_takes_the_row_and_runs_its_receiver(void **state)
{
    struct site *site = *state;
    hand_on(site, (owed_receiver){0});
    assert_string_equal(site_take(site, 0), "succeeded");
    assert_int_equal(site->actor.calls, 1);
    assert_int_equal(desk_written(site->desk, 1), 1);
    assert_row(site, "succeeded 1 0");
    assert_int_equal(
        desk_number(site->desk,
            "select count(*) from owed_delivery where claimed_by like 'task.________/0'"),
        1);
    assert_false(is_dropped(site));
}

static void
a_message_that_comes_twice_runs_once(void **state)
{
    struct site *site = *state;
    hand_on(site, (owed_receiver){0});
    assert_string_equal(site_take(site, 0), "succeeded");
    for (int i = 0; i < 3; i++)
        assert_null(site_take(site, 0));
    assert_int_equal(site->actor.calls, 1);
    assert_int_equal(desk_written(site->desk, 1), 1);
    assert_true(is_dropped(site));
    assert_row(site, "succeeded 1 0");
}

static owed_outcome
gets_the_same_message_again(struct actor *actor, owed_delivery *delivery, const order *order)
{
    struct site *site = actor->state;
    struct fixture *f = site->desk->f;
    const owed_test_message *said = owed_test_queue_message(site->queue, 0);
    owed_settings settings = fixture_settings(f);
    owed *second = NULL;
    assert_ok(owed_open(&settings, &second, &f->err));
    const char *recorded = "untouched";
    assert_ok(owed_take_and_deliver(
        second, said->delivery_id, said->claimed_by, said->claimed_at_us, &recorded, &f->err));
    assert_null(recorded);
    owed_close(second);
    return writes(actor, delivery, order);
}

static void
a_message_that_comes_again_while_it_runs_runs_nothing(void **state)
{
    struct site *site = *state;
    site->actor.state = site;
    site->actor.acts[1] = gets_the_same_message_again;
    hand_on(site, (owed_receiver){0});
    assert_string_equal(site_take(site, 0), "succeeded");
    assert_int_equal(site->actor.calls, 1);
    assert_true(is_dropped(site));
}

static void
a_late_message_runs_nothing_once_another_has_the_row(void **state)
{
    struct site *site = *state;
    hand_on(site, (owed_receiver){0});
    site->desk->f->now_us += LEASE + 1;
    site_once(site);
    assert_int_equal(site_handed_on(site), 2);
    assert_null(site_take(site, 0));
    assert_int_equal(site->actor.calls, 0);
    assert_string_equal(site_take(site, 1), "succeeded");
    assert_null(site_take(site, 0));
    assert_int_equal(site->actor.calls, 1);
}

static void
a_late_message_still_runs_while_nobody_else_has_the_row(void **state)
{
    struct site *site = *state;
    hand_on(site, (owed_receiver){0});
    site->desk->f->now_us += 10 * LEASE;
    assert_string_equal(site_take(site, 0), "succeeded");
    site_once(site);
    assert_int_equal(site_handed_on(site), 1);
}

static void
a_lost_message_costs_a_lease_and_nothing_else(void **state)
{
    struct site *site = *state;
    hand_on(site, (owed_receiver){0});
    for (int i = 0; i < 15; i++) {
        site->desk->f->now_us += LEASE + 1;
        site_once(site);
    }
    assert_row(site, "claimed 0 -1"); // one is taken off beforehand
    assert_string_equal(site_take(site, 15), "succeeded");
    assert_row(site, "succeeded 1 0");
}

static void
a_task_that_dies_each_time_ends_the_row(void **state)
{
    struct site *site = *state;
    struct claimed row;
    owed_error err = {0};
    struct arena arena;
    arena_init(&arena, 0);
    hand_on(site, (owed_receiver){0});
    for (int i = 0; i < 12; i++) {
        const owed_test_message *said =
            owed_test_queue_message(site->queue, site_handed_on(site) - 1);
        const struct taking taking = {
            .fence = {said->delivery_id, said->claimed_by, said->claimed_at_us},
            .claimed_by = "task.dies",
            .now_us = site->desk->f->now_us,
            .lease_us = LEASE};
        (void)store_take(site->desk->f->other, &taking, &arena, &row, &err);
        site->desk->f->now_us += LEASE + 1;
        site_once(site);
    }
    arena_done(&arena);
    assert_int_equal(site->enqueued, 10);
    assert_row(site, "dead 0 0");
    assert_true(desk_logged(site->desk, "kind=died"));
}

/* --- messages that are none --- */

static void
a_claim_that_is_wrong_in_any_part_runs_nothing(void **state)
{
    struct site *site = *state;
    hand_on(site, (owed_receiver){0});
    const owed_test_message *said = owed_test_queue_message(site->queue, 0);
    char longest[3000];
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    const struct {
        int64_t delivery_id;
        const char *claimed_by;
        int64_t claimed_at_us;
    } wrong[] = {
        {said->delivery_id, "somebody", said->claimed_at_us},
        {said->delivery_id, said->claimed_by, said->claimed_at_us - 1},
        {said->delivery_id, said->claimed_by, said->claimed_at_us + 1},
        {said->delivery_id, said->claimed_by, 0},
        {said->delivery_id, said->claimed_by, -1},
        {said->delivery_id, said->claimed_by, INT64_MAX},
        {said->delivery_id, said->claimed_by, INT64_MIN},
        {said->delivery_id, NULL, said->claimed_at_us},
        {said->delivery_id, "", said->claimed_at_us},
        {said->delivery_id, NULL, 0},
        {said->delivery_id, "\xff\xfe", said->claimed_at_us},
        {said->delivery_id, "'; drop table owed_delivery; --", said->claimed_at_us},
        {said->delivery_id, longest, said->claimed_at_us},
        {said->delivery_id + 1, said->claimed_by, said->claimed_at_us},
        {999, said->claimed_by, said->claimed_at_us},
        {0, said->claimed_by, said->claimed_at_us},
        {-7, said->claimed_by, said->claimed_at_us},
        {INT64_MAX, said->claimed_by, said->claimed_at_us},
    };
    char before[256];
    char after[256];
    static const char row[] =
        "select status || claimed_by || micros(claimed_at) || micros(lease_expires_at) || "
        "attempts from owed_delivery";
    desk_text(site->desk, row, before);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        buf_clear(&site->desk->f->log);
        assert_null(take(site, wrong[i].delivery_id, wrong[i].claimed_by, wrong[i].claimed_at_us));
        assert_true(is_dropped(site));
        desk_text(site->desk, row, after);
        assert_string_equal(before, after);
    }
    assert_int_equal(site->actor.calls, 0);
    assert_string_equal(site_take(site, 0), "succeeded");
}

static void
rows_that_ended_or_wait_are_not_run_by_an_old_message(void **state)
{
    static const char *const statuses[] = {
        "succeeded", "dead", "orphaned", "cancelled", "failed", "pending"};
    struct site *site = *state;
    hand_on(site, (owed_receiver){0});
    for (size_t i = 0; i < sizeof statuses / sizeof statuses[0]; i++) {
        char sql[100];
        snprintf(sql, sizeof sql, "update owed_delivery set status = '%s'", statuses[i]);
        raw_run(site->desk->f->raw, sql);
        assert_null(site_take(site, 0));
    }
    assert_int_equal(site->actor.calls, 0);
}

static void
a_message_for_another_program_is_dropped_and_its_row_comes_back(void **state)
{
    struct site *site = *state;
    struct fixture *f = site->desk->f;
    hand_on(site, (owed_receiver){0});
    owed_settings settings = fixture_settings(f);
    owed_registry *registry = NULL;
    owed *stranger = NULL;
    assert_ok(owed_registry_new("shop", &registry, &f->err));
    settings.registry = registry;
    assert_ok(owed_open(&settings, &stranger, &f->err));
    const owed_test_message *said = owed_test_queue_message(site->queue, 0);
    const char *recorded = "untouched";
    assert_ok(owed_take_and_deliver(
        stranger, said->delivery_id, said->claimed_by, said->claimed_at_us, &recorded, &f->err));
    assert_null(recorded);
    assert_true(desk_logged(site->desk, "its receiver or its event is not declared here"));
    owed_close(stranger);
    owed_registry_free(registry);
    assert_string_equal(site_take(site, 0), "succeeded");
}

static void
it_is_not_taken_in_a_transaction_nor_from_inside_a_receiver(void **state)
{
    struct site *site = *state;
    owed *handle = NULL;
    hand_on(site, (owed_receiver){0});
    handle = site->desk->f->owed;
    const owed_test_message *said = owed_test_queue_message(site->queue, 0);
    fixture_begin(site->desk->f);
    assert_status(OWED_INVALID,
        owed_take_and_deliver(handle, said->delivery_id, said->claimed_by, said->claimed_at_us,
            NULL, &site->desk->f->err));
    assert_says(site->desk->f->err, "a transaction is open");
    owed_rollback(site->desk->f->tx);
    handle->depth = 1;
    assert_status(OWED_INVALID,
        owed_take_and_deliver(handle, said->delivery_id, said->claimed_by, said->claimed_at_us,
            NULL, &site->desk->f->err));
    assert_says(site->desk->f->err, "at work on this handle");
    handle->depth = 0;
    assert_string_equal(site_take(site, 0), "succeeded");
}

/* --- an attempt like any other --- */

static void
a_failed_attempt_is_counted_waits_on_the_curve_and_is_handed_on_again(void **state)
{
    struct site *site = *state;
    site->actor.acts[1] = writes_and_fails;
    hand_on(site, (owed_receiver){.backoff_base_us = OWED_MINUTES(1)});
    assert_string_equal(site_take(site, 0), "failed");
    assert_row(site, "failed 1 0");
    assert_int_equal(desk_written(site->desk, 1), 0);
    assert_text(site->desk, "select verdict || ' ' || attempt || ' ' || error from owed_attempt",
        "failed 1 order 1: nothing on the shelf");
    assert_true(desk_logged(site->desk,
        "\"delivery failed\" receiver=shop.receipt delivery=1 "
        "attempt=1 kind=failed now=failed"));
    assert_null(site_take(site, 0));
    site->actor.acts[1] = NULL;
    site->desk->f->now_us += OWED_MINUTES(1);
    site_once(site);
    assert_string_equal(site_take(site, 1), "succeeded");
    assert_row(site, "succeeded 2 0");
}

static void
the_last_attempt_and_an_unreadable_payload_end_the_row(void **state)
{
    struct site *site = *state;
    site->actor.acts[1] = fails;
    hand_on(site, (owed_receiver){.max_attempts = 1});
    assert_string_equal(site_take(site, 0), "dead");
    desk_fire(site->desk, 2);
    raw_run(site->desk->f->raw, "update owed_event set payload = '[]' where id = 2");
    site_once(site);
    assert_string_equal(site_take(site, 1), "dead");
    assert_true(desk_logged(site->desk, "kind=undecodable"));
    assert_int_equal(site->actor.calls, 1);
}

static owed_outcome
is_late(struct actor *actor, owed_delivery *delivery, const order *order)
{
    (void)order;
    return owed_not_yet(delivery, actor->desk->f->now_us + OWED_HOURS(1), "later");
}

static void
what_is_not_due_yet_is_pending_until_then(void **state)
{
    struct site *site = *state;
    site->actor.acts[1] = is_late;
    hand_on(site, (owed_receiver){0});
    assert_string_equal(site_take(site, 0), "pending");
    assert_row(site, "pending 0 0");
}

static owed_outcome
defers(struct actor *actor, owed_delivery *delivery, const order *order)
{
    (void)actor;
    (void)order;
    return owed_defer(delivery, 60, "quota");
}

static void
a_deferral_is_recorded_and_pauses_nothing(void **state)
{
    struct site *site = *state;
    for (int i = 1; i <= 3; i++)
        site->actor.acts[i] = defers;
    site_open(site, (owed_receiver){.give_up_after_us = OWED_HOURS(1)});
    desk_fire_many(site->desk, 3);
    site_once(site);
    assert_int_equal(site_run(site).failed, 3);
    assert_int_equal(site->actor.calls, 3);
    assert_row(site, "failed 0 0");
    assert_false(desk_logged(site->desk, "paused"));
    desk_fire(site->desk, 4);
    site_once(site);
    assert_int_equal(site_run(site).succeeded, 1);
}

struct hook {
    int entered, left;
    owed_verdict verdict;
};

static owed_outcome
enter(owed_delivery *delivery, void *state, void **ret_attempt_state)
{
    (void)delivery;
    (void)ret_attempt_state;
    ((struct hook *)state)->entered++;
    return owed_done();
}

static owed_status
leave(owed_delivery *delivery, owed_outcome outcome, const char *text, void *attempt_state,
    void *state, owed_error *err)
{
    (void)delivery;
    (void)text;
    (void)attempt_state;
    (void)err;
    ((struct hook *)state)->left++;
    ((struct hook *)state)->verdict = outcome.verdict;
    return OWED_OK;
}

static void
the_hook_is_around_the_attempt_in_the_task_and_nothing_else(void **state)
{
    struct site *site = *state;
    struct hook hook = {0};
    const owed_around around = {.enter = enter, .leave = leave, .state = &hook};
    site->actor.acts[1] = fails;
    site_open(site, (owed_receiver){0});
    assert_ok(owed_set_around(site->desk->f->owed, &around, &site->desk->f->err));
    desk_fire(site->desk, 1);
    site_once(site);
    assert_int_equal(hook.entered, 0);
    assert_string_equal(site_take(site, 0), "failed");
    assert_int_equal(hook.entered, 1);
    assert_int_equal(hook.left, 1);
    assert_int_equal(hook.verdict, OWED_VERDICT_FAILED);
    assert_null(site_take(site, 0));
    assert_int_equal(hook.entered, 1);
}

static void
note_failure(owed *handle, const owed_failure *failure, void *state)
{
    int *told = ((struct actor *)state)->state;
    assert_false(store_in_transaction(handle->db));
    assert_string_equal(failure->status, "failed");
    assert_int_equal(failure->attempt, 1);
    ++*told;
}

static void
on_failure_is_told_of_what_failed_in_a_task(void **state)
{
    struct site *site = *state;
    int told = 0;
    site->actor.state = &told;
    site->actor.acts[1] = fails;
    hand_on(site, (owed_receiver){.on_failure = note_failure});
    assert_string_equal(site_take(site, 0), "failed");
    assert_int_equal(told, 1);
    assert_null(site_take(site, 0));
    assert_int_equal(told, 1);
}

static void
a_task_that_lost_its_row_records_nothing_and_its_work_is_undone(void **state)
{
    struct site *site = *state;
    site->actor.acts[1] = is_robbed;
    hand_on(site, (owed_receiver){0});
    assert_null(site_take(site, 0));
    assert_int_equal(desk_written(site->desk, 1), 0);
    assert_true(desk_logged(site->desk, "result discarded"));
    assert_text(site->desk, "select claimed_by from owed_delivery", "thief");
}

static owed_outcome
holds_none(struct actor *actor, owed_delivery *delivery, const order *order)
{
    (void)order;
    assert_null(owed_delivery_tx(delivery));
    assert_false(store_in_transaction(actor->desk->f->owed->db));
    return owed_done();
}

static int64_t
lease_end(struct actor *actor)
{
    return desk_number(actor->desk, "select micros(lease_expires_at) from owed_delivery");
}

/* wait_until looks now and then, for real, whether something has come about. */
static bool
wait_until(struct actor *actor, const owed_delivery *delivery,
    bool (*holds)(struct actor *actor, const owed_delivery *delivery))
{
    for (int i = 0; i < 2000; i++) {
        if (holds(actor, delivery))
            return true;
        poll(NULL, 0, 5);
    }
    return false;
}

static bool
is_renewed_twice(struct actor *actor, const owed_delivery *delivery)
{
    (void)delivery;
    int64_t *first = actor->state;
    int64_t end = lease_end(actor);
    if (first[0] == 0)
        first[0] = end;
    if (end > first[0] && first[1] == 0)
        first[1] = end;
    return first[1] != 0 && end > first[1];
}

static owed_outcome
outlasts_its_lease(struct actor *actor, owed_delivery *delivery, const order *order)
{
    assert_true(wait_until(actor, delivery, is_renewed_twice));
    assert_false(owed_delivery_lost(delivery));
    return writes(actor, delivery, order);
}

static void
a_lease_is_renewed_while_a_function_runs_in_a_task(void **state)
{
    struct site *site = *state;
    int64_t ends[2] = {0};
    site->actor.state = ends;
    site->actor.acts[1] = outlasts_its_lease;
    hand_on(site, (owed_receiver){.lease_us = 200000});
    assert_string_equal(site_take(site, 0), "succeeded");
    assert_int_equal(ends[0], site->desk->f->now_us + 200000);
    assert_in_range(ends[1], ends[0] + 50000, ends[0] + OWED_MINUTES(1));
    assert_row(site, "succeeded 1 0");
}

static bool
is_lost(struct actor *actor, const owed_delivery *delivery)
{
    (void)actor;
    return owed_delivery_lost(delivery);
}

static owed_outcome
is_told_that_it_lost_the_row(struct actor *actor, owed_delivery *delivery, const order *order)
{
    assert_false(owed_delivery_lost(delivery));
    rob(actor->desk, owed_delivery_id(delivery));
    assert_true(wait_until(actor, delivery, is_lost));
    return writes(actor, delivery, order);
}

static void
a_function_in_a_task_is_told_that_its_row_was_taken(void **state)
{
    struct site *site = *state;
    site->actor.acts[1] = is_told_that_it_lost_the_row;
    hand_on(site, (owed_receiver){.lease_us = 100000});
    assert_null(site_take(site, 0));
    assert_int_equal(desk_written(site->desk, 1), 0);
    assert_text(site->desk, "select claimed_by from owed_delivery", "thief");
}

static void
an_outside_receiver_holds_no_transaction_in_a_task_either(void **state)
{
    struct site *site = *state;
    site->actor.acts[1] = holds_none;
    hand_on(site, (owed_receiver){.outside = true});
    assert_string_equal(site_take(site, 0), "succeeded");
}

static void
receivers_that_need_no_c_run_in_a_task_too(void **state)
{
    struct site *site = *state;
    const owed_receiver programs[] = {
        {.key = "shop.void", .event = &order_placed, .discard = true, .site = OWED_SITE_TASK},
        {.key = "shop.true", .event = &order_placed, .exec = "/bin/true", .site = OWED_SITE_TASK},
        {.key = "shop.false", .event = &order_placed, .exec = "/bin/false", .site = OWED_SITE_TASK},
    };
    for (size_t i = 0; i < 3; i++)
        fixture_receiver(site->desk->f, programs[i]);
    site_open(site, (owed_receiver){0});
    desk_fire(site->desk, 1);
    site_once(site);
    assert_int_equal(site_handed_on(site), 4);
    assert_count(site->desk, "claimed", 4);
    owed_relay_counts counts = site_run(site);
    assert_int_equal(counts.succeeded, 3);
    assert_int_equal(counts.failed, 1);
}

static void
the_row_is_the_tasks_under_a_full_lease(void **state)
{
    struct site *site = *state;
    hand_on(site, (owed_receiver){.lease_us = OWED_MINUTES(1)});
    site->actor.acts[1] = is_robbed; // what the thief does not touch stays as it was taken
    site->desk->f->now_us += OWED_SECONDS(59);
    site_take(site, 0);
    assert_int_equal(desk_number(site->desk, "select micros(lease_expires_at) from owed_delivery"),
        site->desk->f->now_us + OWED_MINUTES(1));
}

/* --- a store that fails --- */

/* take_with_fault takes the latest message on a connection that fails at a call; false: there was no
 * such call. */
static bool
take_with_fault(struct site *site, int64_t call, owed_status failure, bool after)
{
    struct fixture *f = site->desk->f;
    owed *handle = f->owed;
    const owed_test_message *said = owed_test_queue_message(site->queue, site_handed_on(site) - 1);
    struct fault fault = {.fail_at = call, .status = failure, .after = after};
    struct db *broken = driver_fault_wrap(handle->db, &fault);
    handle->db = broken;
    owed_status status = owed_take_and_deliver(
        handle, said->delivery_id, said->claimed_by, said->claimed_at_us, NULL, &f->err);
    assert_true(status == OWED_OK || fault.calls >= call);
    // A store that comes back at once costs no lease.
    if (status == OWED_OK)
        assert_count(site->desk, "succeeded", call);
    assert_null(handle->make_way);
    if (handle->db == broken) {
        store_close(broken);
        const struct db_options options = {.busy_timeout_us = US_PER_MS};
        assert_ok(store_open(f->url, &options, &handle->db, &f->err));
    }
    return fault.calls >= call;
}

/* fail_at_every_call has the store fail at call 1, 2, 3 ... of taking a row of its own each. */
static void
fail_at_every_call(struct site *site, owed_status failure, bool after)
{
    struct desk *desk = site->desk;
    site_open(site, (owed_receiver){0});
    bool was_reached = true;
    int64_t call = 1;
    for (; call < CALLS_MAX && was_reached; call++) {
        desk_fire(desk, call);
        site_once(site);
        was_reached = take_with_fault(site, call, failure, after);
        // It comes again, as queues have it.
        site_take(site, site_handed_on(site) - 1);
    }
    assert_in_range(call, 8, CALLS_MAX - 1);
    // What is still claimed comes back when its lease is over. Nothing took effect twice, none was lost.
    for (int i = 0; i < 3; i++) {
        desk->f->now_us += LEASE + 1;
        site_once(site);
        site_run(site);
    }
    assert_int_equal(desk_count(desk, "succeeded"), fixture_events(desk->f));
    assert_int_equal(fixture_rows(desk->f), fixture_events(desk->f));
    assert_int_equal(
        desk_number(desk, "select count(distinct id) from app"), fixture_events(desk->f));
    assert_int_equal(desk_number(desk, "select max(attempts) from owed_delivery"), 1);
}

static void
a_store_that_goes_away_at_any_call_of_a_take_costs_nothing(void **state)
{
    fail_at_every_call(*state, OWED_UNAVAILABLE, false);
}

static void
an_answer_that_is_lost_at_any_call_of_a_take_costs_nothing(void **state)
{
    fail_at_every_call(*state, OWED_UNAVAILABLE, true);
}

static void
a_busy_store_costs_a_take_nothing(void **state)
{
    fail_at_every_call(*state, OWED_BUSY, false);
}

int
main(void)
{
#define TEST(name_) cmocka_unit_test_setup_teardown(name_, site_setup, site_teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_task_takes_the_row_and_runs_its_receiver),
        TEST(a_message_that_comes_twice_runs_once),
        TEST(a_message_that_comes_again_while_it_runs_runs_nothing),
        TEST(a_late_message_runs_nothing_once_another_has_the_row),
        TEST(a_late_message_still_runs_while_nobody_else_has_the_row),
        TEST(a_lost_message_costs_a_lease_and_nothing_else),
        TEST(a_task_that_dies_each_time_ends_the_row),
        TEST(a_claim_that_is_wrong_in_any_part_runs_nothing),
        TEST(rows_that_ended_or_wait_are_not_run_by_an_old_message),
        TEST(a_message_for_another_program_is_dropped_and_its_row_comes_back),
        TEST(it_is_not_taken_in_a_transaction_nor_from_inside_a_receiver),
        TEST(a_failed_attempt_is_counted_waits_on_the_curve_and_is_handed_on_again),
        TEST(the_last_attempt_and_an_unreadable_payload_end_the_row),
        TEST(what_is_not_due_yet_is_pending_until_then),
        TEST(a_deferral_is_recorded_and_pauses_nothing),
        TEST(the_hook_is_around_the_attempt_in_the_task_and_nothing_else),
        TEST(on_failure_is_told_of_what_failed_in_a_task),
        TEST(a_task_that_lost_its_row_records_nothing_and_its_work_is_undone),
        TEST(a_lease_is_renewed_while_a_function_runs_in_a_task),
        TEST(a_function_in_a_task_is_told_that_its_row_was_taken),
        TEST(an_outside_receiver_holds_no_transaction_in_a_task_either),
        TEST(receivers_that_need_no_c_run_in_a_task_too),
        TEST(the_row_is_the_tasks_under_a_full_lease),
        TEST(a_store_that_goes_away_at_any_call_of_a_take_costs_nothing),
        TEST(an_answer_that_is_lost_at_any_call_of_a_take_costs_nothing),
        TEST(a_busy_store_costs_a_take_nothing),
    };
    return RUN_ON_ALL_STORES("task", tests);
}
