/* SPDX-License-Identifier: MIT
 *
 * test_relay.c - every owed delivery ends, and what its receiver wrote is there if it succeeded.
 */
#include "desk.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "store/prune.h"

static const owed_receiver stock = {.key = "shop.stock"};

static void
open_with(struct desk *desk, struct actor *actor)
{
    desk_receiver(desk, actor, stock);
    fixture_open(desk->f);
}

/* --- success --- */

static void
a_receiver_that_is_done_has_its_writes_kept_and_its_delivery_succeeded(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {0};
    open_with(desk, &actor);
    desk_fire(desk, 7);
    desk_once(desk);
    assert_int_equal(actor.calls, 1);
    assert_int_equal(desk_written(desk, 7), 1);
    assert_count(desk, "succeeded", 1);
    assert_int_equal(desk->counts.succeeded, 1);
    assert_int_equal(desk_number(desk, "select attempts from owed_delivery"), 1);
    assert_int_equal(desk_number(desk, "select succeeded_at from owed_delivery"), FIXTURE_NOW_US);
    assert_int_equal(desk_number(desk, "select count(*) from owed_attempt"), 0);
    desk_once(desk);
    assert_int_equal(actor.calls, 1);
}

static owed_outcome
sees_nothing_of_its_own_write(struct actor *actor, owed_delivery *delivery, const order *order)
{
    write_row(delivery, order->id);
    assert_int_equal(desk_written(actor->desk, order->id), 0);
    assert_count(actor->desk, "claimed", 1);
    return owed_done();
}

static void
the_write_and_the_acknowledgement_commit_together(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {.acts = {[7] = sees_nothing_of_its_own_write}};
    open_with(desk, &actor);
    desk_fire(desk, 7);
    desk_once(desk);
    assert_int_equal(desk_written(desk, 7), 1);
    assert_count(desk, "succeeded", 1);
}

static owed_outcome
fires_a_shipment(struct actor *actor, owed_delivery *delivery, const order *placed)
{
    (void)actor;
    owed_tx *tx = owed_delivery_tx(delivery);
    int64_t id = 0;
    owed_error err;
    assert_ok(owed_fire(tx, &order_shipped, placed, NULL, &id, &err));
    return owed_done();
}

static owed_outcome
fires_and_fails(struct actor *actor, owed_delivery *delivery, const order *placed)
{
    fires_a_shipment(actor, delivery, placed);
    return owed_failed(delivery, "no");
}

static void
what_a_receiver_fires_is_kept_with_its_success_and_names_its_cause(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {.acts = {[1] = fires_a_shipment, [2] = fires_and_fails}};
    struct actor ship = {.acts = {[1] = asks_for_nothing}};
    desk_receiver(desk, &actor, stock);
    desk_receiver(desk, &ship, (owed_receiver){.key = "shop.ship", .event = &order_shipped});
    fixture_open(desk->f);
    int64_t first = desk_fire(desk, 1);
    desk_fire(desk, 2);
    desk->settings.passes = 3;
    desk_run(desk);
    assert_int_equal(ship.calls, 1);
    assert_int_equal(
        desk_number(desk, "select count(*) from owed_event where name = 'shop.OrderShipped'"), 1);
    assert_int_equal(
        desk_number(desk, "select causation_id from owed_event where causation_id is not null"),
        first);
}

static int64_t notes; // of successes, as somebody else sees them while the relay runs

static void
count_notes(struct desk *desk)
{
    notes = desk_number(desk, "select count(*) from owed_last_success");
}

static void
a_relay_notes_when_its_receivers_last_succeeded(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {.acts = {[2] = fails}};
    struct actor ship = {.acts = {[1] = fails}};
    desk_receiver(desk, &actor, stock);
    desk_receiver(desk, &ship, (owed_receiver){.key = "shop.ship", .event = &order_shipped});
    fixture_open(desk->f);
    desk_fire(desk, 1);
    desk->at_wait = count_notes;
    desk->settings.passes = 100; // long enough for a heartbeat
    desk_run(desk);
    assert_int_equal(notes, 1);
    assert_list(desk, "select receiver_key from owed_last_success", "shop.stock");
    assert_int_equal(desk_number(desk, "select last_succeeded_at from owed_last_success"),
        desk_number(desk, "select succeeded_at from owed_delivery where status = 'succeeded'"));
    // One that ends before its next heartbeat notes it then; a failure is none.
    desk_fire(desk, 3);
    desk_fire(desk, 2);
    desk->settings.passes = 2;
    desk_run(desk);
    assert_int_equal(desk_number(desk, "select last_succeeded_at from owed_last_success"),
        desk_number(desk, "select max(succeeded_at) from owed_delivery"));
}

