/* SPDX-License-Identifier: MIT
 *
 * test_relay_ends.c - what a relay serves, how much of it, and how it stops.
 */
#include "desk.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/clock.h"

static const owed_receiver stock = {.key = "shop.stock"};

static void
open_with(struct desk *desk, struct actor *actor)
{
    desk_receiver(desk, actor, stock);
    fixture_open(desk->f);
}

static owed_status
try_run(struct desk *desk)
{
    return relay_work(desk->f->owed, &desk->settings, &desk->seat, &desk->counts, &desk->f->err);
}

static void
assert_refused(struct desk *desk, const char *words)
{
    assert_status(OWED_INVALID, try_run(desk));
    assert_says(desk->f->err, words);
}

/* --- settings --- */

static void
contradictions_and_numbers_out_of_range_are_refused_by_name(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {0};
    open_with(desk, &actor);
    desk->settings = (owed_relay_settings){.limit = 3, .batch_size = 3};
    assert_refused(desk, "limit and batch_size exclude each other");
    desk->settings = (owed_relay_settings){.batch_size = -1};
    assert_refused(desk, "batch_size is -1: it may be 1 to 10000");
    desk->settings = (owed_relay_settings){.batch_size = 10001};
    assert_refused(desk, "batch_size is 10001");
    desk->settings = (owed_relay_settings){.limit = -1};
    assert_refused(desk, "limit is negative");
    desk->settings = (owed_relay_settings){.passes = -1};
    assert_refused(desk, "passes is negative");
    desk->settings = (owed_relay_settings){.lease_us = -5};
    assert_refused(desk, "lease_us is -5");
    desk->settings = (owed_relay_settings){.max_attempts = -1};
    assert_refused(desk, "max_attempts is -1");
    desk->settings = (owed_relay_settings){.orphan_grace_us = -2};
    assert_refused(desk, "orphan_grace_us is -2");
    desk->settings = (owed_relay_settings){.backoff_base_us = 10, .backoff_cap_us = 9};
    assert_refused(desk, "backoff_cap_us (9) is below backoff_base_us (10)");
    desk->settings = (owed_relay_settings){.worker_id = ""};
    assert_refused(desk, "worker_id must have 1 to 128 bytes");
    desk->settings = (owed_relay_settings){.worker_id = "caf\xc3\xa9"};
    assert_refused(desk, "letters, digits and signs of ASCII");
    desk->settings = (owed_relay_settings){.worker_id = "two words"};
    assert_refused(desk, "letters, digits and signs of ASCII");
    const char *const lanes[] = {"default", NULL};
    desk->settings = (owed_relay_settings){.all_lanes = true, .lanes = lanes};
    assert_refused(desk, "lanes and all_lanes exclude each other");
}

static void
no_relay_runs_while_a_transaction_is_open(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {0};
    open_with(desk, &actor);
    fixture_begin(desk->f);
    assert_refused(desk, "a transaction is open on this handle");
    owed_rollback(desk->f->tx);
}

static void
a_timeout_is_refused_where_nobody_could_enforce_it(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {0};
    desk_receiver(
        desk, &actor, (owed_receiver){.key = "shop.stock", .timeout_us = OWED_SECONDS(1)});
    fixture_open(desk->f);
    assert_status(
        OWED_INVALID, owed_relay_run(desk->f->owed, &desk->settings, NULL, &desk->f->err));
    assert_says(desk->f->err, "receiver shop.stock declares a timeout");
}

static void
the_worker_is_named_after_host_and_process_or_as_told(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {.acts = {[1] = is_robbed, [2] = asks_for_nothing}};
    open_with(desk, &actor);
    desk_fire(desk, 2);
    desk->settings.worker_id = "packer";
    desk_once(desk);
    char by[256];
    desk_text(desk, "select claimed_by from owed_delivery", by);
    assert_int_equal(strncmp(by, "packer.", 7), 0);
    assert_int_equal(strlen(by), strlen("packer.12345678/0"));
    desk->settings.worker_id = NULL;
    desk_fire(desk, 2);
    desk_once(desk);
    char id[RELAY_WORKER_ID_BYTES];
    relay_worker_id(id);
    desk_text(desk, "select claimed_by from owed_delivery order by id desc", by);
    assert_int_equal(strncmp(by, id, strlen(id)), 0);
}

