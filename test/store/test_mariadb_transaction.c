/* SPDX-License-Identifier: MIT
 *
 * test_mariadb_transaction.c - whoever else ends the transaction that carries an acknowledgement, be it
 * the server, which undoes one of two that wait for each other.
 */
#include "store/mariadb.h"
#include "world.h"

#include <mysql.h>
#include <mysqld_error.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static MYSQL *
handle_of(struct db *db)
{
    return db->driver->native(db);
}

static unsigned
say(MYSQL *handle, const char *sql)
{
    return mysql_real_query(handle, sql, strlen(sql)) == 0 ? 0 : mysql_errno(handle);
}

#define assert_said(handle_, sql_) assert_int_equal(say((handle_), (sql_)), 0)

static owed_status
try_fire(struct world *world)
{
    struct new_event event = an_event(EVENT);
    int64_t id;
    bool fresh;
    return store_insert_event(world->db, &event, &id, &fresh, &world->err);
}

static int64_t
events_there(struct world *world)
{
    struct status status;
    assert_ok(store_status(world->other, NOW, &world->arena, &status, &world->err));
    return status.events;
}

static void
begin_and_fire(struct world *world)
{
    assert_ok(store_begin(world->db, true, &world->err));
    fire(world, EVENT);
}

/* After what somebody did to the transaction, nothing more is written in it, and the next one works. */
static void
check_over(struct world *world, int64_t kept)
{
    assert_int_equal(try_fire(world), OWED_ABORTED);
    assert_int_equal(store_commit(world->db, &world->err), OWED_ABORTED);
    assert_int_equal(events_there(world), kept);
    begin_and_fire(world);
    assert_ok(store_commit(world->db, &world->err));
    assert_int_equal(events_there(world), kept + 1);
}

static void
a_foreign_commit_is_noticed(void **state)
{
    struct world *world = *state;
    begin_and_fire(world);
    assert_said(handle_of(world->db), "commit");
    assert_false(store_in_transaction(world->db));
    check_over(world, 1);
}

static void
a_foreign_rollback_is_noticed(void **state)
{
    struct world *world = *state;
    begin_and_fire(world);
    assert_said(handle_of(world->db), "rollback");
    assert_false(store_in_transaction(world->db));
    check_over(world, 0);
}

static void
ddl_commits_and_is_noticed(void **state)
{
    struct world *world = *state;
    world->store.is_spoilt = true;
    begin_and_fire(world);
    assert_said(handle_of(world->db), "create table app (id int primary key)");
    assert_false(store_in_transaction(world->db));
    check_over(world, 1);
}

static void
a_commit_and_a_new_begin_take_the_savepoint_along(void **state)
{
    struct world *world = *state;
    const struct driver *driver = world->db->driver;
    for (int i = 0; i < 2; i++) {
        assert_ok(store_begin(world->db, true, &world->err));
        assert_ok(driver->savepoint(world->db, &world->err));
        assert_said(handle_of(world->db), "commit");
        assert_said(handle_of(world->db), "begin");
        assert_int_equal(
            (i == 0 ? driver->release : driver->rollback_to)(world->db, &world->err), OWED_ABORTED);
        // And whoever goes on all the same writes nothing.
        check_over(world, i);
    }
}

static void
savepoints_stand_one_in_the_other(void **state)
{
    struct world *world = *state;
    const struct driver *driver = world->db->driver;
    assert_ok(store_begin(world->db, true, &world->err));
    fire(world, "shop.First");
    assert_ok(driver->savepoint(world->db, &world->err));
    fire(world, "shop.Second");
    assert_ok(driver->savepoint(world->db, &world->err));
    fire(world, "shop.Third");
    assert_ok(driver->rollback_to(world->db, &world->err));
    assert_ok(driver->release(world->db, &world->err));
    fire(world, "shop.Fourth");
    assert_ok(driver->release(world->db, &world->err));
    assert_ok(store_commit(world->db, &world->err));
    char names[256];
    raw_text(plain(world), "select group_concat(name order by id) from owed_event", names);
    assert_string_equal(names, "shop.First,shop.Second,shop.Fourth");
}

/* --- two that wait for each other --- */

struct waiter {
    MYSQL *handle;
    unsigned code;
};

static void *
wait_for_one(void *arg)
{
    struct waiter *waiter = arg;
    waiter->code = say(waiter->handle, "update app set n = n + 1 where id = 1");
    return NULL;
}

