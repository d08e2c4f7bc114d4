/* SPDX-License-Identifier: MIT
 *
 * test_postgres_doctor.c - what only PostgreSQL finds wrong with itself.
 */
#include "world.h"

#include <stdio.h>
#include <string.h>

#include "store/doctor.h"
#include "store/verbs.h"

static size_t
look(struct world *world, enum stmt stmt, const int64_t *threshold, struct trouble **ret_troubles)
{
    struct value value = V_INT(threshold == NULL ? 0 : *threshold);
    size_t count = 0;
    assert_ok(store_troubles(world->db, stmt, &value, threshold != NULL, &world->arena,
        ret_troubles, &count, &world->err));
    return count;
}

static const struct trouble *
only(struct world *world, enum stmt stmt, const int64_t *threshold)
{
    struct trouble *troubles;
    assert_int_equal(look(world, stmt, threshold, &troubles), 1);
    return troubles;
}

static void
none(struct world *world, enum stmt stmt, const int64_t *threshold)
{
    struct trouble *troubles;
    assert_int_equal(look(world, stmt, threshold, &troubles), 0);
}

static const int64_t zero = 0, one_hour = INT64_C(3600) * 1000000;

static void
a_table_with_many_dead_rows_is_told_until_it_is_vacuumed(void **state)
{
    struct world *world = *state;
    static const int64_t few = 5;
    world->store.is_spoilt = true;
    raw_run(plain(world), "alter table owed_lane set (autovacuum_enabled = off)");
    raw_run(plain(world),
        "insert into owed_lane (lane) select 'l' || n from generate_series(1, 40) as n");
    raw_run(plain(world), "delete from owed_lane where lane < 'l3'");
    if (raw_number(plain(world), "select current_setting('server_version_num')::int") < 150000)
        skip(); // it says what it has counted when it likes to
    raw_run(plain(world), "select pg_stat_force_next_flush(); select 1");
    const struct trouble *trouble = only(world, STMT_DOCTOR_DEAD_ROWS, &few);
    assert_string_equal(trouble->subject, "owed_lane");
    assert_string_equal(trouble->detail, "never");
    assert_true(trouble->amount > 20);
    assert_true(trouble->other < 20);
    none(world, STMT_DOCTOR_DEAD_ROWS, &trouble->amount);
    raw_run(plain(world), "vacuum owed_lane");
    none(world, STMT_DOCTOR_DEAD_ROWS, &few);
}

static void
a_table_that_is_never_vacuumed_is_told(void **state)
{
    struct world *world = *state;
    world->store.is_spoilt = true;
    none(world, STMT_DOCTOR_UNVACUUMED, NULL);
    raw_run(plain(world),
        "create table other (); alter table other set (autovacuum_enabled = off);"
        "alter table owed_event set (autovacuum_enabled = on);"
        "alter table owed_delivery set (autovacuum_enabled = off)");
    const struct trouble *trouble = only(world, STMT_DOCTOR_UNVACUUMED, NULL);
    assert_string_equal(trouble->subject, "owed_delivery");
    raw_run(plain(world), trouble->detail);
    none(world, STMT_DOCTOR_UNVACUUMED, NULL);
    none(world, STMT_DOCTOR_AUTOVACUUM, NULL);
}

static void
a_trigger_that_is_switched_off_is_told(void **state)
{
    struct world *world = *state;
    world->store.is_spoilt = true;
    none(world, STMT_DOCTOR_DISABLED_TRIGGERS, NULL);
    raw_run(plain(world), "alter table owed_event disable trigger owed_event_fan_out");
    const struct trouble *trouble = only(world, STMT_DOCTOR_DISABLED_TRIGGERS, NULL);
    assert_string_equal(trouble->subject, "owed_event_fan_out");
    assert_string_equal(trouble->detail, "owed_event");
    raw_run(plain(world), "alter table owed_event enable replica trigger owed_event_fan_out");
    only(world, STMT_DOCTOR_DISABLED_TRIGGERS, NULL);
    raw_run(plain(world), "alter table owed_event enable always trigger owed_event_fan_out");
    none(world, STMT_DOCTOR_DISABLED_TRIGGERS, NULL);
}

