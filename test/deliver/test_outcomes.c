/* SPDX-License-Identifier: MIT
 *
 * test_outcomes.c - deferrals and what is not due yet, as the rows tell it. One clock for everything,
 * which only the tests move.
 */
#include "desk.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"

#define HOUR OWED_HOURS(1)

static const owed_receiver stock = {.key = "shop.stock"};
static const owed_receiver mail = {.key = "shop.mail", .give_up_after_us = OWED_HOURS(1)};

static void
open_with(struct desk *desk, struct actor *actor, owed_receiver receiver)
{
    desk->f->has_one_clock = true;
    desk_receiver(desk, actor, receiver);
    fixture_open(desk->f);
}

static void
one_pass(struct desk *desk)
{
    desk->settings.passes = 1;
    desk_run(desk);
}

static int64_t
row(struct desk *desk, const char *column)
{
    char sql[128];
    snprintf(sql, sizeof sql, "select %s from owed_delivery where id = 1", column);
    return desk_number(desk, sql);
}

static owed_outcome
writes_and_defers(struct actor *actor, owed_delivery *delivery, const order *order)
{
    (void)actor;
    write_row(delivery, order->id);
    return owed_defer(delivery, 60, "quota spent");
}

/* --- deferrals --- */

static void
a_deferral_spends_no_attempt_and_rolls_back_what_was_written(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {.acts = {[7] = writes_and_defers}};
    open_with(desk, &actor, mail);
    desk_fire(desk, 7);
    one_pass(desk);
    assert_count(desk, "failed", 1);
    assert_int_equal(row(desk, "attempts"), 0);
    assert_int_equal(row(desk, "due_at"), FIXTURE_NOW_US);
    assert_int_equal(row(desk, "completed_at"), 0);
    assert_int_equal(row(desk, "losses"), 0);
    assert_in_range(
        row(desk, "available_at") - desk->f->now_us, OWED_SECONDS(60), OWED_SECONDS(120));
    assert_text(desk, "select last_error from owed_delivery", "quota spent");
    assert_text(desk, "select verdict from owed_attempt", "deferred");
    assert_int_equal(desk_number(desk, "select attempt from owed_attempt"), 1);
    assert_int_equal(desk_written(desk, 7), 0);
    assert_int_equal(desk->counts.failed, 1);
    assert_true(
        desk_logged(desk, "receiver=shop.mail delivery=1 attempt=1 kind=deferred now=failed"));
    assert_false(desk_logged(desk, "counts as an attempt"));
}

static owed_outcome
defers_twice_then_tells(struct actor *actor, owed_delivery *delivery, const order *order)
{
    assert_int_equal(owed_delivery_attempt(delivery), 1);
    return actor->calls < 3 ? defers_a_minute(actor, delivery, order)
                            : writes(actor, delivery, order);
}

static void
the_next_run_is_given_the_same_attempt_number(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {.acts = {[7] = defers_twice_then_tells}};
    open_with(desk, &actor, mail);
    desk_fire(desk, 7);
    for (int i = 0; i < 3; i++) {
        one_pass(desk);
        desk->f->now_us += OWED_SECONDS(120);
    }
    assert_int_equal(actor.calls, 3);
    assert_count(desk, "succeeded", 1);
    assert_int_equal(row(desk, "attempts"), 1);
    assert_int_equal(desk_number(desk, "select count(*) from owed_attempt"), 2);
}

static owed_outcome
defers_for_days(struct actor *actor, owed_delivery *delivery, const order *order)
{
    (void)actor;
    (void)order;
    return owed_defer(delivery, 86400.0 * 3, "quota spent");
}

static void
a_deferral_above_the_ceiling_is_cut_and_said(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {.acts = {[7] = defers_for_days}};
    open_with(desk, &actor, mail);
    desk_fire(desk, 7);
    desk->settings.max_retry_delay_us = OWED_MINUTES(30);
    one_pass(desk);
    assert_int_equal(row(desk, "available_at"), FIXTURE_NOW_US + OWED_MINUTES(30));
    assert_true(desk_logged(desk, "receiver=shop.mail delivery=1 asked=3d waits=30m"));
}

