/* SPDX-License-Identifier: MIT
 *
 * test_sqlite_transaction.c - whoever else says COMMIT or ROLLBACK on the connection that carries an
 * acknowledgement: what we wrote is kept only by our own commit, and a veto stops everybody.
 */
#include "world.h"

#include <sqlite3.h>
#include <string.h>

static sqlite3 *
handle_of(struct db *db)
{
    return db->driver->native(db);
}

static int
say(sqlite3 *handle, const char *sql)
{
    return sqlite3_exec(handle, sql, NULL, NULL, NULL);
}

static int64_t
events_there(struct world *world)
{
    struct status status;
    assert_ok(store_status(world->other, NOW, &world->arena, &status, &world->err));
    return status.events;
}

static void
under_guard_a_foreign_commit_undoes_everything(void **state)
{
    struct world *world = *state;
    world->db->driver->guard(world->db, true);
    assert_ok(store_begin(world->db, true, &world->err));
    fire(world, EVENT);
    assert_int_not_equal(say(handle_of(world->db), "commit"), SQLITE_OK);
    assert_false(store_in_transaction(world->db));
    assert_int_equal(events_there(world), 0);
    struct new_event event = an_event(EVENT);
    int64_t id;
    bool fresh;
    assert_int_equal(store_insert_event(world->db, &event, &id, &fresh, &world->err), OWED_ABORTED);
    assert_int_equal(store_commit(world->db, &world->err), OWED_ABORTED);
    // That ended it: the connection is as good as new.
    assert_ok(store_begin(world->db, true, &world->err));
    fire(world, EVENT);
    assert_ok(store_commit(world->db, &world->err));
    assert_int_equal(events_there(world), 1);
}

static void
our_own_commit_passes_the_guard(void **state)
{
    struct world *world = *state;
    world->db->driver->guard(world->db, true);
    assert_ok(store_begin(world->db, true, &world->err));
    fire(world, EVENT);
    assert_ok(store_commit(world->db, &world->err));
    fire(world, EVENT); // by itself, outside any transaction
    assert_int_equal(events_there(world), 2);
    world->db->driver->guard(world->db, false);
}

static void
without_a_guard_a_foreign_commit_is_noticed(void **state)
{
    struct world *world = *state;
    assert_ok(store_begin(world->db, true, &world->err));
    fire(world, EVENT);
    assert_int_equal(say(handle_of(world->db), "commit"), SQLITE_OK);
    assert_false(store_in_transaction(world->db));
    assert_int_equal(store_commit(world->db, &world->err), OWED_ABORTED);
}

static void
a_foreign_rollback_is_noticed_even_when_another_transaction_began(void **state)
{
    struct world *world = *state;
    assert_ok(store_begin(world->db, true, &world->err));
    assert_ok(world->db->driver->savepoint(world->db, &world->err));
    assert_int_equal(say(handle_of(world->db), "rollback; begin immediate"), SQLITE_OK);
    assert_false(store_in_transaction(world->db));
    assert_int_equal(world->db->driver->release(world->db, &world->err), OWED_ABORTED);
    struct new_event event = an_event(EVENT);
    int64_t id;
    bool fresh;
    assert_int_equal(store_insert_event(world->db, &event, &id, &fresh, &world->err), OWED_ABORTED);
    store_rollback(world->db);
    assert_int_equal(sqlite3_get_autocommit(handle_of(world->db)), 1);
    fire(world, EVENT);
    assert_int_equal(events_there(world), 1);
}

static void
a_savepoint_undoes_one_delivery_and_keeps_the_rest(void **state)
{
    struct world *world = *state;
    const struct driver *driver = world->db->driver;
    assert_ok(store_begin(world->db, true, &world->err));
    fire(world, EVENT);
    assert_ok(driver->savepoint(world->db, &world->err));
    fire(world, EVENT);
    assert_ok(driver->rollback_to(world->db, &world->err));
    assert_ok(driver->release(world->db, &world->err));
    assert_ok(driver->savepoint(world->db, &world->err));
    fire(world, EVENT);
    assert_ok(driver->release(world->db, &world->err));
    assert_ok(store_commit(world->db, &world->err));
    assert_int_equal(events_there(world), 2);
}

static void
a_savepoint_that_somebody_released_is_gone(void **state)
{
    struct world *world = *state;
    const struct driver *driver = world->db->driver;
    assert_ok(store_begin(world->db, true, &world->err));
    assert_ok(driver->savepoint(world->db, &world->err));
    assert_int_equal(say(handle_of(world->db), "release owed_delivery"), SQLITE_OK);
    assert_int_equal(driver->release(world->db, &world->err), OWED_ABORTED);
    assert_int_equal(driver->rollback_to(world->db, &world->err), OWED_ABORTED);
    store_rollback(world->db);
}

static void
a_vetoed_transaction_cannot_be_committed_by_us(void **state)
{
    struct world *world = *state;
    assert_ok(store_begin(world->db, true, &world->err));
    fire(world, EVENT);
    world->db->driver->veto(world->db);
    assert_int_equal(store_commit(world->db, &world->err), OWED_VETOED);
    assert_false(store_in_transaction(world->db));
    assert_int_equal(events_there(world), 0);
    // The next transaction is free.
    assert_ok(store_begin(world->db, true, &world->err));
    fire(world, EVENT);
    assert_ok(store_commit(world->db, &world->err));
    assert_int_equal(events_there(world), 1);
}

