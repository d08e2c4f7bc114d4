/* SPDX-License-Identifier: MIT
 *
 * test_postgres_transaction.c - transactions on PostgreSQL that somebody else has a hand in.
 */
#include "world.h"

#include <libpq-fe.h>
#include <string.h>

static PGconn *
handle_of(struct db *db)
{
    return db->driver->native(db);
}

/* say runs what an application says on a connection: "", or the SQLSTATE of the first refusal. */
static const char *
say(PGconn *handle, const char *statements)
{
    static char sqlstate[8];
    sqlstate[0] = '\0';
    PGresult *result = PQexec(handle, statements);
    const char *said = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    if (said != NULL)
        memcpy(sqlstate, said, 6);
    PQclear(result);
    return sqlstate;
}

static int64_t
events_there(struct world *world)
{
    return raw_number(plain(world), "select count(*) from owed_event");
}

/* begin_guarded begins as the relay does before it lends the connection to a receiver. */
static void
begin_guarded(struct world *world)
{
    assert_ok(store_begin(world->db, true, &world->err));
    world->db->driver->guard(world->db, true);
    assert_ok(world->db->driver->savepoint(world->db, &world->err));
}

static void
a_guarded_transaction_is_committed_by_us_alone(void **state)
{
    struct world *world = *state;
    begin_guarded(world);
    fire(world, EVENT);
    assert_string_equal(say(handle_of(world->db), "commit"), "23503");
    assert_false(store_in_transaction(world->db));
    assert_int_equal(world->db->driver->release(world->db, &world->err), OWED_ABORTED);
    store_rollback(world->db);
    world->db->driver->guard(world->db, false);
    assert_int_equal(events_there(world), 0);

    begin_guarded(world);
    fire(world, EVENT);
    handle_of(world->db);
    assert_ok(world->db->driver->release(world->db, &world->err));
    assert_ok(store_commit(world->db, &world->err));
    world->db->driver->guard(world->db, false);
    assert_int_equal(events_there(world), 1);
    assert_int_equal(raw_number(plain(world), "select count(*) from owed_guard"), 0);
}

static void
a_transaction_that_took_the_place_of_ours_is_not_taken_for_it(void **state)
{
    struct world *world = *state;
    begin_guarded(world);
    fire(world, EVENT);
    assert_string_equal(say(handle_of(world->db), "rollback; begin"), "");
    assert_int_equal(world->db->driver->release(world->db, &world->err), OWED_ABORTED);
    store_rollback(world->db);

    // Without a savepoint it is the guard that is missing.
    assert_ok(store_begin(world->db, true, &world->err));
    world->db->driver->guard(world->db, true);
    fire(world, EVENT);
    assert_string_equal(say(handle_of(world->db), "rollback; begin"), "");
    fire(world, EVENT);
    assert_int_equal(store_commit(world->db, &world->err), OWED_ABORTED);
    assert_int_equal(events_there(world), 0);
}

static void
what_is_written_after_a_foreign_end_is_not_kept(void **state)
{
    struct world *world = *state;
    raw_run(plain(world), "create table app (id integer)");
    begin_guarded(world);
    assert_string_equal(say(handle_of(world->db), "rollback"), "");
    assert_false(store_in_transaction(world->db));
    assert_string_equal(say(handle_of(world->db), "insert into app values (1)"), "25P02");
    assert_int_equal(store_commit(world->db, &world->err), OWED_ABORTED);
    assert_int_equal(raw_number(plain(world), "select count(*) from app"), 0);
    assert_ok(store_begin(world->db, true, &world->err));
    fire(world, EVENT);
    assert_ok(store_commit(world->db, &world->err));
    assert_int_equal(events_there(world), 1);
}

static void
a_vetoed_transaction_is_committed_by_nobody(void **state)
{
    struct world *world = *state;
    assert_ok(store_begin(world->db, true, &world->err));
    fire(world, EVENT);
    world->db->driver->veto(world->db);
    assert_int_equal(store_commit(world->db, &world->err), OWED_VETOED);
    assert_ok(store_begin(world->db, true, &world->err));
    fire(world, EVENT);
    world->db->driver->veto(world->db);
    say(handle_of(world->db), "commit");
    store_rollback(world->db);
    assert_int_equal(events_there(world), 0);
}

