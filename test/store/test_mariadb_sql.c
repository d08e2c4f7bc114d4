/* SPDX-License-Identifier: MIT
 *
 * test_mariadb_sql.c - firing from any client of MariaDB: what it takes, what it refuses, what it leaves
 * alone, and who may.
 */
#include "world.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void
a_paused_or_long_removed_receiver_gets_what_it_should(void **state)
{
    struct world *world = *state;
    static const char *const keys[] = {"shop.paused", "shop.gone", "shop.going", NULL};
    publish_keys(world, keys);
    raw_run(plain(world),
        "update owed_receiver set paused_at = utc_timestamp(6) where \"key\" = "
        "'shop.paused';"
        "update owed_receiver set removed_at = utc_timestamp(6) - interval 11 minute "
        "where \"key\" = 'shop.gone';"
        "update owed_receiver set removed_at = utc_timestamp(6) - interval 9 minute "
        "where \"key\" = 'shop.going'");
    raw_fire(plain(world), EVENT, "{}");
    assert_int_equal(count_of(world, "owed_delivery"), 2);
    assert_int_equal(raw_number(plain(world),
                         "select count(*) from owed_delivery where receiver_key = 'shop.paused'"
                         " and lane = 'shop/default!shop.paused'"),
        1);
}

static void
the_caller_learns_the_id_and_whether_the_key_was_free(void **state)
{
    struct world *world = *state;
    struct raw *app = plain(world);
    static const char *const fires[] = {"A-1", "a-1", "A-1 "}; // all of them different
    for (size_t i = 0; i < COUNT(fires); i++) {
        raw_runf(
            app, "call owed_fire_with('%s', '{}', '{\"dedupe_key\": \"%s\"}')", EVENT, fires[i]);
        assert_int_equal(raw_number(app, "select @owed_event_is_new"), 1);
    }
    assert_int_equal(count_of(world, "owed_event"), 3);
    raw_runf(app, "call owed_fire_with('%s', '{\"n\": 2}', '{\"dedupe_key\": \"A-1\"}')", EVENT);
    assert_int_equal(raw_number(app, "select @owed_event_is_new"), 0);
    assert_int_equal(raw_number(app, "select @owed_event_id = min(id) from owed_event"), 1);
    assert_int_equal(count_of(world, "owed_event"), 3);
    // No key is none, and none is never taken.
    for (int i = 0; i < 2; i++)
        raw_runf(app, "call owed_fire_with('%s', '{}', '{\"dedupe_key\": \"\"}')", EVENT);
    assert_int_equal(count_of(world, "owed_event"), 5);
}

static void
every_option_is_kept(void **state)
{
    struct world *world = *state;
    struct raw *app = plain(world);
    raw_runf(app,
        "call owed_fire_with('%s', '{}', '{\"version\": 3, \"due_at\": \"2130-01-31T09:30:00.25Z\","
        " \"occurred_at\": \"2026-01-01 00:00:00\", \"actor_key\": \"u-7\", \"actor_label\": \"\xc3\x84nne\","
        " \"correlation_id\": \"c-1\", \"causation_id\": 41, \"traceparent\": \"00-ab-cd-01\","
        " \"scope\": {\"tenant\": \"t-1\"}}')",
        EVENT);
    assert_int_equal(
        raw_number(app,
            "select count(*) from owed_event where version = 3"
            " and due_at = '2130-01-31 09:30:00.25' and occurred_at = '2026-01-01'"
            " and actor_key = 'u-7' and actor_label = '\xc3\x84nne'"
            " and correlation_id = 'c-1' and causation_id = 41"
            " and traceparent = '00-ab-cd-01' and json_value(scope, '$.tenant') = 't-1'"
            " and length(uid) = 16"
            " and recorded_at between utc_timestamp(6) - interval 1 minute and"
            " utc_timestamp(6)"),
        1);
    // A null is as good as nothing said.
    raw_runf(app,
        "call owed_fire_with('%s', '{}', '{\"version\": null, \"due_at\": null, \"scope\": null,"
        " \"causation_id\": null, \"dedupe_key\": null, \"actor_key\": null}')",
        EVENT);
    raw_runf(app, "call owed_fire_with('%s', '{}', null)", EVENT);
    assert_int_equal(raw_number(app,
                         "select count(*) from owed_event where version = 1 and scope = '{}'"
                         " and causation_id is null and dedupe_key is null"
                         " and actor_key = '' and due_at = recorded_at"
                         " and occurred_at = recorded_at"),
        2);
}