/* --- the fence --- */

static void
a_worker_whose_row_was_taken_records_nothing_and_what_its_receiver_wrote_vanishes(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {.acts = {[7] = is_robbed}};
    open_with(desk, &actor);
    desk_fire(desk, 7);
    desk_once(desk);
    assert_int_equal(actor.calls, 1);
    assert_int_equal(desk_written(desk, 7), 0);
    assert_count(desk, "claimed", 1);
    assert_text(desk, "select claimed_by from owed_delivery", "thief");
    assert_int_equal(desk->counts.succeeded, 0);
    assert_true(desk_logged(desk, "result discarded"));
    assert_true(desk_logged(desk, "declare a longer lease), or it was cancelled"));
    assert_true(desk_logged(desk, "shop.stock"));
}

static owed_outcome
is_robbed_and_fails(struct actor *actor, owed_delivery *delivery, const order *order)
{
    rob(actor->desk, owed_delivery_id(delivery));
    return fails(actor, delivery, order);
}

static void
a_failure_that_was_not_recorded_is_not_logged(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {.acts = {[7] = is_robbed_and_fails}};
    open_with(desk, &actor);
    desk_fire(desk, 7);
    desk_once(desk);
    assert_int_equal(desk_number(desk, "select count(*) from owed_attempt"), 0);
    assert_text(desk, "select last_error from owed_delivery", "");
    assert_false(desk_logged(desk, "delivery failed"));
    assert_int_equal(desk->counts.failed, 0);
}

/* --- failures --- */

static void
what_a_failed_receiver_wrote_vanishes_and_the_row_is_owed_again(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {.acts = {[7] = writes_and_fails}};
    open_with(desk, &actor);
    desk_fire(desk, 7);
    desk->settings.passes = 1;
    desk_run(desk);
    assert_int_equal(desk_written(desk, 7), 0);
    assert_count(desk, "failed", 1);
    assert_int_equal(desk_number(desk, "select attempts from owed_delivery"), 1);
    assert_text(desk, "select last_error from owed_delivery", "order 7: nothing on the shelf");
    assert_text(desk, "select verdict from owed_attempt", "failed");
    assert_int_equal(desk->counts.failed, 1);
    // It says all but the error.
    assert_true(
        desk_logged(desk, "receiver=shop.stock delivery=1 attempt=1 kind=failed now=failed"));
    assert_false(desk_logged(desk, "shelf"));
}

static void
retries_spread_over_the_receivers_own_curve(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {.acts = {[7] = fails}};
    desk_receiver(desk, &actor,
        (owed_receiver){.key = "shop.stock",
            .backoff_base_us = OWED_SECONDS(100),
            .backoff_cap_us = OWED_SECONDS(300),
            .max_attempts = 6});
    fixture_open(desk->f);
    desk_fire(desk, 7);
    desk->settings.passes = 1;
    const int64_t ceilings[] = {100, 200, 300, 300, 300};
    for (int i = 0; i < 5; i++) {
        desk_run(desk);
        int64_t at_us = desk_number(desk, "select available_at from owed_delivery");
        assert_in_range(at_us - desk->f->now_us, 0, (uint64_t)(ceilings[i] * US_PER_SECOND));
        assert_int_equal(actor.calls, i + 1);
        desk->f->now_us = at_us;
    }
    desk_run(desk);
    assert_count(desk, "dead", 1);
    assert_int_equal(desk_number(desk, "select attempts from owed_delivery"), 6);
    assert_int_equal(desk_number(desk, "select count(*) from owed_attempt"), 6);
    assert_int_equal(desk->counts.dead, 1);
}

/* fail_once runs one attempt with the dice as they fall, and answers how long it waits then. */
static int64_t
fail_once(struct desk *desk)
{
    desk->f->now_us = desk_number(desk, "select available_at from owed_delivery");
    desk_run(desk);
    return desk_number(desk, "select available_at from owed_delivery") - desk->f->now_us;
}