static void
an_index_that_is_not_valid_is_told(void **state)
{
    struct world *world = *state;
    world->store.is_spoilt = true;
    none(world, STMT_DOCTOR_INVALID_INDEXES, NULL);
    raw_run(plain(world),
        "update pg_index set indisvalid = false where indexrelid = 'owed_event_by_cause'::regclass");
    const struct trouble *trouble = only(world, STMT_DOCTOR_INVALID_INDEXES, NULL);
    assert_string_equal(trouble->subject, "owed_event_by_cause");
    assert_string_equal(trouble->detail, "owed_event");
    raw_run(plain(world), "reindex index owed_event_by_cause");
    none(world, STMT_DOCTOR_INVALID_INDEXES, NULL);
}

static void
what_takes_far_more_room_than_it_needs_is_told_until_it_is_made_small(void **state)
{
    struct world *world = *state;
    static const int64_t most = INT64_C(1) << 40;
    world->store.is_spoilt = true;
    raw_run(plain(world),
        "alter table owed_event set (autovacuum_enabled = off);"
        "insert into owed_event (uid, name, payload, occurred_at, recorded_at, due_at)"
        " select decode(md5(n::text), 'hex'), 'shop.X', '{\"some\": \"text that is rather long\"}', now(), now(), now()"
        " from generate_series(1, 20000) as n; analyze owed_event");
    none(world, STMT_DOCTOR_BLOAT, &zero); // all of it is alive
    raw_run(plain(world), "delete from owed_event; analyze owed_event");
    struct trouble *troubles;
    size_t count = look(world, STMT_DOCTOR_BLOAT, &zero, &troubles);
    assert_true(count >= 2); // the largest comes first
    assert_string_equal(troubles[0].subject, "owed_event");
    assert_string_equal(troubles[0].detail, "vacuum (full, analyze) owed_event");
    assert_true(troubles[0].amount > 4 * troubles[0].other);
    none(world, STMT_DOCTOR_BLOAT, &most);
    // A worker of autovacuum's that looks at another table just then has dead rows kept for it.
    for (int tries = 0; tries < 50 && look(world, STMT_DOCTOR_BLOAT, &zero, &troubles) > 0; tries++)
        raw_run(plain(world), "vacuum (full, analyze) owed_event");
    none(world, STMT_DOCTOR_BLOAT, &zero);
}

static void
an_index_that_has_grown_is_told_by_itself(void **state)
{
    struct world *world = *state;
    world->store.is_spoilt = true;
    raw_run(plain(world),
        "alter table owed_audit set (autovacuum_enabled = off);"
        "insert into owed_audit (began_at, who, action) select now(), '', '' from generate_series(1, 60000);"
        "delete from owed_audit");
    raw_run(plain(world), "vacuum owed_audit");
    const struct trouble *trouble = only(world, STMT_DOCTOR_BLOAT, &zero);
    assert_string_equal(trouble->subject, "owed_audit_pkey");
    raw_run(plain(world), trouble->detail);
    none(world, STMT_DOCTOR_BLOAT, &zero);
}

static void
a_transaction_that_holds_the_horizon_is_told_with_its_process(void **state)
{
    struct world *world = *state;
    none(world, STMT_DOCTOR_TRANSACTIONS, &zero);
    raw_run(plain(world), "begin"); // holds nothing yet
    none(world, STMT_DOCTOR_TRANSACTIONS, &zero);
    raw_run(plain(world), "insert into owed_lane (lane) values ('x')");
    const struct trouble *trouble = only(world, STMT_DOCTOR_TRANSACTIONS, &zero);
    char pid[32];
    snprintf(pid, sizeof pid, "%lld", (long long)raw_session(plain(world)));
    assert_string_equal(trouble->subject, pid);
    assert_non_null(strstr(trouble->detail, "idle in transaction"));
    assert_true(trouble->amount >= 0);
    none(world, STMT_DOCTOR_TRANSACTIONS, &one_hour);
    raw_run(plain(world), "rollback; begin isolation level repeatable read; select 1");
    only(world, STMT_DOCTOR_TRANSACTIONS, &zero); // by its snapshot
    raw_run(plain(world), "rollback");
    none(world, STMT_DOCTOR_TRANSACTIONS, &zero);
    none(world, STMT_DOCTOR_PREPARED, &zero);
    none(world, STMT_DOCTOR_SLOTS, &zero);
}

