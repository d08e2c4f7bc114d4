/* SPDX-License-Identifier: MIT
 *
 * test_join.c - firing inside a transaction of the application's own SQLite connection.
 */
#include "fixture.h"

#include <owed/sqlite.h>

#include <stdio.h>
#include <stdlib.h>

struct mine {
    struct fixture *fixture;
    sqlite3 *db; // the application's
    int on_commit_runs;
    sqlite3 *seen_db;
};

static owed_outcome
counts(owed_delivery *delivery, const void *payload)
{
    struct mine *mine = owed_delivery_state(delivery);
    (void)payload;
    mine->on_commit_runs++;
    return owed_done();
}

static owed_outcome
refuses_13(owed_delivery *delivery, const void *payload)
{
    struct mine *mine = owed_delivery_state(delivery);
    const order *placed = payload;
    mine->seen_db = owed_delivery_sqlite(delivery);
    return placed->id == 13 ? owed_failed(delivery, "no credit") : owed_done();
}

static int
setup(void **state)
{
    struct mine *mine = calloc(1, sizeof *mine);
    assert_non_null(mine);
    mine->fixture = fixture_new();
    struct fixture *f = mine->fixture;
    fixture_table(f);
    fixture_receiver(f,
        (owed_receiver){.key = "shop.credit",
            .event = &order_placed,
            .mode = OWED_INLINE,
            .run = refuses_13,
            .state = mine});
    fixture_receiver(f,
        (owed_receiver){.key = "shop.counter",
            .event = &order_placed,
            .mode = OWED_ON_COMMIT,
            .run = counts,
            .state = mine});
    fixture_receiver(
        f, (owed_receiver){.key = "shop.stock", .event = &order_placed, .discard = true});
    fixture_open(f);
    char path[128];
    snprintf(path, sizeof path, "%s/shop.db", f->folder);
    assert_int_equal(sqlite3_open(path, &mine->db), SQLITE_OK);
    *state = mine;
    return 0;
}

static int
teardown(void **state)
{
    struct mine *mine = *state;
    // Nothing of ours may keep the application from closing its connection.
    assert_int_equal(sqlite3_close(mine->db), SQLITE_OK);
    fixture_free(mine->fixture);
    free(mine);
    return 0;
}

static int
run(struct mine *mine, const char *statements)
{
    return sqlite3_exec(mine->db, statements, NULL, NULL, NULL);
}

static void
join(struct mine *mine)
{
    struct fixture *f = mine->fixture;
    assert_int_equal(run(mine, "begin; insert into app (id) values (1)"), SQLITE_OK);
    owed_status status = owed_join_sqlite(f->owed, mine->db, &f->tx, &f->err);
    if (status != OWED_OK)
        fail_msg("owed_join_sqlite: %s", f->err.text);
}

static owed_status
fire(struct mine *mine, int64_t id)
{
    struct fixture *f = mine->fixture;
    order payload = {.id = id, .cents = 1200, .currency = "EUR"};
    return owed_fire(f->tx, &order_placed, &payload, NULL, NULL, &f->err);
}

static void
the_application_commits_both_or_neither(void **state)
{
    struct mine *mine = *state;
    struct fixture *f = mine->fixture;
    join(mine);
    assert_ok(fire(mine, 7));
    assert_ptr_equal(owed_tx_sqlite(f->tx), mine->db);
    assert_ptr_equal(mine->seen_db, mine->db);
    assert_int_equal(fixture_events(f), 0);
    assert_int_equal(run(mine, "commit"), SQLITE_OK);
    assert_int_equal(mine->on_commit_runs, 0);
    assert_ok(owed_committed(f->tx, &f->err));
    assert_int_equal(mine->on_commit_runs, 1);
    assert_int_equal(fixture_events(f), 1);
    assert_int_equal(fixture_owed(f, 0, NULL), 1);
    assert_int_equal(fixture_rows(f), 1);

    join(mine);
    assert_ok(fire(mine, 8));
    assert_int_equal(run(mine, "rollback"), SQLITE_OK);
    owed_rollback(f->tx);
    assert_int_equal(mine->on_commit_runs, 1);
    assert_int_equal(fixture_events(f), 1);
    assert_int_equal(fixture_rows(f), 1);
}

static void
forgetting_us_first_leaves_the_transaction_alone(void **state)
{
    struct mine *mine = *state;
    struct fixture *f = mine->fixture;
    join(mine);
    assert_ok(fire(mine, 7));
    owed_rollback(f->tx);
    assert_int_equal(sqlite3_get_autocommit(mine->db), 0);
    assert_int_equal(run(mine, "commit"), SQLITE_OK);
    assert_int_equal(fixture_events(f), 1);
    assert_int_equal(mine->on_commit_runs, 0);
}