static void
a_curve_that_changes_reaches_what_is_owed_and_max_attempts_do_not(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {.acts = {[7] = fails}};
    desk_receiver(
        desk, &actor, (owed_receiver){.key = "shop.stock", .backoff_base_us = OWED_HOURS(1)});
    fixture_open(desk->f);
    desk_fire(desk, 7);
    desk->settings = (owed_relay_settings){.passes = 1, .backoff_cap_us = OWED_HOURS(9)};
    int64_t longest = 0;
    for (int i = 0; i < 3; i++)
        longest = fail_once(desk);
    // The receiver's base and the relay's cap: up to four hours the third time.
    assert_in_range(longest, OWED_MINUTES(1), OWED_HOURS(4));
    desk->settings.backoff_cap_us = OWED_SECONDS(1);
    desk->settings.backoff_base_us = OWED_SECONDS(1);
    desk->settings.max_attempts = 1;
    assert_in_range(fail_once(desk), 0, OWED_SECONDS(1));
    assert_count(desk, "failed", 1);
    fail_once(desk);
    assert_count(desk, "dead", 1);
    assert_int_equal(actor.calls, 5);
}

static void
a_success_takes_along_an_event_that_goes_by_it(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {0};
    const struct keeping keeping = {.delete_when = OWED_DELETE_WHEN_SUCCEEDED};
    assert_ok(registry_keep(desk->f->registry, "shop.OrderPlaced", &keeping, &desk->f->err));
    actor.acts[2] = fails;
    actor.acts[3] = asks_for_nothing;
    open_with(desk, &actor);
    desk_fire_many(desk, 3);
    desk->settings.passes = 1;
    desk_once(desk);
    assert_int_equal(desk->counts.succeeded, 2);
    assert_int_equal(desk_written(desk, 1), 1);
    assert_int_equal(desk_number(desk, "select count(*) from owed_event"), 1);
    assert_text(desk, "select status from owed_delivery", "failed");
    assert_int_equal(desk_number(desk, "select count(*) from owed_last_success"), 1);
    // A key would protect for no longer than the event is there.
    fixture_begin(desk->f);
    const owed_fire_options options = {.dedupe_key = "A-7"};
    const order placed = {.id = 4, .currency = "EUR"};
    assert_status(OWED_INVALID,
        owed_fire(desk->f->tx, &order_placed, &placed, &options, NULL, &desk->f->err));
    assert_says(desk->f->err, "shop.OrderPlaced is deleted when it has succeeded");
    fixture_commit(desk->f);
}

static void
is_found_pruned(struct desk *desk)
{
    if (desk->wait_count == 1) {
        // An idle relay goes on by itself when it is time to.
        assert_int_equal(desk_number(desk, "select count(*) from owed_event"), 1);
        desk->f->now_us += 90 * 86400 * INT64_C(1000000);
    }
    if (desk->wait_count > 4)
        owed_relay_stop(desk->f->owed);
}

static void
old_events_go_while_others_are_delivered(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {0};
    const struct keeping hour = {.retention_us = 3600 * INT64_C(1000000)};
    assert_ok(registry_keep(desk->f->registry, "shop.OrderShipped", &hour, &desk->f->err));
    desk->f->has_one_clock = true;
    open_with(desk, &actor);
    // Nobody is owed this one, and its window will be over.
    fixture_begin(desk->f);
    fixture_fire(desk->f, &order_shipped, 1);
    fixture_commit(desk->f);
    desk->f->now_us += 7200 * INT64_C(1000000);
    desk_fire(desk, 7);
    desk->settings.poll_us = INT64_C(3600) * 1000000;
    desk->at_wait = is_found_pruned;
    desk_run(desk);
    assert_int_equal(actor.calls, 1);
    assert_int_equal(desk_number(desk, "select count(*) from owed_event"), 0);
    assert_true(desk_logged(desk, "old events were deleted"));
}

static void
another_has_finished(struct desk *desk)
{
    if (desk->wait_count == 1)
        desk->f->now_us += 90 * 86400 * INT64_C(1000000);
    if (desk->wait_count == 2) {
        assert_int_equal(desk_number(desk, "select count(*) from owed_event"), 1);
        store_prune_leave(desk->f->other);
        desk->f->now_us += desk->settings.prune_us;
    }
    if (desk->wait_count > 4)
        owed_relay_stop(desk->f->owed);
}