static void
payload_bytes_arrive_as_they_were_fired(void **state)
{
    struct world *world = *state;
    static const char payload[] =
        "{\"b\" :1.0e400, \"a\":12345678901234567890123,\"a\": \"\xf0\x9f\x8e\x81\\u0000\"}  ";
    raw_runf(plain(world), "call owed_fire('%s', '%s')", EVENT, payload);
    char text[256];
    raw_text(plain(world), "select payload from owed_event", text);
    assert_string_equal(text,
        "{\"b\" :1.0e400, \"a\":12345678901234567890123,\"a\": \"\xf0\x9f\x8e\x81\\u0000\"}  ");
}

static void
what_is_not_fit_is_refused_in_words_and_nothing_is_written(void **state)
{
    struct world *world = *state;
    static const struct refusal cases[] = {
        {"null, '{}', null", "name must be 1 to 255 characters"},
        {"'', '{}', null", "name must be 1 to 255 characters"},
        {"'shop X', '{}', null", "name must be 1 to 255 characters"},
        {"'shop.X\\n', '{}', null", "name must be 1 to 255 characters"},
        {"'caf\xc3\xa9', '{}', null", "name must be 1 to 255 characters"},
        {"repeat('x', 256), '{}', null", "name must be 1 to 255 characters"},
        {"'a', null, null", "payload must be JSON as text"},
        {"'a', '', null", "payload is not valid JSON"},
        {"'a', '{', null", "payload is not valid JSON"},
        {"'a', '{}{}', null", "payload is not valid JSON"},
        {"'a', concat('{}', char(0)), null", "payload holds a NUL character"},
        {"'a', '{}', '{'", "options must be a JSON object"},
        {"'a', '{}', '[]'", "options must be a JSON object"},
        {"'a', '{}', '{\"dedup_key\": \"x\"}'", "unknown option \"dedup_key\""},
        {"'a', '{}', '{\"dedupe_key\": 7}'", "dedupe_key must be text of at most 255 bytes"},
        {"'a', '{}', concat('{\"dedupe_key\": \"', repeat('\xc3\xa9', 128), '\"}')",
            "dedupe_key must be text of at most 255 bytes"},
        {"'a', '{}', concat('{\"correlation_id\": \"', repeat('x', 256), '\"}')",
            "correlation_id must be text of at most 255 bytes"},
        {"'a', '{}', '{\"version\": 0}'", "version must be a whole number"},
        {"'a', '{}', '{\"version\": 32768}'", "version must be a whole number"},
        {"'a', '{}', '{\"version\": 1.5}'", "version must be a whole number"},
        {"'a', '{}', '{\"version\": \"1\"}'", "version must be a whole number"},
        {"'a', '{}', '{\"due_at\": \"tomorrow\"}'", "due_at must be UTC"},
        {"'a', '{}', '{\"due_at\": \"2130-01-31T09:30:00+02:00\"}'", "due_at must be UTC"},
        {"'a', '{}', '{\"due_at\": 1796040000}'", "due_at must be text"},
        {"'a', '{}', '{\"occurred_at\": \"2130-02-30 00:00:00\"}'", "occurred_at is not a moment"},
        {"'a', '{}', '{\"causation_id\": \"x\"}'", "causation_id must be the id of an event"},
        {"'a', '{}', '{\"causation_id\": -1}'", "causation_id must be the id of an event"},
        {"'a', '{}', '{\"scope\": []}'", "scope must be a JSON object"},
        {"'a', '{}', '{\"scope\": \"{}\"}'", "scope must be a JSON object"},
        {"'a', '{}', concat('{\"scope\": {\"x\": \"', repeat('x', 65536), '\"}}')",
            "scope is over 64 KiB"},
    };
    check_refused(world, "call owed_fire_with", cases, COUNT(cases));
    // The longest that is taken.
    raw_run(plain(world),
        "call owed_fire_with(repeat('x', 255), concat('\"', repeat('x', 16777214), '\"'),"
        " concat('{\"dedupe_key\": \"', repeat('k', 255), '\"}'))");
    assert_int_equal(count_of(world, "owed_event"), 1);
}