/* --- lanes --- */

static void
open_lanes(struct desk *desk, struct actor *actor)
{
    desk_receiver(desk, actor, stock);
    desk_receiver(desk, actor, (owed_receiver){.key = "shop.mail", .lane = "mail"});
    desk_receiver(desk, actor, (owed_receiver){.key = "shop.hooks", .lane = "hooks"});
    fixture_open(desk->f);
    desk_fire(desk, 1);
}

static int64_t
succeeded_of(struct desk *desk, const char *receiver)
{
    char sql[160];
    snprintf(sql, sizeof sql,
        "select count(*) from owed_delivery where status = 'succeeded' and receiver_key = '%s'",
        receiver);
    return desk_number(desk, sql);
}

static void
a_bare_relay_serves_default_and_says_what_it_does_not_serve(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {0};
    open_lanes(desk, &actor);
    desk_once(desk);
    assert_int_equal(succeeded_of(desk, "shop.stock"), 1);
    assert_count(desk, "succeeded", 1);
    assert_true(desk_logged(desk, "not_served=\"mail, hooks\""));
}

static void
a_named_lane_is_served_alone_in_both_spellings(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {0};
    open_lanes(desk, &actor);
    const char *const mail[] = {"mail", NULL};
    desk->settings.lanes = mail;
    desk_once(desk);
    assert_int_equal(succeeded_of(desk, "shop.mail"), 1);
    assert_count(desk, "succeeded", 1);
    const char *const hooks[] = {"shop/hooks", NULL};
    desk->settings.lanes = hooks;
    desk_once(desk);
    assert_int_equal(succeeded_of(desk, "shop.hooks"), 1);
    assert_count(desk, "succeeded", 2);
    assert_false(desk_logged(desk, "not_served"));
}

static void
all_lanes_are_served_when_asked_for(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {0};
    open_lanes(desk, &actor);
    desk->settings.all_lanes = true;
    desk_once(desk);
    assert_count(desk, "succeeded", 3);
}

static void
an_unknown_lane_is_refused_and_the_known_ones_are_named(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {0};
    open_lanes(desk, &actor);
    const char *const lanes[] = {"male", NULL};
    desk->settings.lanes = lanes;
    assert_refused(desk,
        "nobody declares lane \"male\": there is default, mail, hooks; a side lane of a replay begins with \"+\"");
}

/* --- how much --- */

static void
once_goes_on_until_a_claim_comes_back_empty(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {0};
    open_with(desk, &actor);
    desk_fire_many(desk, 7);
    desk->settings.batch_size = 2;
    desk_once(desk);
    assert_count(desk, "succeeded", 7);
    assert_int_equal(desk->wait_count, 0);
}

static owed_outcome
fires_the_next(struct actor *actor, owed_delivery *delivery, const order *placed)
{
    (void)actor;
    order next = {.id = placed->id + 1, .currency = "EUR"};
    int64_t id = 0;
    owed_error err;
    if (next.id < 5)
        assert_ok(owed_fire(owed_delivery_tx(delivery), &order_placed, &next, NULL, &id, &err));
    return owed_done();
}

static void
once_delivers_what_a_receiver_fires_as_well(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {0};
    for (size_t i = 0; i < DESK_ORDERS; i++)
        actor.acts[i] = fires_the_next;
    open_with(desk, &actor);
    desk_fire(desk, 1);
    desk_once(desk);
    assert_count(desk, "succeeded", 4);
}