static void
make_app(struct world *world)
{
    world->store.is_spoilt = true;
    raw_run(plain(world),
        "create table app (id int primary key, n int not null default 0);"
        "insert into app (id) values (1), (2), (3), (4), (5), (6)");
}

/* deadlock: somebody who has written more waits for a row of ours; what we now ask for is theirs, so
 * that the server undoes our transaction. sql is said on our connection last. */
static void
deadlock(struct world *world, MYSQL *theirs, unsigned (*last)(MYSQL *handle))
{
    assert_ok(store_begin(world->db, true, &world->err));
    assert_said(handle_of(world->db), "update app set n = n + 1 where id = 1");
    assert_said(theirs, "begin");
    assert_said(theirs, "update app set n = n + 1 where id > 1");
    struct waiter waiter = {.handle = theirs};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, wait_for_one, &waiter), 0);
    raw_await_waiter(plain(world), (int64_t)mysql_thread_id(theirs));
    assert_int_equal(last(handle_of(world->db)), ER_LOCK_DEADLOCK);
    pthread_join(thread, NULL);
    assert_int_equal(waiter.code, 0);
    assert_said(theirs, "rollback");
}

static unsigned
ask_in_text(MYSQL *handle)
{
    return say(handle, "update app set n = n + 1 where id = 2");
}

static unsigned
ask_prepared_and_close(MYSQL *handle)
{
    MYSQL_STMT *stmt = mysql_stmt_init(handle);
    const char *sql = "update app set n = n + 1 where id = 2";
    assert_int_equal(mysql_stmt_prepare(stmt, sql, strlen(sql)), 0);
    mysql_stmt_execute(stmt);
    unsigned code = mysql_stmt_errno(stmt);
    mysql_stmt_close(stmt);
    return code;
}

static unsigned
ask_and_go_on(MYSQL *handle)
{
    unsigned code = ask_prepared_and_close(handle);
    assert_said(handle, "do 1");
    return code;
}

static void
a_deadlock_that_was_swallowed_ends_the_transaction(void **state)
{
    struct world *world = *state;
    unsigned (*const ways[])(MYSQL *) = {ask_in_text, ask_prepared_and_close, ask_and_go_on};
    make_app(world);
    struct db *theirs;
    struct db_options options = {0};
    assert_ok(store_open(world->url, &options, &theirs, &world->err));
    for (size_t i = 0; i < COUNT(ways); i++) {
        deadlock(world, handle_of(theirs), ways[i]);
        // Each statement would now stand alone, with a commit of its own.
        check_over(world, (int64_t)i);
    }
    store_close(theirs);
}

static void
a_deadlock_is_told_apart_from_a_foreign_end(void **state)
{
    struct world *world = *state;
    const struct driver *driver = world->db->driver;
    unsigned (*const ways[])(MYSQL *) = {ask_in_text, ask_prepared_and_close};
    make_app(world);
    struct db *theirs;
    struct db_options options = {0};
    assert_ok(store_open(world->url, &options, &theirs, &world->err));
    for (size_t i = 0; i < COUNT(ways); i++) {
        deadlock(world, handle_of(theirs), ways[i]);
        assert_int_equal(driver->contention(world->db, true), OWED_ABORTED);
        assert_false(store_in_transaction(world->db));
        store_rollback(world->db);
    }
    begin_and_fire(world);
    assert_said(handle_of(world->db), "commit");
    assert_int_equal(driver->contention(world->db, true), OWED_OK);
    assert_false(store_in_transaction(world->db));
    store_rollback(world->db);
    store_close(theirs);
}

/* --- who must not wait --- */

static int64_t
lock_wait(struct world *world)
{
    return raw_number(raw_of(world->db), "select @@session.innodb_lock_wait_timeout");
}

static void
in_a_hurry_nothing_waits_for_a_lock_until_the_transaction_ends(void **state)
{
    struct world *world = *state;
    const struct driver *driver = world->db->driver;
    make_app(world);
    raw_run(raw_of(world->db), "set session innodb_lock_wait_timeout = 37");
    raw_run(plain(world), "begin; update app set n = n + 1 where id = 2");
    for (int way = 0; way < 2; way++) {
        begin_and_fire(world);
        assert_ok(driver->hurry(world->db, &world->err));
        assert_ok(driver->hurry(world->db, &world->err));
        assert_int_equal(lock_wait(world), 0);
        unsigned code = way == 0 ? ask_in_text(handle_of(world->db))
                                 : ask_prepared_and_close(handle_of(world->db));
        assert_int_equal(code, ER_LOCK_WAIT_TIMEOUT);
        assert_int_equal(driver->contention(world->db, true), OWED_BUSY);
        // Only the statement was undone.
        assert_true(store_in_transaction(world->db));
        if (way == 0)
            assert_ok(store_commit(world->db, &world->err));
        else
            store_rollback(world->db);
        assert_int_equal(lock_wait(world), 37);
    }
    raw_run(plain(world), "rollback");
    assert_int_equal(events_there(world), 1);
}

