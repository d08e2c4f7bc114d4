/* SPDX-License-Identifier: MIT
 *
 * test_eager.c - attempts right after the commit, in the process that fired: they save the way to a
 * relay, and promise nothing that the row does not.
 */
#include "desk.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/limits.h"

#define CALLS_MAX 200
#define KEY "shop.mail"

static void
open_eager(struct desk *desk, struct actor *actor, owed_receiver receiver)
{
    receiver.key = KEY;
    receiver.eager = true;
    desk_receiver(desk, actor, receiver);
    fixture_open(desk->f);
}

static int64_t
by_eager(struct desk *desk)
{
    return desk_number(
        desk, "select count(*) from owed_delivery where claimed_by like 'eager.________'");
}

/* --- what it does --- */

static void
it_is_attempted_before_the_commit_returns(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {0};
    open_eager(desk, &actor, (owed_receiver){0});
    fixture_begin(desk->f);
    fixture_fire(desk->f, &order_placed, 1);
    assert_int_equal(actor.calls, 0);
    fixture_commit(desk->f);
    assert_int_equal(actor.calls, 1);
    assert_int_equal(desk_written(desk, 1), 1);
    assert_text(desk, "select status || ' ' || attempts || ' ' || losses from owed_delivery",
        "succeeded 1 0");
    assert_int_equal(by_eager(desk), 1);
    desk_once(desk);
    assert_int_equal(actor.calls, 1);
}

static void
nothing_is_attempted_after_a_rollback(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {0};
    open_eager(desk, &actor, (owed_receiver){0});
    fixture_begin(desk->f);
    fixture_fire(desk->f, &order_placed, 1);
    owed_rollback(desk->f->tx);
    assert_int_equal(actor.calls, 0);
}

static void
others_are_left_to_a_relay(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {0};
    struct actor plain = {0};
    struct actor outside = {0};
    desk_receiver(desk, &plain, (owed_receiver){.key = "shop.plain"});
    desk_receiver(desk, &outside, (owed_receiver){.key = "shop.away", .outside = true});
    open_eager(desk, &actor, (owed_receiver){0});
    desk_fire(desk, 1);
    assert_int_equal(actor.calls, 1);
    assert_int_equal(plain.calls + outside.calls, 0);
    assert_count(desk, "pending", 2);
    desk_once(desk);
    assert_count(desk, "succeeded", 3);
}

static owed_outcome
holds_none(struct actor *actor, owed_delivery *delivery, const order *order)
{
    (void)order;
    assert_null(owed_delivery_tx(delivery));
    assert_false(store_in_transaction(actor->desk->f->owed->db));
    return owed_done();
}

static void
an_outside_receiver_holds_no_transaction_here_either(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {.acts = {[1] = holds_none}};
    open_eager(desk, &actor, (owed_receiver){.outside = true});
    desk_fire(desk, 1);
    assert_int_equal(actor.calls, 1);
    assert_count(desk, "succeeded", 1);
    assert_int_equal(by_eager(desk), 1);
}

static void
each_row_of_a_transaction_is_attempted_however_many(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {0};
    open_eager(desk, &actor, (owed_receiver){.database_only = true});
    desk_fire_many(desk, 250);
    assert_int_equal(actor.calls, 250);
    assert_count(desk, "succeeded", 250);
    assert_int_equal(desk_number(desk, "select count(distinct id) from app"), 250);
    assert_int_equal(fixture_rows(desk->f), 250);
}

static owed_status
names_two(owed_delivery *delivery, const void *payload, owed_target_list *list, owed_error *err)
{
    (void)delivery;
    (void)payload;
    owed_status status = owed_target_add(list, "anna", err);
    return status == OWED_OK ? owed_target_add(list, "bert", err) : status;
}

static void
each_target_is_attempted(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {0};
    open_eager(desk, &actor, (owed_receiver){.targets = names_two});
    desk_fire(desk, 1);
    assert_int_equal(actor.calls, 2);
    assert_count(desk, "succeeded", 2);
    assert_int_equal(by_eager(desk), 2);
}

