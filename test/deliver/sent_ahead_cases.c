/* SPDX-License-Identifier: MIT
 *
 * sent_ahead_cases.c - what holds of receivers that send and wait for no answer, on each server that has it.
 */
#include "sent_ahead_cases.h"

#include <inttypes.h>
#include <stdio.h>

#include <owed/testing.h>

const owed_receiver stock = {.key = "shop.stock", .database_only = true};

void
open_stock(struct desk *desk, struct actor *actor, act others, owed_receiver receiver)
{
    for (size_t i = 0; i < DESK_ORDERS; i++)
        if (actor->acts[i] == NULL)
            actor->acts[i] = others;
    desk_receiver(desk, actor, receiver);
    fixture_open(desk->f);
}

void
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

owed_outcome
sends(struct actor *actor, owed_delivery *delivery, const order *order)
{
    (void)actor;
    char sql[64];
    snprintf(sql, sizeof sql, "insert into app (id) values (%" PRId64 ")", order->id);
    send_ahead(delivery, sql);
    return owed_done();
}

owed_outcome
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

void
what_is_sent_ahead_is_written_once_and_together(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {0};
    open_stock(desk, &actor, sends, stock);
    desk_run_orders(desk, 5);
    assert_each(desk, 5, 0);
    assert_int_equal(actor.calls, 6);
}

void
of_what_is_refused_the_one_that_sent_it_has_failed(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {.acts = {[3] = sends_what_is_refused}};
    open_stock(desk, &actor, sends, stock);
    desk_run_orders(desk, 5);
    assert_each(desk, 5, 3);
    assert_int_equal(actor.calls, 11); // none of 1 to 5 was known to be innocent
    assert_int_equal(
        desk_number(
            desk, "select count(*) from owed_delivery where last_error like '%no_such_table%'"),
        1);
}

void
one_that_waits_for_answers_is_not_blamed_for_what_another_sent(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {.acts = {[2] = sends_what_is_refused, [4] = sends_what_is_refused}};
    open_stock(desk, &actor, writes, stock);
    desk_run_orders(desk, 5);
    for (int64_t i = 0; i <= 5; i++)
        assert_int_equal(desk_written(desk, i), i != 2 && i != 4);
    assert_count(desk, "failed", 2);
    assert_int_equal(
        desk_number(
            desk, "select count(*) from owed_delivery where last_error like '%no_such_table%'"),
        2);
    assert_int_equal(desk_number(desk, "select max(attempts) from owed_delivery"), 1);
}

void
those_that_wait_and_those_that_do_not_share_a_transaction(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {.acts = {[1] = sends, [2] = sends, [4] = sends, [5] = sends}};
    open_stock(desk, &actor, writes, stock);
    desk_run_orders(desk, 6);
    assert_each(desk, 6, 0);
    assert_int_equal(actor.calls, 7);
}

void
what_a_failed_one_sent_is_undone(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {.acts = {[3] = sends_and_fails}};
    open_stock(desk, &actor, sends, stock);
    desk_run_orders(desk, 5);
    assert_each(desk, 5, 3);
    assert_text(
        desk, "select last_error from owed_delivery where status = 'failed'", "after all not");
}

void
one_alone_fails_in_the_servers_words_and_runs_once(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {.acts = {[1] = sends_what_is_refused}};
    open_stock(desk, &actor, sends, (owed_receiver){.key = "shop.plain"});
    desk_run_orders(desk, 2);
    assert_each(desk, 2, 1);
    assert_int_equal(actor.calls, 3);
    assert_int_equal(
        desk_number(
            desk, "select count(*) from owed_delivery where last_error like '%no_such_table%'"),
        1);
}