static void
a_relay_deletes_nothing_while_another_does(void **state)
{
    struct desk *desk = *state;
    if (desk->f->other->driver->sql->statements[STMT_PRUNE_TURN] == NULL)
        return; // several do at once
    struct actor actor = {0};
    bool is_ours = false;
    desk->f->has_one_clock = true;
    open_with(desk, &actor);
    assert_ok(store_prune_turn(desk->f->other, 60, &is_ours, &desk->f->err));
    assert_true(is_ours);
    desk_fire(desk, 7);
    desk->settings.poll_us = INT64_C(3600) * 1000000;
    desk->settings.prune_us = INT64_C(60) * 1000000;
    desk->at_wait = another_has_finished;
    desk_run(desk);
    assert_int_equal(desk_number(desk, "select count(*) from owed_event"), 0);
    // It has left its turn.
    assert_ok(store_prune_turn(desk->f->other, 60, &is_ours, &desk->f->err));
    assert_true(is_ours);
}

static void
a_relay_that_ends_while_it_deletes_says_what_and_leaves_the_rest_to_others(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {0};
    const struct keeping hour = {.retention_us = 3600 * INT64_C(1000000)};
    assert_ok(registry_keep(desk->f->registry, "shop.OrderShipped", &hour, &desk->f->err));
    desk->f->has_one_clock = true;
    open_with(desk, &actor);
    fixture_begin(desk->f);
    fixture_fire(desk->f, &order_shipped, 1);
    fixture_commit(desk->f);
    desk->f->now_us += 7200 * INT64_C(1000000);
    desk_once(desk);
    assert_int_equal(desk_number(desk, "select count(*) from owed_event"), 0);
    assert_true(desk_logged(desk, "old events were deleted"));
    bool is_ours = false;
    assert_ok(store_prune_turn(desk->f->other, 60, &is_ours, &desk->f->err));
    assert_true(is_ours);
}

/* A store that tells of commits, and does not for a while. */
static struct {
    struct driver driver;
    struct desk *desk;
    size_t place; // in why
    int asked;
} ears;

#define REASONS 3
static const char *const why[REASONS] = {"a pooler", "half a connection", NULL};

static bool
sleeps_without_ears(struct db *db, bool on)
{
    (void)db;
    (void)on;
    return false;
}

/* why_deaf goes on to the next reason as soon as the relay's row has this one. */
static const char *
why_deaf(struct db *db)
{
    (void)db;
    char said[256];
    const char *reason = why[ears.place];
    desk_text(ears.desk, "select deaf from owed_relay", said);
    bool is_said = strcmp(said, reason == NULL ? "" : reason) == 0;
    if (is_said && ears.place < REASONS - 1)
        ears.place++;
    else if (is_said || ++ears.asked > 2000)
        owed_relay_stop(ears.desk->f->owed);
    return why[ears.place];
}

static void
a_relay_that_hears_of_no_commit_says_so_in_its_row(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {0};
    open_with(desk, &actor);
    struct db *db = desk->f->owed->db;
    ears.driver = *db->driver;
    ears.driver.asleep = sleeps_without_ears;
    ears.driver.deaf = why_deaf;
    ears.desk = desk;
    ears.place = 0;
    ears.asked = 0;
    db->driver = &ears.driver;
    desk->seat.wait = NULL; // it waits for real, and little
    desk->settings.poll_us = 2000;
    desk_run(desk);
    assert_true(ears.asked <= 2000);
    assert_int_equal(ears.place, REASONS - 1);
    assert_true(desk_logged(desk, "half a connection"));
}

static void
a_retry_is_not_run_before_it_is_due(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {.acts = {[7] = fails}};
    open_with(desk, &actor);
    desk_fire(desk, 7);
    desk->settings.passes = 1;
    desk_run(desk);
    int64_t at_us = desk_number(desk, "select available_at from owed_delivery");
    desk->f->now_us = at_us - 1;
    desk_run(desk);
    assert_int_equal(actor.calls, 1);
    desk->f->now_us = at_us;
    desk_run(desk);
    assert_int_equal(actor.calls, 2);
}