static void
a_savepoint_rolled_back_takes_its_events_receivers_along(void **state)
{
    struct mine *mine = *state;
    struct fixture *f = mine->fixture;
    join(mine);
    assert_ok(fire(mine, 7));
    assert_int_equal(run(mine, "savepoint a"), SQLITE_OK);
    assert_ok(fire(mine, 8));
    assert_int_equal(run(mine, "rollback to a; release a; commit"), SQLITE_OK);
    assert_ok(owed_committed(f->tx, &f->err));
    assert_int_equal(mine->on_commit_runs, 1);
    assert_int_equal(fixture_events(f), 1);
}

static void
said_to_be_committed_but_rolled_back_nothing_runs(void **state)
{
    struct mine *mine = *state;
    struct fixture *f = mine->fixture;
    join(mine);
    assert_ok(fire(mine, 7));
    assert_int_equal(run(mine, "rollback"), SQLITE_OK);
    assert_ok(owed_committed(f->tx, &f->err));
    assert_int_equal(mine->on_commit_runs, 0);
}

/* each way in which an application may try to end its transaction */
static const char *const endings[] = {"commit", "end transaction"};

static void
a_veto_makes_every_commit_fail_until_the_rollback(void **state)
{
    struct mine *mine = *state;
    struct fixture *f = mine->fixture;
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        join(mine);
        assert_status(OWED_VETOED, fire(mine, 13));
        assert_says(f->err, "shop.credit refused event shop.OrderPlaced: no credit");
        assert_int_not_equal(run(mine, endings[i]), SQLITE_OK);
        assert_status(OWED_VETOED, owed_committed(f->tx, &f->err));
        assert_int_equal(fixture_rows(f), 0);
        assert_int_equal(fixture_events(f), 0);
        if (sqlite3_get_autocommit(mine->db) == 0)
            assert_int_equal(run(mine, "rollback"), SQLITE_OK);
    }
    join(mine);
    assert_ok(fire(mine, 7));
    assert_int_equal(run(mine, "commit"), SQLITE_OK);
    assert_ok(owed_committed(f->tx, &f->err));
    assert_int_equal(fixture_rows(f), 1);
    assert_int_equal(fixture_events(f), 1);
    assert_int_equal(mine->on_commit_runs, 1);
}

static void
a_veto_makes_the_outermost_release_fail_too(void **state)
{
    struct mine *mine = *state;
    struct fixture *f = mine->fixture;
    assert_int_equal(run(mine, "savepoint outer; insert into app (id) values (1)"), SQLITE_OK);
    assert_ok(owed_join_sqlite(f->owed, mine->db, &f->tx, &f->err));
    assert_status(OWED_VETOED, fire(mine, 13));
    assert_int_not_equal(run(mine, "release outer"), SQLITE_OK);
    if (sqlite3_get_autocommit(mine->db) == 0)
        assert_int_equal(run(mine, "rollback"), SQLITE_OK);
    owed_rollback(f->tx);
    assert_int_equal(fixture_rows(f), 0);
    assert_int_equal(fixture_events(f), 0);
    assert_int_equal(run(mine, "insert into app (id) values (2)"), SQLITE_OK);
    assert_int_equal(fixture_rows(f), 1);
}

static void
a_veto_outlives_our_transaction_but_not_the_rollback(void **state)
{
    struct mine *mine = *state;
    struct fixture *f = mine->fixture;
    join(mine);
    assert_status(OWED_VETOED, fire(mine, 13));
    owed_rollback(f->tx);
    assert_int_not_equal(run(mine, "commit"), SQLITE_OK);
    assert_int_equal(fixture_rows(f), 0);
    assert_int_equal(run(mine, "insert into app (id) values (2)"), SQLITE_OK);
    assert_int_equal(fixture_rows(f), 1);
}

static void
without_a_transaction_there_is_nothing_to_join(void **state)
{
    struct mine *mine = *state;
    struct fixture *f = mine->fixture;
    assert_status(OWED_INVALID, owed_join_sqlite(f->owed, mine->db, &f->tx, &f->err));
    assert_says(f->err, "no transaction is open");
    assert_status(OWED_INVALID, owed_join_sqlite(f->owed, NULL, &f->tx, &f->err));
    assert_null(f->tx);
}

static void
another_file_cannot_be_joined(void **state)
{
    struct mine *mine = *state;
    struct fixture *f = mine->fixture;
    sqlite3 *other = NULL;
    assert_int_equal(sqlite3_open(":memory:", &other), SQLITE_OK);
    assert_int_equal(sqlite3_exec(other, "begin", NULL, NULL, NULL), SQLITE_OK);
    assert_status(OWED_INVALID, owed_join_sqlite(f->owed, other, &f->tx, &f->err));
    assert_says(f->err, "shop.db");
    assert_null(f->tx);
    sqlite3_close(other);
}