static void
it_runs_whatever_its_lane(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {0};
    open_eager(desk, &actor, (owed_receiver){.lane = "nobody.serves.it"});
    desk_fire(desk, 1);
    assert_count(desk, "succeeded", 1);
}

static void
a_receiver_that_is_paused_is_left_alone(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {0};
    open_eager(desk, &actor, (owed_receiver){0});
    raw_run(desk->f->raw, "update owed_receiver set paused_at = moment(1)");
    desk_fire(desk, 1);
    assert_int_equal(actor.calls, 0);
    assert_count(desk, "pending", 1);
}

static void
what_is_due_later_is_left_alone(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {0};
    struct actor later = {0};
    desk_receiver(desk, &later,
        (owed_receiver){.key = "shop.later", .eager = true, .due_us = OWED_MINUTES(5)});
    open_eager(desk, &actor, (owed_receiver){0});
    order payload = {.id = 1};
    owed_fire_options options = {.due_at_us = desk->f->now_us + 1};
    fixture_begin(desk->f);
    fixture_fire(desk->f, &order_placed, 2);
    assert_ok(owed_fire(desk->f->tx, &order_placed, &payload, &options, NULL, &desk->f->err));
    fixture_commit(desk->f);
    assert_int_equal(actor.calls, 1);
    assert_int_equal(actor.orders[0], 2);
    assert_int_equal(later.calls, 0);
    assert_count(desk, "pending", 3);
    desk->f->now_us += OWED_MINUTES(10);
    desk_once(desk);
    assert_count(desk, "succeeded", 4);
}

static void
an_event_fired_in_sql_is_left_to_a_relay(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {0};
    open_eager(desk, &actor, (owed_receiver){0});
    fixture_begin(desk->f);
    raw_fire(fixture_raw(desk->f->tx), "shop.OrderPlaced", "{\"id\":1,\"cents\":1}");
    fixture_commit(desk->f);
    assert_int_equal(actor.calls, 0);
    assert_count(desk, "pending", 1);
}

static void
a_savepoint_rolled_back_takes_its_rows_along(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {0};
    open_eager(desk, &actor, (owed_receiver){0});
    fixture_begin(desk->f);
    fixture_fire(desk->f, &order_placed, 1);
    fixture_run(desk->f->owed->db, "savepoint mine");
    fixture_fire(desk->f, &order_placed, 2);
    fixture_run(desk->f->owed->db, "rollback to savepoint mine; release savepoint mine");
    fixture_fire(desk->f, &order_placed, 3);
    fixture_commit(desk->f);
    assert_int_equal(actor.calls, 2);
    assert_int_equal(actor.orders[0], 1);
    assert_int_equal(actor.orders[1], 3);
    assert_count(desk, "succeeded", 2);
}

/* --- what it does not finish is owed --- */

static void
told(owed *handle, const owed_failure *failure, void *state)
{
    (void)handle;
    (void)failure;
    struct actor *actor = state;
    (*(int *)actor->state)++;
}

static void
one_that_fails_is_owed_like_any_other(void **state)
{
    struct desk *desk = *state;
    int tellings = 0;
    struct actor actor = {.acts = {[1] = writes_and_fails}, .state = &tellings};
    open_eager(desk, &actor, (owed_receiver){.on_failure = told});
    desk_fire(desk, 1);
    assert_int_equal(desk_written(desk, 1), 0);
    assert_text(desk, "select status || ' ' || attempts || ' ' || last_error from owed_delivery",
        "failed 1 order 1: nothing on the shelf");
    assert_true(desk_logged(desk, "delivery failed"));
    assert_int_equal(tellings, 1);
    assert_int_equal(desk_number(desk, "select count(*) from owed_attempt"), 1);
    // Its wait is that of any failure: it is not attempted at once by a relay.
    assert_true(desk_number(desk, "select available_at from owed_delivery") >= desk->f->now_us);
    actor.acts[1] = NULL;
    desk->f->now_us += OWED_HOURS(2);
    desk_once(desk);
    assert_int_equal(desk_written(desk, 1), 1);
    assert_count(desk, "succeeded", 1);
}