static owed_outcome
fails_for_good(struct actor *actor, owed_delivery *delivery, const order *order)
{
    (void)actor;
    write_row(delivery, order->id);
    return owed_permanent(delivery, "gone");
}

static owed_outcome
fails_with_big_words(struct actor *actor, owed_delivery *delivery, const order *order)
{
    (void)actor;
    (void)order;
    return owed_failed(delivery, "410 Gone, permanent: retry_after 3600 seconds, not_yet, dead");
}

static void
the_words_of_a_failure_decide_nothing(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {.acts = {[7] = fails_with_big_words}};
    open_with(desk, &actor);
    desk_fire(desk, 7);
    desk->settings.passes = 1;
    desk_run(desk);
    assert_count(desk, "failed", 1);
    assert_int_equal(desk_number(desk, "select attempts from owed_delivery"), 1);
    assert_in_range(desk_number(desk, "select available_at from owed_delivery") - desk->f->now_us,
        0, OWED_SECONDS(2));
    assert_text(desk, "select verdict from owed_attempt", "failed");
}

static void
a_permanent_failure_is_dead_whatever_attempts_are_left(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {.acts = {[7] = fails_for_good}};
    open_with(desk, &actor);
    desk_fire(desk, 7);
    desk_once(desk);
    assert_count(desk, "dead", 1);
    assert_int_equal(desk_number(desk, "select attempts from owed_delivery"), 1);
    assert_text(desk, "select verdict from owed_attempt", "permanent");
    assert_int_equal(desk_written(desk, 7), 0);
    assert_int_equal(desk->counts.dead, 1);
}

static owed_outcome
asks_for_an_hour(struct actor *actor, owed_delivery *delivery, const order *order)
{
    (void)actor;
    (void)order;
    return owed_retry_after(delivery, 3600, "busy");
}

static void
a_destinations_own_word_is_obeyed_without_jitter(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {.acts = {[7] = asks_for_an_hour}};
    open_with(desk, &actor);
    desk_fire(desk, 7);
    desk->settings.passes = 1;
    desk_run(desk);
    assert_count(desk, "failed", 1);
    assert_int_equal(desk_number(desk, "select available_at from owed_delivery"),
        FIXTURE_NOW_US + OWED_HOURS(1));
    assert_int_equal(desk_number(desk, "select attempts from owed_delivery"), 1);
    assert_false(desk_logged(desk, "max-retry-delay"));
}

static void
a_wait_above_the_ceiling_is_cut_and_said(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {.acts = {[7] = asks_for_an_hour}};
    open_with(desk, &actor);
    desk_fire(desk, 7);
    desk->settings.passes = 1;
    desk->settings.max_retry_delay_us = OWED_MINUTES(30);
    desk_run(desk);
    assert_int_equal(desk_number(desk, "select available_at from owed_delivery"),
        FIXTURE_NOW_US + OWED_MINUTES(30));
    assert_true(desk_logged(desk, "receiver=shop.stock delivery=1 asked=1h waits=30m"));
}

static owed_outcome
says_much(struct actor *actor, owed_delivery *delivery, const order *order)
{
    (void)actor;
    (void)order;
    return owed_failed(delivery, "%s", "0123456789\xc3\xa4 and more");
}

static void
an_error_is_cut_to_its_length_at_a_character(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {.acts = {[7] = says_much}};
    open_with(desk, &actor);
    desk_fire(desk, 7);
    desk->settings.passes = 1;
    desk->settings.error_length = 11;
    desk_run(desk);
    assert_text(desk, "select last_error from owed_delivery", "0123456789");
}

static void
a_payload_that_cannot_be_decoded_is_dead_at_once_and_its_receiver_not_called(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {0};
    open_with(desk, &actor);
    fixture_begin(desk->f);
    int64_t id = 0;
    assert_ok(owed_fire_json(
        desk->f->tx, "shop.OrderPlaced", 0, "{\"id\": \"seven\"}", 15, NULL, &id, &desk->f->err));
    fixture_commit(desk->f);
    desk_fire(desk, 8);
    desk_once(desk);
    assert_int_equal(actor.calls, 1);
    assert_count(desk, "dead", 1);
    assert_count(desk, "succeeded", 1);
    assert_int_equal(
        desk_number(desk, "select attempts from owed_delivery where status = 'dead'"), 1);
    assert_text(desk, "select verdict from owed_attempt", "undecodable");
    assert_true(desk_logged(desk, "kind=undecodable now=dead"));
}