static void
at_the_bound_a_deferral_is_the_end_and_one_microsecond_before_it_is_not(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {.acts = {[7] = defers_a_minute}};
    open_with(desk, &actor, mail);
    desk_fire(desk, 7);
    desk->f->now_us = FIXTURE_NOW_US + HOUR - 1;
    one_pass(desk);
    assert_count(desk, "failed", 1);
    raw_run(desk->f->raw, "update owed_delivery set available_at = moment(1)");
    desk->f->now_us = FIXTURE_NOW_US + HOUR;
    desk->counts = (owed_relay_counts){0};
    one_pass(desk);
    assert_int_equal(actor.calls, 2);
    assert_count(desk, "dead", 1);
    assert_int_equal(row(desk, "attempts"), 0);
    assert_int_equal(row(desk, "available_at"), 1);
    assert_int_equal(row(desk, "due_at"), FIXTURE_NOW_US);
    assert_int_equal(row(desk, "completed_at"), desk->f->now_us);
    assert_text(desk, "select last_error from owed_delivery",
        "owed since 2100-01-01T00:00:00.000000Z, given up after 1h: quota spent");
    assert_text(desk, "select verdict from owed_attempt order by id desc", "gave_up");
    assert_int_equal(desk->counts.dead, 1);
    assert_true(desk_logged(desk, "receiver=shop.mail delivery=1 attempt=1 kind=gave_up now=dead"));
}

static void
a_requeue_starts_the_clock_anew(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {.acts = {[7] = defers_a_minute}};
    open_with(desk, &actor, mail);
    desk_fire(desk, 7);
    desk->f->now_us += HOUR;
    one_pass(desk);
    assert_count(desk, "dead", 1);
    int64_t id = 1;
    struct requeue requeue = {.ids = &id, .id_count = 1, .limit = -1, .now_us = desk->f->now_us};
    assert_ok(store_requeue(desk->f->other, &requeue, NULL, &desk->f->err));
    one_pass(desk);
    assert_count(desk, "failed", 1);
    assert_int_equal(row(desk, "due_at"), FIXTURE_NOW_US + HOUR);
}

static void
an_ordinary_failure_knows_no_such_bound(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {.acts = {[7] = fails}};
    open_with(desk, &actor, mail);
    desk_fire(desk, 7);
    desk->f->now_us += 10 * HOUR;
    one_pass(desk);
    assert_count(desk, "failed", 1);
    assert_int_equal(row(desk, "attempts"), 1);
}

static void
a_deferral_without_a_bound_counts_and_warns_once(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {.acts = {[7] = defers_a_minute, [8] = defers_a_minute}};
    open_with(desk, &actor, stock);
    desk_fire(desk, 7);
    desk_fire(desk, 8);
    one_pass(desk);
    assert_int_equal(actor.calls, 2);
    assert_int_equal(row(desk, "attempts"), 1);
    assert_int_equal(row(desk, "available_at"), FIXTURE_NOW_US + OWED_SECONDS(60));
    assert_text(desk, "select verdict from owed_attempt", "retry_after");
    const char *said = strstr(buf_text(&desk->f->log), "declares no give-up-after");
    assert_non_null(said);
    assert_null(strstr(said + 1, "declares no give-up-after"));
    assert_true(desk_logged(desk, "kind=retry_after now=failed"));
}

/* --- not yet --- */

static owed_outcome
is_not_due_yet(struct actor *actor, owed_delivery *delivery, const order *order)
{
    write_row(delivery, order->id);
    return owed_not_yet(delivery, *(const int64_t *)actor->state, "the offer was extended");
}

