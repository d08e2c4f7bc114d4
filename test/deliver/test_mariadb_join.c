/* SPDX-License-Identifier: MIT
 *
 * test_mariadb_join.c - firing inside a transaction of the application's own MariaDB connection, and what
 * it may do with ours: what is true of MariaDB alone.
 */
#include "join_desk.h"

#include <owed/mariadb.h>

#include <mysqld_error.h>
#include <string.h>

/* run answers 0, or what the server refused it with. */
static unsigned
run(MYSQL *handle, const char *statement)
{
    return mysql_real_query(handle, statement, strlen(statement)) == 0 ? 0 : mysql_errno(handle);
}

static void
after_a_veto_the_applications_commit_commits_nothing(void **state)
{
    struct join_desk *desk = *state;
    struct fixture *f = desk->f;
    join_desk_begin(desk);
    assert_status(OWED_VETOED, join_desk_fire(desk, 13));
    assert_says(f->err, "shop.credit refused event shop.OrderPlaced: no credit");
    assert_int_equal(run(raw_native(desk->app), "insert into app (id) values (2)"),
        ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION);
    assert_int_equal(run(raw_native(desk->app), "commit"), 0);
    assert_status(OWED_VETOED, owed_committed(f->tx, &f->err));
    assert_int_equal(desk->on_commit_runs, 0);
    assert_int_equal(fixture_rows(f), 0);
    assert_int_equal(fixture_events(f), 0);
    // The next one is an ordinary one.
    join_desk_begin(desk);
    assert_ok(join_desk_fire(desk, 7));
    assert_int_equal(run(raw_native(desk->app), "commit"), 0);
    assert_ok(owed_committed(f->tx, &f->err));
    assert_int_equal(fixture_rows(f), 1);
}

static void
only_an_open_transaction_on_the_stores_database_can_be_joined(void **state)
{
    struct join_desk *desk = *state;
    struct fixture *f = desk->f;
    assert_status(OWED_INVALID, owed_join_mariadb(f->owed, raw_native(desk->app), &f->tx, &f->err));
    assert_says(f->err, "no transaction is open");
    assert_status(OWED_INVALID, owed_join_mariadb(f->owed, NULL, &f->tx, &f->err));
    assert_int_equal(run(raw_native(desk->app), "use information_schema"), 0);
    assert_int_equal(run(raw_native(desk->app), "begin"), 0);
    assert_status(OWED_INVALID, owed_join_mariadb(f->owed, raw_native(desk->app), &f->tx, &f->err));
    assert_says(f->err, "but the store is");
    assert_null(f->tx);
}

static void
ours_is_lent_and_what_somebody_else_commits_on_it_is_noticed(void **state)
{
    struct join_desk *desk = *state;
    struct fixture *f = desk->f;
    fixture_begin(f);
    MYSQL *ours = owed_tx_mariadb(f->tx);
    assert_non_null(ours);
    assert_int_equal(run(ours, "insert into app (id) values (1)"), 0);
    assert_int_equal(run(ours, "commit"), 0);
    assert_status(OWED_ABORTED, join_desk_fire(desk, 7));
    owed_rollback(f->tx);
    assert_int_equal(fixture_events(f), 0);

    fixture_begin(f);
    assert_int_equal(run(owed_tx_mariadb(f->tx), "insert into app (id) values (2)"), 0);
    assert_ok(join_desk_fire(desk, 7));
    assert_ok(owed_commit(f->tx, &f->err));
    assert_int_equal(fixture_rows(f), 2);
    assert_int_equal(fixture_events(f), 1);
}

#define TEST(name_) cmocka_unit_test_setup_teardown(name_, join_desk_setup, join_desk_teardown)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(after_a_veto_the_applications_commit_commits_nothing),
        TEST(only_an_open_transaction_on_the_stores_database_can_be_joined),
        TEST(ours_is_lent_and_what_somebody_else_commits_on_it_is_noticed),
    };
    return run_on_stores("mariadb", "mariadb join", tests, sizeof tests / sizeof tests[0]);
}