static void
a_row_of_ours_that_others_hold_is_busy_and_nothing_else_is_lost(void **state)
{
    struct world *world = *state;
    const char *const keys[] = {"shop.billing", NULL};
    publish_keys(world, keys);
    int64_t id = only_delivery(world, fire(world, EVENT));
    assert_int_equal(claim_as(world, "first", NOW, 1), 1);
    assert_ok(store_begin(world->db, true, &world->err));
    fire(world, EVENT);
    raw_runf(
        plain(world), "begin; update owed_delivery set losses = 7 where id = %lld", (long long)id);
    assert_ok(world->db->driver->hurry(world->db, &world->err));
    struct settlement done = a_settlement(&world->rows[0].fence, "succeeded");
    assert_int_equal(store_settle(world->db, &done, 1, NULL, &world->err), OWED_BUSY);
    assert_int_equal(world->err.native, ER_LOCK_WAIT_TIMEOUT);
    raw_run(plain(world), "rollback");
    assert_ok(store_settle(world->db, &done, 1, NULL, &world->err));
    assert_ok(store_commit(world->db, &world->err));
    assert_string_equal(status_of(world, id), "succeeded");
    assert_int_equal(events_there(world), 2);
}

/* --- what begins it --- */

/* number_of asks on the connection itself, without being given it. */
static int64_t
number_of(struct db *db, const char *query)
{
    MYSQL *handle = ((struct mariadb_db *)db)->handle;
    assert_said(handle, query);
    MYSQL_RES *rows = mysql_store_result(handle);
    MYSQL_ROW row = mysql_fetch_row(rows);
    int64_t number = strtoll(row[mysql_num_fields(rows) - 1], NULL, 10);
    mysql_free_result(rows);
    return number;
}

#define STATEMENTS "show session status like 'Questions'"

static void
a_transaction_that_only_fires_is_two_round_trips(void **state)
{
    struct world *world = *state;
    begin_and_fire(world); // prepares
    assert_ok(store_commit(world->db, &world->err));
    int64_t before = number_of(world->db, STATEMENTS);
    begin_and_fire(world);
    assert_ok(store_commit(world->db, &world->err));
    // The look itself is one.
    assert_int_equal(number_of(world->db, STATEMENTS) - before, 2 + 1);
    assert_int_equal(events_there(world), 2);
    begin_and_fire(world);
    fire(world, EVENT);
    store_rollback(world->db);
    assert_int_equal(events_there(world), 2);
}

/* begin_and_let_wait fires an event that needs no answer: it waits for the commit. */
static void
begin_and_let_wait(struct world *world)
{
    struct new_event event = an_event(EVENT);
    int64_t id = 1;
    bool fresh = false;
    event.may_wait = true;
    assert_ok(store_begin(world->db, true, &world->err));
    assert_ok(store_insert_event(world->db, &event, &id, &fresh, &world->err));
    assert_int_equal(id, 0);
    assert_true(fresh);
    assert_true(world->db->driver->holds(world->db));
}

static void
an_event_that_needs_no_answer_is_one_round_trip(void **state)
{
    struct world *world = *state;
    begin_and_let_wait(world); // prepares
    assert_ok(store_commit(world->db, &world->err));
    int64_t before = number_of(world->db, STATEMENTS);
    begin_and_let_wait(world);
    assert_ok(store_commit(world->db, &world->err));
    assert_int_equal(number_of(world->db, STATEMENTS) - before, 1 + 1);
    assert_int_equal(number_of(world->db, "select @@in_transaction"), 0);
    assert_int_equal(events_there(world), 2);
    begin_and_let_wait(world);
    store_rollback(world->db);
    assert_int_equal(events_there(world), 2);
}

static void
look_by_a_statement(struct world *world)
{
    struct status status;
    assert_ok(store_status(world->db, NOW, &world->arena, &status, &world->err));
    assert_int_equal(status.events, 1);
}

static void
set_a_savepoint(struct world *world)
{
    assert_ok(world->db->driver->savepoint(world->db, &world->err));
    assert_ok(world->db->driver->rollback_to(world->db, &world->err));
}