static void
an_event_and_its_deliveries_are_written_both_or_neither(void **state)
{
    struct world *world = *state;
    struct raw *app = plain(world);
    static const char *const keys[] = {"shop.billing", NULL};
    publish_keys(world, keys);
    raw_run(app, "create table app (id integer not null)");
    raw_refuse(
        app, "owed_delivery", "insert", "new.receiver_key = 'shop.billing'", "the disk is full");
    static const char *const ways[] = {"commit", "begin", "set autocommit = 0"};
    for (size_t i = 0; i < COUNT(ways); i++) {
        raw_run(app, ways[i]);
        raw_runf(app, "insert into app (id) values (%zu)", i);
        raw_refused(app, "call owed_fire('" EVENT "', '{}')", "the disk is full");
        // What the application wrote before is still its own to keep.
        raw_run(app, "commit; set autocommit = 1");
        assert_int_equal(count_of(world, "owed_event"), 0);
        assert_int_equal(count_of(world, "app"), (int64_t)i + 1);
    }
    raw_allow(app, "owed_delivery", "insert");
    raw_run(app, "begin; call owed_fire('" EVENT "', '{}'); rollback");
    assert_int_equal(count_of(world, "owed_event"), 0);
    assert_int_equal(count_of(world, "owed_delivery"), 0);
    raw_run(app, "call owed_fire('" EVENT "', '{}')");
    assert_false(raw_in_transaction(app));
    assert_int_equal(count_of(world, "owed_delivery"), 1);
}

static void
the_callers_savepoints_stay(void **state)
{
    struct world *world = *state;
    struct raw *app = plain(world);
    raw_run(app,
        "begin; savepoint mine; call owed_fire('" EVENT "', '{}'); rollback to savepoint mine;"
        "call owed_fire('" EVENT "', '{}'); release savepoint mine; commit");
    assert_int_equal(count_of(world, "owed_event"), 1);
}

/* A caller at the server's default level, which locks what it reads to write from. */
static void
begin_repeatable(struct raw *app)
{
    raw_run(app,
        "set session innodb_lock_wait_timeout = 1;"
        "set session transaction isolation level repeatable read; begin");
}

static void
a_transaction_that_fired_keeps_no_publish_waiting(void **state)
{
    struct world *world = *state;
    static const char *const keys[] = {"shop.billing", "shop.audit", NULL};
    publish_keys(world, keys);
    struct raw *app = plain(world);
    begin_repeatable(app);
    raw_run(app,
        "call owed_fire('" EVENT "', '{}');"
        "call owed_delivery_insert_target(@owed_event_id, 'shop.audit', 'x', 'digest', 'l',"
        " 'inside', 5, utc_timestamp(6), utc_timestamp(6))");
    struct catalogue_receiver receiver = a_receiver("shop.billing");
    receiver.lane = "shop/fast";
    publish(world, &receiver, 1); // waits for no more than a second
    raw_run(world->raw, "update owed_receiver set max_attempts = 9");
    raw_run(app, "commit");
    assert_int_equal(count_of(world, "owed_delivery"), 3);
}

static void
a_publish_under_way_keeps_nobody_who_fires_waiting(void **state)
{
    struct world *world = *state;
    static const char *const keys[] = {"shop.billing", NULL};
    publish_keys(world, keys);
    assert_ok(store_begin(world->db, true, &world->err));
    struct catalogue_receiver receiver = a_receiver("shop.billing");
    receiver.lane = "shop/fast";
    publish(world, &receiver, 1);
    struct raw *app = plain(world);
    begin_repeatable(app);
    raw_run(app, "call owed_fire('" EVENT "', '{}'); commit");
    assert_int_equal(
        raw_number(app, "select count(*) from owed_delivery where lane = '" LANE "'"), 1);
    store_rollback(world->db);
}

/* One that fires with a key that another transaction has just used. */
struct rival {
    struct raw *raw;
    int64_t event_id;
    bool is_new;
};

static void *
fire_key(void *argument)
{
    struct rival *rival = argument;
    raw_run(rival->raw,
        "call owed_fire_with('" EVENT "', '{\"by\": \"rival\"}', '{\"dedupe_key\": \"A-1\"}')");
    rival->event_id = raw_number(rival->raw, "select @owed_event_id");
    rival->is_new = raw_number(rival->raw, "select @owed_event_is_new") != 0;
    return NULL;
}