static void
a_veto_on_an_adopted_connection_stops_the_callers_own_commit(void **state)
{
    struct world *world = *state;
    raw_run(plain(world), "create table app (id integer)");
    PGconn *theirs = PQconnectdb(world->url);
    assert_string_equal(say(theirs, "begin; insert into app values (1)"), "");
    struct db *db;
    assert_ok(driver_postgres.adopt(theirs, &db, &world->err));
    db->driver->veto(db);
    store_close(db); // we are forgotten, the veto is not
    PGresult *result = PQexec(theirs, "commit");
    assert_string_equal(PQcmdStatus(result), "ROLLBACK");
    PQclear(result);
    assert_string_equal(say(theirs, "insert into app values (2)"), "");
    assert_int_equal(raw_number(plain(world), "select sum(id) from app"), 2);
    PQfinish(theirs);
}

static void
an_adopted_connection_keeps_nothing_of_ours_and_commits_nothing_by_itself(void **state)
{
    struct world *world = *state;
    PGconn *theirs = PQconnectdb(world->url);
    assert_string_equal(say(theirs, "begin"), "");
    struct db *db;
    assert_ok(driver_postgres.adopt(theirs, &db, &world->err));
    struct new_event event = an_event(EVENT);
    int64_t id;
    bool fresh;
    assert_ok(store_insert_event(db, &event, &id, &fresh, &world->err));
    assert_int_equal(store_commit(db, &world->err), OWED_BUG);
    PGresult *prepared = PQexec(theirs, "select count(*) from pg_prepared_statements");
    assert_string_equal(PQgetvalue(prepared, 0, 0), "0");
    PQclear(prepared);
    assert_string_equal(say(theirs, "rollback"), "");
    event = an_event(EVENT);
    assert_int_equal(store_insert_event(db, &event, &id, &fresh, &world->err), OWED_ABORTED);
    store_close(db);
    PQfinish(theirs);
    assert_int_equal(events_there(world), 0);
}

static void
an_adopted_connection_has_to_be_at_rest_and_to_speak_utf8(void **state)
{
    struct world *world = *state;
    PGconn *theirs = PQconnectdb(world->url);
    struct db *db;
    assert_string_equal(say(theirs, "begin; set client_encoding = 'LATIN1'"), "");
    assert_int_equal(driver_postgres.adopt(theirs, &db, &world->err), OWED_INVALID);
    assert_non_null(strstr(world->err.text, "LATIN1"));
    assert_string_equal(say(theirs, "set client_encoding = 'UTF8'"), "");
    assert_int_equal(PQenterPipelineMode(theirs), 1);
    assert_int_equal(driver_postgres.adopt(theirs, &db, &world->err), OWED_INVALID);
    PQfinish(theirs);
}

static void
a_failed_statement_is_not_committed_as_if_nothing_were(void **state)
{
    struct world *world = *state;
    assert_ok(store_begin(world->db, true, &world->err));
    fire(world, EVENT);
    assert_string_equal(say(handle_of(world->db), "select 1 / 0"), "22012");
    assert_int_equal(world->db->driver->contention(world->db, true), OWED_UNSURE);
    assert_int_equal(store_commit(world->db, &world->err), OWED_ABORTED);
    assert_int_equal(events_there(world), 0);
}

