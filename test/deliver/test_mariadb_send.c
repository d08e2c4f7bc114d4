/* SPDX-License-Identifier: MIT
 *
 * test_mariadb_send.c - receivers that send by owed_delivery_mariadb_send.
 */
#include "sent_ahead_cases.h"

#include <inttypes.h>
#include <owed/mariadb.h>
#include <owed/testing.h>
#include <stdio.h>

void
send_ahead(owed_delivery *delivery, const char *sql)
{
    owed_error err;
    assert_ok(owed_delivery_mariadb_send(delivery, sql, strlen(sql), &err));
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
nobody_can_commit_by_what_he_sends(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {.acts = {[3] = sends_what_commits}};
    open_stock(desk, &actor, sends, stock);
    desk_run_orders(desk, 5);
    assert_each(desk, 5, 0);
}

static void
a_text_is_one_statement_whatever_the_connection_was_set_to(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {.acts = {[3] = has_several_statements}};
    open_stock(desk, &actor, sends, stock);
    desk_run_orders(desk, 5);
    assert_each(desk, 5, 3);
}

static void
one_that_commits_takes_nothing_along_of_those_that_sent(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {.acts = {[3] = writes_and_commits}};
    open_stock(desk, &actor, sends, stock);
    desk_run_orders(desk, 5);
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
    desk_run_orders(desk, 40);
    assert_each(desk, 40, 0);
    assert_int_equal(actor.calls, 41);
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
    desk_run_orders(desk, 5);
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
    desk_run_orders(desk, 5);
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

int
main(void)
{
    const struct CMUnitTest tests[] = {
        SENT_AHEAD_TESTS,
        SENT_AHEAD_TEST(more_is_sent_than_answers_may_be_unread),
        SENT_AHEAD_TEST(nobody_can_commit_by_what_he_sends),
        SENT_AHEAD_TEST(a_text_is_one_statement_whatever_the_connection_was_set_to),
        SENT_AHEAD_TEST(one_that_commits_takes_nothing_along_of_those_that_sent),
        SENT_AHEAD_TEST(a_lock_that_others_hold_is_no_attempt),
        SENT_AHEAD_TEST(what_was_sent_behind_a_deadlock_is_not_committed_by_itself),
        SENT_AHEAD_TEST(inside_a_transaction_of_the_callers_it_is_run_at_once),
    };
    return run_on_stores("mariadb", "mariadb send", tests, sizeof tests / sizeof tests[0]);
}