static void
of_two_that_fire_one_key_the_second_waits_and_learns_what_became_of_the_first(void **state)
{
    struct world *world = *state;
    struct raw *app = plain(world);
    static const char *const levels[] = {"repeatable read", "read committed"};
    for (size_t i = 0; i < 2 * COUNT(levels); i++) {
        bool commits = i % 2 == 0;
        raw_run(app, "delete from owed_event");
        struct rival rival = {.raw = raw_open(world->url)};
        raw_runf(rival.raw,
            "set session transaction isolation level %s; begin;"
            "select count(*) from owed_event",
            levels[i / 2]);
        raw_run(app, "begin; call owed_fire_with('" EVENT "', '{}', '{\"dedupe_key\": \"A-1\"}')");
        int64_t id = raw_number(app, "select @owed_event_id");
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, fire_key, &rival), 0);
        raw_await_waiter(app, raw_session(rival.raw));
        raw_run(app, commits ? "commit" : "rollback");
        pthread_join(thread, NULL);
        raw_run(rival.raw, "commit");
        assert_true(rival.is_new == !commits);
        assert_true((rival.event_id == id) == commits);
        assert_int_equal(count_of(world, "owed_event"), 1);
        raw_close(rival.raw);
    }
}

static void *
update_app(void *argument)
{
    raw_run(argument, "update app set total = 1 where id = 1");
    return NULL;
}

static void
a_deadlock_in_a_fire_ends_the_callers_transaction_and_says_so(void **state)
{
    struct world *world = *state;
    struct raw *app = plain(world);
    raw_run(app,
        "create table app (id integer primary key, total integer not null);"
        "insert into app (id, total) values (1, 0)");
    // The server ends the one that has written less: that is the one that fires.
    struct raw *rival = raw_open(world->url);
    raw_run(rival,
        "begin; call owed_fire_with('" EVENT "', '{}', '{\"dedupe_key\": \"A-1\"}');"
        "insert into app (id, total) select seq, 0 from seq_2_to_500");
    raw_run(app, "begin; select total from app where id = 1 for update");
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, update_app, rival), 0);
    raw_await_waiter(app, raw_session(rival));
    raw_refused(app, "call owed_fire_with('" EVENT "', '{}', '{\"dedupe_key\": \"A-1\"}')",
        "Deadlock found");
    pthread_join(thread, NULL);
    raw_run(rival, "commit");
    raw_close(rival);
    assert_int_equal(raw_number(app, "select @@in_transaction"), 0);
    assert_int_equal(count_of(world, "owed_event"), 1);
}

static void
a_migration_that_was_stopped_half_way_is_run_again(void **state)
{
    struct world *world = *state;
    raw_fire(plain(world), EVENT, "{}");
    raw_run(world->raw, "delete from owed_schema; drop table owed_lane; drop procedure owed_lanes");
    int applied = 0;
    assert_ok(store_migrate(world->db, NOW, &applied, &world->err));
    assert_true(applied > 1);
    assert_ok(store_check(world->db, &world->err));
    assert_int_equal(count_of(world, "owed_lane"), 0);
    assert_int_equal(count_of(world, "owed_event"), 1);
}

/* url_of is the store's URL for somebody else; the caller frees it. */
static char *
url_of(const struct world *world, const char *user)
{
    char *url = NULL;
    const char *host = strchr(world->url, '@');
    assert_non_null(host);
    assert_true(asprintf(&url, "mariadb://%s%s", user, host) > 0);
    return url;
}

static void
who_may_fire_may_do_nothing_else(void **state)
{
    struct world *world = *state;
    static const char *const keys[] = {"shop.billing", NULL};
    publish_keys(world, keys);
    struct raw *root = plain(world);
    char user[32], database[256];
    snprintf(user, sizeof user, "clerk_%d", (int)getpid());
    raw_text(root, "select database()", database);
    raw_runf(root, "create role owed_fire_%s", user);
    raw_runf(root, "grant execute on procedure %s.owed_fire to owed_fire_%s", database, user);
    raw_runf(root, "grant execute on procedure %s.owed_fire_with to owed_fire_%s", database, user);
    raw_runf(root, "create user %s@'127.0.0.1'", user);
    raw_runf(root, "grant owed_fire_%s to %s@'127.0.0.1'", user, user);
    raw_runf(root, "set default role owed_fire_%s for %s@'127.0.0.1'", user, user);

    char *url = url_of(world, user);
    struct raw *clerk = raw_open(url);
    raw_run(clerk, "call owed_fire('" EVENT "', '{}')");
    raw_run(clerk,
        "begin; call owed_fire_with('" EVENT "', '{}', '{\"dedupe_key\": \"A-1\"}'); commit");
    assert_int_equal(raw_number(clerk, "select @owed_event_id"), 2);
    assert_int_equal(count_of(world, "owed_delivery"), 2);
    static const char *const others[] = {"select count(*) from owed_event",
        "select count(*) from owed_receiver", "insert into owed_delivery (id) values (1)",
        "update owed_delivery set status = 'dead'", "delete from owed_event",
        "call owed_claim_pick('[]', 'inside', utc_timestamp(6), 1, null, null)",
        ("call owed_event_write('', 'a', 1, '{}', null, utc_timestamp(6), utc_timestamp(6),"
         " utc_timestamp(6), '', '', '{}', '', null, '', '[]', 0, @a, @b)"),
        "drop table owed_event", "drop procedure owed_fire"};
    for (size_t i = 0; i < COUNT(others); i++)
        raw_refused(clerk, others[i], "denied");
    raw_close(clerk);
    free(url);
    raw_runf(root, "drop user %s@'127.0.0.1'; drop role owed_fire_%s", user, user);
}

