/* SPDX-License-Identifier: MIT
 *
 * test_pause.c - a destination that asked to be left alone is, for as long as it asked: by its lane, or
 * by its target. One clock for everything, which only the tests and the relay's waits move.
 */
#include "desk.h"

#include <owed/testing.h>

#include "base/clock.h"

#define MINUTE OWED_MINUTES(1)

static const owed_receiver mail = {
    .key = "shop.mail", .lane = "mail", .give_up_after_us = OWED_HOURS(10)};
static const owed_receiver stock = {.key = "shop.stock", .event_name = "shop.OrderPlaced"};

static const char *const mail_lane[] = {"mail", NULL};

static void
open_desk(struct desk *desk)
{
    desk->f->has_one_clock = true;
    desk->settings.all_lanes = true;
    fixture_open(desk->f);
}

static void
open_mail(struct desk *desk, struct actor *actor, int64_t count)
{
    desk_receiver(desk, actor, mail);
    open_desk(desk);
    desk_fire_many(desk, count);
}

/* open_both has another receiver, of the default lane, beside the one whose lane is paused. */
static void
open_both(struct desk *desk, struct actor *actor, struct actor *other, int64_t count)
{
    desk_receiver(desk, other, stock);
    open_mail(desk, actor, count);
}

/* The quota is spent until that moment. */
static owed_outcome
defers_until(struct actor *actor, owed_delivery *delivery, const order *order)
{
    if (actor->desk->f->now_us >= *(const int64_t *)actor->state)
        return writes(actor, delivery, order);
    return defers_a_minute(actor, delivery, order);
}

static struct actor
always(act act, int64_t *until_us)
{
    struct actor actor = {.state = until_us};
    for (size_t i = 0; i < DESK_ORDERS; i++)
        actor.acts[i] = act;
    return actor;
}

static void
run_passes(struct desk *desk, int64_t passes)
{
    desk->settings.once = false;
    desk->settings.passes = passes;
    desk_run(desk);
}

/* --- the pause --- */

static void
after_a_deferral_the_rest_of_the_lane_goes_back_untouched(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {.acts = {[1] = defers_a_minute}};
    open_mail(desk, &actor, 20);
    desk_once(desk);
    assert_int_equal(actor.calls, 1);
    assert_count(desk, "failed", 1);
    assert_count(desk, "claimed", 19);
    // Free for every other relay at once, at their place in the queue, and nothing counted.
    assert_int_equal(
        desk_number(desk,
            "select count(*) from owed_delivery where status = 'claimed' and "
            "lease_expires_at = moment(0) and attempts = 0 and losses = 0 and available_at = "
            "due_at"),
        19);
    assert_int_equal(desk->counts.handed_back, 0);
    assert_true(desk_logged(desk, "receiver=shop.mail lane=shop/mail pause=1m"));
}

static void
other_lanes_rows_of_the_batch_are_still_delivered(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {.acts = {[1] = defers_a_minute}};
    struct actor other = {0};
    open_both(desk, &actor, &other, 10);
    desk_once(desk);
    assert_int_equal(actor.calls, 1);
    assert_int_equal(other.calls, 10);
    desk_fire(desk, 11);
    desk_once(desk); // a new relay knows of no pause
    assert_int_equal(other.calls, 11);
    assert_int_equal(actor.calls, 11);
}

static void
later_claims_leave_the_paused_lane_out(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {.acts = {[1] = defers_a_minute}};
    struct actor other = {0};
    desk->settings.batch_size = 2;
    open_both(desk, &actor, &other, 30);
    desk_once(desk);
    assert_int_equal(actor.calls, 1);
    assert_int_equal(other.calls, 30);
}

static void
a_pause_ends_exactly_at_its_moment(void **state)
{
    struct desk *desk = *state;
    int64_t until_us = FIXTURE_NOW_US + MINUTE;
    struct actor actor = always(defers_until, &until_us);
    open_mail(desk, &actor, 2);
    desk->settings.poll_us = OWED_HOURS(1);
    run_passes(desk, 2);
    assert_int_equal(actor.calls, 1);
    // One wait, until the pause is over and not a microsecond longer.
    assert_int_equal(desk->wait_count, 0);
    desk->f->now_us = FIXTURE_NOW_US;
    raw_run(desk->f->raw, "update owed_delivery set available_at = due_at");
    actor.calls = 0;
    run_passes(desk, 3);
    assert_int_equal(desk->wait_count, 1);
    assert_int_equal(desk->waits[0], MINUTE);
    assert_int_equal(actor.calls, 2);
    assert_count(desk, "succeeded", 1);
}

