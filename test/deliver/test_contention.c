/* SPDX-License-Identifier: MIT
 *
 * test_contention.c - receivers that share a transaction on a store where others hold locks: who would
 * have to wait gives way, what a deadlock undid is repeated, and none of that is an attempt.
 *
 * The store is SQLite, which locks no rows; what a server would answer is put in its place.
 */
#include "desk.h"

#include <sqlite3.h>

#include <owed/sqlite.h>

#include "base/clock.h"

static const owed_receiver stock = {.key = "shop.stock", .database_only = true};

/* A driver of many writers, over the real one. */
static struct {
    struct driver driver;
    const struct driver *real;
    int hurried;                     // transactions that no longer wait
    bool hurries;                    // the open one does
    owed_status met;                 // what the last statement of the receiver in hand came to
    int busy_settles;                // so many of our own statements meet a lock
    int savepoints, most_savepoints; // of one transaction
    int unsure_commits;              // so many commits are carried out and lose their answer
} server;

static owed_status
server_hurry(struct db *db, owed_error *err)
{
    (void)db;
    (void)err;
    server.hurried++;
    server.hurries = true;
    return OWED_OK;
}

static owed_status
server_contention(struct db *db, bool failed)
{
    (void)db;
    (void)failed;
    owed_status met = server.met;
    server.met = OWED_OK;
    return met;
}

static owed_status
server_begin(struct db *db, bool write, owed_error *err)
{
    server.hurries = false;
    server.savepoints = 0;
    return server.real->begin(db, write, err);
}

static owed_status
server_savepoint(struct db *db, owed_error *err)
{
    if (++server.savepoints > server.most_savepoints)
        server.most_savepoints = server.savepoints;
    return server.real->savepoint(db, err);
}

static owed_status
server_run(struct db *db, enum stmt stmt, const struct value *args, size_t count,
    struct rows **ret_rows, owed_error *err)
{
    bool settles = stmt == STMT_SETTLE || stmt == STMT_SETTLE_ALL || stmt == STMT_SETTLE_DONE ||
        stmt == STMT_SETTLE_DONE_PAIRS;
    if (!settles || server.busy_settles == 0 || !server.hurries)
        return server.real->run(db, stmt, args, count, ret_rows, err);
    server.busy_settles--;
    *err = (owed_error){.status = OWED_BUSY, .text = "deadlock detected"};
    return OWED_BUSY;
}

static owed_status
server_commit(struct db *db, owed_error *err)
{
    owed_status status = server.real->commit(db, err);
    if (status != OWED_OK || server.unsure_commits == 0 || !server.hurries)
        return status;
    server.unsure_commits--;
    *err = (owed_error){.status = OWED_UNSURE, .text = "the answer was lost"};
    return OWED_UNSURE;
}

static void
allow_all(struct db *db, bool on)
{
    (void)db;
    (void)on;
}

/* open_server opens the handle on a store of many writers. */
static void
open_server(struct desk *desk, struct actor *actor)
{
    desk_receiver(desk, actor, stock);
    fixture_open(desk->f);
    struct db *db = desk->f->owed->db;
    memset(&server, 0, sizeof server);
    server.real = db->driver;
    server.driver = *db->driver;
    server.driver.single_writer = false;
    server.driver.hurry = server_hurry;
    server.driver.contention = server_contention;
    server.driver.begin = server_begin;
    server.driver.savepoint = server_savepoint;
    server.driver.run = server_run;
    server.driver.commit = server_commit;
    db->driver = &server.driver;
}

/* assert_all_once tells that each order took effect once, with one attempt, and nothing was amiss. */
static void
assert_all_once(struct desk *desk, int64_t count)
{
    for (int64_t i = 1; i <= count; i++)
        assert_int_equal(desk_written(desk, i), 1);
    assert_count(desk, "succeeded", count + 1);
    assert_int_equal(desk_number(desk, "select max(attempts) from owed_delivery"), 1);
    assert_int_equal(desk_number(desk, "select count(*) from owed_attempt"), 0);
    assert_false(desk_logged(desk, "the store failed"));
    assert_int_equal(desk->counts.succeeded, count + 1);
}

