/* SPDX-License-Identifier: MIT
 *
 * test_mariadb_send.c - receivers that send what they write and wait for no answer: it is written with the work
 * of their neighbours, and what the server refuses is a failure of the one that sent it.
 */
#include "desk.h"

#include <inttypes.h>
#include <owed/mariadb.h>
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
    owed_error err;
    assert_ok(owed_delivery_mariadb_send(delivery, sql, strlen(sql), &err));
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

/* sends_what commits is refused before it is sent. */
static owed_outcome
sends_what_commits(struct actor *actor, owed_delivery *delivery, const order *order)
{
    static const char *const texts[] = {"commit", " /* insert */ commit", "create table t (a int)",
        "call owed_fire('a.B', '{}')", "insert/**/into app values (1)", ""};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        owed_error err;
        assert_status(
            OWED_INVALID, owed_delivery_mariadb_send(delivery, texts[i], strlen(texts[i]), &err));
        assert_says(err, "cannot be sent ahead");
    }
    return sends(actor, delivery, order);
}

/* has_several_statements finds out that a text is one, whatever the connection was set to. */
static owed_outcome
has_several_statements(struct actor *actor, owed_delivery *delivery, const order *order)
{
    MYSQL *handle = owed_delivery_mariadb(delivery);
    assert_int_equal(mysql_set_server_option(handle, MYSQL_OPTION_MULTI_STATEMENTS_ON), 0);
    sends(actor, delivery, order);
    send_ahead(delivery, "insert into app (id) values (3); commit");
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
nobody_can_commit_by_what_he_sends(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {.acts = {[3] = sends_what_commits}};
    open_stock(desk, &actor, sends, stock);
    run(desk, 5);
    assert_each(desk, 5, 0);
}

static void
a_text_is_one_statement_whatever_the_connection_was_set_to(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {.acts = {[3] = has_several_statements}};
    open_stock(desk, &actor, sends, stock);
    run(desk, 5);
    assert_each(desk, 5, 3);
}

static void
one_that_commits_takes_nothing_along_of_those_that_sent(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {.acts = {[3] = writes_and_commits}};
    open_stock(desk, &actor, sends, stock);
    run(desk, 5);
    for (int64_t i = 0; i <= 5; i++)
        assert_int_equal(desk_written(desk, i), 1);
    assert_count(desk, "succeeded", 5);
    assert_count(desk, "failed", 1);
    assert_int_equal(desk_number(desk, "select max(attempts) from owed_delivery"), 1);
}

static owed_outcome
sends_thrice(struct actor *actor, owed_delivery *delivery, const order *order)
{
    sends(actor, delivery, order);
    send_ahead(delivery, "update app set id = id where id = -1");
    send_ahead(delivery, "delete from app where id = -1 returning id");
    return owed_done();
}

static void
more_is_sent_than_answers_may_be_unread(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {0};
    open_stock(desk, &actor, sends_thrice, stock);
    run(desk, 40);
    assert_each(desk, 40, 0);
    assert_int_equal(actor.calls, 41);
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

#define UPDATE_SHELF "update shelf set id = id where id = "

static void
make_shelves(struct desk *desk)
{
    raw_run(desk->f->raw, "drop table if exists shelf");
    raw_run(desk->f->raw, "create table shelf (id bigint primary key) engine = InnoDB");
    raw_run(desk->f->raw, "insert into shelf values (1), (2)");
}

static owed_outcome
meets_a_lock(struct actor *actor, owed_delivery *delivery, const order *order)
{
    sends(actor, delivery, order);
    send_ahead(delivery, UPDATE_SHELF "1");
    // Its turn comes again with a savepoint, and then alone: there it may wait.
    if (++*(int *)actor->state == 3)
        raw_run(actor->desk->f->raw, "rollback");
    return owed_done();
}

static void
a_lock_that_others_hold_is_no_attempt(void **state)
{
    struct desk *desk = *state;
    int times = 0;
    struct actor actor = {.acts = {[3] = meets_a_lock}, .state = &times};
    open_stock(desk, &actor, sends, stock);
    make_shelves(desk);
    raw_run(desk->f->raw, "begin");
    raw_run(desk->f->raw, UPDATE_SHELF "1");
    run(desk, 5);
    assert_each(desk, 5, 0);
    assert_int_equal(times, 3);
}

/* meets_a_deadlock: the other session has changed more, so that the server undoes this one. */
static owed_outcome
meets_a_deadlock(struct actor *actor, owed_delivery *delivery, const order *order)
{
    MYSQL *other = raw_native(actor->desk->f->raw);
    int *times = actor->state;
    if (++*times == 2) {
        assert_int_equal(mysql_read_query_result(other), 0);
        raw_run(actor->desk->f->raw, "rollback");
    }
    if (*times > 1)
        return sends(actor, delivery, order);
    struct raw *third = raw_open(actor->desk->f->url);
    int64_t session = raw_session(actor->desk->f->raw);
    sends(actor, delivery, order);
    send_ahead(delivery, UPDATE_SHELF "2");
    while (raw_number(third, "select count(*) from shelf where id = 2 for update skip locked") > 0)
        continue;
    assert_int_equal(mysql_send_query(other, UPDATE_SHELF "2", strlen(UPDATE_SHELF "2")), 0);
    raw_await_waiter(third, session);
    raw_close(third);
    send_ahead(delivery, UPDATE_SHELF "1");
    return owed_done();
}

static void
what_was_sent_behind_a_deadlock_is_not_committed_by_itself(void **state)
{
    struct desk *desk = *state;
    int times = 0;
    struct actor actor = {.acts = {[1] = meets_a_deadlock}, .state = &times};
    open_stock(desk, &actor, sends, stock);
    make_shelves(desk);
    raw_run(desk->f->raw, "begin");
    raw_run(desk->f->raw, "insert into shelf select seq from seq_100_to_300");
    raw_run(desk->f->raw, UPDATE_SHELF "1");
    run(desk, 5);
    assert_each(desk, 5, 0);
    assert_true(times > 1);
}

static void
inside_a_transaction_of_the_callers_it_is_run_at_once(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {.acts = {[2] = sends_what_commits}};
    open_stock(desk, &actor, sends, stock);
    fixture_begin(desk->f);
    fixture_fire(desk->f, &order_placed, 1);
    fixture_fire(desk->f, &order_placed, 2);
    owed_relay_counts counts = {0};
    assert_ok(owed_drain(desk->f->owed, 0, &counts, &desk->f->err));
    fixture_commit(desk->f);
    assert_int_equal(counts.succeeded, 2);
    assert_int_equal(desk_written(desk, 1), 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, desk_setup, desk_teardown)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_is_sent_ahead_is_written_once_and_together),
        TEST(more_is_sent_than_answers_may_be_unread),
        TEST(of_what_is_refused_the_one_that_sent_it_has_failed),
        TEST(one_that_waits_for_answers_is_not_blamed_for_what_another_sent),
        TEST(those_that_wait_and_those_that_do_not_share_a_transaction),
        TEST(what_a_failed_one_sent_is_undone),
        TEST(nobody_can_commit_by_what_he_sends),
        TEST(a_text_is_one_statement_whatever_the_connection_was_set_to),
        TEST(one_that_commits_takes_nothing_along_of_those_that_sent),
        TEST(one_alone_fails_in_the_servers_words_and_runs_once),
        TEST(a_lock_that_others_hold_is_no_attempt),
        TEST(what_was_sent_behind_a_deadlock_is_not_committed_by_itself),
        TEST(inside_a_transaction_of_the_callers_it_is_run_at_once),
    };
    return run_on_stores("mariadb", "mariadb send", tests, sizeof tests / sizeof tests[0]);
}
