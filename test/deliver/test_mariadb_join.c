/* SPDX-License-Identifier: MIT
 *
 * test_mariadb_join.c - firing inside a transaction of the application's own MariaDB connection, and what
 * it may do with ours.
 */
#include "fixture.h"

#include <owed/mariadb.h>

#include <mysqld_error.h>
#include <stdlib.h>
#include <string.h>

struct mine {
    struct fixture *fixture;
    struct raw *raw;
    MYSQL *handle; // the application's
    int on_commit_runs;
    MYSQL *seen;
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
    mine->seen = owed_delivery_mariadb(delivery);
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
    mine->raw = raw_open(f->url);
    mine->handle = raw_native(mine->raw);
    *state = mine;
    return 0;
}

static int
teardown(void **state)
{
    struct mine *mine = *state;
    raw_close(mine->raw);
    fixture_free(mine->fixture);
    free(mine);
    return 0;
}

/* run answers 0, or what the server refused it with. */
static unsigned
run(MYSQL *handle, const char *statement)
{
    return mysql_real_query(handle, statement, strlen(statement)) == 0 ? 0 : mysql_errno(handle);
}

static void
join(struct mine *mine)
{
    struct fixture *f = mine->fixture;
    assert_int_equal(run(mine->handle, "begin"), 0);
    assert_int_equal(run(mine->handle, "insert into app (id) values (1)"), 0);
    assert_ok(owed_join_mariadb(f->owed, mine->handle, &f->tx, &f->err));
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
    assert_ptr_equal(owed_tx_mariadb(f->tx), mine->handle);
    assert_ptr_equal(mine->seen, mine->handle);
    assert_int_equal(fixture_events(f), 0);
    assert_int_equal(run(mine->handle, "commit"), 0);
    assert_int_equal(mine->on_commit_runs, 0);
    assert_ok(owed_committed(f->tx, &f->err));
    assert_int_equal(mine->on_commit_runs, 1);
    assert_int_equal(fixture_events(f), 1);
    assert_int_equal(fixture_owed(f, 0, NULL), 1);
    assert_int_equal(fixture_rows(f), 1);

    join(mine);
    assert_ok(fire(mine, 8));
    assert_int_equal(run(mine->handle, "rollback"), 0);
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
    assert_int_equal(run(mine->handle, "savepoint a"), 0);
    assert_ok(fire(mine, 8));
    assert_int_equal(run(mine->handle, "rollback to a"), 0);
    assert_int_equal(run(mine->handle, "commit"), 0);
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
    assert_int_equal(run(mine->handle, "rollback"), 0);
    assert_ok(owed_committed(f->tx, &f->err));
    assert_int_equal(mine->on_commit_runs, 0);
}

static void
after_a_veto_the_applications_commit_commits_nothing(void **state)
{
    struct mine *mine = *state;
    struct fixture *f = mine->fixture;
    join(mine);
    assert_status(OWED_VETOED, fire(mine, 13));
    assert_says(f->err, "shop.credit refused event shop.OrderPlaced: no credit");
    assert_int_equal(run(mine->handle, "insert into app (id) values (2)"),
        ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION);
    assert_int_equal(run(mine->handle, "commit"), 0);
    assert_status(OWED_VETOED, owed_committed(f->tx, &f->err));
    assert_int_equal(mine->on_commit_runs, 0);
    assert_int_equal(fixture_rows(f), 0);
    assert_int_equal(fixture_events(f), 0);
    // The next one is an ordinary one.
    join(mine);
    assert_ok(fire(mine, 7));
    assert_int_equal(run(mine->handle, "commit"), 0);
    assert_ok(owed_committed(f->tx, &f->err));
    assert_int_equal(fixture_rows(f), 1);
}

static void
only_an_open_transaction_on_the_stores_database_can_be_joined(void **state)
{
    struct mine *mine = *state;
    struct fixture *f = mine->fixture;
    assert_status(OWED_INVALID, owed_join_mariadb(f->owed, mine->handle, &f->tx, &f->err));
    assert_says(f->err, "no transaction is open");
    assert_status(OWED_INVALID, owed_join_mariadb(f->owed, NULL, &f->tx, &f->err));
    assert_int_equal(run(mine->handle, "use information_schema"), 0);
    assert_int_equal(run(mine->handle, "begin"), 0);
    assert_status(OWED_INVALID, owed_join_mariadb(f->owed, mine->handle, &f->tx, &f->err));
    assert_says(f->err, "but the store is");
    assert_null(f->tx);
}

static void
ours_is_lent_and_what_somebody_else_commits_on_it_is_noticed(void **state)
{
    struct mine *mine = *state;
    struct fixture *f = mine->fixture;
    fixture_begin(f);
    MYSQL *ours = owed_tx_mariadb(f->tx);
    assert_non_null(ours);
    assert_int_equal(run(ours, "insert into app (id) values (1)"), 0);
    assert_int_equal(run(ours, "commit"), 0);
    assert_status(OWED_ABORTED, fire(mine, 7));
    owed_rollback(f->tx);
    assert_int_equal(fixture_events(f), 0);

    fixture_begin(f);
    assert_int_equal(run(owed_tx_mariadb(f->tx), "insert into app (id) values (2)"), 0);
    assert_ok(fire(mine, 7));
    assert_ok(owed_commit(f->tx, &f->err));
    assert_int_equal(fixture_rows(f), 2);
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
        TEST(after_a_veto_the_applications_commit_commits_nothing),
        TEST(only_an_open_transaction_on_the_stores_database_can_be_joined),
        TEST(ours_is_lent_and_what_somebody_else_commits_on_it_is_noticed),
    };
    return run_on_stores("mariadb", "mariadb join", tests, sizeof tests / sizeof tests[0]);
}
