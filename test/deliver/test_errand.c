/* SPDX-License-Identifier: MIT
 *
 * test_errand.c - receivers that only start: finished later, many in flight, each recorded once.
 */
#include "desk.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <owed/testing.h>

#include "base/clock.h"

/* --- a loop that flies nothing itself: time passes in its poll --- */

static struct desk *the_desk;

static owed_status
still_open(const struct outside_settings *settings, struct outside **ret_outside, owed_error *err)
{
    (void)settings;
    (void)err;
    *ret_outside = (struct outside *)the_desk;
    return OWED_OK;
}

static int32_t
still_room(struct outside *outside, const struct receiver *receiver)
{
    (void)outside;
    (void)receiver;
    return 0;
}

static void
still_start(struct outside *outside, struct flight *flight)
{
    (void)outside;
    (void)flight;
    fail_msg("this is not for the loop");
}

static struct flight *
still_poll(struct outside *outside, const int *fds, size_t fd_count, int timeout_ms)
{
    (void)outside;
    (void)fds;
    (void)fd_count;
    the_desk->f->now_us += timeout_ms * US_PER_MS;
    return NULL;
}

static void
still_close(struct outside *outside)
{
    (void)outside;
}

static const struct outside_ops still = {
    .open = still_open,
    .room = still_room,
    .start = still_start,
    .poll = still_poll,
    .close = still_close,
};

/* --- an agency keeps what it was handed --- */

static struct agency {
    owed_delivery *kept[DESK_ORDERS];
    int64_t orders[DESK_ORDERS];
    size_t count;
    int calls;
    bool had_transaction;
    void (*starting)(owed_delivery *delivery);
    owed_status status; // of what was finished last
    owed_error err;
} agency;

static void
start(owed_delivery *delivery, const void *payload)
{
    const order *order = payload;
    assert_ptr_equal(owed_delivery_state(delivery), &agency);
    agency.had_transaction = agency.had_transaction || owed_delivery_tx(delivery) != NULL ||
        store_in_transaction(the_desk->f->owed->db);
    agency.calls++;
    if (agency.starting != NULL) {
        agency.starting(delivery);
        return;
    }
    assert_true(agency.count < DESK_ORDERS);
    agency.orders[agency.count] = order->id;
    agency.kept[agency.count++] = delivery;
}

static void
finish_one(owed_delivery *delivery, owed_outcome outcome)
{
    agency.status = owed_finish(delivery, outcome, &agency.err);
    owed_delivery_release(delivery);
}

static void
finish_all(struct desk *desk)
{
    (void)desk;
    for (size_t i = 0; i < agency.count; i++)
        finish_one(agency.kept[i], owed_done());
    agency.count = 0;
}

static void
release_all(void)
{
    for (size_t i = 0; i < agency.count; i++)
        owed_delivery_release(agency.kept[i]);
    agency.count = 0;
}

static void
open_agency(struct desk *desk, owed_receiver receiver)
{
    the_desk = desk;
    agency = (struct agency){0};
    desk->seat.outside = &still;
    receiver.key = "shop.async";
    receiver.event = &order_placed;
    receiver.start = start;
    receiver.state = &agency;
    fixture_receiver(desk->f, receiver);
    fixture_open(desk->f);
}

/* --- finishing --- */

static void
finish_now(owed_delivery *delivery)
{
    finish_one(delivery, owed_done());
}

static void
one_may_be_finished_before_start_returns(void **state)
{
    struct desk *desk = *state;
    open_agency(desk, (owed_receiver){0});
    agency.starting = finish_now;
    desk_fire_many(desk, 3);
    desk_once(desk);
    assert_count(desk, "succeeded", 3);
    assert_int_equal(agency.calls, 3);
    assert_int_equal(agency.status, OWED_OK);
    assert_false(agency.had_transaction);
}

static void
many_are_in_flight_at_once_and_finished_later(void **state)
{
    struct desk *desk = *state;
    open_agency(desk, (owed_receiver){0});
    desk_fire_many(desk, 40);
    desk->at_wait = finish_all;
    desk_once(desk);
    assert_int_equal(agency.calls, 40);
    assert_int_equal(agency.orders[39], 40); // all were kept before the first was finished
    assert_count(desk, "succeeded", 40);
    assert_int_equal(desk->counts.succeeded, 40);
}

static void
finish_some(struct desk *desk)
{
    assert_true(agency.count <= 3);
    finish_all(desk);
}