static void
move_to_the_last_microsecond(struct desk *desk)
{
    desk->f->now_us = FIXTURE_NOW_US + MINUTE - 1;
}

static void
one_microsecond_before_its_end_a_pause_is_still_on(void **state)
{
    struct desk *desk = *state;
    int64_t until_us = 0;
    struct actor actor = {.acts = {[1] = defers_a_minute}, .state = &until_us};
    desk->settings.poll_us = OWED_HOURS(100);
    desk->at_wait = move_to_the_last_microsecond;
    open_mail(desk, &actor, 2);
    run_passes(desk, 4); // claims, waits, and twice more at the last moment
    assert_int_equal(actor.calls, 1);
}

/* break_claims has every claim fail, also one that would bring nothing new. */
static void
break_claims(struct desk *desk)
{
    if (desk->wait_count == 1)
        raw_refuse(desk->f->raw, "owed_delivery", "update",
            "new.status = 'claimed' and new.claimed_by <> old.claimed_by", "a claim was sent");
}

static void
a_relay_of_paused_lanes_alone_sends_no_claim(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {.acts = {[1] = defers_a_minute}};
    open_mail(desk, &actor, 3);
    desk->settings.all_lanes = false;
    desk->settings.lanes = mail_lane;
    desk->at_wait = break_claims;
    desk->settings.poll_us = OWED_SECONDS(1);
    run_passes(desk, 50);
    assert_int_equal(actor.calls, 1);
    assert_true(desk->wait_count > 30);
    assert_false(desk_logged(desk, "a claim was sent"));
}

/* --- after the pause --- */

static void
after_the_pause_one_row_at_a_time_is_tried(void **state)
{
    struct desk *desk = *state;
    int64_t until_us = FIXTURE_NOW_US + 3 * MINUTE;
    struct actor actor = always(defers_until, &until_us);
    open_mail(desk, &actor, 20);
    desk->settings.passes = 0;
    desk->settings.poll_us = OWED_SECONDS(1);
    run_passes(desk, 400);
    // At 0, 1 and 2 minutes one call each; at 3 minutes it takes them again, and all go.
    assert_int_equal(actor.calls, 3 + 20);
    assert_count(desk, "succeeded", 20);
    // What had not been tried keeps its order.
    for (int i = 1; i < 17; i++)
        assert_true(actor.orders[i + 3] > actor.orders[i + 2] || actor.orders[i + 3] <= 3);
    assert_int_equal(desk_number(desk, "select max(attempts) from owed_delivery"), 1);
    assert_int_equal(desk_number(desk, "select max(losses) from owed_delivery"), 0);
}

static owed_outcome
defers_first_then_fails(struct actor *actor, owed_delivery *delivery, const order *order)
{
    return actor->calls == 1 ? defers_a_minute(actor, delivery, order)
                             : fails(actor, delivery, order);
}

static void
a_row_that_fails_otherwise_ends_the_trial(void **state)
{
    struct desk *desk = *state;
    struct actor actor = always(defers_first_then_fails, NULL);
    open_mail(desk, &actor, 10);
    desk->settings.poll_us = OWED_HOURS(1);
    desk->settings.backoff_base_us = OWED_HOURS(1);
    run_passes(desk, 3);
    assert_int_equal(actor.calls, 10);
    assert_count(desk, "failed", 10);
}

static owed_outcome
defers_first_then_is_not_due(struct actor *actor, owed_delivery *delivery, const order *order)
{
    if (actor->calls == 1)
        return defers_a_minute(actor, delivery, order);
    if (actor->calls == 2)
        return owed_not_yet(delivery, actor->desk->f->now_us + OWED_HOURS(1), "later");
    if (actor->calls == 3)
        return defers_a_minute(actor, delivery, order);
    return writes(actor, delivery, order);
}

static void
what_is_not_due_yet_pauses_nothing_and_ends_no_trial(void **state)
{
    struct desk *desk = *state;
    struct actor actor = always(defers_first_then_is_not_due, NULL);
    open_mail(desk, &actor, 10);
    desk->settings.poll_us = OWED_HOURS(1);
    run_passes(desk, 3);
    // The second said nothing of the destination, so the third was tried alone too.
    assert_int_equal(actor.calls, 3);
    assert_count(desk, "claimed", 7);
}