static owed_outcome
is_busy(struct actor *actor, owed_delivery *delivery, const order *order)
{
    (void)actor;
    (void)order;
    return owed_defer(delivery, 60, "too many");
}

static void
a_deferral_is_recorded_and_keeps_nobody_else_waiting(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {.acts = {[1] = is_busy}};
    open_eager(desk, &actor, (owed_receiver){.give_up_after_us = OWED_HOURS(1)});
    desk_fire_many(desk, 2);
    assert_int_equal(actor.calls, 2);
    assert_count(desk, "failed", 1);
    assert_count(desk, "succeeded", 1);
    assert_int_equal(
        desk_number(desk, "select attempts from owed_delivery where status = 'failed'"), 0);
}

static void
one_that_leaves_its_transaction_open_has_failed(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {.acts = {[1] = writes_and_commits}};
    open_eager(desk, &actor, (owed_receiver){0});
    desk_fire(desk, 1);
    assert_count(desk, "failed", 1);
    // MariaDB cannot be kept from the commit, only be told that nothing was acknowledged by it.
    assert_int_equal(desk_written(desk, 1), test_store_is("mariadb"));
    desk_fire(desk, 2);
    assert_int_equal(desk_written(desk, 2), 1);
}

/* join begins a transaction on a connection of the application's, and fires in it. */
static struct raw *
join_and_fire(struct desk *desk, int64_t order_id)
{
    struct raw *raw = raw_open(desk->f->url);
    raw_run(raw, "begin");
    fixture_join(desk->f, raw);
    fixture_fire(desk->f, &order_placed, order_id);
    return raw;
}

static void
it_is_attempted_after_a_joined_transaction_too(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {0};
    open_eager(desk, &actor, (owed_receiver){0});
    struct raw *raw = join_and_fire(desk, 1);
    raw_run(raw, "commit");
    assert_int_equal(actor.calls, 0);
    assert_ok(owed_committed(desk->f->tx, &desk->f->err));
    assert_int_equal(actor.calls, 1);
    assert_count(desk, "succeeded", 1);
    raw_close(raw);
}

static void
a_row_that_was_taken_between_the_commit_and_its_turn_is_not_run(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {0};
    open_eager(desk, &actor, (owed_receiver){0});
    struct raw *raw = join_and_fire(desk, 1);
    raw_run(raw, "commit");
    // A relay is quicker, on its own connection.
    struct arena arena;
    arena_init(&arena, 0);
    const char *const lanes[] = {"shop/default", NULL};
    const struct claim claim = {.claimed_by = "thief",
        .now_us = desk->f->now_us,
        .lease_us = OWED_MINUTES(5),
        .kind = "inside",
        .lanes = lanes,
        .app = "shop",
        .limit = 10,
        .max_bytes = LIMIT_BATCH_BYTES};
    struct claimed *rows = NULL;
    size_t count = 0;
    assert_ok(store_claim(desk->f->other, &claim, &arena, &rows, &count, &desk->f->err));
    assert_int_equal(count, 1);
    assert_ok(owed_committed(desk->f->tx, &desk->f->err));
    assert_int_equal(actor.calls, 0);
    assert_text(desk, "select status || ' ' || claimed_by || ' ' || losses from owed_delivery",
        "claimed thief 0");
    arena_done(&arena);
    raw_close(raw);
}

static void
one_whose_row_is_taken_meanwhile_writes_nothing(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {.acts = {[1] = is_robbed}};
    open_eager(desk, &actor, (owed_receiver){.outside = false});
    // The thief is on another connection: a receiver that has its transaction would keep it waiting.
    desk_fire(desk, 1);
    assert_int_equal(actor.calls, 1);
    assert_int_equal(desk_written(desk, 1), 0);
    assert_text(desk, "select status || ' ' || claimed_by from owed_delivery", "claimed thief");
    assert_true(desk_logged(desk, "result discarded"));
}