static void
no_more_than_in_flight_are_out_at_once(void **state)
{
    struct desk *desk = *state;
    open_agency(desk, (owed_receiver){0});
    desk_fire_many(desk, 10);
    desk->settings.in_flight = 3;
    desk->at_wait = finish_some;
    desk_once(desk);
    assert_int_equal(agency.calls, 10);
    assert_count(desk, "succeeded", 10);
}

static void
fail_first(struct desk *desk)
{
    (void)desk;
    if (agency.count > 0)
        finish_one(agency.kept[0], owed_failed(agency.kept[0], "no carrier"));
    agency.count = 0;
}

static void
a_failure_is_recorded_and_tried_again(void **state)
{
    struct desk *desk = *state;
    open_agency(desk, (owed_receiver){.backoff_base_us = OWED_HOURS(1)});
    desk_fire(desk, 1);
    desk->at_wait = fail_first;
    desk_once(desk);
    assert_text(
        desk, "select status || attempts || last_error from owed_delivery", "failed1no carrier");
    desk->f->now_us += OWED_HOURS(1);
    desk->at_wait = finish_all;
    desk_once(desk);
    assert_count(desk, "succeeded", 1);
    assert_int_equal(desk_number(desk, "select attempts from owed_delivery"), 2);
}

static void
let_go_first(struct desk *desk)
{
    (void)desk;
    release_all();
}

static void
what_is_released_unfinished_has_failed_and_the_receiver_is_named(void **state)
{
    struct desk *desk = *state;
    open_agency(desk, (owed_receiver){0});
    desk_fire(desk, 1);
    desk->at_wait = let_go_first;
    desk_once(desk);
    assert_text(desk, "select status || attempts || last_error from owed_delivery",
        "failed1receiver shop.async let go of the delivery without finishing it");
    assert_true(desk_logged(desk, "attempt=1 kind=failed now=failed"));
}

static void
finish_twice(owed_delivery *delivery)
{
    assert_ok(owed_finish(delivery, owed_done(), &agency.err));
    assert_status(OWED_INVALID, owed_finish(delivery, owed_failed(delivery, "no"), &agency.err));
    assert_says(agency.err, "finished before");
    assert_false(owed_delivery_lost(delivery));
    owed_delivery_release(delivery);
}

static void
finishing_twice_is_refused_and_the_first_word_stands(void **state)
{
    struct desk *desk = *state;
    open_agency(desk, (owed_receiver){0});
    agency.starting = finish_twice;
    desk_fire(desk, 1);
    desk_once(desk);
    assert_count(desk, "succeeded", 1);
}

static owed_outcome
tries_to_finish(struct actor *actor, owed_delivery *delivery, const order *order)
{
    assert_status(OWED_INVALID, owed_finish(delivery, owed_done(), &actor->desk->f->err));
    assert_says(actor->desk->f->err, "was not handed to a start function");
    owed_delivery_release(delivery);
    return writes(actor, delivery, order);
}

static void
a_delivery_that_runs_cannot_be_finished(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {.acts = {[1] = tries_to_finish}};
    desk_receiver(desk, &actor, (owed_receiver){.key = "shop.stock"});
    fixture_open(desk->f);
    desk_fire(desk, 1);
    desk_once(desk);
    assert_count(desk, "succeeded", 1);
}

static void
finish_with_nothing(owed_delivery *delivery)
{
    finish_one(delivery, (owed_outcome){0});
}

static void
an_outcome_that_is_none_is_a_failure(void **state)
{
    struct desk *desk = *state;
    open_agency(desk, (owed_receiver){0});
    agency.starting = finish_with_nothing;
    desk_fire(desk, 1);
    desk_once(desk);
    char text[256];
    desk_text(desk, "select last_error from owed_delivery", text);
    assert_non_null(strstr(text, "receiver shop.async returned no outcome"));
}

static void
a_payload_that_cannot_be_decoded_is_never_started(void **state)
{
    struct desk *desk = *state;
    open_agency(desk, (owed_receiver){0});
    desk_fire(desk, 1);
    raw_run(desk->f->raw, "update owed_event set payload = '{\"id\":\"seven\"}'");
    desk_once(desk);
    assert_int_equal(agency.calls, 0);
    assert_text(desk, "select verdict from owed_attempt", "undecodable");
}

static void
begin_and_leave(owed_delivery *delivery)
{
    owed_tx *tx = NULL;
    assert_ok(owed_begin(the_desk->f->owed, &tx, &agency.err));
    agency.kept[agency.count++] = delivery;
}

