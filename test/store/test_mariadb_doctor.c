/* SPDX-License-Identifier: MIT
 *
 * test_mariadb_doctor.c - what only MariaDB finds wrong with itself.
 */
#include "world.h"

#include <stdio.h>
#include <string.h>

#include "own_server.h"
#include "store/doctor.h"
#include "store/verbs.h"

static size_t
look_on(struct world *world, struct db *db, enum stmt stmt, const int64_t *threshold,
    struct trouble **ret_troubles)
{
    struct value value = V_INT(threshold == NULL ? 0 : *threshold);
    size_t count = 0;
    assert_ok(store_troubles(
        db, stmt, &value, threshold != NULL, &world->arena, ret_troubles, &count, &world->err));
    return count;
}

static const int64_t zero = 0, below = -1, percent = 101, one_hour = INT64_C(3600) * 1000000;

/* On a server of its own: others' transactions are no trouble there, and nobody else looks at the list, which
 * stays as it is while anybody does so more often than each tenth of a second. */
static void
a_transaction_that_is_open_for_long_is_told_with_its_connection(void **state)
{
    struct world *world = *state;
    struct trouble *troubles;
    struct db *db;
    char url[256], id[32];
    const struct db_options options = {.read_only = true};
    own_server_needed();
    own_server_start("mariadb", "", "", url);
    struct raw *raw = raw_open(url);
    raw_run(raw, "create table changed (n int) engine innodb");
    raw_run(raw, "start transaction");
    raw_run(raw, "insert into changed values (1)");
    snprintf(id, sizeof id, "%lld", (long long)raw_session(raw));
    assert_ok(store_open(url, &options, &db, &world->err));
    // A time zone of the server's moves nothing.
    assert_int_equal(look_on(world, db, STMT_DOCTOR_TRANSACTIONS, &zero, &troubles), 1);
    assert_string_equal(troubles[0].subject, id);
    assert_non_null(strstr(troubles[0].detail, "user "));
    assert_true(troubles[0].amount >= 0 && troubles[0].amount < one_hour);
    assert_int_equal(look_on(world, db, STMT_DOCTOR_TRANSACTIONS, &one_hour, &troubles), 0);
    store_close(db);
    raw_run(raw, "rollback");
    raw_close(raw);
}

static void
the_history_is_told_with_what_helps(void **state)
{
    struct world *world = *state;
    static const int64_t most = INT64_C(1) << 40;
    struct trouble *troubles;
    assert_int_equal(look_on(world, world->db, STMT_DOCTOR_HISTORY, &most, &troubles), 0);
    assert_int_equal(look_on(world, world->db, STMT_DOCTOR_HISTORY, &below, &troubles), 1);
    assert_true(strncmp(troubles[0].detail, "kill ", 5) == 0 ||
        strcmp(troubles[0].detail, "set global innodb_purge_batch_size = 1000") == 0);
}

static void
connections_are_counted_against_what_users_may_have(void **state)
{
    struct world *world = *state;
    struct trouble *troubles;
    assert_int_equal(look_on(world, world->db, STMT_DOCTOR_CONNECTIONS, &percent, &troubles), 0);
    assert_int_equal(look_on(world, world->db, STMT_DOCTOR_CONNECTIONS, &zero, &troubles), 1);
    int64_t most = raw_number(plain(world), "select @@global.max_connections");
    assert_true(troubles[0].amount >= 2 && troubles[0].amount <= most);
    assert_int_equal(troubles[0].other, most);
    char raises[64];
    snprintf(raises, sizeof raises, "set global max_connections = %lld", (long long)most * 2);
    assert_string_equal(troubles[0].detail, raises);
}

static void
who_has_few_rights_is_told_what_he_cannot_see(void **state)
{
    struct world *world = *state;
    struct trouble *troubles;
    assert_int_equal(look_on(world, world->db, STMT_DOCTOR_RIGHTS, NULL, &troubles), 0);
    raw_run(plain(world), "create or replace user owed_few@'127.0.0.1'");
    raw_run(plain(world), "grant select, execute on *.* to owed_few@'127.0.0.1'");
    const char *rest = strchr(world->url, '@');
    assert_non_null(rest);
    char url[300];
    snprintf(url, sizeof url, "mariadb://owed_few%s", rest);
    struct db *few = NULL;
    const struct db_options options = {.read_only = true};
    assert_ok(store_open(url, &options, &few, &world->err));
    assert_int_equal(look_on(world, few, STMT_DOCTOR_RIGHTS, NULL, &troubles), 1);
    assert_string_equal(troubles[0].detail, "grant process on *.* to 'owed_few'@'127.0.0.1'");
    raw_run(plain(world), troubles[0].detail);
    store_close(few);
    assert_ok(store_open(url, &options, &few, &world->err));
    assert_int_equal(look_on(world, few, STMT_DOCTOR_RIGHTS, NULL, &troubles), 0);
    store_close(few);
    raw_run(plain(world), "drop user owed_few@'127.0.0.1'");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_transaction_that_is_open_for_long_is_told_with_its_connection),
        TEST(the_history_is_told_with_what_helps),
        TEST(connections_are_counted_against_what_users_may_have),
        TEST(who_has_few_rights_is_told_what_he_cannot_see),
    };
    return run_on_stores("mariadb", "mariadb doctor", tests, COUNT(tests));
}