static void
a_relay_needs_no_more_than_rows_and_routines(void **state)
{
    struct world *world = *state;
    static const char *const keys[] = {"shop.billing", NULL};
    struct raw *root = plain(world);
    char user[32], database[256];
    snprintf(user, sizeof user, "relay_%d", (int)getpid());
    raw_text(root, "select database()", database);
    raw_runf(root, "create user %s@'127.0.0.1'", user);
    raw_runf(root, "grant select, insert, update, delete, execute on %s.* to %s@'127.0.0.1'",
        database, user);
    char *url = url_of(world, user);
    struct db *owner = world->db;
    assert_ok(store_open(url, &(struct db_options){0}, &world->db, &world->err));
    assert_ok(store_check(world->db, &world->err));
    publish_keys(world, keys);
    fire(world, EVENT);
    struct claim asked = a_claim("w", NOW, 10);
    asked.lanes = NULL;
    asked.app = "shop";
    assert_int_equal(claim(world, &asked), 1);
    struct settlement outcome = a_settlement(&world->rows[0].fence, "succeeded");
    assert_ok(store_settle(world->db, &outcome, 1, NULL, &world->err));
    assert_ok(store_mend(world->db, NOW, GRACE, 10, NULL, NULL, &world->err));
    store_close(world->db);
    world->db = owner;
    free(url);
    raw_runf(root, "drop user %s@'127.0.0.1'", user);
}

static void
the_documented_rights_make_the_tables(void **state)
{
    struct world *world = *state;
    struct raw *root = plain(world);
    struct test_store store;
    test_store_empty(&store);
    char user[32];
    const char *database = strrchr(store.url, '/') + 1;
    snprintf(user, sizeof user, "owner_%d", (int)getpid());
    raw_runf(root, "create user %s@'127.0.0.1'", user);
    raw_runf(root,
        "grant create, alter, index, drop, create routine, alter routine, execute, select, insert,"
        " update, delete on %s.* to %s@'127.0.0.1'",
        database, user);
    const char *host = strchr(store.url, '@');
    assert_non_null(host);
    char *url = NULL;
    assert_true(asprintf(&url, "mariadb://%s%s", user, host) > 0);
    struct db *db;
    assert_ok(store_open(url, &(struct db_options){0}, &db, &world->err));
    for (int i = 0; i < 2; i++)
        assert_ok(store_migrate(db, NOW, NULL, &world->err));
    assert_ok(store_check(db, &world->err));
    raw_run(raw_of(db), "call owed_fire('" EVENT "', '{}')");
    store_close(db);
    free(url);
    test_store_free(&store);
    raw_runf(root, "drop user %s@'127.0.0.1'", user);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_paused_or_long_removed_receiver_gets_what_it_should),
        TEST(the_caller_learns_the_id_and_whether_the_key_was_free),
        TEST(every_option_is_kept),
        TEST(payload_bytes_arrive_as_they_were_fired),
        TEST(what_is_not_fit_is_refused_in_words_and_nothing_is_written),
        TEST(an_event_and_its_deliveries_are_written_both_or_neither),
        TEST(the_callers_savepoints_stay),
        TEST(a_transaction_that_fired_keeps_no_publish_waiting),
        TEST(a_publish_under_way_keeps_nobody_who_fires_waiting),
        TEST(of_two_that_fire_one_key_the_second_waits_and_learns_what_became_of_the_first),
        TEST(a_deadlock_in_a_fire_ends_the_callers_transaction_and_says_so),
        TEST(a_migration_that_was_stopped_half_way_is_run_again),
        TEST(who_may_fire_may_do_nothing_else),
        TEST(a_relay_needs_no_more_than_rows_and_routines),
        TEST(the_documented_rights_make_the_tables),
    };
    return run_on_stores("mariadb", "mariadb sql", tests, COUNT(tests));
}