static void
passes_are_counted(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {0};
    open_with(desk, &actor);
    desk_fire_many(desk, 7);
    desk->settings.batch_size = 2;
    desk->settings.passes = 2;
    desk_run(desk);
    assert_count(desk, "succeeded", 4);
}

static void
a_limit_attempts_so_many_rows(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {0};
    open_with(desk, &actor);
    desk_fire_many(desk, 7);
    desk->settings.limit = 5;
    desk_run(desk);
    assert_int_equal(actor.calls, 5);
    assert_count(desk, "succeeded", 5);
    desk_run(desk);
    assert_count(desk, "succeeded", 7);
}

static owed_outcome
asks_for_no_time(struct actor *actor, owed_delivery *delivery, const order *order)
{
    (void)actor;
    (void)order;
    return owed_retry_after(delivery, 0, "again");
}

static void
under_a_limit_no_row_comes_twice(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {.acts = {[1] = asks_for_no_time, [2] = asks_for_no_time}};
    open_with(desk, &actor);
    desk_fire_many(desk, 2);
    desk->settings.limit = 100;
    desk_run(desk);
    assert_int_equal(actor.calls, 2);
    assert_count(desk, "failed", 2);
}

static owed_outcome
moves_the_clock(struct actor *actor, owed_delivery *delivery, const order *order)
{
    actor->desk->f->now_us += OWED_HOURS(3);
    return writes_and_fails(actor, delivery, order);
}

static void
under_a_limit_no_row_comes_twice_however_long_it_takes(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {.acts = {[1] = fails, [2] = moves_the_clock}};
    open_with(desk, &actor);
    desk_fire_many(desk, 3);
    desk->settings.limit = 100;
    desk_run(desk);
    assert_int_equal(actor.calls, 3);
    assert_count(desk, "failed", 2);
    assert_count(desk, "succeeded", 1);
}

/* --- stopping --- */

static void
a_stop_finishes_the_one_in_hand_and_hands_back_the_rest(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {.acts = {[2] = stops}};
    open_with(desk, &actor);
    desk_fire_many(desk, 6);
    desk_run(desk);
    assert_int_equal(actor.calls, 2);
    assert_count(desk, "succeeded", 2);
    assert_int_equal(desk->counts.succeeded, 2);
    assert_int_equal(desk->counts.handed_back, 4);
    assert_int_equal(desk_number(desk, "select sum(attempts) from owed_delivery"), 2);
    assert_true(desk_logged(desk, "handed_back=4"));
}

static void
what_was_handed_back_is_claimed_at_once_in_the_old_order(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {.acts = {[2] = stops}};
    open_with(desk, &actor);
    desk_fire_many(desk, 5);
    desk_run(desk);
    desk_fire(desk, 6); // newer than what was handed back
    actor.acts[2] = NULL;
    desk->settings.worker_id = "another";
    desk_once(desk);
    for (int i = 0; i < 6; i++)
        assert_int_equal(actor.orders[i], i + 1);
    assert_count(desk, "succeeded", 6);
    assert_int_equal(desk_number(desk, "select max(losses) from owed_delivery"), 0);
    assert_int_equal(desk_number(desk, "select max(attempts) from owed_delivery"), 1);
}

static void
a_group_that_is_open_when_a_stop_comes_is_committed(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {.acts = {[4] = stops}};
    desk_receiver(desk, &actor, (owed_receiver){.key = "shop.stock", .database_only = true});
    fixture_open(desk->f);
    desk_fire_many(desk, 8);
    desk_run(desk);
    assert_count(desk, "succeeded", 4);
    assert_int_equal(fixture_rows(desk->f), 4);
    assert_int_equal(desk->counts.handed_back, 4);
    assert_int_equal(actor.calls, 4);
}

static void
stop_at_wait(struct desk *desk)
{
    owed_relay_stop(desk->f->owed);
}

static void
a_stop_ends_a_wait_and_the_next_relay_runs_again(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {0};
    open_with(desk, &actor);
    desk->at_wait = stop_at_wait;
    desk_run(desk);
    assert_int_equal(desk->wait_count, 1);
    desk_fire(desk, 1);
    desk_once(desk);
    assert_count(desk, "succeeded", 1);
}