static void
a_start_that_leaves_a_transaction_open_has_failed(void **state)
{
    struct desk *desk = *state;
    open_agency(desk, (owed_receiver){0});
    agency.starting = begin_and_leave;
    desk_fire(desk, 1);
    desk_once(desk);
    char text[256];
    desk_text(desk, "select last_error from owed_delivery", text);
    assert_non_null(strstr(text, "left a transaction open"));
    assert_status(OWED_LOST, owed_finish(agency.kept[0], owed_done(), &agency.err));
    release_all();
}

/* --- leases and time --- */

static int rounds;

static void
let_a_while_pass(struct desk *desk)
{
    desk->f->now_us += OWED_MINUTES(1);
    if (++rounds == 20)
        finish_all(desk);
}

static void
the_lease_is_renewed_as_long_as_it_is_in_flight(void **state)
{
    struct desk *desk = *state;
    open_agency(desk, (owed_receiver){0});
    desk->settings.lease_us = OWED_MINUTES(5);
    desk_fire(desk, 1);
    rounds = 0;
    desk->at_wait = let_a_while_pass;
    desk_once(desk);
    assert_int_equal(agency.status, OWED_OK);
    assert_count(desk, "succeeded", 1);
    assert_int_equal(desk_number(desk, "select attempts from owed_delivery"), 1);
    assert_false(desk_logged(desk, "result discarded"));
}

static void
rob_then_ask(struct desk *desk)
{
    if (agency.count == 0)
        return;
    if (rounds++ == 0) {
        rob(desk, 1);
        assert_false(owed_delivery_lost(agency.kept[0]));
        desk->f->now_us += OWED_MINUTES(4);
        return;
    }
    assert_true(owed_delivery_lost(agency.kept[0]));
    assert_status(OWED_LOST, owed_finish(agency.kept[0], owed_done(), &agency.err));
    assert_says(agency.err, "no longer waited for");
    release_all();
    owed_relay_stop(desk->f->owed);
}

static void
once_the_row_was_taken_finishing_is_refused_and_nothing_recorded(void **state)
{
    struct desk *desk = *state;
    open_agency(desk, (owed_receiver){0});
    desk_fire(desk, 1);
    rounds = 0;
    desk->at_wait = rob_then_ask;
    desk_run(desk);
    assert_int_equal(rounds, 2);
    assert_text(desk, "select claimed_by || attempts from owed_delivery", "thief0");
    assert_true(desk_logged(desk, "result discarded"));
    assert_false(desk_logged(desk, "delivery failed"));
}

static void
one_that_is_not_finished_in_time_has_failed(void **state)
{
    struct desk *desk = *state;
    open_agency(desk, (owed_receiver){.timeout_us = OWED_SECONDS(30)});
    desk_fire(desk, 1);
    desk_once(desk);
    assert_text(desk, "select last_error from owed_delivery",
        "receiver shop.async did not finish: its time was over");
    assert_int_equal(desk_number(desk, "select duration from owed_attempt") / US_PER_SECOND, 30);
    assert_status(OWED_LOST, owed_finish(agency.kept[0], owed_done(), &agency.err));
    release_all();
}

static void
stop(struct desk *desk)
{
    owed_relay_stop(desk->f->owed);
}

static void
a_stop_waits_for_one_lease_and_no_longer(void **state)
{
    struct desk *desk = *state;
    open_agency(desk, (owed_receiver){.lease_us = OWED_MINUTES(2)});
    desk_fire(desk, 1);
    desk->at_wait = stop;
    desk_run(desk);
    assert_text(desk, "select status || last_error from owed_delivery",
        "failedreceiver shop.async did not finish: the relay ended");
    int64_t took_us = desk->f->now_us - FIXTURE_NOW_US;
    assert_in_range(took_us, OWED_MINUTES(2), OWED_MINUTES(2) + OWED_SECONDS(3));
    // The relay is over; what was handed out is still there.
    assert_string_equal(owed_delivery_receiver_key(agency.kept[0]), "shop.async");
    assert_true(owed_delivery_lost(agency.kept[0]));
    assert_status(OWED_LOST, owed_finish(agency.kept[0], owed_done(), &agency.err));
    release_all();
}

/* --- a call that delivers at once --- */

