/* SPDX-License-Identifier: MIT
 *
 * test_postgres_join.c - firing inside a transaction of the application's own PostgreSQL connection, and
 * what a receiver may do with ours.
 */
#include "fixture.h"

#include <owed/postgres.h>

#include <stdio.h>
#include <stdlib.h>

struct mine {
    struct fixture *fixture;
    PGconn *conn; // the application's
    int on_commit_runs;
    PGconn *seen;
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
    mine->seen = owed_delivery_postgres(delivery);
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
    mine->conn = PQconnectdb(f->url);
    assert_int_equal(PQstatus(mine->conn), CONNECTION_OK);
    *state = mine;
    return 0;
}

static int
teardown(void **state)
{
    struct mine *mine = *state;
    PQfinish(mine->conn);
    fixture_free(mine->fixture);
    free(mine);
    return 0;
}

/* run answers the command that the server says it ran last; "": it refused. */
static const char *
run(struct mine *mine, const char *statements)
{
    static char tag[32];
    PGresult *result = PQexec(mine->conn, statements);
    bool is_good =
        PQresultStatus(result) == PGRES_COMMAND_OK || PQresultStatus(result) == PGRES_TUPLES_OK;
    snprintf(tag, sizeof tag, "%s", is_good ? PQcmdStatus(result) : "");
    PQclear(result);
    return tag;
}

static void
join(struct mine *mine)
{
    struct fixture *f = mine->fixture;
    assert_string_equal(run(mine, "begin; insert into app (id) values (1)"), "INSERT 0 1");
    assert_ok(owed_join_postgres(f->owed, mine->conn, &f->tx, &f->err));
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
    assert_ptr_equal(owed_tx_postgres(f->tx), mine->conn);
    assert_ptr_equal(mine->seen, mine->conn);
    assert_int_equal(fixture_events(f), 0);
    assert_string_equal(run(mine, "commit"), "COMMIT");
    assert_int_equal(mine->on_commit_runs, 0);
    assert_ok(owed_committed(f->tx, &f->err));
    assert_int_equal(mine->on_commit_runs, 1);
    assert_int_equal(fixture_events(f), 1);
    assert_int_equal(fixture_owed(f, 0, NULL), 1);
    assert_int_equal(fixture_rows(f), 1);

    join(mine);
    assert_ok(fire(mine, 8));
    assert_string_equal(run(mine, "rollback"), "ROLLBACK");
    owed_rollback(f->tx);
    assert_int_equal(mine->on_commit_runs, 1);
    assert_int_equal(fixture_events(f), 1);
    assert_int_equal(fixture_rows(f), 1);
}

static void
a_savepoint_rolled_back_takes_its_events_receivers_along(void **state)
{
    struct mine *mine = *state;
    struct fixture *f = mine->fixture;
    join(mine);
    assert_ok(fire(mine, 7));
    run(mine, "savepoint a");
    assert_ok(fire(mine, 8));
    assert_string_equal(run(mine, "rollback to a; release a; commit"), "COMMIT");
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
    run(mine, "rollback");
    assert_ok(owed_committed(f->tx, &f->err));
    assert_int_equal(mine->on_commit_runs, 0);
}

static void
a_veto_makes_the_applications_commit_a_rollback(void **state)
{
    struct mine *mine = *state;
    struct fixture *f = mine->fixture;
    join(mine);
    assert_status(OWED_VETOED, fire(mine, 13));
    assert_says(f->err, "shop.credit refused event shop.OrderPlaced: no credit");
    assert_string_equal(run(mine, "insert into app (id) values (2)"), "");
    assert_string_equal(run(mine, "commit"), "ROLLBACK");
    assert_status(OWED_VETOED, owed_committed(f->tx, &f->err));
    assert_int_equal(fixture_rows(f), 0);
    assert_int_equal(fixture_events(f), 0);

    // A savepoint from before the fire lifts it, and undoes the fire.
    assert_string_equal(
        run(mine, "begin; insert into app (id) values (1); savepoint a"), "SAVEPOINT");
    assert_ok(owed_join_postgres(f->owed, mine->conn, &f->tx, &f->err));
    assert_status(OWED_VETOED, fire(mine, 13));
    assert_string_equal(run(mine, "rollback to a; commit"), "COMMIT");
    owed_rollback(f->tx);
    assert_int_equal(fixture_rows(f), 1);
    assert_int_equal(fixture_events(f), 0);
}

