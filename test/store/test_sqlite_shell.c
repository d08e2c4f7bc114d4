/* SPDX-License-Identifier: MIT
 *
 * test_sqlite_shell.c - firing with plain SQL, from the sqlite3 shell.
 */
#include "world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/buf.h"
#include "store/take.h"

/* shell runs a script in the sqlite3 shell on the store's file; *ret_said is what it printed, its
 * errors included, in the arena. True: it exited with 0. */
static bool
shell(struct world *world, const char *sql, const char **ret_said)
{
    char path[300], command[800];
    snprintf(path, sizeof path, "%s/script.sql", world->folder);
    FILE *script = fopen(path, "w");
    assert_non_null(script);
    fprintf(script, ".bail on\n.timeout 5000\npragma wal_autocheckpoint = 0;\n%s\n", sql);
    fclose(script);
    snprintf(command, sizeof command, "sqlite3 %s < %s 2>&1", strchr(world->url, '/'), path);
    FILE *out = popen(command, "r");
    assert_non_null(out);
    struct buf said;
    buf_init(&said, 1 << 20);
    char bytes[4096];
    for (size_t n; (n = fread(bytes, 1, sizeof bytes, out)) > 0;)
        buf_add(&said, bytes, n);
    int status = pclose(out);
    *ret_said = arena_copy(&world->arena, buf_view(&said));
    buf_done(&said);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static void
run(struct world *world, const char *sql)
{
    const char *said;
    bool ok = shell(world, sql, &said);
    if (!ok)
        print_error("%s: %s\n", sql, said);
    assert_true(ok);
}

static struct status
counts(struct world *world)
{
    struct status status;
    int64_t late = INT64_C(8000000000) * SECOND;
    assert_ok(store_status(world->db, late, &world->arena, &status, &world->err));
    return status;
}

static void
publish_two(struct world *world)
{
    struct catalogue_receiver r[] = {a_receiver("shop.a"), a_receiver("shop.any")};
    r[1].event_name = "*";
    publish(world, r, 2);
}

static void
an_insert_fires_and_fans_out(void **state)
{
    struct world *world = *state;
    publish_two(world);
    run(world,
        "insert into owed_fire (name, payload) values"
        " ('shop.OrderPlaced', '{\"b\":1e400, \"a\": 12345678901234567890123}');"
        "insert into owed_fire (name, payload) values ('shop.Other', '[]');");
    struct filter filter = {.limit = 10};
    struct event_row *events, event;
    size_t count;
    assert_ok(store_events(world->db, &filter, &world->arena, &events, &count, &world->err));
    assert_int_equal(count, 2);
    assert_int_equal(events[1].deliveries, 2);
    assert_int_equal(events[0].deliveries, 1);
    assert_ok(store_event(world->db, events[1].id, &world->arena, &event, &world->err));
    assert_true(str_is(event.payload, "{\"b\":1e400, \"a\": 12345678901234567890123}"));
    assert_int_equal(event.version, 1);
    assert_string_equal(event.scope, "{}");
    static const uint8_t nothing[16];
    assert_memory_not_equal(event.uid, nothing, sizeof event.uid);
    assert_memory_not_equal(event.uid, events[0].uid, sizeof event.uid);
    // It is due now, by the clock of the database, and times are whole microseconds.
    assert_true(event.recorded_at_us > INT64_C(1600000000) * SECOND);
    assert_int_equal(event.occurred_at_us, event.recorded_at_us);
    assert_int_equal(claim_as(world, "w", event.recorded_at_us + SECOND, 10), 3);
    assert_int_equal(world->rows[0].available_at_us, event.recorded_at_us);
}

static void
everything_that_may_be_said_is_kept(void **state)
{
    struct world *world = *state;
    publish_two(world);
    run(world,
        "insert into owed_fire (name, payload, version, dedupe_key, due_at, occurred_at,"
        " actor_key, actor_label, correlation_id, causation_id, traceparent, scope) values"
        " ('shop.OrderPlaced', 'null', 7, 'k', 3000000000000000, 5, 'u:1', 'Ann', 'c', 44,"
        " '00-x', '{\"t\":1}');");
    struct event_row event;
    assert_ok(store_event(world->db, 1, &world->arena, &event, &world->err));
    assert_int_equal(event.version, 7);
    assert_string_equal(event.dedupe_key, "k");
    assert_int_equal(event.occurred_at_us, 5);
    assert_string_equal(event.actor_key, "u:1");
    assert_string_equal(event.actor_label, "Ann");
    assert_string_equal(event.correlation_id, "c");
    assert_int_equal(event.causation_id, 44);
    assert_string_equal(event.traceparent, "00-x");
    assert_string_equal(event.scope, "{\"t\":1}");
    int64_t ids[2];
    ids_of_event(world, 1, ids, 2);
    assert_int_equal(delivery(world, ids[0]).available_at_us, 3000000000000000);
    assert_int_equal(delivery(world, ids[0]).due_at_us, 3000000000000000);
}

#define FIRE(columns_, values_) "insert into owed_fire (" columns_ ") values (" values_ ");"
#define PAYLOAD(value_) FIRE("name, payload", "'shop.A', " value_)
#define WITH(column_, value_) FIRE("name, payload, " column_, "'shop.A', '{}', " value_)

static void
what_cannot_be_delivered_is_refused_and_leaves_nothing(void **state)
{
    struct world *world = *state;
    publish_two(world);
    static const struct {
        const char *sql;
        const char *says;
    } cases[] = {
        {PAYLOAD("'{'"), "not valid JSON"},
        {PAYLOAD("''"), "not valid JSON"},
        {PAYLOAD("null"), "payload must be JSON as text"},
        {PAYLOAD("7"), "payload must be JSON as text"},
        {PAYLOAD("x'7b7d'"), "payload must be JSON as text"},
        {PAYLOAD("'{}' || char(0) || 'garbage'"), "NUL"},
        {PAYLOAD("'\"' || printf('%.*c', 16777215, 'x') || '\"'"), "16 MiB"},
        {FIRE("name, payload", "'', '{}'"), "name must be"},
        {FIRE("name, payload", "null, '{}'"), "name must be"},
        {FIRE("payload", "'{}'"), "name must be"},
        {FIRE("name, payload", "'shop A', '{}'"), "name must be"},
        {FIRE("name, payload", "'shop.A' || char(0) || 'x', '{}'"), "name must be"},
        {FIRE("name, payload", "printf('%.*c', 256, 'x'), '{}'"), "name must be"},
        {WITH("version", "0"), "version must be"},
        {WITH("version", "32768"), "version must be"},
        {WITH("version", "'two'"), "version must be"},
        {WITH("version", "1.5"), "version must be"},
        {WITH("dedupe_key", "printf('%.*c', 256, 'x')"), "dedupe_key"},
        {WITH("dedupe_key", "x'00'"), "dedupe_key"},
        {WITH("actor_key", "printf('%.*c', 256, 'x')"), "actor_key"},
        {WITH("actor_key", "x'00'"), "actor_key"},
        {WITH("actor_label", "x'00'"), "actor_label"},
        {WITH("correlation_id", "x'00'"), "correlation_id"},
        {WITH("traceparent", "x'00'"), "traceparent"},
        {WITH("actor_label", "printf('%.*c', 256, 'x')"), "actor_label"},
        {WITH("correlation_id", "printf('%.*c', 256, 'x')"), "correlation_id"},
        {WITH("traceparent", "printf('%.*c', 256, 'x')"), "traceparent"},
        {WITH("due_at", "'2026-01-01'"), "due_at"},
        {WITH("due_at", "-1"), "due_at"},
        {WITH("due_at", "1.5"), "due_at"},
        {WITH("occurred_at", "'soon'"), "occurred_at"},
        {WITH("occurred_at", "-1"), "occurred_at"},
        {WITH("causation_id", "'x'"), "causation_id"},
        {WITH("scope", "'[]'"), "scope must be"},
        {WITH("scope", "'{'"), "scope must be"},
        {WITH("scope", "7"), "scope must be"},
        {WITH("scope", "x'7b7d'"), "scope must be"},
        {WITH("scope", "'{}' || char(0) || 'x'"), "scope must be"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        const char *said;
        check_case(!shell(world, cases[i].sql, &said), cases[i].sql);
        if (strstr(said, cases[i].says) == NULL)
            print_error("said: %s\n", said);
        check_case(strstr(said, "owed_fire: ") != NULL, cases[i].sql);
        check_case(strstr(said, cases[i].says) != NULL, cases[i].sql);
    }
    assert_int_equal(counts(world).events, 0);
    assert_int_equal(counts(world).total.owed, 0);
}

static void
what_is_just_within_its_bounds_is_taken(void **state)
{
    struct world *world = *state;
    static const char *const cases[] = {
        FIRE("name, payload", "printf('%.*c', 255, 'x'), '{}'"),
        PAYLOAD("'\"' || printf('%.*c', 16777214, 'x') || '\"'"),
        WITH("dedupe_key", "printf('%.*c', 255, 'x')"),
        WITH("version", "32767"),
        WITH("version", "null"),
        WITH("dedupe_key", "null"),
        WITH("dedupe_key", "''"),
        WITH("dedupe_key", "''"), // none, so it is never taken
        WITH("dedupe_key", "42"),
        WITH("scope", "null"),
        WITH("due_at", "0"),
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        const char *said;
        bool ok = shell(world, cases[i], &said);
        if (!ok)
            print_error("%s\n", said);
        check_case(ok, cases[i]);
    }
    assert_int_equal(counts(world).events, COUNT(cases));
}

static void
a_used_dedupe_key_fires_nothing_under_any_kind_of_insert(void **state)
{
    struct world *world = *state;
    publish_two(world);
    static const char *const inserts[] = {"insert", "insert or replace", "insert or ignore",
        "insert or abort", "insert or rollback", "replace"};
    run(world, WITH("dedupe_key", "'order-7'"));
    assert_int_equal(counts(world).total.owed, 1);
    for (size_t i = 0; i < COUNT(inserts); i++) {
        char sql[300];
        snprintf(sql, sizeof sql,
            "%s into owed_fire (name, payload, dedupe_key) values ('shop.OrderPlaced', '{}', 'order-7');",
            inserts[i]);
        run(world, sql);
        struct status status = counts(world);
        check_case(status.events == 1 && status.total.owed == 1, inserts[i]);
        struct event_row event;
        assert_ok(store_event(world->db, 1, &world->arena, &event, &world->err));
        check_case(strcmp(event.name, "shop.A") == 0, inserts[i]);
    }
}

static void
bad_json_is_refused_under_any_kind_of_insert(void **state)
{
    struct world *world = *state;
    publish_two(world);
    static const char *const inserts[] = {"insert or replace", "insert or ignore", "replace"};
    for (size_t i = 0; i < COUNT(inserts); i++) {
        char sql[300];
        const char *said;
        snprintf(sql, sizeof sql, "%s into owed_fire (name, payload) values ('shop.A', '{');",
            inserts[i]);
        check_case(!shell(world, sql, &said), inserts[i]);
        check_case(counts(world).events == 0 && counts(world).total.owed == 0, inserts[i]);
    }
}

static void
many_rows_in_one_insert_each_fan_out_by_their_own_event(void **state)
{
    struct world *world = *state;
    publish_two(world);
    // A trigger of the application's own that moves last_insert_rowid() on the way.
    run(world,
        "create table app (id integer primary key, x);"
        "insert into app (id) values (1000);"
        "create trigger app_log after insert on owed_delivery begin"
        " insert into app (x) values (new.id); end;"
        "insert into owed_fire (name, payload) select 'shop.OrderPlaced', '{}'"
        " from json_each('[1,2,3,4,5]');");
    for (int64_t id = 1; id <= 5; id++) {
        int64_t ids[3];
        assert_int_equal(ids_of_event(world, id, ids, 3), 2);
    }
}

static void
a_rolled_back_insert_leaves_nothing(void **state)
{
    struct world *world = *state;
    publish_two(world);
    run(world,
        "begin; savepoint s; " PAYLOAD("'{}'") " rollback to s; release s; commit;"
                                               "begin; " PAYLOAD("'{}'") " rollback;");
    assert_int_equal(counts(world).events, 0);
    assert_int_equal(counts(world).total.owed, 0);
}

static void
a_sql_caller_learns_the_id_in_its_transaction(void **state)
{
    struct world *world = *state;
    const char *said;
    fire(world, EVENT);
    assert_true(shell(world,
        "begin immediate; " PAYLOAD("'{}'") " select 'id=' || max(id) from owed_event; commit;",
        &said));
    assert_non_null(strstr(said, "id=2"));
}

static void
an_id_does_not_come_again_after_the_newest_event_was_deleted(void **state)
{
    struct world *world = *state;
    run(world,
        PAYLOAD("'{}'") PAYLOAD("'{}'") "delete from owed_event where id = 2;" PAYLOAD("'{}'"));
    struct event_row event;
    assert_int_equal(store_event(world->db, 2, &world->arena, &event, &world->err), OWED_NOT_FOUND);
    assert_ok(store_event(world->db, 3, &world->arena, &event, &world->err));
}

static void
an_id_that_comes_again_after_a_rollback_has_another_uid(void **state)
{
    struct world *world = *state;
    const char *said;
    assert_true(shell(world,
        "begin; savepoint s; " PAYLOAD(
            "'{}'") " select 'uid ' || id || hex(uid) from owed_event;"
                    " rollback to s; " PAYLOAD(
                        "'{}'") " select 'uid ' || id || hex(uid) from owed_event; commit;",
        &said));
    const char *first = strstr(said, "uid 1"), *second = strstr(first + 1, "uid 1");
    assert_non_null(second);
    assert_memory_not_equal(first, second, strlen("uid 1") + 32);
}

static void
a_suppressed_event_is_owed_to_nobody(void **state)
{
    struct world *world = *state;
    publish_two(world);
    run(world,
        "insert into owed_event (uid, name, payload, occurred_at, recorded_at, due_at,"
        " suppressed_reason) values (randomblob(16), 'shop.OrderPlaced', '{}', 1, 1, 1,"
        " 'muted');");
    assert_int_equal(counts(world).events, 1);
    assert_int_equal(counts(world).total.owed, 0);
}

static void
a_receivers_own_delay_pause_and_targets_shape_its_row(void **state)
{
    struct world *world = *state;
    publish_two(world);
    run(world,
        "update owed_receiver set due = 90000000, paused_at = 1 where key = 'shop.a';"
        "update owed_receiver set targets = 'callback' where key = 'shop.any';" FIRE(
            "name, payload, due_at", "'shop.OrderPlaced', '{}', 3000000000000000"));
    int64_t ids[2];
    assert_int_equal(ids_of_event(world, 1, ids, 2), 2);
    for (int i = 0; i < 2; i++) {
        struct delivery_row row = delivery(world, ids[i]);
        bool delayed = strcmp(row.receiver_key, "shop.a") == 0;
        assert_string_equal(row.lane, delayed ? LANE "!shop.a" : LANE);
        assert_string_equal(row.kind, delayed ? "inside" : "expand");
        assert_int_equal(row.due_at_us, 3000000000000000 + (delayed ? 90000000 : 0));
        assert_int_equal(row.available_at_us, row.due_at_us);
    }
    // A pause that is over lets the rows come back by mending.
    run(world, "update owed_receiver set paused_at = 0;");
    int64_t moved = 0;
    assert_ok(store_mend(world->db, NOW, GRACE, 10, &moved, NULL, &world->err));
    assert_int_equal(moved, 1);
}

static void
a_row_that_an_operator_ended_by_hand_is_held_by_nobody(void **state)
{
    struct world *world = *state;
    int64_t id = bring_to(world, "claimed");
    const struct fence *fence = &world->rows[0].fence;
    run(world, "update owed_delivery set status = 'cancelled';");
    int64_t back = 0;
    struct settlement done = a_settlement(fence, "succeeded");
    assert_int_equal(store_settle(world->db, &done, 1, NULL, &world->err), OWED_LOST);
    assert_int_equal(store_renew(world->db, fence, NOW + 9 * LEASE, &world->err), OWED_LOST);
    assert_int_equal(store_count_loss(world->db, fence, &world->err), OWED_LOST);
    assert_int_equal(store_hand_off(world->db, fence, NOW + 9 * LEASE, &world->err), OWED_LOST);
    const struct taking taking = {
        .fence = *fence, .claimed_by = "task", .now_us = NOW, .lease_us = LEASE};
    struct claimed taken;
    assert_int_equal(store_take(world->db, &taking, &world->arena, &taken, &world->err), OWED_LOST);
    assert_ok(store_hand_back(world->db, fence, 1, &back, &world->err));
    assert_int_equal(back, 0);
    assert_ok(store_hand_back_all(world->db, "first", 0, &back, &world->err));
    assert_int_equal(back, 0);
    assert_ok(store_count_loss_all(world->db, "first", &back, &world->err));
    assert_int_equal(back, 0);
    assert_ok(store_forgive_losses(world->db, "first", &back, &world->err));
    assert_int_equal(back, 0);
    struct delivery_row row = delivery(world, id);
    assert_string_equal(row.status, "cancelled");
    assert_int_equal(row.lease_expires_at_us, NOW + LEASE);
    assert_int_equal(row.losses, 0);
}

static void
a_row_that_an_operator_set_free_by_hand_is_no_loss(void **state)
{
    struct world *world = *state;
    int64_t id = bring_to(world, "claimed");
    run(world, "update owed_delivery set status = 'pending';"); // its lease stands there still
    assert_int_equal(claim_as(world, "second", NOW + SECOND, 10), 1);
    assert_int_equal(world->rows[0].losses, 0);
    assert_int_equal(delivery(world, id).losses, 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(an_insert_fires_and_fans_out),
        TEST(everything_that_may_be_said_is_kept),
        TEST(what_cannot_be_delivered_is_refused_and_leaves_nothing),
        TEST(what_is_just_within_its_bounds_is_taken),
        TEST(a_used_dedupe_key_fires_nothing_under_any_kind_of_insert),
        TEST(bad_json_is_refused_under_any_kind_of_insert),
        TEST(many_rows_in_one_insert_each_fan_out_by_their_own_event),
        TEST(a_rolled_back_insert_leaves_nothing),
        TEST(a_sql_caller_learns_the_id_in_its_transaction),
        TEST(an_id_does_not_come_again_after_the_newest_event_was_deleted),
        TEST(an_id_that_comes_again_after_a_rollback_has_another_uid),
        TEST(a_suppressed_event_is_owed_to_nobody),
        TEST(a_row_that_an_operator_ended_by_hand_is_held_by_nobody),
        TEST(a_row_that_an_operator_set_free_by_hand_is_no_loss),
        TEST(a_receivers_own_delay_pause_and_targets_shape_its_row),
    };
    return run_on_stores("sqlite", "sqlite shell", tests, COUNT(tests));
}