static void
connections_are_counted_against_what_users_may_have(void **state)
{
    struct world *world = *state;
    static const int64_t more_than_all = 101;
    const struct trouble *trouble = only(world, STMT_DOCTOR_CONNECTIONS, &zero);
    assert_string_equal(trouble->subject, "max_connections");
    assert_true(trouble->amount > 0 && trouble->amount <= trouble->other);
    assert_int_equal(trouble->other,
        raw_number(plain(world),
            "select current_setting('max_connections')::bigint - current_setting('superuser_reserved_connections')::bigint"));
    char raises[64];
    snprintf(raises, sizeof raises, "alter system set max_connections = %lld",
        (long long)raw_number(
            plain(world), "select 2 * current_setting('max_connections')::bigint"));
    assert_string_equal(trouble->detail, raises);
    none(world, STMT_DOCTOR_CONNECTIONS, &more_than_all);
}

static void
a_full_queue_of_notices_is_told_with_who_has_idled_for_longest(void **state)
{
    struct world *world = *state;
    static const int64_t half = 50;
    none(world, STMT_DOCTOR_NOTICES, &half);
    raw_run(plain(world), "begin; select 1");
    const struct trouble *trouble = only(world, STMT_DOCTOR_NOTICES, &zero);
    char pid[32];
    snprintf(pid, sizeof pid, "%lld", (long long)raw_session(plain(world)));
    assert_string_equal(trouble->subject, pid);
    raw_run(plain(world), "rollback");
    assert_string_equal(only(world, STMT_DOCTOR_NOTICES, &zero)->subject, "0");
}

static void
who_has_few_rights_is_told_what_he_cannot_see(void **state)
{
    struct world *world = *state;
    none(world, STMT_DOCTOR_RIGHTS, NULL);
    raw_run(plain(world), "drop role if exists owed_few; create role owed_few");
    struct raw *own = raw_of(world->db);
    raw_run(own, "set role owed_few");
    const struct trouble *trouble = only(world, STMT_DOCTOR_RIGHTS, NULL);
    assert_string_equal(trouble->detail, "grant pg_read_all_stats to owed_few");
    raw_run(plain(world), trouble->detail);
    none(world, STMT_DOCTOR_RIGHTS, NULL);
    raw_run(own, "reset role");
    raw_run(plain(world), "drop role owed_few");
}

static void
no_look_takes_long(void **state)
{
    struct world *world = *state;
    assert_ok(store_limit_looks(world->db, &world->err));
    struct raw *own = raw_of(world->db);
    assert_int_equal(
        raw_number(own,
            "select extract(epoch from current_setting('statement_timeout')::interval)::bigint"),
        10);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_table_with_many_dead_rows_is_told_until_it_is_vacuumed),
        TEST(a_table_that_is_never_vacuumed_is_told),
        TEST(a_trigger_that_is_switched_off_is_told),
        TEST(an_index_that_is_not_valid_is_told),
        TEST(what_takes_far_more_room_than_it_needs_is_told_until_it_is_made_small),
        TEST(an_index_that_has_grown_is_told_by_itself),
        TEST(a_transaction_that_holds_the_horizon_is_told_with_its_process),
        TEST(connections_are_counted_against_what_users_may_have),
        TEST(a_full_queue_of_notices_is_told_with_who_has_idled_for_longest),
        TEST(who_has_few_rights_is_told_what_he_cannot_see),
        TEST(no_look_takes_long),
    };
    return run_on_stores("postgres", "postgres doctor", tests, COUNT(tests));
}