static void
only_an_open_transaction_that_is_whole_can_be_joined(void **state)
{
    struct mine *mine = *state;
    struct fixture *f = mine->fixture;
    assert_status(OWED_INVALID, owed_join_postgres(f->owed, mine->conn, &f->tx, &f->err));
    assert_says(f->err, "no transaction is open");
    assert_status(OWED_INVALID, owed_join_postgres(f->owed, NULL, &f->tx, &f->err));
    run(mine, "begin");
    assert_string_equal(run(mine, "select 1 / 0"), "");
    assert_status(OWED_INVALID, owed_join_postgres(f->owed, mine->conn, &f->tx, &f->err));
    assert_says(f->err, "failed");
    assert_null(f->tx);
}

static void
a_connection_that_sees_other_tables_cannot_be_joined(void **state)
{
    struct mine *mine = *state;
    struct fixture *f = mine->fixture;
    run(mine, "begin; set local search_path = pg_catalog");
    assert_status(OWED_INVALID, owed_join_postgres(f->owed, mine->conn, &f->tx, &f->err));
    assert_says(f->err, "but the store is");
    assert_null(f->tx);
}

static void
a_role_that_reads_nothing_of_ours_may_fire_in_sql(void **state)
{
    struct mine *mine = *state;
    struct fixture *f = mine->fixture;
    run(mine,
        "begin; create role till; grant execute on function owed_fire(text, text, integer, text, "
        "timestamptz, timestamptz, text, text, text, bigint, text, text) to till; "
        "set local role till");
    assert_string_equal(
        run(mine, "select owed_fire('shop.OrderPlaced', '{\"id\": 1, \"cents\": 2}')"), "SELECT 1");
    run(mine, "reset role; drop owned by till; drop role till; commit");
    assert_int_equal(fixture_events(f), 1);
    assert_int_equal(fixture_owed(f, 0, NULL), 1);
}

static void
our_connection_is_lent_and_nobody_else_commits_it(void **state)
{
    struct mine *mine = *state;
    struct fixture *f = mine->fixture;
    fixture_begin(f);
    PGconn *ours = owed_tx_postgres(f->tx);
    assert_non_null(ours);
    PQclear(PQexec(ours, "insert into app (id) values (1)"));
    PQclear(PQexec(ours, "commit"));
    assert_status(OWED_ABORTED, fire(mine, 7));
    owed_rollback(f->tx);
    assert_int_equal(fixture_rows(f), 0);

    fixture_begin(f);
    PQclear(PQexec(owed_tx_postgres(f->tx), "insert into app (id) values (1)"));
    assert_ok(fire(mine, 7));
    assert_ok(owed_commit(f->tx, &f->err));
    assert_int_equal(fixture_rows(f), 1);
    assert_int_equal(fixture_events(f), 1);
}

#define TEST(name_) cmocka_unit_test_setup_teardown(name_, setup, teardown)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_application_commits_both_or_neither),
        TEST(a_savepoint_rolled_back_takes_its_events_receivers_along),
        TEST(said_to_be_committed_but_rolled_back_nothing_runs),
        TEST(a_veto_makes_the_applications_commit_a_rollback),
        TEST(only_an_open_transaction_that_is_whole_can_be_joined),
        TEST(a_connection_that_sees_other_tables_cannot_be_joined),
        TEST(a_role_that_reads_nothing_of_ours_may_fire_in_sql),
        TEST(our_connection_is_lent_and_nobody_else_commits_it),
    };
    return run_on_stores("postgres", "postgres join", tests, sizeof tests / sizeof tests[0]);
}
