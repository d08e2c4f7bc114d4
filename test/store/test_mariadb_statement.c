/* SPDX-License-Identifier: MIT
 *
 * test_mariadb_statement.c - how many statements a claim is, and what becomes of those that fail half way.
 */
#include "world.h"

#include <stdio.h>
#include <unistd.h>

static owed_status
read_relays(struct world *world, size_t *ret_count)
{
    struct relay_row *relays;
    return store_relays(world->db, &world->arena, &relays, ret_count, &world->err);
}

/* A view stands in the table's place for a while, whose second row cannot be read. */
static void
an_error_amid_the_rows_is_the_statements_own_and_it_runs_again(void **state)
{
    struct world *world = *state;
    struct raw *raw = plain(world);
    static const char *const ids[] = {"a", "b", "c"};
    for (size_t i = 0; i < COUNT(ids); i++) {
        const struct relay_row relay = {.id = ids[i],
            .host = "h",
            .boot_id = "",
            .lanes = "[]",
            .wake_path = "",
            .started_at_us = NOW,
            .heartbeat_at_us = NOW};
        assert_ok(store_relay_heartbeat(world->db, &relay, &world->err));
    }
    size_t count = 0;
    assert_ok(read_relays(world, &count));
    assert_int_equal(count, 3);
    raw_run(raw,
        "rename table owed_relay to owed_relay_kept;"
        "create view owed_relay as select id, if(id = 'b', (select id from owed_relay_kept),"
        " host) as host, pid, boot_id, lanes, wake_path, deaf, away, started_at, heartbeat_at"
        " from owed_relay_kept");
    alarm(30); // what it must not do is wait for ever
    for (int i = 0; i < 3; i++) {
        assert_int_equal(read_relays(world, &count), OWED_STORE);
        assert_ok(store_check(world->db, &world->err));
    }
    raw_run(raw, "drop view owed_relay; rename table owed_relay_kept to owed_relay");
    assert_ok(read_relays(world, &count));
    alarm(0);
    assert_int_equal(count, 3);
}

static owed_status
insert_one(struct world *world, uint8_t number)
{
    struct new_event event = an_event(EVENT);
    event.uid[0] = number;
    int64_t id = 0;
    bool fresh = false;
    return store_insert_event(world->db, &event, &id, &fresh, &world->err);
}

/* fails_for_a_while has a connection that fired before fire while a routine takes other parameters, in one transaction. */
static void
fails_for_a_while(struct world *world, uint8_t number, const char *routine)
{
    char sql[128];
    struct raw *raw = plain(world);
    struct db *migrating = world->other;
    assert_ok(store_begin(world->db, true, &world->err));
    assert_ok(insert_one(world, number));
    snprintf(sql, sizeof sql, "create or replace procedure %s(in a int) select a", routine);
    raw_run(raw, sql);
    assert_int_equal(insert_one(world, number + 1), OWED_BUSY);
    assert_non_null(strstr(world->err.text, "are being replaced"));
    assert_non_null(strstr(world->err.text, routine));
    assert_ok(store_migrate(migrating, NOW, NULL, &world->err));
    assert_ok(insert_one(world, number + 1));
    assert_ok(store_commit(world->db, &world->err));
}

static void
who_fires_while_routines_are_replaced_is_told_to_try_again_and_nothing_was_written(void **state)
{
    struct world *world = *state;
    world->store.is_spoilt = true;
    fails_for_a_while(world, 1, "owed_event_insert");
    fails_for_a_while(world, 3, "owed_event_write");
    assert_int_equal(raw_number(plain(world), "select count(*) from owed_event"), 4);
}

static void
who_does_anything_else_by_a_routine_of_another_release_is_told_of_that(void **state)
{
    struct world *world = *state;
    struct claim claim = a_claim("w", NOW, 1);
    struct claimed *rows = NULL;
    size_t count = 0;
    claim.lanes = NULL; // all of the application
    claim.app = "shop";
    world->store.is_spoilt = true;
    raw_run(plain(world), "create or replace procedure owed_lanes(in a int) select a");
    owed_status status = store_claim(world->db, &claim, &world->arena, &rows, &count, &world->err);
    assert_int_equal(status, OWED_SCHEMA);
    assert_non_null(strstr(world->err.text, "owed_lanes"));
    assert_non_null(strstr(world->err.text, "owed migrate"));
}

/* round_trips counts what was asked on the connection, this included. */
static int64_t
round_trips(struct world *world)
{
    return raw_number(raw_of(world->db),
        "select variable_value from information_schema.session_status where variable_name = 'QUESTIONS'");
}

static void
a_claim_of_one_lane_is_one_round_trip(void **state)
{
    struct world *world = *state;
    static const char *const keys[] = {"shop.a", NULL};
    int64_t ids[3];
    publish_keys(world, keys);
    fire_many(world, 3, ids);
    assert_int_equal(claim_as(world, "w", NOW, 1), 1); // prepares
    int64_t before = round_trips(world);
    assert_int_equal(claim_as(world, "w", NOW, 2), 2);
    assert_int_equal(round_trips(world) - before, 1 + 1);
    assert_int_equal(claim_as(world, "w", NOW, 2), 0);
    assert_int_equal(round_trips(world) - before, 2 + 2);
}

static void
a_claim_that_is_refused_leaves_no_transaction_open(void **state)
{
    struct world *world = *state;
    static const char *const keys[] = {"shop.a", NULL};
    int64_t id;
    publish_keys(world, keys);
    fire_many(world, 1, &id);
    world->store.is_spoilt = true;
    raw_refuse(plain(world), "owed_delivery", "update", "new.status = 'claimed'", "not now");
    struct claim asked = a_claim("w", NOW, 1);
    struct claimed *rows = NULL;
    size_t count = 0;
    owed_status status = store_claim(world->db, &asked, &world->arena, &rows, &count, &world->err);
    assert_int_equal(status, OWED_STORE);
    assert_non_null(strstr(world->err.text, "not now"));
    assert_int_equal(raw_number(raw_of(world->db), "select @@in_transaction"), 0);
    raw_allow(plain(world), "owed_delivery", "update");
    assert_int_equal(claim_as(world, "w", NOW, 1), 1);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_claim_of_one_lane_is_one_round_trip),
        TEST(a_claim_that_is_refused_leaves_no_transaction_open),
        TEST(an_error_amid_the_rows_is_the_statements_own_and_it_runs_again),
        TEST(who_does_anything_else_by_a_routine_of_another_release_is_told_of_that),
        TEST(who_fires_while_routines_are_replaced_is_told_to_try_again_and_nothing_was_written),
    };
    return run_on_stores("mariadb", "mariadb statement", tests, COUNT(tests));
}