static void
lend_the_connection(struct world *world)
{
    handle_of(world->db);
}

static void
an_event_that_waits_is_written_before_whatever_else_is_done(void **state)
{
    struct world *world = *state;
    static void (*const ways[])(struct world * world) = {
        look_by_a_statement, set_a_savepoint, lend_the_connection}; // which ends it for good
    for (size_t i = 0; i < COUNT(ways); i++) {
        begin_and_let_wait(world);
        ways[i](world);
        assert_false(world->db->driver->holds(world->db));
        assert_int_equal(number_of(world->db, "select count(*) from owed_event"), 1);
        assert_int_equal(events_there(world), 0);
        store_rollback(world->db);
        assert_int_equal(events_there(world), 0);
    }
}

static void
after_an_event_that_waited_and_was_refused_nothing_is_committed(void **state)
{
    struct world *world = *state;
    static const char *const keys[] = {"shop.billing", NULL};
    publish_keys(world, keys);
    raw_refuse(plain(world), "owed_delivery", "insert", "new.receiver_key = 'shop.billing'",
        "the shelf is broken");
    begin_and_let_wait(world);
    assert_int_equal(store_commit(world->db, &world->err), OWED_STORE);
    assert_non_null(strstr(world->err.text, "the shelf is broken"));

    begin_and_let_wait(world);
    assert_int_equal(try_fire(world), OWED_STORE);
    raw_allow(plain(world), "owed_delivery", "insert");
    assert_int_equal(try_fire(world), OWED_STORE);
    assert_int_equal(store_commit(world->db, &world->err), OWED_STORE);
    assert_int_equal(events_there(world), 0);

    begin_and_let_wait(world);
    assert_ok(store_commit(world->db, &world->err));
    assert_int_equal(events_there(world), 1);
}

static void
what_began_and_wrote_nothing_leaves_nothing_open(void **state)
{
    struct world *world = *state;
    assert_ok(store_begin(world->db, true, &world->err));
    assert_true(store_in_transaction(world->db));
    assert_ok(store_commit(world->db, &world->err));
    assert_int_equal(number_of(world->db, "select @@in_transaction"), 0);
    assert_ok(store_begin(world->db, true, &world->err));
    store_rollback(world->db);
    assert_int_equal(number_of(world->db, "select @@in_transaction"), 0);
    assert_false(store_in_transaction(world->db));
}

static void
who_is_given_the_connection_is_in_the_transaction_and_stays_so(void **state)
{
    struct world *world = *state;
    make_app(world);
    assert_ok(store_begin(world->db, true, &world->err));
    MYSQL *handle = handle_of(world->db);
    assert_said(handle, "update app set n = 9");
    store_rollback(world->db);
    // And who knows it still writes in the next one, too.
    assert_ok(store_begin(world->db, true, &world->err));
    assert_said(handle, "update app set n = 9");
    store_rollback(world->db);
    assert_int_equal(raw_number(plain(world), "select max(n) from app where n = 9"), 0);
}

static void
a_first_fire_that_is_refused_is_undone_and_the_transaction_goes_on(void **state)
{
    struct world *world = *state;
    static const char *const keys[] = {"shop.billing", NULL};
    publish_keys(world, keys);
    raw_refuse(plain(world), "owed_delivery", "insert", "new.receiver_key = 'shop.billing'",
        "the shelf is broken");
    assert_ok(store_begin(world->db, true, &world->err));
    assert_int_equal(try_fire(world), OWED_STORE);
    assert_int_equal(number_of(world->db, "select @@in_transaction"), 0);
    assert_true(store_in_transaction(world->db));
    raw_allow(plain(world), "owed_delivery", "insert");
    fire(world, EVENT);
    assert_int_equal(events_there(world), 0);
    assert_ok(store_commit(world->db, &world->err));
    assert_int_equal(events_there(world), 1);
}

/* --- a veto --- */

static void
after_a_veto_a_commit_commits_nothing_whoever_says_it(void **state)
{
    struct world *world = *state;
    make_app(world);
    begin_and_fire(world);
    world->db->driver->veto(world->db);
    assert_true(store_in_transaction(world->db));
    assert_int_equal(say(handle_of(world->db), "update app set n = 9"),
        ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION);
    assert_int_equal(try_fire(world), OWED_VETOED);
    assert_said(handle_of(world->db), "commit");
    assert_int_equal(events_there(world), 0);
    assert_int_not_equal(store_commit(world->db, &world->err), OWED_OK);
    begin_and_fire(world);
    world->db->driver->veto(world->db);
    assert_int_equal(store_commit(world->db, &world->err), OWED_VETOED);
    assert_int_equal(events_there(world), 0);
    begin_and_fire(world);
    assert_ok(store_commit(world->db, &world->err));
    assert_int_equal(events_there(world), 1);
}

