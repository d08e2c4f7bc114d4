/* SPDX-License-Identifier: MIT
 *
 * test_testing_nested.c - delivering inside a transaction of the test's own: what stands in it, and that
 * nothing of it is committed before the test does.
 */
#include <owed/testing.h>

#include <stdio.h>
#include <stdlib.h>

#include "desk.h"

static const owed_receiver stock = {.key = "shop.stock"};

/* A test begins its transaction in one of two ways. */
struct way {
    struct raw *raw; // the application's own connection; NULL: owed_begin
};

static void
begin(struct desk *desk, struct way *way, bool is_joined)
{
    way->raw = NULL;
    if (!is_joined) {
        fixture_begin(desk->f);
        return;
    }
    way->raw = raw_open(desk->f->url);
    raw_run(way->raw, "begin");
    fixture_join(desk->f, way->raw);
}

static void
commit(struct desk *desk, struct way *way)
{
    if (way->raw == NULL) {
        fixture_commit(desk->f);
        return;
    }
    raw_run(way->raw, "commit");
    assert_ok(owed_committed(desk->f->tx, &desk->f->err));
    raw_close(way->raw);
}

static void
roll_back(struct desk *desk, struct way *way)
{
    if (way->raw != NULL)
        raw_try(way->raw, "rollback");
    owed_rollback(desk->f->tx);
    raw_close(way->raw);
}

static void
drain(struct desk *desk)
{
    if (owed_drain(desk->f->owed, 0, &desk->counts, &desk->f->err) != OWED_OK)
        fail_msg("owed_drain: %s", desk->f->err.text);
}

static int64_t
inside(struct desk *desk, const char *sql)
{
    return raw_number(fixture_raw(desk->f->tx), sql);
}

#define assert_inside(desk, sql, expected) assert_int_equal(inside((desk), (sql)), (expected))

static void
open_with(struct desk *desk, struct actor *actor, owed_receiver receiver)
{
    desk->f->has_one_clock = true;
    desk_receiver(desk, actor, receiver);
    fixture_open(desk->f);
}

static void
what_is_delivered_stands_in_the_transaction_and_nowhere_else(void **state)
{
    for (int joined = 0; joined < 2; joined++) {
        desk_setup(state);
        struct desk *desk = *state;
        struct actor actor = {0};
        struct way way;
        open_with(desk, &actor, stock);
        begin(desk, &way, joined != 0);
        fixture_fire(desk->f, &order_placed, 1);
        fixture_fire(desk->f, &order_placed, 2);
        drain(desk);
        assert_int_equal(desk->counts.succeeded, 2);
        assert_inside(desk, "select count(*) from owed_delivery where status = 'succeeded'", 2);
        assert_inside(desk, "select count(*) from app", 2);
        assert_int_equal(desk_number(desk, "select count(*) from owed_delivery"), 0);
        assert_int_equal(desk_number(desk, "select count(*) from app"), 0);
        roll_back(desk, &way);
        assert_int_equal(desk_number(desk, "select count(*) from owed_event"), 0);
        assert_int_equal(desk_number(desk, "select count(*) from app"), 0);
        desk_teardown(state);
    }
}

static void
the_transaction_commits_what_was_delivered_in_it(void **state)
{
    for (int joined = 0; joined < 2; joined++) {
        desk_setup(state);
        struct desk *desk = *state;
        struct actor actor = {0};
        struct way way;
        open_with(desk, &actor, stock);
        begin(desk, &way, joined != 0);
        fixture_fire(desk->f, &order_placed, 1);
        drain(desk);
        commit(desk, &way);
        assert_count(desk, "succeeded", 1);
        assert_int_equal(desk_written(desk, 1), 1);
        // The handle is as it was: it delivers outside transactions again.
        desk_fire(desk, 2);
        drain(desk);
        assert_count(desk, "succeeded", 2);
        desk_teardown(state);
    }
}

static void
a_failure_undoes_what_its_receiver_wrote_and_nothing_else(void **state)
{
    for (int joined = 0; joined < 2; joined++) {
        desk_setup(state);
        struct desk *desk = *state;
        struct actor actor = {.acts = {[1] = writes_and_fails}};
        struct way way;
        open_with(desk, &actor, stock);
        begin(desk, &way, joined != 0);
        raw_run(fixture_raw(desk->f->tx), "insert into app (id) values (42)");
        fixture_fire(desk->f, &order_placed, 1);
        fixture_fire(desk->f, &order_placed, 2);
        drain(desk);
        assert_int_equal(actor.calls, 6);
        commit(desk, &way);
        assert_count(desk, "dead", 1);
        assert_count(desk, "succeeded", 1);
        assert_int_equal(desk_written(desk, 1), 0);
        assert_int_equal(desk_written(desk, 2), 1);
        assert_int_equal(desk_written(desk, 42), 1);
        desk_teardown(state);
    }
}

