/* SPDX-License-Identifier: MIT
 *
 * test_ahead.c - what is claimed while receivers run comes in its turn, and goes back at a stop.
 */
#include "desk.h"

#include "base/clock.h"

#define ORDERS 30
#define BATCH 5

static void
open_with(struct desk *desk, struct actor *actor)
{
    desk->f->has_one_clock = true; // no receiver takes any time
    desk->settings.batch_size = BATCH;
    for (int i = 1; i <= ORDERS; i++)
        if (actor->acts[i] == NULL)
            actor->acts[i] = asks_for_nothing;
    desk_receiver(desk, actor, (owed_receiver){.key = "shop.stock"});
    fixture_open(desk->f);
    desk_fire_many(desk, ORDERS);
}

static void
what_was_claimed_ahead_comes_in_its_turn_and_once(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {0};
    open_with(desk, &actor);
    desk_once(desk);
    assert_int_equal(actor.calls, ORDERS);
    for (int i = 0; i < ORDERS; i++)
        assert_int_equal(actor.orders[i], i + 1);
    assert_count(desk, "succeeded", ORDERS);
    assert_int_equal(desk->counts.succeeded, ORDERS);
}

static void
a_stop_gives_back_what_was_claimed_ahead(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {.acts = {[12] = stops}};
    open_with(desk, &actor);
    desk_run(desk);
    assert_int_equal(actor.calls, 12);
    assert_count(desk, "succeeded", 12);
    assert_int_equal(desk_number(desk,
                         "select count(*) from owed_delivery where status = 'claimed'"
                         " and micros(lease_expires_at) > 0"),
        0);
    desk_once(desk);
    assert_int_equal(actor.calls, ORDERS);
    for (int i = 0; i < ORDERS; i++)
        assert_int_equal(actor.orders[i], i + 1);
    assert_int_equal(desk_number(desk, "select sum(losses) from owed_delivery"), 0);
}

/* sees_the_next_batch waits, in the second batch, until rows of the third are claimed. */
static owed_outcome
sees_the_next_batch(struct actor *actor, owed_delivery *delivery, const order *order)
{
    for (int looks = 0; looks < 100000; looks++)
        if (desk_number(
                actor->desk, "select count(*) from owed_delivery where status <> 'pending'") >
            (int64_t)2 * BATCH)
            return asks_for_nothing(actor, delivery, order);
    fail_msg("no row of the next batch is claimed while this one runs");
    return owed_done();
}

static void
the_next_batch_is_claimed_while_receivers_run(void **state)
{
    NOT_ON("sqlite", "with a single writer outcomes go along with the next claim");
    struct desk *desk = *state;
    struct actor actor = {.acts = {[7] = sees_the_next_batch}};
    open_with(desk, &actor);
    desk_once(desk);
    assert_count(desk, "succeeded", ORDERS);
}

static void
where_no_connection_is_to_be_had_for_a_claim_ahead_the_worker_claims_itself(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {0};
    open_with(desk, &actor);
    desk->f->owed->url[0] = '?'; // nothing is found there by who connects from now on
    desk_once(desk);
    assert_int_equal(actor.calls, ORDERS);
    for (int i = 0; i < ORDERS; i++)
        assert_int_equal(actor.orders[i], i + 1);
    assert_count(desk, "succeeded", ORDERS);
}

static int64_t
sessions_of_ours(struct desk *desk)
{
    return desk_number(desk,
        "select count(*) from pg_stat_activity"
        " where datname = current_database() and application_name = 'owed'");
}

static int64_t sessions_before, sessions_at_work;

static owed_outcome
counts_sessions(struct actor *actor, owed_delivery *delivery, const order *order)
{
    sessions_at_work = sessions_of_ours(actor->desk);
    return asks_for_nothing(actor, delivery, order);
}

static void
a_worker_that_begins_with_work_has_no_other_connection_yet(void **state)
{
    ONLY_ON("postgres", "elsewhere nobody listens on a connection");
    struct desk *desk = *state;
    struct actor actor = {.acts = {[1] = counts_sessions}};
    open_with(desk, &actor);
    sessions_before = sessions_of_ours(desk);
    desk_once(desk);
    assert_int_equal(sessions_at_work, sessions_before);
}

/* cuts_all ends every session on the server but the one it does that on. */
static owed_outcome
cuts_all(struct actor *actor, owed_delivery *delivery, const order *order)
{
    struct raw *raw = actor->desk->f->raw;
    if (strcmp(raw_scheme(raw), "postgres") == 0)
        raw_run(raw,
            "select pg_terminate_backend(pid, 10000) from pg_stat_activity"
            " where datname = current_database() and pid <> pg_backend_pid()"
            " and application_name = 'owed'");
    return asks_for_nothing(actor, delivery, order);
}

static void
a_connection_lost_with_a_claim_ahead_loses_and_repeats_nothing_but_the_unrecorded(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {.acts = {[12] = cuts_all}};
    open_with(desk, &actor);
    desk_once(desk);
    store_close(desk->f->other); // it was cut, too
    assert_int_equal(store_open(desk->f->url, &(struct db_options){0}, &desk->f->other, NULL), 0);
    assert_count(desk, "succeeded", ORDERS);
    assert_in_range(actor.calls, ORDERS, ORDERS + BATCH);
    assert_int_equal(desk_number(desk, "select max(attempts) from owed_delivery"), 1);
    assert_int_equal(desk_number(desk, "select sum(losses) from owed_delivery"), 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            what_was_claimed_ahead_comes_in_its_turn_and_once, desk_setup, desk_teardown),
        cmocka_unit_test_setup_teardown(
            the_next_batch_is_claimed_while_receivers_run, desk_setup, desk_teardown),
        cmocka_unit_test_setup_teardown(
            a_stop_gives_back_what_was_claimed_ahead, desk_setup, desk_teardown),
        cmocka_unit_test_setup_teardown(
            where_no_connection_is_to_be_had_for_a_claim_ahead_the_worker_claims_itself, desk_setup,
            desk_teardown),
        cmocka_unit_test_setup_teardown(
            a_worker_that_begins_with_work_has_no_other_connection_yet, desk_setup, desk_teardown),
        cmocka_unit_test_setup_teardown(
            a_connection_lost_with_a_claim_ahead_loses_and_repeats_nothing_but_the_unrecorded,
            desk_setup, desk_teardown),
    };
    return run_on_all_stores("deliver ahead", tests, sizeof tests / sizeof tests[0]);
}