static void
a_receiver_that_ends_its_transaction_has_failed(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {.acts = {
                              [1] = writes_and_commits,
                              [2] = writes_and_rolls_back,
                              [3] = begins_anew,
                          }};
    open_with(desk, &actor);
    desk_fire_many(desk, 4);
    desk->settings.passes = 1;
    desk_run(desk);
    assert_count(desk, "failed", 3);
    assert_count(desk, "succeeded", 1);
    // MariaDB cannot be kept from the commit, only be told that nothing was acknowledged by it.
    assert_int_equal(fixture_rows(desk->f), test_store_is("mariadb") ? 2 : 1);
    assert_int_equal(desk_written(desk, 4), 1);
    assert_int_equal(desk_number(desk,
                         "select count(*) from owed_delivery where last_error like "
                         "'receiver shop.stock ended the transaction it was handed%'"),
        3);
}

static owed_outcome
leaves_one_open(struct actor *actor, owed_delivery *delivery, const order *order)
{
    (void)delivery;
    (void)order;
    owed_tx *tx = NULL;
    owed_error err;
    assert_ok(owed_begin(actor->desk->f->owed, &tx, &err));
    return owed_done();
}

static owed_outcome
asks_while_one_is_open(struct actor *actor, owed_delivery *delivery, const order *order)
{
    owed_outcome outcome = leaves_one_open(actor, delivery, order);
    assert_null(owed_delivery_tx(delivery));
    return outcome;
}

static void
a_receiver_that_leaves_a_transaction_of_the_handle_open_has_failed(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {.acts = {[1] = leaves_one_open, [2] = asks_while_one_is_open}};
    open_with(desk, &actor);
    desk_fire_many(desk, 3);
    desk->settings.passes = 1;
    desk_run(desk);
    assert_count(desk, "failed", 2);
    assert_count(desk, "succeeded", 1);
    assert_text(desk, "select last_error from owed_delivery where event_id = 1",
        "receiver shop.stock left a transaction open that it had begun: it was rolled back");
}

static void
a_veto_inside_a_receiver_fails_its_delivery(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {.acts = {[7] = fires_what_is_refused}};
    struct actor guard = {.acts = {[7] = refuses}};
    desk_receiver(desk, &actor, stock);
    desk_receiver(desk, &guard,
        (owed_receiver){.key = "shop.limit", .event = &order_shipped, .mode = OWED_INLINE});
    fixture_open(desk->f);
    desk_fire(desk, 7);
    desk->settings.passes = 1;
    desk_run(desk);
    assert_count(desk, "failed", 1);
    assert_int_equal(desk_written(desk, 7), 0);
    assert_int_equal(
        desk_number(
            desk, "select count(*) from owed_delivery where last_error like '%over the limit'"),
        1);
}

static owed_outcome
breaks_a_promise(struct actor *actor, owed_delivery *delivery, const order *order)
{
    (void)actor;
    (void)order;
    run_sql(delivery, "insert into child (id) values (99)");
    return owed_done();
}

static void
a_commit_that_the_store_refuses_is_a_failure_that_says_why(void **state)
{
    NOT_ON("mariadb", "it has no constraint that waits for the commit");
    struct desk *desk = *state;
    struct actor actor = {.acts = {[7] = breaks_a_promise}};
    open_with(desk, &actor);
    desk_promise(desk);
    desk_fire_many(desk, 8);
    desk->settings.passes = 1;
    desk_run(desk);
    assert_count(desk, "failed", 1);
    assert_count(desk, "succeeded", 7);
    assert_int_equal(desk_number(desk, "select count(*) from child"), 0);
    assert_int_equal(desk_number(desk,
                         "select count(*) from owed_delivery where last_error like "
                         "'the commit of what receiver shop.stock wrote was refused: %'"),
        1);
}

/* --- losses --- */

