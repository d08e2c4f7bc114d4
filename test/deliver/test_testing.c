/* SPDX-License-Identifier: MIT
 *
 * test_testing.c - what is owed now, delivered in one call: which rows, how often, and when it ends.
 */
#include <owed/testing.h>

#include <inttypes.h>

#include "base/clock.h"
#include "desk.h"

#define HOUR OWED_HOURS(1)

static const owed_receiver stock = {.key = "shop.stock"};

static void
open_with(struct desk *desk, struct actor *actor, owed_receiver receiver)
{
    desk->f->has_one_clock = true;
    desk_receiver(desk, actor, receiver);
    fixture_open(desk->f);
}

/* open_orders opens with orders 1 to count fired. */
static void
open_orders(struct desk *desk, struct actor *actor, owed_receiver receiver, int64_t count)
{
    open_with(desk, actor, receiver);
    desk_fire_many(desk, count);
}

static void
drain_at(struct desk *desk, int64_t now_us)
{
    if (owed_drain(desk->f->owed, now_us, &desk->counts, &desk->f->err) != OWED_OK)
        fail_msg("owed_drain: %s", desk->f->err.text);
}

static void
drain(struct desk *desk)
{
    drain_at(desk, 0);
}

static void
deliver(struct desk *desk, owed_pending_settings settings)
{
    owed_status status =
        owed_deliver_pending(desk->f->owed, &settings, &desk->counts, &desk->f->err);
    if (status != OWED_OK)
        fail_msg("owed_deliver_pending: %s", desk->f->err.text);
}

static const char *
deliver_one(struct desk *desk, int64_t id)
{
    const char *recorded = "untouched";
    if (owed_deliver_one(desk->f->owed, id, &recorded, &desk->f->err) != OWED_OK)
        fail_msg("owed_deliver_one: %s", desk->f->err.text);
    return recorded;
}

/* --- drain --- */

static void
a_drain_delivers_what_was_fired(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {0};
    open_orders(desk, &actor, stock, 60);
    drain(desk);
    assert_count(desk, "succeeded", 60);
    assert_int_equal(desk->counts.succeeded, 60);
    assert_int_equal(desk_written(desk, 7), 1);
    assert_int_equal(desk_number(desk, "select count(*) from owed_relay"), 0);
}

static void
a_drain_serves_every_lane(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {0};
    struct actor other = {0};
    desk_receiver(desk, &other, (owed_receiver){.key = "shop.mail", .lane = "mail"});
    open_orders(desk, &actor, stock, 1);
    drain(desk);
    assert_int_equal(actor.calls, 1);
    assert_int_equal(other.calls, 1);
}

static void
a_receiver_that_always_fails_is_driven_to_its_dead_letter(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {.acts = {[7] = writes_and_fails}};
    open_with(desk, &actor, stock);
    desk_fire(desk, 7);
    drain(desk);
    assert_count(desk, "dead", 1);
    assert_int_equal(actor.calls, 5);
    assert_int_equal(desk->counts.failed, 4);
    assert_int_equal(desk->counts.dead, 1);
    assert_int_equal(desk_written(desk, 7), 0);
}

static void
a_drain_never_runs_what_is_not_due(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {0};
    owed_receiver later = stock;
    later.due_us = 48 * HOUR;
    open_orders(desk, &actor, later, 1);
    drain(desk);
    assert_int_equal(actor.calls, 0);
    drain_at(desk, FIXTURE_NOW_US + 48 * HOUR - 1);
    assert_int_equal(actor.calls, 0);
    drain_at(desk, FIXTURE_NOW_US + 48 * HOUR);
    assert_int_equal(actor.calls, 1);
    assert_count(desk, "succeeded", 1);
}

static void
a_failed_row_that_became_due_later_is_left_too(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {0};
    open_orders(desk, &actor, stock, 1);
    raw_runf(desk->f->raw,
        "update owed_delivery set status = 'failed', due_at = moment(%" PRId64 ")",
        FIXTURE_NOW_US + 1);
    drain(desk);
    assert_int_equal(actor.calls, 0);
    drain_at(desk, FIXTURE_NOW_US + 1);
    assert_int_equal(actor.calls, 1);
}

static owed_outcome
sees_the_clock(struct actor *actor, owed_delivery *delivery, const order *order)
{
    (void)delivery;
    (void)order;
    *(int64_t *)actor->state = actor->desk->f->now_us;
    return owed_done();
}