/* --- what a receiver leaves --- */

static void
what_was_left_unread_is_read_to_its_end(void **state)
{
    struct world *world = *state;
    const struct driver *driver = world->db->driver;
    MYSQL *handle = handle_of(world->db);
    make_app(world);
    begin_and_fire(world);

    assert_said(handle, "select * from app");
    driver->sweep(world->db);
    fire(world, EVENT);

    assert_said(handle, "select * from app");
    MYSQL_RES *result = mysql_use_result(handle);
    assert_non_null(mysql_fetch_row(result));
    driver->sweep(world->db);
    fire(world, EVENT);
    mysql_free_result(result);
    fire(world, EVENT);

    MYSQL_STMT *stmt = mysql_stmt_init(handle);
    const char *sql = "select id from app";
    assert_int_equal(mysql_stmt_prepare(stmt, sql, strlen(sql)), 0);
    assert_int_equal(mysql_stmt_execute(stmt), 0);
    driver->sweep(world->db);
    fire(world, EVENT);
    mysql_stmt_close(stmt);
    fire(world, EVENT);
    assert_ok(store_commit(world->db, &world->err));
    assert_int_equal(events_there(world), 6);
}

/* --- the application's own connection --- */

static struct db *
adopt(struct world *world, struct raw **ret_raw)
{
    *ret_raw = raw_open(world->url);
    raw_run(*ret_raw, "begin");
    struct db *adopted;
    assert_ok(world->db->driver->adopt(raw_native(*ret_raw), &adopted, &world->err));
    return adopted;
}

static void
nothing_is_written_on_a_joined_connection_once_its_transaction_is_over(void **state)
{
    struct world *world = *state;
    const char *const ends[] = {"commit", "rollback", "create or replace table app (id int)"};
    world->store.is_spoilt = true;
    for (size_t i = 0; i < COUNT(ends); i++) {
        struct raw *raw;
        struct db *adopted = adopt(world, &raw);
        struct new_event event = an_event(EVENT);
        int64_t id;
        bool fresh;
        assert_ok(store_insert_event(adopted, &event, &id, &fresh, &world->err));
        raw_run(raw, ends[i]);
        assert_false(store_in_transaction(adopted));
        event.uid[0]++;
        assert_int_equal(
            store_insert_event(adopted, &event, &id, &fresh, &world->err), OWED_ABORTED);
        store_close(adopted);
        raw_close(raw);
    }
    assert_int_equal(events_there(world), 2);
}

static void
one_without_autocommit_is_always_in_a_transaction(void **state)
{
    struct world *world = *state;
    struct raw *raw = raw_open(world->url);
    raw_run(raw, "set autocommit = 0");
    struct db *adopted;
    assert_ok(world->db->driver->adopt(raw_native(raw), &adopted, &world->err));
    assert_true(store_in_transaction(adopted));
    struct new_event event = an_event(EVENT);
    int64_t id;
    bool fresh;
    assert_ok(store_insert_event(adopted, &event, &id, &fresh, &world->err));
    assert_int_equal(events_there(world), 0);
    raw_run(raw, "commit");
    assert_int_equal(events_there(world), 1);
    store_close(adopted);
    raw_close(raw);
}

static void
nothing_of_ours_stays_on_a_joined_connection(void **state)
{
    struct world *world = *state;
    static const char settings[] =
        "select concat_ws(';', @@session.tx_isolation, @@session.time_zone, @@session.sql_mode, "
        "@@session.innodb_lock_wait_timeout, @@session.max_statement_time, @@collation_connection, "
        "@@session.autocommit)";
    // This session's own: other tests prepare on the same server.
    static const char prepared[] =
        "select sum(if(variable_name like '%prepare%', variable_value, -variable_value)) "
        "from information_schema.session_status where variable_name in "
        "('com_stmt_prepare', 'com_stmt_close', 'com_prepare_sql', 'com_dealloc_sql')";
    static const char variables[] =
        "select count(*) from information_schema.user_variables where variable_name like 'owed%'";
    struct raw *raw;
    struct db *adopted = adopt(world, &raw);
    char was[256];
    char is[256];
    raw_text(raw, settings, was);
    struct new_event event = an_event(EVENT);
    int64_t id;
    bool fresh;
    assert_ok(store_insert_event(adopted, &event, &id, &fresh, &world->err));
    raw_text(raw, settings, is);
    assert_string_equal(is, was);
    assert_int_equal(raw_number(raw, prepared), 0);
    assert_int_equal(raw_number(raw, variables), 0);
    store_close(adopted);
    raw_run(raw, "commit");
    raw_close(raw);
}