static void
a_vetoed_transaction_cannot_be_committed_by_anybody_else(void **state)
{
    struct world *world = *state;
    assert_ok(store_begin(world->db, true, &world->err));
    fire(world, EVENT);
    world->db->driver->veto(world->db);
    assert_int_not_equal(say(handle_of(world->db), "commit"), SQLITE_OK);
    assert_int_equal(events_there(world), 0);
    store_rollback(world->db);
}

static sqlite3 *
open_theirs(struct world *world, const char *begin)
{
    sqlite3 *theirs;
    assert_int_equal(sqlite3_open(strchr(world->url, '/'), &theirs), SQLITE_OK);
    assert_int_equal(say(theirs, "create table if not exists app (x)"), SQLITE_OK);
    assert_int_equal(say(theirs, begin), SQLITE_OK);
    assert_int_equal(say(theirs, "insert into app values (1)"), SQLITE_OK);
    return theirs;
}

static int
count_theirs(sqlite3 *theirs)
{
    sqlite3_stmt *stmt;
    assert_int_equal(
        sqlite3_prepare_v2(theirs, "select count(*) from app", -1, &stmt, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
    int count = sqlite3_column_int(stmt, 0);
    sqlite3_finalize(stmt);
    return count;
}

static void
a_veto_on_an_adopted_connection_stops_the_callers_own_commit(void **state)
{
    struct world *world = *state;
    // A transaction of their own, or one that a savepoint opened: COMMIT, or the outermost RELEASE.
    static const char *const pairs[][2] = {{"begin", "commit"}, {"savepoint s", "release s"}};
    for (size_t i = 0; i < COUNT(pairs); i++) {
        sqlite3 *theirs = open_theirs(world, pairs[i][0]);
        struct db *db;
        assert_ok(driver_sqlite.adopt(theirs, &db, &world->err));
        db->driver->veto(db);
        store_close(db); // we are forgotten, the veto is not
        check_case(say(theirs, pairs[i][1]) != SQLITE_OK, pairs[i][1]);
        // A refused RELEASE has undone everything, yet SQLite leaves the savepoint standing.
        if (sqlite3_get_autocommit(theirs) == 0)
            check_case(say(theirs, "rollback") == SQLITE_OK, pairs[i][1]);
        check_case(count_theirs(theirs) == 0, pairs[i][1]);
        // What they do next is their own business again.
        check_case(
            say(theirs, "begin; insert into app values (2); commit") == SQLITE_OK, pairs[i][1]);
        check_case(count_theirs(theirs) == 1, pairs[i][1]);
        check_case(say(theirs, "delete from app") == SQLITE_OK, pairs[i][1]);
        sqlite3_close(theirs);
    }
}

static void
a_veto_is_lifted_by_the_callers_rollback(void **state)
{
    struct world *world = *state;
    sqlite3 *theirs = open_theirs(world, "begin");
    struct db *db;
    assert_ok(driver_sqlite.adopt(theirs, &db, &world->err));
    db->driver->veto(db);
    assert_int_equal(say(theirs, "rollback"), SQLITE_OK);
    store_close(db);
    assert_int_equal(say(theirs, "begin; insert into app values (2); commit"), SQLITE_OK);
    assert_int_equal(count_theirs(theirs), 1);
    sqlite3_close(theirs);
}

static void
a_vetoed_connection_may_be_closed_with_its_transaction_open(void **state)
{
    struct world *world = *state;
    sqlite3 *theirs = open_theirs(world, "begin");
    struct db *db;
    assert_ok(driver_sqlite.adopt(theirs, &db, &world->err));
    db->driver->veto(db);
    store_close(db);
    assert_int_equal(sqlite3_close(theirs), SQLITE_OK);
}

static void
transactions_do_not_nest(void **state)
{
    struct world *world = *state;
    assert_int_equal(store_commit(world->db, &world->err), OWED_BUG);
    assert_ok(store_begin(world->db, true, &world->err));
    assert_int_equal(store_begin(world->db, true, &world->err), OWED_BUG);
    assert_true(store_in_transaction(world->db));
    store_rollback(world->db);
    store_rollback(world->db);
    assert_ok(store_begin(world->db, false, &world->err));
    assert_ok(store_commit(world->db, &world->err));
}

static void
closing_with_a_transaction_open_undoes_it(void **state)
{
    struct world *world = *state;
    assert_ok(store_begin(world->db, true, &world->err));
    fire(world, EVENT);
    store_close(world->db);
    world->db = NULL;
    assert_int_equal(events_there(world), 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(under_guard_a_foreign_commit_undoes_everything),
        TEST(our_own_commit_passes_the_guard),
        TEST(without_a_guard_a_foreign_commit_is_noticed),
        TEST(a_foreign_rollback_is_noticed_even_when_another_transaction_began),
        TEST(a_savepoint_undoes_one_delivery_and_keeps_the_rest),
        TEST(a_savepoint_that_somebody_released_is_gone),
        TEST(a_vetoed_transaction_cannot_be_committed_by_us),
        TEST(a_vetoed_transaction_cannot_be_committed_by_anybody_else),
        TEST(a_veto_on_an_adopted_connection_stops_the_callers_own_commit),
        TEST(a_veto_is_lifted_by_the_callers_rollback),
        TEST(a_vetoed_connection_may_be_closed_with_its_transaction_open),
        TEST(transactions_do_not_nest),
        TEST(closing_with_a_transaction_open_undoes_it),
    };
    return run_on_stores("sqlite", "sqlite transaction", tests, COUNT(tests));
}
