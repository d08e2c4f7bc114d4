/* SPDX-License-Identifier: MIT
 *
 * test_sqlite_join.c - firing inside a transaction of the application's own SQLite connection: what is true
 * of SQLite alone.
 */
#include "join_desk.h"

#include <owed/sqlite.h>

/* The application's connection waits for no lock, as SQLite has it. */
static int
setup(void **state)
{
    join_desk_setup(state);
    struct join_desk *desk = *state;
    assert_int_equal(sqlite3_busy_timeout(raw_native(desk->app), 0), SQLITE_OK);
    return 0;
}

static int
run(struct join_desk *desk, const char *statements)
{
    return sqlite3_exec(raw_native(desk->app), statements, NULL, NULL, NULL);
}

static void
forgetting_us_first_leaves_the_transaction_alone(void **state)
{
    struct join_desk *desk = *state;
    struct fixture *f = desk->f;
    join_desk_begin(desk);
    assert_ok(join_desk_fire(desk, 7));
    owed_rollback(f->tx);
    assert_int_equal(sqlite3_get_autocommit(raw_native(desk->app)), 0);
    assert_int_equal(run(desk, "commit"), SQLITE_OK);
    assert_int_equal(fixture_events(f), 1);
    assert_int_equal(desk->on_commit_runs, 0);
}

/* each way in which an application may try to end its transaction */
static const char *const endings[] = {"commit", "end transaction"};

static void
a_veto_makes_every_commit_fail_until_the_rollback(void **state)
{
    struct join_desk *desk = *state;
    struct fixture *f = desk->f;
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        join_desk_begin(desk);
        assert_status(OWED_VETOED, join_desk_fire(desk, 13));
        assert_says(f->err, "shop.credit refused event shop.OrderPlaced: no credit");
        assert_int_not_equal(run(desk, endings[i]), SQLITE_OK);
        assert_status(OWED_VETOED, owed_committed(f->tx, &f->err));
        assert_int_equal(fixture_rows(f), 0);
        assert_int_equal(fixture_events(f), 0);
        if (sqlite3_get_autocommit(raw_native(desk->app)) == 0)
            assert_int_equal(run(desk, "rollback"), SQLITE_OK);
    }
    join_desk_begin(desk);
    assert_ok(join_desk_fire(desk, 7));
    assert_int_equal(run(desk, "commit"), SQLITE_OK);
    assert_ok(owed_committed(f->tx, &f->err));
    assert_int_equal(fixture_rows(f), 1);
    assert_int_equal(fixture_events(f), 1);
    assert_int_equal(desk->on_commit_runs, 1);
}

static void
a_veto_makes_the_outermost_release_fail_too(void **state)
{
    struct join_desk *desk = *state;
    struct fixture *f = desk->f;
    assert_int_equal(run(desk, "savepoint outer; insert into app (id) values (1)"), SQLITE_OK);
    assert_ok(owed_join_sqlite(f->owed, raw_native(desk->app), &f->tx, &f->err));
    assert_status(OWED_VETOED, join_desk_fire(desk, 13));
    assert_int_not_equal(run(desk, "release outer"), SQLITE_OK);
    if (sqlite3_get_autocommit(raw_native(desk->app)) == 0)
        assert_int_equal(run(desk, "rollback"), SQLITE_OK);
    owed_rollback(f->tx);
    assert_int_equal(fixture_rows(f), 0);
    assert_int_equal(fixture_events(f), 0);
    assert_int_equal(run(desk, "insert into app (id) values (2)"), SQLITE_OK);
    assert_int_equal(fixture_rows(f), 1);
}

static void
a_veto_outlives_our_transaction_but_not_the_rollback(void **state)
{
    struct join_desk *desk = *state;
    struct fixture *f = desk->f;
    join_desk_begin(desk);
    assert_status(OWED_VETOED, join_desk_fire(desk, 13));
    owed_rollback(f->tx);
    assert_int_not_equal(run(desk, "commit"), SQLITE_OK);
    assert_int_equal(fixture_rows(f), 0);
    assert_int_equal(run(desk, "insert into app (id) values (2)"), SQLITE_OK);
    assert_int_equal(fixture_rows(f), 1);
}

static void
without_a_transaction_there_is_nothing_to_join(void **state)
{
    struct join_desk *desk = *state;
    struct fixture *f = desk->f;
    assert_status(OWED_INVALID, owed_join_sqlite(f->owed, raw_native(desk->app), &f->tx, &f->err));
    assert_says(f->err, "no transaction is open");
    assert_status(OWED_INVALID, owed_join_sqlite(f->owed, NULL, &f->tx, &f->err));
    assert_null(f->tx);
}

