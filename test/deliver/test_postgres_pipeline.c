/* SPDX-License-Identifier: MIT
 *
 * test_postgres_pipeline.c - receivers that send what they write and wait for no answer: it is written with
 * the work of their neighbours, and what the server refuses is a failure of the one that sent it.
 */
#include "desk.h"

#include <inttypes.h>
#include <owed/postgres.h>
#include <owed/testing.h>
#include <stdio.h>

static const owed_receiver stock = {.key = "shop.stock", .database_only = true};

static void
open_stock(struct desk *desk, struct actor *actor, act others, owed_receiver receiver)
{
    for (size_t i = 0; i < DESK_ORDERS; i++)
        if (actor->acts[i] == NULL)
            actor->acts[i] = others;
    desk_receiver(desk, actor, receiver);
    fixture_open(desk->f);
}

/* run fires orders 1 to count behind order 0, whose receiver is timed by it. */
static void
run(struct desk *desk, int64_t count)
{
    fixture_begin(desk->f);
    for (int64_t i = 0; i <= count; i++)
        fixture_fire(desk->f, &order_placed, i);
    fixture_commit(desk->f);
    desk->settings.passes = 1;
    desk_run(desk);
}

static void
assert_each(struct desk *desk, int64_t count, int64_t but)
{
    for (int64_t i = 1; i <= count; i++)
        if (desk_written(desk, i) != (i != but))
            fail_msg("order %" PRId64 " was written %" PRId64 " times", i, desk_written(desk, i));
    assert_count(desk, "succeeded", count + 1 - (but != 0));
    assert_count(desk, "failed", but != 0);
    assert_int_equal(desk_number(desk, "select max(attempts) from owed_delivery"), 1);
    assert_int_equal(desk_number(desk, "select count(*) from owed_attempt"), but != 0);
    assert_int_equal(desk->counts.succeeded, count + 1 - (but != 0));
    assert_false(desk_logged(desk, "the store failed"));
}

static void
send_ahead(owed_delivery *delivery, const char *sql)
{
    PGconn *conn = owed_delivery_postgres_pipeline(delivery);
    assert_non_null(conn);
    assert_int_equal(PQpipelineStatus(conn) != PQ_PIPELINE_OFF, 1);
    assert_int_equal(PQsendQueryParams(conn, sql, 0, NULL, NULL, NULL, NULL, 0), 1);
}

static owed_outcome
sends(struct actor *actor, owed_delivery *delivery, const order *order)
{
    (void)actor;
    char sql[64];
    snprintf(sql, sizeof sql, "insert into app (id) values (%" PRId64 ")", order->id);
    send_ahead(delivery, sql);
    return owed_done();
}

static owed_outcome
sends_what_is_refused(struct actor *actor, owed_delivery *delivery, const order *order)
{
    sends(actor, delivery, order);
    send_ahead(delivery, "insert into no_such_table values (1)");
    return owed_done();
}

static owed_outcome
sends_and_fails(struct actor *actor, owed_delivery *delivery, const order *order)
{
    sends(actor, delivery, order);
    return owed_failed(delivery, "after all not");
}

static owed_outcome
sends_a_commit(struct actor *actor, owed_delivery *delivery, const order *order)
{
    sends(actor, delivery, order);
    send_ahead(delivery, "commit");
    return owed_done();
}

static void
what_is_sent_ahead_is_written_once_and_together(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {0};
    open_stock(desk, &actor, sends, stock);
    run(desk, 5);
    assert_each(desk, 5, 0);
    assert_int_equal(actor.calls, 6);
}

static void
of_what_is_refused_the_one_that_sent_it_has_failed(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {.acts = {[3] = sends_what_is_refused}};
    open_stock(desk, &actor, sends, stock);
    run(desk, 5);
    assert_each(desk, 5, 3);
    assert_int_equal(actor.calls, 11); // none of 1 to 5 was known to be innocent
    assert_int_equal(
        desk_number(
            desk, "select count(*) from owed_delivery where last_error like '%no_such_table%'"),
        1);
}