static void
a_drain_takes_in_what_was_finished_at_once(void **state)
{
    struct desk *desk = *state;
    open_agency(desk, (owed_receiver){0});
    agency.starting = finish_now;
    desk_fire_many(desk, 3);
    owed_relay_counts counts = {0};
    assert_ok(owed_drain(desk->f->owed, 0, &counts, &desk->f->err));
    assert_int_equal(counts.succeeded, 3);
    assert_count(desk, "succeeded", 3);
}

/* --- what the supervisor knows --- */

static struct shared *the_shared;

static void
look_at_the_hand(owed_delivery *delivery)
{
    struct in_hand hand;
    unsigned turn;
    assert_true(slot_hand(the_shared, 0, &hand, &turn));
    assert_int_equal(hand.delivery_id, owed_delivery_id(delivery));
    finish_now(delivery);
}

static void
stop_workers(struct desk *desk)
{
    (void)desk;
    atomic_store(&the_shared->stop, 1);
}

static void
a_crash_in_start_would_be_known_for_what_it_is(void **state)
{
    struct desk *desk = *state;
    int fd = -1;
    owed_dice dice = dice_seeded(&desk->f->seed);
    assert_ok(shared_new("packer", &dice, &the_shared, &fd, &desk->f->err));
    the_shared->slot_count = 1;
    desk->seat.shared = the_shared;
    desk->seat.role = ROLE_LOOP;
    open_agency(desk, (owed_receiver){0});
    agency.starting = look_at_the_hand;
    desk_fire(desk, 1);
    desk->at_wait = stop_workers;
    desk_run(desk);
    assert_int_equal(agency.calls, 1);
    assert_int_equal(atomic_load(&the_shared->slots[0].phase), PHASE_IDLE);
    assert_count(desk, "succeeded", 1);
    shared_free(the_shared);
    close(fd);
}

/* --- finishing with a function --- */

static owed_outcome
write_it(owed_delivery *delivery, void *state)
{
    int *calls = state;
    ++*calls;
    assert_non_null(owed_delivery_tx(delivery));
    write_row(delivery, 7);
    return owed_done();
}

static owed_outcome
write_and_fail(owed_delivery *delivery, void *state)
{
    write_it(delivery, state);
    return owed_failed(delivery, "a second thought");
}

static int function_calls;
static owed_finish_function function;

static void
finish_with(owed_delivery *delivery)
{
    assert_ok(owed_finish_with(delivery, function, &function_calls, &agency.err));
    owed_delivery_release(delivery);
}

static void
run_with(struct desk *desk, owed_finish_function with)
{
    open_agency(desk, (owed_receiver){0});
    agency.starting = finish_with;
    function = with;
    function_calls = 0;
    desk_fire(desk, 1);
    desk_once(desk);
}

static void
a_function_finishes_inside_the_transaction_that_acknowledges(void **state)
{
    struct desk *desk = *state;
    run_with(desk, write_it);
    assert_int_equal(function_calls, 1);
    assert_int_equal(desk_written(desk, 7), 1);
    assert_count(desk, "succeeded", 1);
}

static void
where_the_function_fails_what_it_wrote_is_undone(void **state)
{
    struct desk *desk = *state;
    run_with(desk, write_and_fail);
    assert_int_equal(desk_written(desk, 7), 0);
    assert_text(desk, "select status || last_error from owed_delivery", "faileda second thought");
}

static owed_outcome
write_robbed(owed_delivery *delivery, void *state)
{
    rob(the_desk, owed_delivery_id(delivery));
    return write_it(delivery, state);
}

static void
where_the_row_was_taken_what_the_function_wrote_is_undone(void **state)
{
    struct desk *desk = *state;
    run_with(desk, write_robbed);
    assert_int_equal(function_calls, 1);
    assert_int_equal(desk_written(desk, 7), 0);
    assert_true(desk_logged(desk, "result discarded"));
}

static void
finish_with_none(owed_delivery *delivery)
{
    assert_status(OWED_INVALID, owed_finish_with(delivery, NULL, NULL, &agency.err));
    finish_now(delivery);
}

static void
no_function_is_refused(void **state)
{
    struct desk *desk = *state;
    open_agency(desk, (owed_receiver){0});
    agency.starting = finish_with_none;
    desk_fire(desk, 1);
    desk_once(desk);
    assert_count(desk, "succeeded", 1);
}

/* --- the hook --- */

static char story[200];

static owed_outcome
enter(owed_delivery *delivery, void *state, void **ret_attempt_state)
{
    (void)delivery;
    (void)state;
    (void)ret_attempt_state;
    snprintf(story, sizeof story, "enter ");
    return owed_done();
}