static void
a_row_that_was_lost_too_often_is_dead_without_another_run(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {0};
    open_with(desk, &actor);
    desk_fire_many(desk, 3);
    raw_run(desk->f->raw,
        "update owed_delivery set status = 'claimed', claimed_by = 'x', claimed_at = moment(1), "
        "lease_expires_at = moment(2), losses = 9 where event_id = 2");
    desk_once(desk);
    assert_int_equal(actor.calls, 2);
    assert_count(desk, "succeeded", 2);
    assert_count(desk, "dead", 1);
    assert_text(desk, "select verdict from owed_attempt", "died");
    assert_int_equal(
        desk_number(desk,
            "select count(*) from owed_delivery where last_error like 'claimed and lost 10 times%'"),
        1);
}

static void
below_the_limit_it_is_run_and_its_outcome_clears_it(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {0};
    open_with(desk, &actor);
    desk_fire(desk, 7);
    raw_run(desk->f->raw,
        "update owed_delivery set status = 'claimed', claimed_by = 'x', claimed_at = moment(1), "
        "lease_expires_at = moment(2), losses = 8");
    desk_once(desk);
    assert_count(desk, "succeeded", 1);
    assert_int_equal(desk_number(desk, "select losses from owed_delivery"), 0);
}

/* --- strangers --- */

static void
rows_of_unknown_receivers_are_left_and_cost_the_known_ones_nothing(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {0};
    open_with(desk, &actor);
    // Owed by an app whose declarations were never published, and older than anything of ours.
    fixture_begin(desk->f);
    for (int64_t i = 1; i <= 5; i++)
        fixture_fire(desk->f, &order_placed, i);
    fixture_commit(desk->f);
    raw_run(
        desk->f->raw, "update owed_delivery set receiver_key = 'other.thing' where event_id <= 3");
    desk->settings.batch_size = 2;
    desk_once(desk);
    assert_int_equal(actor.calls, 2);
    assert_count(desk, "succeeded", 2);
    assert_int_equal(
        desk_number(desk, "select sum(attempts) from owed_delivery where event_id <= 3"), 0);
    assert_int_equal(desk->counts.handed_back, 0);
    assert_true(desk_logged(desk, "receiver not declared here"));
    // Whoever knows them can have them at once.
    assert_int_equal(
        desk_number(desk,
            "select count(*) from owed_delivery where receiver_key = 'other.thing' and "
            "(status = 'pending' or lease_expires_at = moment(0))"),
        3);
}

static void
a_row_whose_receiver_nobody_declares_is_orphaned_after_the_grace(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {0};
    open_with(desk, &actor);
    desk_fire(desk, 7);
    raw_run(desk->f->raw, "update owed_delivery set receiver_key = 'gone.thing'");
    desk->f->now_us += OWED_MINUTES(10) - 1;
    desk_once(desk);
    assert_count(desk, "orphaned", 0);
    desk->f->now_us += 1;
    desk_once(desk);
    assert_count(desk, "orphaned", 1);
    assert_int_equal(desk->counts.orphaned, 1);
    assert_int_equal(desk_number(desk, "select attempts from owed_delivery"), 0);
}

static void
a_receiver_that_is_declared_for_another_event_now_fails_what_it_is_still_owed(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {0};
    open_with(desk, &actor);
    desk_fire(desk, 7);
    raw_run(desk->f->raw, "update owed_event set name = 'shop.OrderShipped'");
    desk->settings.passes = 1;
    desk_run(desk);
    assert_int_equal(actor.calls, 0);
    assert_count(desk, "failed", 1);
}

static void
an_event_that_is_unknown_here_is_left_for_a_relay_that_knows_it(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {0};
    open_with(desk, &actor);
    desk_fire(desk, 7);
    raw_run(desk->f->raw, "update owed_event set name = 'shop.New'");
    desk_once(desk);
    assert_int_equal(actor.calls, 0);
    assert_int_equal(desk_number(desk, "select attempts from owed_delivery"), 0);
    assert_count(desk, "failed", 0);
    assert_count(desk, "dead", 0);
}