/* --- it starts no others --- */

static owed_outcome
fires_shipped(struct actor *actor, owed_delivery *delivery, const order *order)
{
    (void)actor;
    owed_error err;
    owed_tx *tx = owed_delivery_tx(delivery);
    if (tx == NULL || owed_fire(tx, &order_shipped, order, NULL, NULL, &err) != OWED_OK)
        return owed_failed(delivery, "cannot fire");
    return owed_done();
}

static owed_outcome
fires_shipped_itself(struct actor *actor, owed_delivery *delivery, const order *order)
{
    owed_error err;
    owed_tx *tx = NULL;
    if (owed_begin(actor->desk->f->owed, &tx, &err) != OWED_OK)
        return owed_failed(delivery, "%s", err.text);
    if (owed_fire(tx, &order_shipped, order, NULL, NULL, &err) != OWED_OK ||
        owed_commit(tx, &err) != OWED_OK)
        return owed_failed(delivery, "cannot fire");
    return owed_done();
}

static void
declare_shipper(struct desk *desk, struct actor *shipper)
{
    desk_receiver(desk, shipper,
        (owed_receiver){.key = "shop.shipper", .event = &order_shipped, .eager = true});
}

static void
what_an_eager_attempt_fires_is_owed_to_a_relay(void **state)
{
    struct desk *desk = *state;
    const act acts[] = {fires_shipped, fires_shipped_itself};
    struct actor shipper = {0};
    struct actor actor = {.acts = {[1] = acts[0], [2] = acts[1]}};
    declare_shipper(desk, &shipper);
    open_eager(desk, &actor, (owed_receiver){0});
    desk_fire_many(desk, 2);
    assert_int_equal(actor.calls, 2);
    assert_int_equal(shipper.calls, 0);
    assert_count(desk, "succeeded", 2);
    assert_count(desk, "pending", 2);
    // It is known what led to it.
    assert_int_equal(
        desk_number(desk, "select count(*) from owed_event where causation_id in (1, 2)"), 2);
    desk_once(desk);
    assert_int_equal(shipper.calls, 2);
    assert_count(desk, "succeeded", 4);
}

static void
what_is_fired_inside_a_relay_is_left_to_it(void **state)
{
    struct desk *desk = *state;
    struct actor shipper = {0};
    struct actor plain = {.acts = {[1] = fires_shipped, [2] = fires_shipped_itself}};
    declare_shipper(desk, &shipper);
    desk_receiver(desk, &plain, (owed_receiver){.key = "shop.plain"});
    fixture_open(desk->f);
    desk_fire_many(desk, 2);
    assert_int_equal(plain.calls, 0);
    desk_once(desk);
    assert_int_equal(plain.calls, 2);
    assert_int_equal(shipper.calls, 2);
    assert_count(desk, "succeeded", 4);
    assert_int_equal(by_eager(desk), 0);
}

/* --- in order --- */

struct order_of_things {
    struct actor *eager;
    int eager_calls_seen;
    int64_t fired_cause;
    struct desk *desk;
};

static owed_outcome
comes_after(owed_delivery *delivery, const void *payload)
{
    struct order_of_things *things = owed_delivery_state(delivery);
    things->eager_calls_seen = things->eager->calls;
    // What it fires has an eager receiver, too; and afterwards the cause is still its own.
    owed_error err;
    for (int i = 0; i < 2; i++) {
        owed_tx *tx = NULL;
        assert_ok(owed_begin(things->desk->f->owed, &tx, &err));
        assert_ok(owed_fire(tx, &order_shipped, payload, NULL, NULL, &err));
        assert_ok(owed_commit(tx, &err));
    }
    return owed_done();
}