static void
neighbours_share_a_savepoint_as_they_share_a_transaction(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {.acts = {[3] = writes_and_fails}};
    owed_receiver receiver = stock;
    receiver.database_only = true;
    receiver.max_attempts = 1;
    struct way way;
    open_with(desk, &actor, receiver);
    begin(desk, &way, false);
    for (int64_t i = 1; i <= 5; i++)
        fixture_fire(desk->f, &order_placed, i);
    drain(desk);
    commit(desk, &way);
    assert_count(desk, "succeeded", 4);
    assert_count(desk, "dead", 1);
    assert_int_equal(desk_written(desk, 3), 0);
}

static void
one_row_is_delivered_in_the_transaction(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {0};
    struct way way;
    open_with(desk, &actor, stock);
    begin(desk, &way, true);
    fixture_fire(desk->f, &order_placed, 1);
    const char *recorded = NULL;
    assert_ok(owed_deliver_one(desk->f->owed, 1, &recorded, &desk->f->err));
    assert_string_equal(recorded, "succeeded");
    assert_int_equal(desk_number(desk, "select count(*) from owed_delivery"), 0);
    roll_back(desk, &way);
}

static void
what_runs_outside_is_left_and_said(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {0};
    struct actor other = {.acts = {[1] = asks_for_nothing}};
    struct way way;
    fixture_receiver(
        desk->f, (owed_receiver){.key = "shop.void", .event = &order_placed, .discard = true});
    desk_receiver(desk, &other, (owed_receiver){.key = "shop.call", .outside = true});
    open_with(desk, &actor, stock);
    begin(desk, &way, false);
    fixture_fire(desk->f, &order_placed, 1);
    drain(desk);
    assert_int_equal(actor.calls, 1);
    assert_int_equal(other.calls, 0);
    assert_inside(desk, "select count(*) from owed_delivery where status = 'pending'", 2);
    assert_true(desk_logged(desk, "receivers that run outside any transaction were left"));
    const char *recorded = "untouched";
    assert_ok(owed_deliver_one(desk->f->owed,
        inside(desk, "select id from owed_delivery where receiver_key = 'shop.void'"), &recorded,
        &desk->f->err));
    assert_null(recorded);
    commit(desk, &way);
    drain(desk);
    assert_count(desk, "succeeded", 3);
}

static void
nothing_is_said_where_nothing_outside_was_owed(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {0};
    struct way way;
    open_with(desk, &actor, stock);
    begin(desk, &way, false);
    fixture_fire(desk->f, &order_placed, 1);
    drain(desk);
    assert_false(desk_logged(desk, "were left"));
    roll_back(desk, &way);
}

static owed_outcome
fires_shipped(struct actor *actor, owed_delivery *delivery, const order *one)
{
    (void)actor;
    owed_error err;
    if (owed_fire(owed_delivery_tx(delivery), &order_shipped, one, NULL, NULL, &err) != OWED_OK)
        return owed_failed(delivery, "%s", err.text);
    return owed_done();
}

static void
on_commit_receivers_wait_for_the_transaction(void **state)
{
    for (int joined = 0; joined < 2; joined++) {
        desk_setup(state);
        struct desk *desk = *state;
        struct actor actor = {.acts = {[1] = fires_shipped}};
        struct actor after = {.acts = {[1] = asks_for_nothing}};
        struct way way;
        desk_receiver(desk, &after,
            (owed_receiver){.key = "shop.after", .event = &order_shipped, .mode = OWED_ON_COMMIT});
        open_with(desk, &actor, stock);
        begin(desk, &way, joined != 0);
        fixture_fire(desk->f, &order_placed, 1);
        drain(desk);
        assert_int_equal(after.calls, 0);
        commit(desk, &way);
        assert_int_equal(after.calls, 1);
        desk_teardown(state);
    }
}

static owed_outcome
begins_its_own(struct actor *actor, owed_delivery *delivery, const order *one)
{
    owed_tx *tx = NULL;
    owed_error err = {0};
    owed *handle = actor->desk->f->owed;
    if (owed_begin(handle, &tx, &err) != OWED_OK)
        return owed_failed(delivery, "%s", err.text);
    if (owed_fire(tx, &order_shipped, one, NULL, NULL, &err) != OWED_OK)
        return owed_failed(delivery, "%s", err.text);
    if (one->id == 2)
        owed_rollback(tx);
    else if (owed_commit(tx, &err) != OWED_OK)
        return owed_failed(delivery, "%s", err.text);
    return owed_done();
}