static void
a_give_up_pauses_too(void **state)
{
    struct desk *desk = *state;
    int64_t until_us = INT64_MAX;
    struct actor actor = always(defers_until, &until_us);
    open_mail(desk, &actor, 20);
    desk->f->now_us += OWED_HOURS(10);
    desk_once(desk);
    assert_int_equal(actor.calls, 1);
    assert_count(desk, "dead", 1);
    assert_count(desk, "claimed", 19);
}

/* --- what pauses nothing --- */

static owed_outcome
is_robbed_and_defers(struct actor *actor, owed_delivery *delivery, const order *order)
{
    rob(actor->desk, owed_delivery_id(delivery));
    return defers_a_minute(actor, delivery, order);
}

static void
a_deferral_that_was_not_recorded_pauses_nothing(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {.acts = {[1] = is_robbed_and_defers}};
    open_mail(desk, &actor, 10);
    desk_once(desk);
    assert_int_equal(actor.calls, 10);
    assert_count(desk, "succeeded", 9);
    assert_false(desk_logged(desk, "paused"));
}

static owed_outcome
asks_for_a_minute(struct actor *actor, owed_delivery *delivery, const order *order)
{
    (void)actor;
    (void)order;
    return owed_retry_after(delivery, 60, "busy");
}

static void
a_retry_that_counts_pauses_nothing(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {.acts = {[1] = asks_for_a_minute}};
    open_mail(desk, &actor, 10);
    desk_once(desk);
    assert_int_equal(actor.calls, 10);
    assert_count(desk, "succeeded", 9);
}

static void
a_deferral_without_a_bound_pauses_nothing(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {.acts = {[1] = defers_a_minute}};
    desk_receiver(desk, &actor, stock);
    open_desk(desk);
    desk_fire_many(desk, 10);
    desk_once(desk);
    assert_int_equal(actor.calls, 10);
    assert_false(desk_logged(desk, "paused"));
}

static owed_outcome
defers_two_hours(struct actor *actor, owed_delivery *delivery, const order *order)
{
    return actor->calls > 1 ? writes(actor, delivery, order)
                            : owed_defer(delivery, 7200, "quota spent");
}

static void
a_pause_is_cut_to_the_longest_delay(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {.acts = {[1] = defers_two_hours}};
    open_mail(desk, &actor, 2);
    desk->settings.max_retry_delay_us = OWED_HOURS(1);
    desk->settings.poll_us = OWED_HOURS(100);
    desk->settings.prune_us = -1; // it would not sleep so long
    run_passes(desk, 3);
    assert_int_equal(desk->f->now_us, FIXTURE_NOW_US + OWED_HOURS(1));
    assert_count(desk, "succeeded", 2);
}

/* --- by target --- */

/* Odd orders go to "b", even ones to "a". */
static owed_status
names_a_or_b(owed_delivery *delivery, const void *payload, owed_target_list *list, owed_error *err)
{
    (void)delivery;
    const order *order = payload;
    return owed_target_add(list, order->id % 2 == 1 ? "b" : "a", err);
}

static owed_outcome
defers_for_b(struct actor *actor, owed_delivery *delivery, const order *order)
{
    if (strcmp(owed_delivery_target(delivery), "b") != 0)
        return writes(actor, delivery, order);
    return defers_until(actor, delivery, order);
}

/* open_targets fires ten orders for each target, and a deferral pauses its target alone. */
static void
open_targets(struct desk *desk, struct actor *actor)
{
    owed_receiver receiver = mail;
    receiver.targets = names_a_or_b;
    receiver.pause = OWED_PAUSE_TARGET;
    desk_receiver(desk, actor, receiver);
    open_desk(desk);
    desk_fire_many(desk, 20);
}

static void
a_receiver_may_pause_its_target_and_no_other(void **state)
{
    struct desk *desk = *state;
    int64_t until_us = FIXTURE_NOW_US + MINUTE;
    struct actor actor = always(defers_for_b, &until_us);
    open_targets(desk, &actor);
    desk->settings.batch_size = 3; // so that claims have to step over what is paused
    desk_once(desk);
    assert_int_equal(actor.calls, 11);
    assert_count(desk, "succeeded", 10);
    assert_count(desk, "failed", 1);
    assert_true(desk_logged(desk, "receiver=shop.mail target=b pause=1m"));
    desk->settings.poll_us = OWED_HOURS(1);
    desk->settings.batch_size = 0;
    actor.calls = 0;
    run_passes(desk, 12);
    assert_count(desk, "succeeded", 20);
}