static void
now_moves_the_claims_alone(void **state)
{
    struct desk *desk = *state;
    int64_t seen = 0;
    struct actor actor = {.acts = {[1] = sees_the_clock}, .state = &seen};
    owed_receiver later = stock;
    later.due_us = HOUR;
    open_orders(desk, &actor, later, 1);
    drain_at(desk, FIXTURE_NOW_US + 2 * HOUR);
    assert_int_equal(seen, FIXTURE_NOW_US);
    assert_int_equal(desk_number(desk, "select succeeded_at from owed_delivery"), FIXTURE_NOW_US);
}

static void
now_ends_nobody_elses_lease(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {0};
    open_orders(desk, &actor, stock, 1);
    raw_runf(desk->f->raw,
        "update owed_delivery set status = 'claimed', claimed_by = 'them', "
        "lease_expires_at = moment(%" PRId64 ")",
        FIXTURE_NOW_US);
    drain_at(desk, FIXTURE_NOW_US + HOUR);
    assert_int_equal(actor.calls, 0);
    desk->f->now_us++;
    drain(desk);
    assert_int_equal(actor.calls, 1);
}

static owed_outcome
says_not_yet(struct actor *actor, owed_delivery *delivery, const order *order)
{
    (void)order;
    return owed_not_yet(delivery, actor->desk->f->now_us + HOUR, "the offer was extended");
}

static void
what_is_not_yet_due_is_left_for_the_rest_of_the_call(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {.acts = {[1] = says_not_yet}};
    open_orders(desk, &actor, stock, 1);
    drain_at(desk, FIXTURE_NOW_US + 2 * HOUR);
    assert_int_equal(actor.calls, 1);
    assert_count(desk, "pending", 1);
}

static owed_outcome
defers(struct actor *actor, owed_delivery *delivery, const order *order)
{
    (void)actor;
    (void)order;
    return owed_defer(delivery, 1, "quota spent");
}

static void
a_drain_ends_though_a_receiver_defers_each_time(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {.acts = {[1] = defers}};
    owed_receiver receiver = stock;
    receiver.give_up_after_us = HOUR;
    open_orders(desk, &actor, receiver, 1);
    drain(desk);
    assert_int_equal(actor.calls, 1);
    assert_count(desk, "failed", 1);
}

static void
a_deferral_sets_its_lane_aside_for_the_rest_of_the_call(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {.acts = {[3] = defers}};
    struct actor other = {0};
    owed_receiver receiver = stock;
    receiver.give_up_after_us = HOUR;
    receiver.lane = "mail";
    desk_receiver(desk, &other, (owed_receiver){.key = "shop.other"});
    open_orders(desk, &actor, receiver, 60);
    drain(desk);
    assert_int_equal(actor.calls, 3);
    assert_int_equal(other.calls, 60);
    assert_count(desk, "succeeded", 62);
    assert_count(desk, "failed", 1);
    // They are free for others, where they stood.
    assert_int_equal(desk_number(desk,
                         "select count(*) from owed_delivery where status = 'claimed' and "
                         "lease_expires_at > moment(0)"),
        0);
    actor.acts[3] = NULL;
    drain(desk);
    assert_count(desk, "succeeded", 120);
}

static owed_status
names_three(owed_delivery *delivery, const void *payload, owed_target_list *list, owed_error *err)
{
    (void)delivery;
    (void)payload;
    owed_status status = owed_target_add(list, "a", err);
    if (status == OWED_OK)
        status = owed_target_add(list, "b", err);
    return status == OWED_OK ? owed_target_add(list, "c", err) : status;
}

static owed_outcome
defers_for_b(struct actor *actor, owed_delivery *delivery, const order *order)
{
    bool is_b = strcmp(owed_delivery_target(delivery), "b") == 0;
    return is_b ? defers(actor, delivery, order) : asks_for_nothing(actor, delivery, order);
}

static void
a_deferral_that_pauses_its_target_lets_the_others_go_on(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {.acts = {[1] = defers_for_b, [2] = defers_for_b, [3] = defers_for_b}};
    owed_receiver receiver = stock;
    receiver.give_up_after_us = HOUR;
    receiver.targets = names_three;
    receiver.pause = OWED_PAUSE_TARGET;
    open_orders(desk, &actor, receiver, 3);
    drain(desk);
    assert_int_equal(actor.calls, 7);
    assert_count(desk, "succeeded", 6);
    assert_count(desk, "failed", 1);
}