/* --- waiting --- */

static int64_t
last_wait(const struct desk *desk)
{
    return desk->waits[desk->wait_count - 1];
}

static void
an_idle_relay_waits_at_most_the_poll(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {0};
    open_with(desk, &actor);
    desk->settings.poll_us =
        US_PER_SECOND; // twenty of them come before any upkeep, which would cut one short
    desk->settings.passes = 20;
    desk_run(desk);
    assert_int_equal(desk->wait_count, 19);
    int64_t least = INT64_MAX;
    int64_t most = 0;
    for (size_t i = 0; i < desk->wait_count; i++) {
        least = desk->waits[i] < least ? desk->waits[i] : least;
        most = desk->waits[i] > most ? desk->waits[i] : most;
    }
    assert_in_range(least, US_PER_SECOND * 15 / 16, US_PER_SECOND);
    assert_in_range(most, US_PER_SECOND * 15 / 16, US_PER_SECOND);
    assert_true(least != most);
}

static void
it_wakes_when_the_next_row_falls_due(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {0};
    open_with(desk, &actor);
    fixture_begin(desk->f);
    order payload = {.id = 1, .currency = "EUR"};
    const owed_fire_options options = {.due_at_us = FIXTURE_NOW_US + 300 * US_PER_MS};
    int64_t id = 0;
    assert_ok(owed_fire(desk->f->tx, &order_placed, &payload, &options, &id, &desk->f->err));
    fixture_commit(desk->f);
    desk->settings.passes = 2;
    desk_run(desk);
    assert_int_equal(desk->wait_count, 1);
    assert_int_equal(last_wait(desk), 300 * US_PER_MS);
    assert_count(desk, "succeeded", 1);
}

static void
a_row_that_cannot_be_run_here_makes_no_hot_loop(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {0};
    open_with(desk, &actor);
    desk_fire(desk, 1);
    raw_run(desk->f->raw, "update owed_event set name = 'shop.New'");
    desk->settings.passes = 12;
    desk_run(desk);
    int64_t total = desk->f->now_us - FIXTURE_NOW_US;
    assert_true(total > OWED_SECONDS(4));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, desk_setup, desk_teardown)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(contradictions_and_numbers_out_of_range_are_refused_by_name),
        TEST(no_relay_runs_while_a_transaction_is_open),
        TEST(a_timeout_is_refused_where_nobody_could_enforce_it),
        TEST(the_worker_is_named_after_host_and_process_or_as_told),
        TEST(a_bare_relay_serves_default_and_says_what_it_does_not_serve),
        TEST(a_named_lane_is_served_alone_in_both_spellings),
        TEST(all_lanes_are_served_when_asked_for),
        TEST(an_unknown_lane_is_refused_and_the_known_ones_are_named),
        TEST(once_goes_on_until_a_claim_comes_back_empty),
        TEST(once_delivers_what_a_receiver_fires_as_well),
        TEST(passes_are_counted),
        TEST(a_limit_attempts_so_many_rows),
        TEST(under_a_limit_no_row_comes_twice),
        TEST(under_a_limit_no_row_comes_twice_however_long_it_takes),
        TEST(a_stop_finishes_the_one_in_hand_and_hands_back_the_rest),
        TEST(what_was_handed_back_is_claimed_at_once_in_the_old_order),
        TEST(a_group_that_is_open_when_a_stop_comes_is_committed),
        TEST(a_stop_ends_a_wait_and_the_next_relay_runs_again),
        TEST(an_idle_relay_waits_at_most_the_poll),
        TEST(it_wakes_when_the_next_row_falls_due),
        TEST(a_row_that_cannot_be_run_here_makes_no_hot_loop),
    };
    return RUN_ON_ALL_STORES("how a relay ends", tests);
}