static owed_status
leave(owed_delivery *delivery, owed_outcome outcome, const char *text, void *attempt_state,
    void *state, owed_error *err)
{
    (void)delivery;
    (void)attempt_state;
    (void)state;
    (void)err;
    size_t len = strlen(story);
    snprintf(story + len, sizeof story - len, "leave:%d:%s ", (int)outcome.verdict, text);
    return OWED_OK;
}

static void
hook_it(struct desk *desk)
{
    story[0] = '\0';
    const owed_around around = {.enter = enter, .leave = leave};
    assert_ok(owed_set_around(desk->f->owed, &around, &desk->f->err));
}

static void
the_hook_sees_the_outcome_of_what_was_finished_later(void **state)
{
    struct desk *desk = *state;
    open_agency(desk, (owed_receiver){0});
    hook_it(desk);
    desk_fire(desk, 1);
    desk->at_wait = fail_first;
    desk_once(desk);
    assert_string_equal(story, "enter leave:2:no carrier ");
}

static void
it_sees_the_outcome_of_the_function_that_finished_it(void **state)
{
    struct desk *desk = *state;
    open_agency(desk, (owed_receiver){0});
    hook_it(desk);
    agency.starting = finish_with;
    function = write_and_fail;
    desk_fire(desk, 1);
    desk_once(desk);
    assert_string_equal(story, "enter leave:2:a second thought ");
}

/* --- declaring it --- */

static void
assert_refused(struct desk *desk, owed_receiver receiver, const char *words)
{
    receiver.key = "shop.async";
    receiver.event = &order_placed;
    receiver.start = start;
    assert_status(OWED_CONFIG, owed_declare_receiver(desk->f->registry, &receiver, &desk->f->err));
    assert_says(desk->f->err, words);
}

static void
start_is_for_durable_receivers_and_stands_alone(void **state)
{
    struct desk *desk = *state;
    assert_refused(desk, (owed_receiver){.mode = OWED_ON_COMMIT}, "start is for durable");
    assert_refused(desk, (owed_receiver){.mode = OWED_INLINE}, "start is for durable");
    assert_refused(desk, (owed_receiver){.run = actor_run}, "exactly one of run or start");
    assert_refused(desk, (owed_receiver){.database_only = true}, "database_only is for run alone");
}

int
main(void)
{
#define DESK_TEST(name) cmocka_unit_test_setup_teardown(name, desk_setup, desk_teardown)
    const struct CMUnitTest tests[] = {
        DESK_TEST(one_may_be_finished_before_start_returns),
        DESK_TEST(many_are_in_flight_at_once_and_finished_later),
        DESK_TEST(no_more_than_in_flight_are_out_at_once),
        DESK_TEST(a_failure_is_recorded_and_tried_again),
        DESK_TEST(what_is_released_unfinished_has_failed_and_the_receiver_is_named),
        DESK_TEST(finishing_twice_is_refused_and_the_first_word_stands),
        DESK_TEST(a_delivery_that_runs_cannot_be_finished),
        DESK_TEST(an_outcome_that_is_none_is_a_failure),
        DESK_TEST(a_payload_that_cannot_be_decoded_is_never_started),
        DESK_TEST(a_start_that_leaves_a_transaction_open_has_failed),
        DESK_TEST(the_lease_is_renewed_as_long_as_it_is_in_flight),
        DESK_TEST(once_the_row_was_taken_finishing_is_refused_and_nothing_recorded),
        DESK_TEST(one_that_is_not_finished_in_time_has_failed),
        DESK_TEST(a_stop_waits_for_one_lease_and_no_longer),
        DESK_TEST(a_drain_takes_in_what_was_finished_at_once),
        DESK_TEST(a_crash_in_start_would_be_known_for_what_it_is),
        DESK_TEST(a_function_finishes_inside_the_transaction_that_acknowledges),
        DESK_TEST(where_the_function_fails_what_it_wrote_is_undone),
        DESK_TEST(where_the_row_was_taken_what_the_function_wrote_is_undone),
        DESK_TEST(no_function_is_refused),
        DESK_TEST(the_hook_sees_the_outcome_of_what_was_finished_later),
        DESK_TEST(it_sees_the_outcome_of_the_function_that_finished_it),
        DESK_TEST(start_is_for_durable_receivers_and_stands_alone),
    };
    return RUN_ON_ALL_STORES("receivers that only start", tests);
}