/* --- relays that leave --- */

static void *
leave_as_a(void *argument)
{
    struct world *world = argument;
    owed_error err;
    return store_relay_leave(world->other, "a", 0, &err) == OWED_OK ? world : NULL;
}

static void
who_leaves_waits_for_others_and_keeps_nobody_waiting(void **state)
{
    struct world *world = *state;
    struct raw *rival = plain(world);
    raw_run(rival,
        "insert into owed_relay (id, host, pid, lanes, started_at, heartbeat_at) values"
        " ('a', 'h', 1, '[]', moment(1), moment(1)), ('b', 'h', 2, '[]', moment(1), moment(1));"
        "begin; update owed_relay set pid = 3 where id = 'b'");
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, leave_as_a, world), 0);
    raw_await_waiter(rival, raw_session(raw_of(world->other)));
    // Two relays that leave at once want each other's rows.
    assert_int_equal(raw_number(rival, "select pid from owed_relay where id = 'a' for update"), 1);
    raw_run(rival, "commit");
    void *left = NULL;
    pthread_join(thread, &left);
    assert_non_null(left);
    assert_int_equal(raw_number(rival, "select count(*) from owed_relay where id = 'a'"), 0);
}

/* --- migrations --- */

static struct {
    const struct driver *real;
    struct driver driver;
    struct raw *rival;
    int commits;
} spy;

static owed_status
commit_locked(struct db *db, owed_error *err)
{
    spy.commits++;
    assert_int_equal(
        raw_number(spy.rival, "select is_free_lock(concat('owed_migrate.', md5(database())))"), 0);
    return spy.real->commit(db, err);
}

static void
a_migration_lets_others_go_on_once_it_is_committed(void **state)
{
    struct world *world = *state;
    static const char is_free[] = "select is_free_lock(concat('owed_migrate.', md5(database())))";
    spy.real = world->db->driver;
    spy.driver = *spy.real;
    spy.driver.commit = commit_locked;
    spy.rival = plain(world);
    world->db->driver = &spy.driver;
    owed_status status = store_migrate(world->db, NOW, NULL, &world->err);
    world->db->driver = spy.real;
    assert_ok(status);
    assert_int_equal(spy.commits, 1);
    assert_int_equal(raw_number(plain(world), is_free), 1);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_foreign_commit_is_noticed),
        TEST(a_foreign_rollback_is_noticed),
        TEST(ddl_commits_and_is_noticed),
        TEST(a_commit_and_a_new_begin_take_the_savepoint_along),
        TEST(savepoints_stand_one_in_the_other),
        TEST(a_deadlock_that_was_swallowed_ends_the_transaction),
        TEST(a_deadlock_is_told_apart_from_a_foreign_end),
        TEST(in_a_hurry_nothing_waits_for_a_lock_until_the_transaction_ends),
        TEST(a_row_of_ours_that_others_hold_is_busy_and_nothing_else_is_lost),
        TEST(a_transaction_that_only_fires_is_two_round_trips),
        TEST(an_event_that_needs_no_answer_is_one_round_trip),
        TEST(an_event_that_waits_is_written_before_whatever_else_is_done),
        TEST(after_an_event_that_waited_and_was_refused_nothing_is_committed),
        TEST(what_began_and_wrote_nothing_leaves_nothing_open),
        TEST(who_is_given_the_connection_is_in_the_transaction_and_stays_so),
        TEST(a_first_fire_that_is_refused_is_undone_and_the_transaction_goes_on),
        TEST(after_a_veto_a_commit_commits_nothing_whoever_says_it),
        TEST(what_was_left_unread_is_read_to_its_end),
        TEST(nothing_is_written_on_a_joined_connection_once_its_transaction_is_over),
        TEST(one_without_autocommit_is_always_in_a_transaction),
        TEST(nothing_of_ours_stays_on_a_joined_connection),
        TEST(who_leaves_waits_for_others_and_keeps_nobody_waiting),
        TEST(a_migration_lets_others_go_on_once_it_is_committed),
    };
    return run_on_stores("mariadb", "mariadb transaction", tests, COUNT(tests));
}