static owed_outcome
fires_on(struct actor *actor, owed_delivery *delivery, const order *one)
{
    (void)actor;
    order next = {.id = one->id + 1, .cents = 1, .currency = "EUR"};
    owed_error err;
    if (owed_fire(owed_delivery_tx(delivery), &order_placed, &next, NULL, NULL, &err) != OWED_OK)
        return owed_failed(delivery, "%s", err.text);
    return owed_done();
}

static void
a_drain_delivers_what_its_receivers_fire(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {.acts = {[1] = fires_on, [2] = fires_on}};
    open_orders(desk, &actor, stock, 1);
    drain(desk);
    assert_count(desk, "succeeded", 3);
}

/* --- deliver_pending --- */

static void
with_a_limit_there_is_one_claim_of_so_many_rows(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {.acts = {[1] = fails}};
    open_orders(desk, &actor, stock, 80);
    deliver(desk, (owed_pending_settings){.limit = 60, .ignore_backoff = true});
    assert_int_equal(actor.calls, 60);
    assert_count(desk, "failed", 1);
    assert_count(desk, "succeeded", 59);
    assert_count(desk, "pending", 20);
    deliver(desk, (owed_pending_settings){.limit = 1, .ignore_backoff = true});
    assert_int_equal(actor.calls, 61);
}

static void
a_retry_waits_unless_backoff_is_ignored(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {.acts = {[1] = fails}};
    open_orders(desk, &actor, stock, 1);
    deliver(desk, (owed_pending_settings){0});
    deliver(desk, (owed_pending_settings){0});
    assert_int_equal(actor.calls, 1);
    deliver(desk, (owed_pending_settings){.now_us = FIXTURE_NOW_US + OWED_SECONDS(2), .limit = 1});
    assert_int_equal(actor.calls, 2);
}

static void
one_lane_can_be_named(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {0};
    struct actor other = {0};
    desk_receiver(desk, &other, (owed_receiver){.key = "shop.mail", .lane = "mail"});
    open_orders(desk, &actor, stock, 1);
    deliver(desk, (owed_pending_settings){.lane = "mail"});
    assert_int_equal(actor.calls, 0);
    assert_int_equal(other.calls, 1);
}