static void
a_receivers_own_transaction_is_a_savepoint_too(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {.acts = {[1] = begins_its_own, [2] = begins_its_own}};
    struct way way;
    open_with(desk, &actor, stock);
    begin(desk, &way, false);
    fixture_fire(desk->f, &order_placed, 1);
    fixture_fire(desk->f, &order_placed, 2);
    drain(desk);
    assert_int_equal(desk->counts.succeeded, 2);
    assert_int_equal(desk_number(desk, "select count(*) from owed_event"), 0);
    assert_inside(desk, "select count(*) from owed_event where name = 'shop.OrderShipped'", 1);
    commit(desk, &way);
    assert_int_equal(desk_number(desk, "select count(*) from owed_event"), 3);
}

static void
a_veto_inside_a_receiver_fails_that_delivery_alone(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {.acts = {[1] = fires_shipped}};
    struct actor guard = {.acts = {[1] = fails}};
    owed_receiver once = stock;
    once.max_attempts = 1;
    struct way way;
    desk_receiver(desk, &guard,
        (owed_receiver){.key = "shop.guard", .event = &order_shipped, .mode = OWED_INLINE});
    open_with(desk, &actor, once);
    begin(desk, &way, true);
    fixture_fire(desk->f, &order_placed, 1);
    fixture_fire(desk->f, &order_placed, 2);
    drain(desk);
    commit(desk, &way);
    assert_count(desk, "dead", 1);
    assert_count(desk, "succeeded", 1);
    assert_int_equal(fixture_events(desk->f), 2);
}

static void
a_receiver_that_ends_the_transaction_ends_the_call(void **state)
{
    for (int joined = 0; joined < 2; joined++)
        for (int commits = 0; commits < 2; commits++) {
            desk_setup(state);
            struct desk *desk = *state;
            struct actor actor = {
                .acts = {[1] = commits ? writes_and_commits : writes_and_rolls_back}};
            struct way way;
            open_with(desk, &actor, stock);
            begin(desk, &way, joined != 0);
            fixture_fire(desk->f, &order_placed, 1);
            fixture_fire(desk->f, &order_placed, 2);
            assert_status(OWED_ABORTED, owed_drain(desk->f->owed, 0, &desk->counts, &desk->f->err));
            assert_says(desk->f->err, "is over");
            assert_int_equal(actor.calls, 1);
            roll_back(desk, &way);
            desk_teardown(state);
        }
}

static void
a_transaction_that_was_refused_delivers_nothing(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {0};
    struct actor guard = {.acts = {[1] = fails}};
    struct way way;
    desk_receiver(desk, &guard, (owed_receiver){.key = "shop.guard", .mode = OWED_INLINE});
    open_with(desk, &actor, stock);
    begin(desk, &way, false);
    order one = {.id = 1, .cents = 1, .currency = "EUR"};
    assert_status(
        OWED_VETOED, owed_fire(desk->f->tx, &order_placed, &one, NULL, NULL, &desk->f->err));
    assert_status(OWED_VETOED, owed_drain(desk->f->owed, 0, NULL, &desk->f->err));
    assert_int_equal(actor.calls, 0);
    roll_back(desk, &way);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, desk_setup, desk_teardown)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_delivered_stands_in_the_transaction_and_nowhere_else),
        cmocka_unit_test(the_transaction_commits_what_was_delivered_in_it),
        cmocka_unit_test(a_failure_undoes_what_its_receiver_wrote_and_nothing_else),
        TEST(neighbours_share_a_savepoint_as_they_share_a_transaction),
        TEST(one_row_is_delivered_in_the_transaction),
        TEST(what_runs_outside_is_left_and_said),
        TEST(nothing_is_said_where_nothing_outside_was_owed),
        cmocka_unit_test(on_commit_receivers_wait_for_the_transaction),
        TEST(a_receivers_own_transaction_is_a_savepoint_too),
        TEST(a_veto_inside_a_receiver_fails_that_delivery_alone),
        cmocka_unit_test(a_receiver_that_ends_the_transaction_ends_the_call),
        TEST(a_transaction_that_was_refused_delivers_nothing),
    };
    return RUN_ON_ALL_STORES("testing nested", tests);
}