static void
an_event_that_was_withdrawn_fails_what_is_still_owed_after_the_grace(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {0};
    open_with(desk, &actor);
    desk_fire(desk, 7);
    char sql[300];
    snprintf(sql, sizeof sql,
        "update owed_event set name = 'shop.Old'; insert into owed_event_type (name, app, version, "
        "published_at, removed_at) values ('shop.Old', 'shop', 1, moment(1), moment(%" PRId64 "))",
        FIXTURE_NOW_US);
    raw_run(desk->f->raw, sql);
    desk->settings.passes = 1;
    desk->f->now_us += OWED_MINUTES(10) - 1;
    desk_run(desk);
    assert_count(desk, "failed", 0);
    desk->f->now_us++;
    desk_run(desk);
    assert_count(desk, "failed", 1);
    assert_int_equal(actor.calls, 0);
    assert_text(desk, "select last_error from owed_delivery",
        "event shop.Old is no longer declared for receiver shop.stock");
}

static owed_outcome
deletes_the_next(struct actor *actor, owed_delivery *delivery, const order *order)
{
    (void)order;
    char sql[128];
    snprintf(sql, sizeof sql, "delete from owed_delivery where event_id = %" PRId64,
        owed_delivery_event_id(delivery) + 1);
    raw_run(actor->desk->f->raw, sql);
    return owed_done();
}

static void
a_row_that_is_deleted_meanwhile_harms_no_other(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {.acts = {[1] = deletes_the_next}};
    open_with(desk, &actor);
    desk_fire_many(desk, 4);
    desk_once(desk);
    assert_count(desk, "succeeded", 3);
    assert_int_equal(desk_written(desk, 2), 0);
    assert_int_equal(desk_written(desk, 4), 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, desk_setup, desk_teardown)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_receiver_that_is_done_has_its_writes_kept_and_its_delivery_succeeded),
        TEST(the_write_and_the_acknowledgement_commit_together),
        TEST(what_a_receiver_fires_is_kept_with_its_success_and_names_its_cause),
        TEST(a_relay_notes_when_its_receivers_last_succeeded),
        TEST(a_worker_whose_row_was_taken_records_nothing_and_what_its_receiver_wrote_vanishes),
        TEST(a_failure_that_was_not_recorded_is_not_logged),
        TEST(what_a_failed_receiver_wrote_vanishes_and_the_row_is_owed_again),
        TEST(retries_spread_over_the_receivers_own_curve),
        TEST(a_curve_that_changes_reaches_what_is_owed_and_max_attempts_do_not),
        TEST(a_success_takes_along_an_event_that_goes_by_it),
        TEST(old_events_go_while_others_are_delivered),
        TEST(a_relay_deletes_nothing_while_another_does),
        TEST(a_relay_that_ends_while_it_deletes_says_what_and_leaves_the_rest_to_others),
        TEST(a_relay_that_hears_of_no_commit_says_so_in_its_row),
        TEST(a_retry_is_not_run_before_it_is_due),
        TEST(the_words_of_a_failure_decide_nothing),
        TEST(a_permanent_failure_is_dead_whatever_attempts_are_left),
        TEST(a_destinations_own_word_is_obeyed_without_jitter),
        TEST(a_wait_above_the_ceiling_is_cut_and_said),
        TEST(an_error_is_cut_to_its_length_at_a_character),
        TEST(a_payload_that_cannot_be_decoded_is_dead_at_once_and_its_receiver_not_called),
        TEST(a_receiver_that_ends_its_transaction_has_failed),
        TEST(a_receiver_that_leaves_a_transaction_of_the_handle_open_has_failed),
        TEST(a_veto_inside_a_receiver_fails_its_delivery),
        TEST(a_commit_that_the_store_refuses_is_a_failure_that_says_why),
        TEST(a_row_that_was_lost_too_often_is_dead_without_another_run),
        TEST(below_the_limit_it_is_run_and_its_outcome_clears_it),
        TEST(rows_of_unknown_receivers_are_left_and_cost_the_known_ones_nothing),
        TEST(a_row_whose_receiver_nobody_declares_is_orphaned_after_the_grace),
        TEST(a_receiver_that_is_declared_for_another_event_now_fails_what_it_is_still_owed),
        TEST(an_event_that_is_unknown_here_is_left_for_a_relay_that_knows_it),
        TEST(an_event_that_was_withdrawn_fails_what_is_still_owed_after_the_grace),
        TEST(a_row_that_is_deleted_meanwhile_harms_no_other),
    };
    return RUN_ON_ALL_STORES("relay", tests);
}