static void
it_comes_before_on_commit_receivers_and_leaves_their_cause_alone(void **state)
{
    struct desk *desk = *state;
    struct actor shipper = {0};
    struct actor actor = {0};
    struct order_of_things things = {.eager = &actor, .desk = desk};
    declare_shipper(desk, &shipper);
    fixture_receiver(desk->f,
        (owed_receiver){.key = "shop.after",
            .event = &order_placed,
            .mode = OWED_ON_COMMIT,
            .run = comes_after,
            .state = &things});
    open_eager(desk, &actor, (owed_receiver){0});
    int64_t id = desk_fire(desk, 1);
    assert_int_equal(things.eager_calls_seen, 1);
    assert_int_equal(shipper.calls, 2);
    char sql[128];
    snprintf(sql, sizeof sql, "select count(*) from owed_event where causation_id = %" PRId64, id);
    assert_int_equal(desk_number(desk, sql), 2);
    assert_null(desk->f->owed->make_way);
}

/* --- a store that fails --- */

static void
fail_at_every_call(struct desk *desk, owed_status failure, bool after)
{
    struct actor actor = {0};
    open_eager(desk, &actor, (owed_receiver){0});
    struct fault fault = {0};
    desk->f->owed->db = driver_fault_wrap(desk->f->owed->db, &fault);
    bool was_reached = true;
    int64_t call = 1;
    int64_t committed = 0;
    for (; call < CALLS_MAX && was_reached; call++) {
        order payload = {.id = call};
        owed_tx *tx = NULL;
        assert_ok(owed_begin(desk->f->owed, &tx, &desk->f->err));
        assert_ok(owed_fire(tx, &order_placed, &payload, NULL, NULL, &desk->f->err));
        fault = (struct fault){.fail_at = call, .status = failure, .after = after};
        owed_status status = owed_commit(tx, &desk->f->err);
        was_reached = fault.calls >= call;
        fault = (struct fault){0};
        committed += status == OWED_OK;
        assert_null(desk->f->owed->make_way);
        assert_null(desk->f->owed->tx);
        assert_false(store_in_transaction(desk->f->owed->db));
        // Whose answer was lost may have been committed.
        if (status == OWED_OK && !after)
            assert_int_equal(fixture_events(desk->f), committed);
    }
    assert_in_range(call, 10, CALLS_MAX - 1);
    // A relay finishes what was not. Nothing took effect twice, none was lost.
    desk->f->now_us += OWED_HOURS(2);
    desk_once(desk);
    assert_int_equal(desk_count(desk, "succeeded"), fixture_events(desk->f));
    assert_int_equal(fixture_rows(desk->f), fixture_events(desk->f));
    assert_int_equal(
        desk_number(desk, "select count(distinct id) from app"), fixture_events(desk->f));
    assert_int_equal(desk_number(desk, "select max(attempts) from owed_delivery"), 1);
    assert_int_equal(desk_number(desk, "select max(losses) from owed_delivery"), 0);
    assert_true(desk_logged(desk, "the store failed during an eager attempt"));
}

static void
a_store_that_goes_away_at_any_call_leaves_the_row_to_a_relay(void **state)
{
    fail_at_every_call(*state, OWED_UNAVAILABLE, false);
}

static void
an_answer_lost_at_any_call_leaves_the_row_to_a_relay(void **state)
{
    fail_at_every_call(*state, OWED_UNAVAILABLE, true);
}

static void
a_busy_store_leaves_the_row_to_a_relay(void **state)
{
    fail_at_every_call(*state, OWED_BUSY, false);
}

