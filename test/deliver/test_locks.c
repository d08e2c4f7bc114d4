/* SPDX-License-Identifier: MIT
 *
 * test_locks.c - receivers on a server whose rows others hold: in a group they do not wait for them, and
 * a deadlock is repeated. The others are real sessions.
 */
#include "desk.h"

#include <pthread.h>

#include "base/clock.h"

static const owed_receiver stock = {.key = "shop.stock", .database_only = true};

/* An application that holds one row of a shelf, and may want the other. */
static struct {
    struct raw *raw;
    pthread_t thread;
} shopper;

static int
setup(void **state)
{
    if (desk_setup(state) != 0)
        return -1;
    struct desk *desk = *state;
    raw_run(desk->f->raw, "create table shelf (id bigint not null primary key, n bigint not null)");
    raw_run(desk->f->raw, "insert into shelf (id, n) values (1, 0), (2, 0)");
    shopper.raw = raw_open(desk->f->url);
    return 0;
}

static int
teardown(void **state)
{
    struct desk *desk = *state;
    raw_close(shopper.raw);
    raw_run(desk->f->raw, "drop table shelf");
    return desk_teardown(state);
}

static void
open_stock(struct desk *desk, struct actor *actor)
{
    desk_receiver(desk, actor, stock);
    desk->f->busy_timeout_us = 20 * US_PER_SECOND;
    fixture_open(desk->f);
}

/* takes_what_is_held fails as long as another holds row 2. */
static owed_outcome
takes_what_is_held(struct actor *actor, owed_delivery *delivery, const order *order)
{
    // Alone it may wait: then the other one has to be done.
    if (actor->calls > 4)
        raw_run(shopper.raw, "commit");
    write_row(delivery, order->id);
    struct raw *raw = fixture_raw(owed_delivery_tx(delivery));
    if (!raw_try(raw, "update shelf set n = n + 1 where id = 2"))
        return owed_failed(delivery, "the shelf is taken");
    return owed_done();
}

static void
in_a_group_nobody_waits_for_a_row_that_another_session_holds(void **state)
{
    NOT_ON("sqlite", "nothing is locked row by row");
    struct desk *desk = *state;
    struct actor actor = {.acts = {[3] = takes_what_is_held}};
    open_stock(desk, &actor);
    raw_run(shopper.raw, "begin");
    raw_run(shopper.raw, "update shelf set n = n + 1 where id = 2");
    fixture_begin(desk->f);
    for (int64_t i = 0; i <= 5; i++)
        fixture_fire(desk->f, &order_placed, i);
    fixture_commit(desk->f);
    desk_once(desk);
    // What was undone with it is done again before its turn comes, alone.
    const int64_t orders[] = {0, 1, 2, 3, 1, 2, 3, 4, 5};
    assert_int_equal(actor.calls, 9);
    for (size_t i = 0; i < 9; i++)
        assert_int_equal(actor.orders[i], orders[i]);
    assert_count(desk, "succeeded", 6);
    assert_int_equal(desk_number(desk, "select max(attempts) from owed_delivery"), 1);
    assert_int_equal(desk_number(desk, "select count(*) from owed_attempt"), 0);
    assert_int_equal(desk_number(desk, "select n from shelf where id = 2"), 2);
    for (int64_t i = 1; i <= 5; i++)
        assert_int_equal(desk_written(desk, i), 1);
}

static void *
want_row_1(void *arg)
{
    (void)arg;
    raw_run(shopper.raw, "update shelf set n = n + 10 where id = 1");
    raw_run(shopper.raw, "commit");
    return NULL;
}

/* meets_a_deadlock has row 1, which the other one waits for, and wants row 2, which that one has. */
static owed_outcome
meets_a_deadlock(struct actor *actor, owed_delivery *delivery, const order *order)
{
    actor->acts[order->id] = NULL;
    struct raw *raw = fixture_raw(owed_delivery_tx(delivery));
    write_row(delivery, order->id);
    if (test_store_is("postgres"))
        raw_run(raw, "set local deadlock_timeout = '10ms'");
    raw_run(raw, "update shelf set n = n + 1 where id = 1");
    assert_int_equal(pthread_create(&shopper.thread, NULL, want_row_1, NULL), 0);
    raw_await_waiter(actor->desk->f->raw, raw_session(shopper.raw));
    if (!raw_try(raw, "update shelf set n = n + 1 where id = 2"))
        return owed_failed(delivery, "a deadlock");
    return owed_done();
}

static void
a_deadlock_with_another_session_is_repeated_and_no_attempt(void **state)
{
    NOT_ON("sqlite", "nothing is locked row by row");
    struct desk *desk = *state;
    struct actor actor = {.acts = {[1] = meets_a_deadlock}};
    open_stock(desk, &actor);
    if (test_store_is("postgres"))
        raw_run(shopper.raw, "set deadlock_timeout = '20s'");
    raw_run(shopper.raw, "begin");
    // It has done more, and so is worth more to the server.
    if (test_store_is("mariadb"))
        for (int i = 0; i < 100; i++)
            raw_run(shopper.raw, "insert into app (id) values (1000)");
    raw_run(shopper.raw, "update shelf set n = n + 10 where id = 2");
    desk_fire(desk, 1);
    desk_once(desk);
    assert_int_equal(pthread_join(shopper.thread, NULL), 0);
    assert_int_equal(actor.calls, 2);
    assert_count(desk, "succeeded", 1);
    assert_int_equal(desk_number(desk, "select attempts from owed_delivery"), 1);
    assert_int_equal(desk_number(desk, "select count(*) from owed_attempt"), 0);
    assert_int_equal(desk_written(desk, 1), 1);
    assert_int_equal(desk_number(desk, "select sum(n) from shelf"), 20);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(in_a_group_nobody_waits_for_a_row_that_another_session_holds),
        TEST(a_deadlock_with_another_session_is_repeated_and_no_attempt),
    };
    return RUN_ON_ALL_STORES("deliver locks", tests);
}