static void
who_hurries_waits_for_no_lock_and_lowers_no_limit_of_the_operators(void **state)
{
    struct world *world = *state;
    raw_run(plain(world), "create table app (id integer); insert into app values (1)");
    raw_run(plain(world), "begin; update app set id = 2");
    assert_ok(store_begin(world->db, true, &world->err));
    assert_ok(world->db->driver->savepoint(world->db, &world->err));
    assert_ok(world->db->driver->hurry(world->db, &world->err));
    assert_string_equal(say(handle_of(world->db), "update app set id = 3"), "55P03");
    assert_ok(world->db->driver->rollback_to(world->db, &world->err));
    // Also after the savepoint took back what was set behind it.
    assert_string_equal(say(handle_of(world->db), "update app set id = 3"), "55P03");
    store_rollback(world->db);
    raw_run(plain(world), "rollback");

    assert_ok(store_begin(world->db, true, &world->err));
    assert_string_equal(say(handle_of(world->db), "set local lock_timeout = '2ms'"), "");
    assert_ok(world->db->driver->hurry(world->db, &world->err));
    PGresult *result = PQexec(handle_of(world->db), "show lock_timeout");
    assert_string_equal(PQgetvalue(result, 0, 0), "2ms");
    PQclear(result);
    store_rollback(world->db);
}

/* What a receiver may leave behind; then whether its transaction can still be committed. */
static void
leave_rows_unread(PGconn *handle)
{
    assert_int_equal(PQsendQuery(handle, "select generate_series(1, 3); select 4"), 1);
}

static void
leave_a_copy_in(PGconn *handle)
{
    say(handle, "copy owed_guard from stdin");
}

static void
leave_a_copy_out(PGconn *handle)
{
    say(handle, "copy (select generate_series(1, 100000)) to stdout");
}

static void
leave_a_pipeline(PGconn *handle)
{
    assert_int_equal(PQenterPipelineMode(handle), 1);
    assert_int_equal(PQsendQueryParams(handle, "select 1", 0, NULL, NULL, NULL, NULL, 0), 1);
    assert_int_equal(PQsendQueryParams(handle, "select 2", 0, NULL, NULL, NULL, NULL, 0), 1);
}

static void
leave_single_rows(PGconn *handle)
{
    leave_rows_unread(handle);
    PQsetSingleRowMode(handle);
    PQsetnonblocking(handle, 1);
}

static void
what_a_receiver_left_running_is_ended(void **state)
{
    struct world *world = *state;
    static const struct {
        const char *name;
        void (*leave)(PGconn *handle);
        bool is_harmless;
    } cases[] = {
        {"rows", leave_rows_unread, true},
        {"copy in", leave_a_copy_in, false},
        {"copy out", leave_a_copy_out, true},
        {"pipeline", leave_a_pipeline, true},
        {"single rows", leave_single_rows, true},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        assert_ok(store_begin(world->db, true, &world->err));
        assert_ok(world->db->driver->savepoint(world->db, &world->err));
        cases[i].leave(handle_of(world->db));
        world->db->driver->sweep(world->db);
        if (!cases[i].is_harmless)
            check_case(
                world->db->driver->rollback_to(world->db, &world->err) == OWED_OK, cases[i].name);
        fire(world, EVENT);
        check_case(store_commit(world->db, &world->err) == OWED_OK, cases[i].name);
        check_case(events_there(world) == (int64_t)i + 1, cases[i].name);
    }
}

static void
what_a_receiver_set_lasts_no_longer_than_its_transaction(void **state)
{
    struct world *world = *state;
    assert_ok(store_begin(world->db, true, &world->err));
    assert_string_equal(say(handle_of(world->db),
                            "create schema other; set search_path = other; listen news; "
                            "set role pg_monitor; select pg_advisory_lock(7)"),
        "");
    assert_ok(store_commit(world->db, &world->err));
    assert_ok(store_begin(world->db, true, &world->err));
    fire(world, EVENT);
    assert_ok(store_commit(world->db, &world->err));
    PGresult *result = PQexec(handle_of(world->db),
        "select current_user = session_user, (select count(*) from pg_listening_channels()), "
        "(select count(*) from pg_locks where locktype = 'advisory' and pid = pg_backend_pid()), "
        "current_setting('client_connection_check_interval'), current_setting('lock_timeout')");
    assert_string_equal(PQgetvalue(result, 0, 0), "t");
    assert_string_equal(PQgetvalue(result, 0, 1), "0");
    assert_string_equal(PQgetvalue(result, 0, 2), "0");
    assert_string_equal(PQgetvalue(result, 0, 3), "500ms");
    assert_string_equal(PQgetvalue(result, 0, 4), "1s"); // as the connection was opened
    PQclear(result);
}