static void
contradictory_settings_and_unknown_lanes_are_refused(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {0};
    open_orders(desk, &actor, stock, 1);
    const struct {
        owed_pending_settings settings;
        const char *words;
    } cases[] = {
        {{.limit = 1, .batch_size = 1}, "limit and batch_size exclude each other"},
        {{.limit = -1}, "limit is negative"},
        {{.limit = 10001}, "10000 rows at most"},
        {{.batch_size = -1}, "batch_size is -1"},
        {{.lane = "mial"}, "nobody declares lane \"mial\": there is default"},
        {{.now_us = -1}, "now_us is negative"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_status(OWED_INVALID,
            owed_deliver_pending(desk->f->owed, &cases[i].settings, NULL, &desk->f->err));
        assert_says(desk->f->err, cases[i].words);
    }
    assert_int_equal(actor.calls, 0);
}

static owed_outcome
drains(struct actor *actor, owed_delivery *delivery, const order *order)
{
    (void)order;
    owed_error err = {0};
    owed_status status = owed_drain(actor->desk->f->owed, 0, NULL, &err);
    return status == OWED_INVALID ? owed_failed(delivery, "%s", err.text) : owed_done();
}

static void
a_receiver_cannot_deliver(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {.acts = {[1] = drains}};
    open_orders(desk, &actor, stock, 1);
    deliver(desk, (owed_pending_settings){.limit = 1});
    assert_count(desk, "failed", 1);
    assert_text(desk, "select last_error from owed_delivery",
        "a relay or a receiver is at work on this handle: deliver once it has returned");
}

static void
receivers_that_are_not_declared_here_are_left(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {0};
    open_orders(desk, &actor, stock, 1);
    raw_run(desk->f->raw, "update owed_delivery set receiver_key = 'shop.other'");
    drain(desk);
    assert_count(desk, "pending", 1);
}

static void
what_runs_outside_is_delivered(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {.acts = {[1] = asks_for_nothing}};
    fixture_receiver(
        desk->f, (owed_receiver){.key = "shop.void", .event = &order_placed, .discard = true});
    owed_receiver outside = stock;
    outside.outside = true;
    open_orders(desk, &actor, outside, 1);
    drain(desk);
    assert_count(desk, "succeeded", 2);
}

static void
a_store_that_is_locked_fails_the_call_and_loses_nothing(void **state)
{
    ONLY_ON("sqlite", "elsewhere a writer keeps nobody else waiting");
    struct desk *desk = *state;
    struct actor actor = {0};
    desk->f->busy_timeout_us = 1000;
    open_orders(desk, &actor, stock, 1);
    raw_run(desk->f->raw, "begin immediate");
    assert_status(OWED_BUSY, owed_drain(desk->f->owed, 0, &desk->counts, &desk->f->err));
    raw_run(desk->f->raw, "rollback");
    drain(desk);
    assert_int_equal(actor.calls, 1);
}

/* --- deliver_one --- */

static void
one_row_is_delivered_and_its_status_told(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {.acts = {[2] = fails, [3] = says_not_yet}};
    open_orders(desk, &actor, stock, 3);
    assert_string_equal(deliver_one(desk, 1), "succeeded");
    assert_string_equal(deliver_one(desk, 2), "failed");
    assert_string_equal(deliver_one(desk, 3), "pending");
    assert_int_equal(actor.calls, 3);
}

static void
one_row_outside_is_delivered(void **state)
{
    struct desk *desk = *state;
    fixture_receiver(
        desk->f, (owed_receiver){.key = "shop.void", .event = &order_placed, .discard = true});
    fixture_open(desk->f);
    desk_fire(desk, 1);
    assert_string_equal(deliver_one(desk, 1), "succeeded");
}

static void
rows_that_ended_or_wait_or_are_held_are_left_alone(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {0};
    open_orders(desk, &actor, stock, 1);
    const struct {
        const char *change;
        const char *why;
    } cases[] = {
        {"status = 'succeeded'", "it has ended"},
        {"status = 'dead'", "it has ended"},
        {"status = 'orphaned'", "it has ended"},
        {"status = 'pending', due_at = moment(4102444800000001)", "it is not due yet"},
        {"status = 'failed', available_at = moment(4102444800000001)", "it waits for its retry"},
        {"status = 'claimed', claimed_by = 'them', lease_expires_at = moment(4102444800000000)",
            "somebody else holds it"},
        {"status = 'pending', due_at = moment(1), receiver_key = 'shop.other'",
            "not declared here"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        raw_runf(desk->f->raw, "update owed_delivery set %s", cases[i].change);
        buf_clear(&desk->f->log);
        assert_null(deliver_one(desk, 1));
        if (!desk_logged(desk, cases[i].why) || !desk_logged(desk, "level=info"))
            fail_msg("%s: %s", cases[i].change, buf_text(&desk->f->log));
    }
    assert_int_equal(actor.calls, 0);
}

static void
a_failed_row_that_is_due_and_one_whose_lease_lapsed_are_run(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {0};
    open_orders(desk, &actor, stock, 3);
    raw_run(desk->f->raw,
        "update owed_delivery set status = 'failed', available_at = moment(4102444800000000) where id = 1; "
        "update owed_delivery set status = 'claimed', claimed_by = 'gone', "
        "lease_expires_at = moment(4102444799999999) where id = 2; "
        "update owed_delivery set available_at = moment(4103444799999999) where id = 3");
    assert_string_equal(deliver_one(desk, 1), "succeeded");
    assert_string_equal(deliver_one(desk, 2), "succeeded");
    // A pending row is owed from its due_at on, wherever it stands in the queue.
    assert_string_equal(deliver_one(desk, 3), "succeeded");
}

static void
a_row_that_is_missing_is_not_found(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {0};
    open_with(desk, &actor, stock);
    const char *recorded = NULL;
    assert_status(OWED_NOT_FOUND, owed_deliver_one(desk->f->owed, 99, &recorded, &desk->f->err));
    assert_status(OWED_NOT_FOUND, owed_deliver_one(desk->f->owed, 0, NULL, &desk->f->err));
}

static void
a_row_that_is_robbed_while_it_runs_records_nothing(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {.acts = {[1] = is_robbed}};
    open_orders(desk, &actor, stock, 1);
    assert_null(deliver_one(desk, 1));
    assert_int_equal(desk_written(desk, 1), 0);
    assert_count(desk, "claimed", 1);
}

/* --- fired --- */

static void
what_was_fired_is_read_back_decoded_and_in_order(void **state)
{
    struct desk *desk = *state;
    fixture_open(desk->f);
    desk_fire_many(desk, 3);
    owed_fired_list *list = NULL;
    assert_ok(owed_fired(desk->f->owed, &order_placed, &list, &desk->f->err));
    assert_int_equal(list->count, 3);
    for (size_t i = 0; i < 3; i++) {
        const order *one = list->events[i].payload;
        assert_int_equal(one->id, (int64_t)i + 1);
        assert_string_equal(one->currency, "EUR");
        assert_int_equal(list->events[i].id, (int64_t)i + 1);
        assert_int_equal(list->events[i].version, order_placed.version);
        assert_true(list->events[i].json.len > 2);
    }
    owed_fired_free(list);
    assert_ok(owed_fired(desk->f->owed, &order_shipped, &list, &desk->f->err));
    assert_int_equal(list->count, 0);
    owed_fired_free(list);
    owed_fired_free(NULL);
}

static void
in_a_transaction_what_it_fired_is_read_back(void **state)
{
    struct desk *desk = *state;
    fixture_open(desk->f);
    fixture_begin(desk->f);
    fixture_fire(desk->f, &order_placed, 1);
    owed_fired_list *list = NULL;
    assert_ok(owed_fired(desk->f->owed, &order_placed, &list, &desk->f->err));
    assert_int_equal(list->count, 1);
    owed_fired_free(list);
    owed_rollback(desk->f->tx);
    assert_ok(owed_fired(desk->f->owed, &order_placed, &list, &desk->f->err));
    assert_int_equal(list->count, 0);
    owed_fired_free(list);
}

static void
a_type_that_was_not_declared_and_a_spoilt_payload_are_refused(void **state)
{
    struct desk *desk = *state;
    static const owed_event_type unknown = {.name = "shop.Unknown", .version = 1};
    fixture_open(desk->f);
    desk_fire(desk, 1);
    owed_fired_list *list = NULL;
    assert_status(OWED_NOT_FOUND, owed_fired(desk->f->owed, &unknown, &list, &desk->f->err));
    assert_says(desk->f->err, "event shop.Unknown was not declared");
    raw_run(desk->f->raw, "update owed_event set payload = '{\"id\":\"x\"}'");
    assert_status(OWED_INVALID, owed_fired(desk->f->owed, &order_placed, &list, &desk->f->err));
    assert_says(desk->f->err, "event 1: ");
    assert_null(list);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, desk_setup, desk_teardown)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_drain_delivers_what_was_fired),
        TEST(a_drain_serves_every_lane),
        TEST(a_receiver_that_always_fails_is_driven_to_its_dead_letter),
        TEST(a_drain_never_runs_what_is_not_due),
        TEST(a_failed_row_that_became_due_later_is_left_too),
        TEST(now_moves_the_claims_alone),
        TEST(now_ends_nobody_elses_lease),
        TEST(what_is_not_yet_due_is_left_for_the_rest_of_the_call),
        TEST(a_drain_ends_though_a_receiver_defers_each_time),
        TEST(a_deferral_sets_its_lane_aside_for_the_rest_of_the_call),
        TEST(a_deferral_that_pauses_its_target_lets_the_others_go_on),
        TEST(a_drain_delivers_what_its_receivers_fire),
        TEST(with_a_limit_there_is_one_claim_of_so_many_rows),
        TEST(a_retry_waits_unless_backoff_is_ignored),
        TEST(one_lane_can_be_named),
        TEST(contradictory_settings_and_unknown_lanes_are_refused),
        TEST(a_receiver_cannot_deliver),
        TEST(receivers_that_are_not_declared_here_are_left),
        TEST(what_runs_outside_is_delivered),
        TEST(a_store_that_is_locked_fails_the_call_and_loses_nothing),
        TEST(one_row_is_delivered_and_its_status_told),
        TEST(one_row_outside_is_delivered),
        TEST(rows_that_ended_or_wait_or_are_held_are_left_alone),
        TEST(a_failed_row_that_is_due_and_one_whose_lease_lapsed_are_run),
        TEST(a_row_that_is_missing_is_not_found),
        TEST(a_row_that_is_robbed_while_it_runs_records_nothing),
        TEST(what_was_fired_is_read_back_decoded_and_in_order),
        TEST(in_a_transaction_what_it_fired_is_read_back),
        TEST(a_type_that_was_not_declared_and_a_spoilt_payload_are_refused),
    };
    return RUN_ON_ALL_STORES("testing", tests);
}