static void
assert_failed_over(struct desk *desk, const char *words)
{
    char text[256];
    desk_text(desk, "select last_error from owed_delivery where status = 'failed'", text);
    if (strstr(text, words) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", text, words);
}

static void
from_the_second_on_nobody_in_a_group_waits_for_a_lock(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {0};
    open_server(desk, &actor);
    desk_run_orders(desk, 4);
    assert_int_equal(server.hurried, 1);
    assert_all_once(desk, 4);
}

static void
one_alone_may_wait(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {0};
    open_server(desk, &actor);
    desk_run_orders(desk, 1);
    assert_int_equal(server.hurried, 0);
    assert_all_once(desk, 1);
}

/* It has rows that others hold: in a hurry it cannot have them, else it can. */
static owed_outcome
meets_a_lock_and_fails(struct actor *actor, owed_delivery *delivery, const order *order)
{
    owed_outcome outcome = writes(actor, delivery, order);
    if (!server.hurries)
        return outcome;
    server.met = OWED_BUSY;
    return owed_failed(delivery, "lock not available");
}

static owed_outcome
meets_a_lock_and_says_done(struct actor *actor, owed_delivery *delivery, const order *order)
{
    owed_outcome outcome = writes(actor, delivery, order);
    if (server.hurries)
        server.met = OWED_BUSY;
    return outcome;
}

static void
assert_gives_way(struct desk *desk, act act)
{
    struct actor actor = {.acts = {[3] = act}};
    open_server(desk, &actor);
    desk_run_orders(desk, 5);
    // What went with it is done again before.
    const int64_t orders[] = {0, 1, 2, 3, 1, 2, 3, 4, 5};
    assert_int_equal(actor.calls, 9);
    for (size_t i = 0; i < 9; i++)
        assert_int_equal(actor.orders[i], orders[i]);
    assert_all_once(desk, 5);
}

static void
one_that_would_have_to_wait_comes_next_and_alone_and_that_was_no_attempt(void **state)
{
    assert_gives_way(*state, meets_a_lock_and_fails);
}

static void
so_does_one_that_passes_over_the_refusal(void **state)
{
    assert_gives_way(*state, meets_a_lock_and_says_done);
}

static void
once_locks_came_between_each_has_a_savepoint_and_nobody_is_repeated(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {.acts = {[3] = meets_a_lock_and_fails, [6] = meets_a_lock_and_fails}};
    open_server(desk, &actor);
    desk_run_orders(desk, 7);
    const int64_t orders[] = {0, 1, 2, 3, 1, 2, 3, 4, 5, 6, 6, 7};
    assert_int_equal(actor.calls, 12);
    for (size_t i = 0; i < 12; i++)
        assert_int_equal(actor.orders[i], orders[i]);
    assert_all_once(desk, 7);
}

static void
a_transaction_has_at_most_sixty_savepoints(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {.acts = {[2] = meets_a_lock_and_fails}};
    open_server(desk, &actor);
    desk->settings.batch_size = 300;
    desk_run_orders(desk, 250);
    assert_int_equal(server.most_savepoints, 60);
    assert_count(desk, "succeeded", 251);
}

/* A failure whose cause nobody can tell may have been a lock: alone it is what it is. */
static owed_outcome
fails_in_sql(struct actor *actor, owed_delivery *delivery, const order *order)
{
    writes(actor, delivery, order);
    server.met = OWED_UNSURE;
    return owed_failed(delivery, "no such shelf");
}

static void
what_fails_alone_as_well_has_failed_one_attempt(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {.acts = {[3] = fails_in_sql}};
    open_server(desk, &actor);
    desk_run_orders(desk, 4);
    assert_int_equal(actor.calls, 8);
    assert_count(desk, "failed", 1);
    assert_count(desk, "succeeded", 4);
    assert_int_equal(desk_number(desk, "select max(attempts) from owed_delivery"), 1);
    assert_int_equal(desk_written(desk, 3), 0);
    assert_failed_over(desk, "no such shelf");
}

static owed_outcome
fails_in_sql_and_says_done(struct actor *actor, owed_delivery *delivery, const order *order)
{
    owed_outcome outcome = writes(actor, delivery, order);
    server.met = OWED_UNSURE;
    return outcome;
}

static void
done_over_a_failed_statement_is_a_failure_that_says_so(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {.acts = {[1] = fails_in_sql_and_says_done}};
    open_server(desk, &actor);
    desk_run_orders(desk, 1);
    assert_count(desk, "failed", 1);
    assert_int_equal(desk_written(desk, 1), 0);
    assert_failed_over(desk, "a statement of its had failed");
}

static owed_outcome
is_undone_in_a_group(struct actor *actor, owed_delivery *delivery, const order *order)
{
    owed_outcome outcome = writes(actor, delivery, order);
    if (!server.hurries)
        return outcome;
    run_sql(delivery, "rollback");
    server.met = OWED_ABORTED;
    return owed_failed(delivery, "deadlock found");
}

static void
what_a_deadlock_undid_is_repeated_one_by_one(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {.acts = {[3] = is_undone_in_a_group}};
    open_server(desk, &actor);
    desk_run_orders(desk, 4);
    const int64_t orders[] = {0, 1, 2, 3, 1, 2, 3, 4};
    assert_int_equal(actor.calls, 8);
    for (size_t i = 0; i < 8; i++)
        assert_int_equal(actor.orders[i], orders[i]);
    assert_all_once(desk, 4);
}

static owed_outcome
is_always_undone(struct actor *actor, owed_delivery *delivery, const order *order)
{
    owed_outcome outcome = writes(actor, delivery, order);
    run_sql(delivery, "rollback");
    server.met = OWED_ABORTED;
    return outcome;
}

static void
one_that_is_undone_again_and_again_has_failed_an_attempt(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {.acts = {[1] = is_always_undone}};
    open_server(desk, &actor);
    desk_run_orders(desk, 2);
    assert_int_equal(actor.calls, 5); // order 1 three times
    assert_count(desk, "failed", 1);
    assert_count(desk, "succeeded", 2);
    assert_failed_over(desk, "others' locks undid its work again and again");
    assert_false(desk_logged(desk, "the store failed"));
}

static void
an_acknowledgement_that_meets_a_lock_undoes_the_group_and_counts_nothing(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {0};
    open_server(desk, &actor);
    server.busy_settles = 1;
    desk_run_orders(desk, 4);
    assert_int_equal(server.busy_settles, 0);
    // Where each outcome is written at once that of the second meets it, else those of all.
    assert_int_equal(actor.calls, server.real->settles_early ? 7 : 9);
    assert_all_once(desk, 4);
}

static void
where_locks_come_between_again_and_again_each_is_repeated_by_itself(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {0};
    open_server(desk, &actor);
    server.busy_settles = 3;
    desk_run_orders(desk, 4);
    assert_int_equal(server.busy_settles, 0);
    assert_all_once(desk, 4);
    // The third repetition has a transaction for each of those that went with the acknowledgement.
    bool is_early = server.real->settles_early;
    assert_int_equal(server.hurried, is_early ? 4 : 3);
    assert_int_equal(actor.calls, is_early ? 11 : 17);
}

static owed_outcome
is_cut(struct actor *actor, owed_delivery *delivery, const order *order)
{
    actor->acts[order->id] = NULL;
    writes(actor, delivery, order);
    server.met = OWED_UNAVAILABLE;
    return owed_failed(delivery, "the server has gone away");
}

static void
a_lost_connection_is_nobodys_failure(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {.acts = {[3] = is_cut}};
    open_server(desk, &actor);
    fixture_begin(desk->f);
    for (int64_t i = 0; i <= 4; i++)
        fixture_fire(desk->f, &order_placed, i);
    fixture_commit(desk->f);
    desk_once(desk);
    assert_count(desk, "succeeded", 5);
    assert_int_equal(desk_number(desk, "select max(attempts) from owed_delivery"), 1);
    assert_int_equal(desk_number(desk, "select count(*) from owed_attempt"), 0);
    for (int64_t i = 1; i <= 4; i++)
        assert_int_equal(desk_written(desk, i), 1);
    assert_true(desk_logged(desk, "the connection to the store was lost while receiver"));
}

static owed_outcome
commits(struct actor *actor, owed_delivery *delivery, const order *order)
{
    writes(actor, delivery, order);
    run_sql(delivery, "commit");
    return owed_done();
}

static void
what_a_receiver_committed_with_its_outcome_is_over(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {.acts = {[3] = commits}};
    open_server(desk, &actor);
    server.driver.settles_early = true;
    server.driver.guard = allow_all;
    desk_run_orders(desk, 4);
    // 1 and 2 were committed by 3, each with its outcome: none of them runs again.
    assert_int_equal(actor.calls, 5);
    assert_count(desk, "succeeded", 4);
    assert_count(desk, "failed", 1);
    assert_int_equal(desk->counts.succeeded, 4);
    for (int64_t i = 1; i <= 4; i++)
        assert_int_equal(desk_written(desk, i), 1);
    assert_failed_over(desk, "ended the transaction it was handed");
}

/* Its row is taken while it runs, by somebody whose commit it sees. */
static owed_outcome
loses_its_row(struct actor *actor, owed_delivery *delivery, const order *order)
{
    run_sql(delivery,
        "update owed_delivery set claimed_by = 'thief' where id = "
        "(select max(id) from owed_delivery) - 1");
    return writes(actor, delivery, order);
}

static void
outcomes_that_are_written_early_go_with_their_group(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {.acts = {[3] = fails, [5] = loses_its_row}};
    open_server(desk, &actor);
    server.driver.settles_early = true;
    desk_run_orders(desk, 6);
    assert_count(desk, "failed", 1);
    assert_count(desk, "succeeded", 5);
    for (int64_t i = 1; i <= 6; i++)
        assert_int_equal(desk_written(desk, i), i != 3 && i != 5);
}

static void
a_group_whose_answer_was_lost_is_counted_and_not_repeated(void **state)
{
    struct desk *desk = *state;
    struct actor actor = {0};
    open_server(desk, &actor);
    server.unsure_commits = 1;
    fixture_begin(desk->f);
    for (int64_t i = 0; i <= 4; i++)
        fixture_fire(desk->f, &order_placed, i);
    fixture_commit(desk->f);
    desk_once(desk);
    assert_int_equal(server.unsure_commits, 0);
    assert_int_equal(actor.calls, 5);
    assert_count(desk, "succeeded", 5);
    assert_int_equal(desk->counts.succeeded, 5);
    for (int64_t i = 1; i <= 4; i++)
        assert_int_equal(desk_written(desk, i), 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, desk_setup, desk_teardown)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(once_locks_came_between_each_has_a_savepoint_and_nobody_is_repeated),
        TEST(a_transaction_has_at_most_sixty_savepoints),
        TEST(from_the_second_on_nobody_in_a_group_waits_for_a_lock),
        TEST(one_alone_may_wait),
        TEST(one_that_would_have_to_wait_comes_next_and_alone_and_that_was_no_attempt),
        TEST(so_does_one_that_passes_over_the_refusal),
        TEST(what_fails_alone_as_well_has_failed_one_attempt),
        TEST(done_over_a_failed_statement_is_a_failure_that_says_so),
        TEST(what_a_deadlock_undid_is_repeated_one_by_one),
        TEST(one_that_is_undone_again_and_again_has_failed_an_attempt),
        TEST(an_acknowledgement_that_meets_a_lock_undoes_the_group_and_counts_nothing),
        TEST(where_locks_come_between_again_and_again_each_is_repeated_by_itself),
        TEST(a_lost_connection_is_nobodys_failure),
        TEST(what_a_receiver_committed_with_its_outcome_is_over),
        TEST(outcomes_that_are_written_early_go_with_their_group),
        TEST(a_group_whose_answer_was_lost_is_counted_and_not_repeated),
    };
    return RUN_ON_ALL_STORES("contention", tests);
}