static void
what_is_not_due_yet_is_pending_until_then_and_nothing_is_counted(void **state)
{
    struct desk *desk = *state;
    int64_t until_us = FIXTURE_NOW_US + 400 * 24 * HOUR;
    struct actor actor = {.acts = {[7] = is_not_due_yet}, .state = &until_us};
    open_with(desk, &actor, mail);
    desk_fire(desk, 7);
    raw_run(desk->f->raw, "update owed_delivery set attempts = 2, last_error = 'before'");
    desk->f->now_us += 2 * HOUR; // past give_up_after
    one_pass(desk);
    assert_int_equal(actor.calls, 1);
    assert_count(desk, "pending", 1);
    assert_int_equal(row(desk, "available_at"), until_us);
    assert_int_equal(row(desk, "due_at"), until_us);
    assert_int_equal(row(desk, "attempts"), 2);
    assert_int_equal(row(desk, "losses"), 0);
    assert_int_equal(row(desk, "completed_at"), 0);
    assert_text(desk, "select last_error from owed_delivery", "before");
    assert_int_equal(desk_number(desk, "select count(*) from owed_attempt"), 0);
    assert_int_equal(desk_written(desk, 7), 0);
    assert_int_equal(desk->counts.failed + desk->counts.dead + desk->counts.succeeded, 0);
    assert_false(desk_logged(desk, "delivery failed"));
    assert_true(desk_logged(desk, "due later"));
    assert_true(desk_logged(desk, "reason=\"the offer was extended\""));
    actor.acts[7] = NULL;
    desk->f->now_us = until_us - 1;
    desk_once(desk);
    assert_int_equal(actor.calls, 1);
    desk->f->now_us = until_us;
    desk_once(desk);
    assert_count(desk, "succeeded", 1);
}

static owed_outcome
tells_its_due_moment(struct actor *actor, owed_delivery *delivery, const order *order)
{
    if (actor->calls > 1)
        assert_int_equal(owed_delivery_due_at_us(delivery), *(const int64_t *)actor->state);
    return actor->calls > 1 ? owed_done() : is_not_due_yet(actor, delivery, order);
}

static void
the_next_run_is_told_the_new_moment(void **state)
{
    struct desk *desk = *state;
    int64_t until_us = FIXTURE_NOW_US + HOUR;
    struct actor actor = {.acts = {[7] = tells_its_due_moment}, .state = &until_us};
    open_with(desk, &actor, stock);
    desk_fire(desk, 7);
    one_pass(desk);
    desk->f->now_us = until_us;
    one_pass(desk);
    assert_int_equal(actor.calls, 2);
    assert_count(desk, "succeeded", 1);
}

static void
a_moment_that_is_not_in_the_future_is_a_failure_that_counts(void **state)
{
    struct desk *desk = *state;
    int64_t until_us = FIXTURE_NOW_US;
    struct actor actor = {.acts = {[7] = is_not_due_yet}, .state = &until_us};
    open_with(desk, &actor, stock);
    desk_fire(desk, 7);
    one_pass(desk);
    assert_count(desk, "failed", 1);
    assert_int_equal(row(desk, "attempts"), 1);
    assert_text(desk, "select last_error from owed_delivery",
        "owed_not_yet was asked to wait until 2100-01-01T00:00:00.000000Z, which is not in the "
        "future: the offer was extended");
    assert_text(desk, "select verdict from owed_attempt", "failed");
}

/* --- on_failure --- */

static void
keep_failure(owed *owed, const owed_failure *failure, void *state)
{
    (void)owed;
    struct actor *actor = state;
    char *said = actor->state;
    size_t len = strlen(said);
    snprintf(
        said + len, 200 - len, "%s %s %d; ", failure->kind, failure->status, (int)failure->attempt);
}

static owed_outcome
answers_by_turn(struct actor *actor, owed_delivery *delivery, const order *order)
{
    if (actor->calls == 1)
        return owed_not_yet(delivery, actor->desk->f->now_us + 1, "later");
    return defers_a_minute(actor, delivery, order);
}

static void
on_failure_is_told_of_deferrals_and_their_end_and_not_of_what_is_not_due(void **state)
{
    struct desk *desk = *state;
    char said[200] = "";
    struct actor actor = {.acts = {[7] = answers_by_turn}, .state = said};
    owed_receiver receiver = mail;
    receiver.on_failure = keep_failure;
    open_with(desk, &actor, receiver);
    desk_fire(desk, 7);
    one_pass(desk);
    assert_string_equal(said, "");
    desk->f->now_us += 1;
    one_pass(desk);
    assert_string_equal(said, "deferred failed 1; ");
    desk->f->now_us += HOUR;
    one_pass(desk);
    assert_string_equal(said, "deferred failed 1; gave_up dead 1; ");
}

