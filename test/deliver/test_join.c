/* SPDX-License-Identifier: MIT
 *
 * test_join.c - firing inside a transaction of the application's own connection: what is true of every
 * store.
 */
#include "join_desk.h"

static void
the_application_commits_both_or_neither(void **state)
{
    struct join_desk *desk = *state;
    struct fixture *f = desk->f;
    join_desk_begin(desk);
    assert_ok(join_desk_fire(desk, 7));
    assert_ptr_equal(join_desk_lent(f->tx), raw_native(desk->app));
    assert_ptr_equal(desk->seen, raw_native(desk->app));
    assert_int_equal(fixture_events(f), 0);
    raw_run(desk->app, "commit");
    assert_int_equal(desk->on_commit_runs, 0);
    assert_ok(owed_committed(f->tx, &f->err));
    assert_int_equal(desk->on_commit_runs, 1);
    assert_int_equal(fixture_events(f), 1);
    assert_int_equal(fixture_owed(f, 0, NULL), 1);
    assert_int_equal(fixture_rows(f), 1);

    join_desk_begin(desk);
    assert_ok(join_desk_fire(desk, 8));
    raw_run(desk->app, "rollback");
    owed_rollback(f->tx);
    assert_int_equal(desk->on_commit_runs, 1);
    assert_int_equal(fixture_events(f), 1);
    assert_int_equal(fixture_rows(f), 1);
}

static void
a_savepoint_rolled_back_takes_its_events_receivers_along(void **state)
{
    struct join_desk *desk = *state;
    struct fixture *f = desk->f;
    join_desk_begin(desk);
    assert_ok(join_desk_fire(desk, 7));
    raw_run(desk->app, "savepoint a");
    assert_ok(join_desk_fire(desk, 8));
    raw_run(desk->app, "rollback to savepoint a; release savepoint a");
    raw_run(desk->app, "commit");
    assert_ok(owed_committed(f->tx, &f->err));
    assert_int_equal(desk->on_commit_runs, 1);
    assert_int_equal(fixture_events(f), 1);
}

static void
said_to_be_committed_but_rolled_back_nothing_runs(void **state)
{
    struct join_desk *desk = *state;
    struct fixture *f = desk->f;
    join_desk_begin(desk);
    assert_ok(join_desk_fire(desk, 7));
    raw_run(desk->app, "rollback");
    assert_ok(owed_committed(f->tx, &f->err));
    assert_int_equal(desk->on_commit_runs, 0);
}

#define TEST(name_) cmocka_unit_test_setup_teardown(name_, join_desk_setup, join_desk_teardown)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_application_commits_both_or_neither),
        TEST(a_savepoint_rolled_back_takes_its_events_receivers_along),
        TEST(said_to_be_committed_but_rolled_back_nothing_runs),
    };
    return RUN_ON_ALL_STORES("deliver join", tests);
}