/* --- one call --- */

static void
a_call_sets_the_lane_aside_for_its_rest_and_goes_on_with_others(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {.acts = {[1] = defers_a_minute}};
    struct actor other = {0};
    open_both(desk, &actor, &other, 20);
    owed_relay_counts counts = {0};
    assert_ok(owed_drain(desk->f->owed, 0, &counts, &desk->f->err));
    assert_int_equal(actor.calls, 1);
    assert_int_equal(other.calls, 20);
    assert_int_equal(counts.failed, 1);
    assert_int_equal(counts.succeeded, 20);
    // The next call has heard nothing yet.
    assert_ok(owed_drain(desk->f->owed, 0, &counts, &desk->f->err));
    assert_true(actor.calls > 1);
}

static void
a_call_sets_a_target_aside_alike(void **state)
{
    struct desk *desk = *state;
    int64_t until_us = INT64_MAX;
    struct actor actor = always(defers_for_b, &until_us);
    open_targets(desk, &actor);
    assert_ok(owed_drain(desk->f->owed, 0, NULL, &desk->f->err));
    assert_int_equal(actor.calls, 11);
    assert_count(desk, "succeeded", 10);
}

static void
a_single_delivery_pauses_nothing(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {.acts = {[1] = defers_a_minute, [2] = defers_a_minute}};
    open_mail(desk, &actor, 2);
    const char *status = NULL;
    assert_ok(owed_deliver_one(desk->f->owed, 1, &status, &desk->f->err));
    assert_string_equal(status, "failed");
    assert_ok(owed_deliver_one(desk->f->owed, 2, &status, &desk->f->err));
    assert_int_equal(actor.calls, 2);
    assert_false(desk_logged(desk, "paused"));
    assert_int_equal(desk_number(desk, "select max(attempts) from owed_delivery"), 0);
}

/* --- neighbours in one transaction --- */

static void
receivers_that_share_a_transaction_pause_alike(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {.acts = {[5] = defers_a_minute}};
    owed_receiver receiver = mail;
    receiver.database_only = true;
    desk_receiver(desk, &actor, receiver);
    open_desk(desk);
    desk_fire_many(desk, 20);
    desk_once(desk);
    assert_int_equal(actor.calls, 5);
    assert_count(desk, "succeeded", 4);
    assert_count(desk, "failed", 1);
    assert_count(desk, "claimed", 15);
}

static void
a_limit_is_not_spent_on_what_went_back(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {.acts = {[1] = defers_a_minute}};
    struct actor other = {0};
    open_both(desk, &actor, &other, 10);
    desk->settings.limit = 8;
    desk_run(desk);
    assert_int_equal(actor.calls, 1);
    assert_int_equal(other.calls, 7);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, desk_setup, desk_teardown)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(after_a_deferral_the_rest_of_the_lane_goes_back_untouched),
        TEST(other_lanes_rows_of_the_batch_are_still_delivered),
        TEST(later_claims_leave_the_paused_lane_out),
        TEST(a_pause_ends_exactly_at_its_moment),
        TEST(one_microsecond_before_its_end_a_pause_is_still_on),
        TEST(a_relay_of_paused_lanes_alone_sends_no_claim),
        TEST(after_the_pause_one_row_at_a_time_is_tried),
        TEST(a_row_that_fails_otherwise_ends_the_trial),
        TEST(what_is_not_due_yet_pauses_nothing_and_ends_no_trial),
        TEST(a_give_up_pauses_too),
        TEST(a_deferral_that_was_not_recorded_pauses_nothing),
        TEST(a_retry_that_counts_pauses_nothing),
        TEST(a_deferral_without_a_bound_pauses_nothing),
        TEST(a_pause_is_cut_to_the_longest_delay),
        TEST(a_receiver_may_pause_its_target_and_no_other),
        TEST(a_call_sets_the_lane_aside_for_its_rest_and_goes_on_with_others),
        TEST(a_call_sets_a_target_aside_alike),
        TEST(a_single_delivery_pauses_nothing),
        TEST(receivers_that_share_a_transaction_pause_alike),
        TEST(a_limit_is_not_spent_on_what_went_back),
    };
    return RUN_ON_ALL_STORES("deliver pause", tests);
}