/* --- due --- */

static void
a_receivers_due_is_added_to_the_moment_of_the_event(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {0};
    owed_receiver receiver = stock;
    receiver.due_us = OWED_HOURS(48);
    open_with(desk, &actor, receiver);
    desk_fire(desk, 7);
    assert_int_equal(row(desk, "available_at"), FIXTURE_NOW_US + OWED_HOURS(48));
    assert_int_equal(row(desk, "due_at"), FIXTURE_NOW_US + OWED_HOURS(48));
    desk->f->now_us += OWED_HOURS(48) - 1;
    desk_once(desk);
    assert_int_equal(actor.calls, 0);
    desk->f->now_us += 1;
    desk_once(desk);
    assert_int_equal(actor.calls, 1);
}

static void
a_moment_given_at_fire_takes_the_events_place(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {0};
    owed_receiver receiver = stock;
    receiver.due_us = HOUR;
    open_with(desk, &actor, receiver);
    fixture_begin(desk->f);
    order payload = {.id = 7, .currency = "EUR"};
    owed_fire_options options = {.due_at_us = FIXTURE_NOW_US + 5 * HOUR};
    assert_ok(owed_fire(desk->f->tx, &order_placed, &payload, &options, NULL, &desk->f->err));
    fixture_commit(desk->f);
    assert_int_equal(row(desk, "due_at"), FIXTURE_NOW_US + 6 * HOUR);
    assert_int_equal(row(desk, "available_at"), FIXTURE_NOW_US + 6 * HOUR);
}

static void
a_receiver_that_was_not_published_yet_is_due_at_the_same_moment(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {0};
    owed_receiver receiver = stock;
    receiver.due_us = HOUR;
    open_with(desk, &actor, receiver);
    raw_run(desk->f->raw, "delete from owed_receiver");
    desk_fire(desk, 7);
    assert_int_equal(row(desk, "due_at"), FIXTURE_NOW_US + HOUR);
    assert_int_equal(row(desk, "available_at"), FIXTURE_NOW_US + HOUR);
}

static void
the_bound_counts_from_the_moment_it_is_due(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {.acts = {[7] = defers_a_minute}};
    owed_receiver receiver = mail;
    receiver.due_us = 10 * HOUR;
    open_with(desk, &actor, receiver);
    desk_fire(desk, 7);
    desk->f->now_us += 11 * HOUR - 1;
    one_pass(desk);
    assert_count(desk, "failed", 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, desk_setup, desk_teardown)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_deferral_spends_no_attempt_and_rolls_back_what_was_written),
        TEST(the_next_run_is_given_the_same_attempt_number),
        TEST(a_deferral_above_the_ceiling_is_cut_and_said),
        TEST(at_the_bound_a_deferral_is_the_end_and_one_microsecond_before_it_is_not),
        TEST(a_requeue_starts_the_clock_anew),
        TEST(an_ordinary_failure_knows_no_such_bound),
        TEST(a_deferral_without_a_bound_counts_and_warns_once),
        TEST(what_is_not_due_yet_is_pending_until_then_and_nothing_is_counted),
        TEST(the_next_run_is_told_the_new_moment),
        TEST(a_moment_that_is_not_in_the_future_is_a_failure_that_counts),
        TEST(on_failure_is_told_of_deferrals_and_their_end_and_not_of_what_is_not_due),
        TEST(a_receivers_due_is_added_to_the_moment_of_the_event),
        TEST(a_moment_given_at_fire_takes_the_events_place),
        TEST(a_receiver_that_was_not_published_yet_is_due_at_the_same_moment),
        TEST(the_bound_counts_from_the_moment_it_is_due),
    };
    return RUN_ON_ALL_STORES("deliver outcomes", tests);
}
