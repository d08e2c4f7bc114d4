/* SPDX-License-Identifier: MIT
 *
 * test_postgres_pipeline.c - receivers that send in a pipeline of libpq.
 */
#include "sent_ahead_cases.h"

#include <inttypes.h>
#include <owed/postgres.h>
#include <owed/testing.h>
#include <stdio.h>

void
send_ahead(owed_delivery *delivery, const char *sql)
{
    PGconn *conn = owed_delivery_postgres_pipeline(delivery);
    assert_non_null(conn);
    assert_int_equal(PQpipelineStatus(conn) != PQ_PIPELINE_OFF, 1);
    assert_int_equal(PQsendQueryParams(conn, sql, 0, NULL, NULL, NULL, NULL, 0), 1);
}

static owed_outcome
sends_a_commit(struct actor *actor, owed_delivery *delivery, const order *order)
{
    sends(actor, delivery, order);
    send_ahead(delivery, "commit");
    return owed_done();
}

static void
one_that_sends_a_commit_has_failed_and_nothing_of_it_is_kept(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {.acts = {[3] = sends_a_commit}};
    open_stock(desk, &actor, sends, stock);
    desk_run_orders(desk, 5);
    assert_each(desk, 5, 3);
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
    desk_run_orders(desk, 5);
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

int
main(void)
{
    const struct CMUnitTest tests[] = {
        SENT_AHEAD_TESTS,
        SENT_AHEAD_TEST(one_that_sends_a_commit_has_failed_and_nothing_of_it_is_kept),
        SENT_AHEAD_TEST(a_lock_that_others_hold_is_no_attempt),
        SENT_AHEAD_TEST(inside_a_transaction_of_the_callers_nothing_is_sent_ahead),
    };
    return run_on_stores("postgres", "postgres pipeline", tests, sizeof tests / sizeof tests[0]);
}