static void
one_that_waits_for_answers_is_not_blamed_for_what_another_sent(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {.acts = {[2] = sends_what_is_refused, [4] = sends_what_is_refused}};
    open_stock(desk, &actor, writes, stock);
    run(desk, 5);
    for (int64_t i = 0; i <= 5; i++)
        assert_int_equal(desk_written(desk, i), i != 2 && i != 4);
    assert_count(desk, "failed", 2);
    assert_int_equal(
        desk_number(
            desk, "select count(*) from owed_delivery where last_error like '%no_such_table%'"),
        2);
    assert_int_equal(desk_number(desk, "select max(attempts) from owed_delivery"), 1);
}

static void
those_that_wait_and_those_that_do_not_share_a_transaction(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {.acts = {[1] = sends, [2] = sends, [4] = sends, [5] = sends}};
    open_stock(desk, &actor, writes, stock);
    run(desk, 6);
    assert_each(desk, 6, 0);
    assert_int_equal(actor.calls, 7);
}

static void
what_a_failed_one_sent_is_undone(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {.acts = {[3] = sends_and_fails}};
    open_stock(desk, &actor, sends, stock);
    run(desk, 5);
    assert_each(desk, 5, 3);
    assert_text(
        desk, "select last_error from owed_delivery where status = 'failed'", "after all not");
}

static void
one_that_sends_a_commit_has_failed_and_nothing_of_it_is_kept(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {.acts = {[3] = sends_a_commit}};
    open_stock(desk, &actor, sends, stock);
    run(desk, 5);
    assert_each(desk, 5, 3);
}

static void
one_alone_fails_in_the_servers_words_and_runs_once(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {.acts = {[1] = sends_what_is_refused}};
    open_stock(desk, &actor, sends, (owed_receiver){.key = "shop.plain"});
    run(desk, 2);
    assert_each(desk, 2, 1);
    assert_int_equal(actor.calls, 3);
    assert_int_equal(
        desk_number(
            desk, "select count(*) from owed_delivery where last_error like '%no_such_table%'"),
        1);
}

static owed_outcome
meets_a_lock(struct actor *actor, owed_delivery *delivery, const order *order)
{
    sends(actor, delivery, order);
    send_ahead(delivery, "select pg_advisory_xact_lock(4711)");
    // Its turn comes again with a savepoint, and then alone: there it may wait.
    if (++*(int *)actor->state == 3)
        raw_run(actor->desk->f->raw, "select pg_advisory_unlock(4711)");
    return owed_done();
}

static void
a_lock_that_others_hold_is_no_attempt(void **state)
{
    struct desk *desk = *state;
    int times = 0;
    struct actor actor = {.acts = {[3] = meets_a_lock}, .state = &times};
    open_stock(desk, &actor, sends, stock);
    raw_run(desk->f->raw, "select pg_advisory_lock(4711)");
    run(desk, 5);
    assert_each(desk, 5, 0);
    assert_int_equal(times, 3);
}

static owed_outcome
cannot_send(struct actor *actor, owed_delivery *delivery, const order *order)
{
    assert_null(owed_delivery_postgres_pipeline(delivery));
    return writes(actor, delivery, order);
}

static void
inside_a_transaction_of_the_callers_nothing_is_sent_ahead(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {0};
    open_stock(desk, &actor, cannot_send, stock);
    fixture_begin(desk->f);
    fixture_fire(desk->f, &order_placed, 1);
    owed_relay_counts counts = {0};
    assert_ok(owed_drain(desk->f->owed, 0, &counts, &desk->f->err));
    fixture_commit(desk->f);
    assert_int_equal(counts.succeeded, 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, desk_setup, desk_teardown)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_is_sent_ahead_is_written_once_and_together),
        TEST(of_what_is_refused_the_one_that_sent_it_has_failed),
        TEST(one_that_waits_for_answers_is_not_blamed_for_what_another_sent),
        TEST(those_that_wait_and_those_that_do_not_share_a_transaction),
        TEST(what_a_failed_one_sent_is_undone),
        TEST(one_that_sends_a_commit_has_failed_and_nothing_of_it_is_kept),
        TEST(one_alone_fails_in_the_servers_words_and_runs_once),
        TEST(a_lock_that_others_hold_is_no_attempt),
        TEST(inside_a_transaction_of_the_callers_nothing_is_sent_ahead),
    };
    return run_on_stores("postgres", "postgres pipeline", tests, sizeof tests / sizeof tests[0]);
}