static void
what_it_could_not_record_is_free_for_a_relay_at_once(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {0};
    open_eager(desk, &actor, (owed_receiver){0});
    raw_refuse(
        desk->f->raw, "owed_delivery", "update", "new.status = 'succeeded'", "the shelf is full");
    desk_fire(desk, 1);
    assert_int_equal(actor.calls, 1);
    assert_int_equal(desk_written(desk, 1), 0);
    assert_true(desk_logged(desk, "the shelf is full"));
    assert_int_equal(
        desk_number(desk, "select micros(lease_expires_at) + losses from owed_delivery"), 0);
    raw_allow(desk->f->raw, "owed_delivery", "update");
    desk_once(desk);
    assert_int_equal(desk_written(desk, 1), 1);
    assert_text(desk, "select status || ' ' || attempts || ' ' || losses from owed_delivery",
        "succeeded 1 0");
}

/* --- declaring it --- */

static void
assert_refused(struct desk *desk, owed_receiver receiver, const char *words)
{
    receiver.key = KEY;
    receiver.event = &order_placed;
    receiver.eager = true;
    assert_status(OWED_CONFIG, owed_declare_receiver(desk->f->registry, &receiver, &desk->f->err));
    assert_says(desk->f->err, words);
}

static void
it_is_refused_where_it_can_mean_nothing(void **state)
{
    struct desk *desk = *state;
    assert_refused(desk, (owed_receiver){.run = actor_run, .mode = OWED_ON_COMMIT},
        "eager is for durable receivers only");
    assert_refused(desk, (owed_receiver){.run = actor_run, .mode = OWED_INLINE},
        "eager is for durable receivers only");
    assert_refused(
        desk, (owed_receiver){.webhook = "https://x.example/"}, "eager is for run alone");
    assert_refused(desk, (owed_receiver){.exec = "/bin/true"}, "eager is for run alone");
    assert_refused(desk, (owed_receiver){.discard = true}, "eager is for run alone");
    assert_refused(desk, (owed_receiver){.run = actor_run, .timeout_us = 1},
        "eager and timeout contradict each other");
}

static void
the_catalogue_says_who_is_eager(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {0};
    struct actor plain = {0};
    desk_receiver(desk, &plain, (owed_receiver){.key = "shop.plain"});
    open_eager(desk, &actor, (owed_receiver){0});
    assert_list(desk, "select \"key\" from owed_receiver where eager = (1 = 1)", "shop.mail");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, desk_setup, desk_teardown)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(it_is_attempted_before_the_commit_returns),
        TEST(nothing_is_attempted_after_a_rollback),
        TEST(others_are_left_to_a_relay),
        TEST(an_outside_receiver_holds_no_transaction_here_either),
        TEST(each_row_of_a_transaction_is_attempted_however_many),
        TEST(each_target_is_attempted),
        TEST(it_runs_whatever_its_lane),
        TEST(a_receiver_that_is_paused_is_left_alone),
        TEST(what_is_due_later_is_left_alone),
        TEST(an_event_fired_in_sql_is_left_to_a_relay),
        TEST(a_savepoint_rolled_back_takes_its_rows_along),
        TEST(one_that_fails_is_owed_like_any_other),
        TEST(a_deferral_is_recorded_and_keeps_nobody_else_waiting),
        TEST(one_that_leaves_its_transaction_open_has_failed),
        TEST(it_is_attempted_after_a_joined_transaction_too),
        TEST(a_row_that_was_taken_between_the_commit_and_its_turn_is_not_run),
        TEST(one_whose_row_is_taken_meanwhile_writes_nothing),
        TEST(what_an_eager_attempt_fires_is_owed_to_a_relay),
        TEST(what_is_fired_inside_a_relay_is_left_to_it),
        TEST(it_comes_before_on_commit_receivers_and_leaves_their_cause_alone),
        TEST(a_store_that_goes_away_at_any_call_leaves_the_row_to_a_relay),
        TEST(an_answer_lost_at_any_call_leaves_the_row_to_a_relay),
        TEST(a_busy_store_leaves_the_row_to_a_relay),
        TEST(what_it_could_not_record_is_free_for_a_relay_at_once),
        TEST(it_is_refused_where_it_can_mean_nothing),
        TEST(the_catalogue_says_who_is_eager),
    };
    return RUN_ON_ALL_STORES("eager receivers", tests);
}