static void
one_transaction_of_a_handle_at_a_time(void **state)
{
    struct mine *mine = *state;
    struct fixture *f = mine->fixture;
    owed_tx *second = NULL;
    join(mine);
    assert_status(OWED_INVALID, owed_begin(f->owed, &second, &f->err));
    assert_status(OWED_INVALID, owed_join_sqlite(f->owed, mine->db, &second, &f->err));
    assert_int_equal(run(mine, "rollback"), SQLITE_OK);
    owed_rollback(f->tx);
    fixture_begin(f);
    owed_rollback(f->tx);
}

static void
each_kind_of_transaction_ends_its_own_way(void **state)
{
    struct mine *mine = *state;
    struct fixture *f = mine->fixture;
    join(mine);
    assert_ok(fire(mine, 7));
    assert_status(OWED_INVALID, owed_commit(f->tx, &f->err));
    assert_says(f->err, "COMMIT it there");
    assert_status(OWED_INVALID, owed_committed(f->tx, &f->err));
    assert_says(f->err, "still open");
    assert_int_equal(run(mine, "commit"), SQLITE_OK);
    assert_ok(owed_committed(f->tx, &f->err));
    fixture_begin(f);
    assert_status(OWED_INVALID, owed_committed(f->tx, &f->err));
    owed_rollback(f->tx);
    assert_int_equal(fixture_events(f), 1);
}

static void
a_writer_in_the_way_is_busy_and_a_later_fire_works(void **state)
{
    struct mine *mine = *state;
    struct fixture *f = mine->fixture;
    assert_int_equal(run(mine, "begin"), SQLITE_OK);
    assert_ok(owed_join_sqlite(f->owed, mine->db, &f->tx, &f->err));
    assert_ok(store_begin(f->other, true, &f->err));
    assert_status(OWED_BUSY, fire(mine, 7));
    store_rollback(f->other);
    assert_ok(fire(mine, 8));
    assert_int_equal(run(mine, "commit"), SQLITE_OK);
    assert_ok(owed_committed(f->tx, &f->err));
    assert_int_equal(fixture_events(f), 1);
    assert_int_equal(fixture_owed(f, 0, NULL), 1);
}

static void
a_fire_that_broke_off_makes_the_applications_commit_fail(void **state)
{
    struct mine *mine = *state;
    struct fixture *f = mine->fixture;
    // Nobody is in the catalogue, so the row is written after the event, and that is refused.
    raw_run(f->raw,
        "delete from owed_receiver; "
        "create trigger no_stock before insert on owed_delivery "
        "begin select raise(abort, 'the shelf is broken'); end");
    join(mine);
    assert_status(OWED_STORE, fire(mine, 7));
    assert_says(f->err, "could not be written in full");
    assert_int_not_equal(run(mine, "commit"), SQLITE_OK);
    assert_status(OWED_ABORTED, owed_committed(f->tx, &f->err));
    assert_says(f->err, "the shelf is broken");
    if (sqlite3_get_autocommit(mine->db) == 0)
        assert_int_equal(run(mine, "rollback"), SQLITE_OK);
    assert_int_equal(fixture_events(f), 0);
    assert_int_equal(fixture_rows(f), 0);
    assert_int_equal(mine->on_commit_runs, 0);
}

static void
our_connection_is_lent_for_writing(void **state)
{
    struct mine *mine = *state;
    struct fixture *f = mine->fixture;
    fixture_begin(f);
    sqlite3 *db = owed_tx_sqlite(f->tx);
    assert_non_null(db);
    assert_ptr_not_equal(db, mine->db);
    assert_int_equal(
        sqlite3_exec(db, "insert into app (id) values (5)", NULL, NULL, NULL), SQLITE_OK);
    assert_ok(fire(mine, 7));
    fixture_commit(f);
    assert_int_equal(fixture_rows(f), 1);
    assert_int_equal(fixture_events(f), 1);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(the_application_commits_both_or_neither),
        CASE(forgetting_us_first_leaves_the_transaction_alone),
        CASE(a_savepoint_rolled_back_takes_its_events_receivers_along),
        CASE(said_to_be_committed_but_rolled_back_nothing_runs),
        CASE(a_veto_makes_every_commit_fail_until_the_rollback),
        CASE(a_veto_makes_the_outermost_release_fail_too),
        CASE(a_veto_outlives_our_transaction_but_not_the_rollback),
        CASE(without_a_transaction_there_is_nothing_to_join),
        CASE(another_file_cannot_be_joined),
        CASE(one_transaction_of_a_handle_at_a_time),
        CASE(each_kind_of_transaction_ends_its_own_way),
        CASE(a_writer_in_the_way_is_busy_and_a_later_fire_works),
        CASE(a_fire_that_broke_off_makes_the_applications_commit_fail),
        CASE(our_connection_is_lent_for_writing),
    };
    return RUN_ON_SQLITE("sqlite join", tests);
}