static void
plans_that_somebody_threw_away_are_made_anew(void **state)
{
    struct world *world = *state;
    fire(world, EVENT);
    assert_string_equal(say(handle_of(world->db), "deallocate all"), "");
    fire(world, EVENT);
    assert_int_equal(events_there(world), 2);
}

static void
a_light_commit_is_asked_for_each_time(void **state)
{
    struct world *world = *state;
    static const char *const expected[] = {"off", "on"};
    for (size_t i = 0; i < COUNT(expected); i++) {
        if (i == 0)
            world->db->driver->light(world->db);
        assert_ok(store_begin(world->db, true, &world->err));
        PGresult *result = PQexec(handle_of(world->db), "show synchronous_commit");
        assert_string_equal(PQgetvalue(result, 0, 0), expected[i]);
        PQclear(result);
        assert_ok(store_commit(world->db, &world->err));
    }
}

static void
a_transaction_in_which_nothing_ran_costs_nothing(void **state)
{
    struct world *world = *state;
    assert_ok(store_begin(world->db, true, &world->err));
    assert_true(store_in_transaction(world->db));
    assert_ok(store_commit(world->db, &world->err));
    assert_false(store_in_transaction(world->db));
    assert_ok(store_begin(world->db, true, &world->err));
    assert_int_equal(store_begin(world->db, true, &world->err), OWED_BUG);
    store_rollback(world->db);
    assert_int_equal(PQtransactionStatus(handle_of(world->db)), PQTRANS_IDLE);
}

static void
a_commit_does_not_ask_for_the_number_that_a_fire_has_said(void **state)
{
    struct world *world = *state;
    const struct new_delivery own = {
        .receiver_key = "shop.own", .lane = LANE, .kind = "inside", .max_attempts = 5};
    struct new_event event = an_event(EVENT);
    int64_t id = 0;
    bool fresh = false;
    struct db *db = NULL;
    assert_ok(store_open(world->url, &(struct db_options){0}, &db, &world->err));
    event.own = &own;
    event.own_count = 1;
    for (int said = 1; said >= 0; said--, event.own_count = 0, event.uid[0]++) {
        assert_ok(store_begin(db, true, &world->err));
        assert_ok(store_insert_event(db, &event, &id, &fresh, &world->err));
        assert_ok(store_commit(db, &world->err));
        PGresult *result = PQexec(handle_of(db),
            "select from pg_prepared_statements where statement like '%select pg_current_xact_id%'");
        assert_int_equal(PQntuples(result), 1 - said);
        PQclear(result);
    }
    store_close(db);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_guarded_transaction_is_committed_by_us_alone),
        TEST(a_transaction_that_took_the_place_of_ours_is_not_taken_for_it),
        TEST(what_is_written_after_a_foreign_end_is_not_kept),
        TEST(a_vetoed_transaction_is_committed_by_nobody),
        TEST(a_veto_on_an_adopted_connection_stops_the_callers_own_commit),
        TEST(an_adopted_connection_keeps_nothing_of_ours_and_commits_nothing_by_itself),
        TEST(an_adopted_connection_has_to_be_at_rest_and_to_speak_utf8),
        TEST(a_failed_statement_is_not_committed_as_if_nothing_were),
        TEST(who_hurries_waits_for_no_lock_and_lowers_no_limit_of_the_operators),
        TEST(what_a_receiver_left_running_is_ended),
        TEST(what_a_receiver_set_lasts_no_longer_than_its_transaction),
        TEST(plans_that_somebody_threw_away_are_made_anew),
        TEST(a_light_commit_is_asked_for_each_time),
        TEST(a_transaction_in_which_nothing_ran_costs_nothing),
        TEST(a_commit_does_not_ask_for_the_number_that_a_fire_has_said),
    };
    return run_on_stores("postgres", "postgres transaction", tests, COUNT(tests));
}
