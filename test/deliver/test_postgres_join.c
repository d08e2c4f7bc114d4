/* SPDX-License-Identifier: MIT
 *
 * test_postgres_join.c - firing inside a transaction of the application's own PostgreSQL connection, and
 * what a receiver may do with ours: what is true of PostgreSQL alone.
 */
#include "join_desk.h"

#include <owed/postgres.h>

#include <stdio.h>

/* run answers the command that the server says it ran last; "": it refused. */
static const char *
run(struct join_desk *desk, const char *statements)
{
    static char tag[32];
    PGresult *result = PQexec(raw_native(desk->app), statements);
    bool is_good =
        PQresultStatus(result) == PGRES_COMMAND_OK || PQresultStatus(result) == PGRES_TUPLES_OK;
    snprintf(tag, sizeof tag, "%s", is_good ? PQcmdStatus(result) : "");
    PQclear(result);
    return tag;
}

static void
a_veto_makes_the_applications_commit_a_rollback(void **state)
{
    struct join_desk *desk = *state;
    struct fixture *f = desk->f;
    join_desk_begin(desk);
    assert_status(OWED_VETOED, join_desk_fire(desk, 13));
    assert_says(f->err, "shop.credit refused event shop.OrderPlaced: no credit");
    assert_string_equal(run(desk, "insert into app (id) values (2)"), "");
    assert_string_equal(run(desk, "commit"), "ROLLBACK");
    assert_status(OWED_VETOED, owed_committed(f->tx, &f->err));
    assert_int_equal(fixture_rows(f), 0);
    assert_int_equal(fixture_events(f), 0);

    // A savepoint from before the fire lifts it, and undoes the fire.
    assert_string_equal(
        run(desk, "begin; insert into app (id) values (1); savepoint a"), "SAVEPOINT");
    assert_ok(owed_join_postgres(f->owed, raw_native(desk->app), &f->tx, &f->err));
    assert_status(OWED_VETOED, join_desk_fire(desk, 13));
    assert_string_equal(run(desk, "rollback to a; commit"), "COMMIT");
    owed_rollback(f->tx);
    assert_int_equal(fixture_rows(f), 1);
    assert_int_equal(fixture_events(f), 0);
}

static void
only_an_open_transaction_that_is_whole_can_be_joined(void **state)
{
    struct join_desk *desk = *state;
    struct fixture *f = desk->f;
    assert_status(
        OWED_INVALID, owed_join_postgres(f->owed, raw_native(desk->app), &f->tx, &f->err));
    assert_says(f->err, "no transaction is open");
    assert_status(OWED_INVALID, owed_join_postgres(f->owed, NULL, &f->tx, &f->err));
    run(desk, "begin");
    assert_string_equal(run(desk, "select 1 / 0"), "");
    assert_status(
        OWED_INVALID, owed_join_postgres(f->owed, raw_native(desk->app), &f->tx, &f->err));
    assert_says(f->err, "failed");
    assert_null(f->tx);
}

static void
a_connection_that_sees_other_tables_cannot_be_joined(void **state)
{
    struct join_desk *desk = *state;
    struct fixture *f = desk->f;
    run(desk, "begin; set local search_path = pg_catalog");
    assert_status(
        OWED_INVALID, owed_join_postgres(f->owed, raw_native(desk->app), &f->tx, &f->err));
    assert_says(f->err, "but the store is");
    assert_null(f->tx);
}

static void
a_role_that_reads_nothing_of_ours_may_fire_in_sql(void **state)
{
    struct join_desk *desk = *state;
    struct fixture *f = desk->f;
    run(desk,
        "begin; create role till; grant execute on function owed_fire(text, text, integer, text, "
        "timestamptz, timestamptz, text, text, text, bigint, text, text) to till; "
        "set local role till");
    assert_string_equal(
        run(desk, "select owed_fire('shop.OrderPlaced', '{\"id\": 1, \"cents\": 2}')"), "SELECT 1");
    run(desk, "reset role; drop owned by till; drop role till; commit");
    assert_int_equal(fixture_events(f), 1);
    assert_int_equal(fixture_owed(f, 0, NULL), 1);
}

static void
our_connection_is_lent_and_nobody_else_commits_it(void **state)
{
    struct join_desk *desk = *state;
    struct fixture *f = desk->f;
    fixture_begin(f);
    PGconn *ours = owed_tx_postgres(f->tx);
    assert_non_null(ours);
    PQclear(PQexec(ours, "insert into app (id) values (1)"));
    PQclear(PQexec(ours, "commit"));
    assert_status(OWED_ABORTED, join_desk_fire(desk, 7));
    owed_rollback(f->tx);
    assert_int_equal(fixture_rows(f), 0);

    fixture_begin(f);
    PQclear(PQexec(owed_tx_postgres(f->tx), "insert into app (id) values (1)"));
    assert_ok(join_desk_fire(desk, 7));
    assert_ok(owed_commit(f->tx, &f->err));
    assert_int_equal(fixture_rows(f), 1);
    assert_int_equal(fixture_events(f), 1);
}

static void
who_keeps_the_connection_is_in_the_transaction_behind_a_fire(void **state)
{
    struct join_desk *desk = *state;
    struct fixture *f = desk->f;
    const char text[] = "{}";
    fixture_begin(f);
    PGconn *kept = owed_tx_postgres(f->tx);
    assert_ok(owed_commit(f->tx, &f->err));
    for (int i = 0; i < 3; i++) { // the first prepares the fire
        fixture_begin(f);
        assert_ok(owed_fire_json(f->tx, "shop.Seen", 1, text, strlen(text), NULL, NULL, &f->err));
        PQclear(PQexec(kept, "insert into app (id) values (1)"));
        owed_rollback(f->tx);
        assert_int_equal(fixture_rows(f), 0);
        assert_int_equal(fixture_events(f), 0);
    }
}

#define TEST(name_) cmocka_unit_test_setup_teardown(name_, join_desk_setup, join_desk_teardown)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_veto_makes_the_applications_commit_a_rollback),
        TEST(only_an_open_transaction_that_is_whole_can_be_joined),
        TEST(a_connection_that_sees_other_tables_cannot_be_joined),
        TEST(a_role_that_reads_nothing_of_ours_may_fire_in_sql),
        TEST(our_connection_is_lent_and_nobody_else_commits_it),
        TEST(who_keeps_the_connection_is_in_the_transaction_behind_a_fire),
    };
    return run_on_stores("postgres", "postgres join", tests, sizeof tests / sizeof tests[0]);
}