static void
another_file_cannot_be_joined(void **state)
{
    struct join_desk *desk = *state;
    struct fixture *f = desk->f;
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
    struct join_desk *desk = *state;
    struct fixture *f = desk->f;
    owed_tx *second = NULL;
    join_desk_begin(desk);
    assert_status(OWED_INVALID, owed_begin(f->owed, &second, &f->err));
    assert_status(OWED_INVALID, owed_join_sqlite(f->owed, raw_native(desk->app), &second, &f->err));
    assert_int_equal(run(desk, "rollback"), SQLITE_OK);
    owed_rollback(f->tx);
    fixture_begin(f);
    owed_rollback(f->tx);
}

static void
each_kind_of_transaction_ends_its_own_way(void **state)
{
    struct join_desk *desk = *state;
    struct fixture *f = desk->f;
    join_desk_begin(desk);
    assert_ok(join_desk_fire(desk, 7));
    assert_status(OWED_INVALID, owed_commit(f->tx, &f->err));
    assert_says(f->err, "COMMIT it there");
    assert_status(OWED_INVALID, owed_committed(f->tx, &f->err));
    assert_says(f->err, "still open");
    assert_int_equal(run(desk, "commit"), SQLITE_OK);
    assert_ok(owed_committed(f->tx, &f->err));
    fixture_begin(f);
    assert_status(OWED_INVALID, owed_committed(f->tx, &f->err));
    owed_rollback(f->tx);
    assert_int_equal(fixture_events(f), 1);
}

static void
a_writer_in_the_way_is_busy_and_a_later_fire_works(void **state)
{
    struct join_desk *desk = *state;
    struct fixture *f = desk->f;
    assert_int_equal(run(desk, "begin"), SQLITE_OK);
    assert_ok(owed_join_sqlite(f->owed, raw_native(desk->app), &f->tx, &f->err));
    assert_ok(store_begin(f->other, true, &f->err));
    assert_status(OWED_BUSY, join_desk_fire(desk, 7));
    store_rollback(f->other);
    assert_ok(join_desk_fire(desk, 8));
    assert_int_equal(run(desk, "commit"), SQLITE_OK);
    assert_ok(owed_committed(f->tx, &f->err));
    assert_int_equal(fixture_events(f), 1);
    assert_int_equal(fixture_owed(f, 0, NULL), 1);
}

static void
a_fire_that_broke_off_makes_the_applications_commit_fail(void **state)
{
    struct join_desk *desk = *state;
    struct fixture *f = desk->f;
    // Nobody is in the catalogue, so the row is written after the event, and that is refused.
    raw_run(f->raw,
        "delete from owed_receiver; "
        "create trigger no_stock before insert on owed_delivery "
        "begin select raise(abort, 'the shelf is broken'); end");
    join_desk_begin(desk);
    assert_status(OWED_STORE, join_desk_fire(desk, 7));
    assert_says(f->err, "could not be written in full");
    assert_int_not_equal(run(desk, "commit"), SQLITE_OK);
    assert_status(OWED_ABORTED, owed_committed(f->tx, &f->err));
    assert_says(f->err, "the shelf is broken");
    if (sqlite3_get_autocommit(raw_native(desk->app)) == 0)
        assert_int_equal(run(desk, "rollback"), SQLITE_OK);
    assert_int_equal(fixture_events(f), 0);
    assert_int_equal(fixture_rows(f), 0);
    assert_int_equal(desk->on_commit_runs, 0);
}

static void
our_connection_is_lent_for_writing(void **state)
{
    struct join_desk *desk = *state;
    struct fixture *f = desk->f;
    fixture_begin(f);
    sqlite3 *db = owed_tx_sqlite(f->tx);
    assert_non_null(db);
    assert_ptr_not_equal(db, raw_native(desk->app));
    assert_int_equal(
        sqlite3_exec(db, "insert into app (id) values (5)", NULL, NULL, NULL), SQLITE_OK);
    assert_ok(join_desk_fire(desk, 7));
    fixture_commit(f);
    assert_int_equal(fixture_rows(f), 1);
    assert_int_equal(fixture_events(f), 1);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, join_desk_teardown)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(forgetting_us_first_leaves_the_transaction_alone),
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
