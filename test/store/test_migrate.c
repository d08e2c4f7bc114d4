/* SPDX-License-Identifier: MIT
 *
 * test_migrate.c - making the tables, and refusing those of another time.
 */
#include "world.h"

#include <pthread.h>
#include <string.h>

#include "base/buf.h"

/* record rewrites one line of what has run here. */
static void
record(
    struct world *world, const char *kind, const char *name, int64_t version, const char *checksum)
{
    const struct value values[] = {{.type = VALUE_TEXT, .bytes = str_of(kind)},
        {.type = VALUE_TEXT, .bytes = str_of(name)}, {.type = VALUE_INT, .integer = version},
        {.type = VALUE_TEXT, .bytes = str_of(checksum)}, {.type = VALUE_TIME, .integer = NOW}};
    struct rows *rows;
    assert_ok(world->db->driver->run(
        world->db, STMT_SCHEMA_RECORD, values, COUNT(values), &rows, &world->err));
    assert_ok(world->db->driver->finish(rows, NULL, &world->err));
}

static void
a_migrated_store_passes_the_check_and_needs_nothing_more(void **state)
{
    struct world *world = *state;
    assert_ok(store_check(world->db, &world->err));
    int applied = -1;
    assert_ok(store_migrate(world->db, NOW, &applied, &world->err));
    assert_int_equal(applied, 0);
}

static void
an_empty_store_is_told_to_be_made(void **state)
{
    struct world *world = *state;
    struct test_store store;
    test_store_empty(&store);
    struct db_options options = {.create = true};
    struct db *empty;
    assert_ok(store_open(store.url, &options, &empty, &world->err));
    assert_int_equal(store_check(empty, &world->err), OWED_SCHEMA);
    assert_non_null(strstr(world->err.text, "owed init"));
    // And a verb on it says the same instead of a riddle.
    struct new_event event = an_event(EVENT);
    int64_t id;
    bool fresh;
    assert_int_equal(store_insert_event(empty, &event, &id, &fresh, &world->err), OWED_SCHEMA);
    assert_non_null(strstr(world->err.text, "owed init"));
    int applied = 0;
    assert_ok(store_migrate(empty, NOW, &applied, &world->err));
    assert_true(applied > 1);
    assert_ok(store_check(empty, &world->err));
    store_close(empty);
    test_store_free(&store);
}

static void
a_newer_schema_is_refused_by_the_name_of_both_versions(void **state)
{
    struct world *world = *state;
    world->store.is_spoilt = true;
    record(world, "schema", "0099_future", 99, "abc");
    assert_int_equal(store_check(world->db, &world->err), OWED_SCHEMA);
    assert_non_null(strstr(world->err.text, "99"));
    assert_non_null(strstr(world->err.text, "version 6"));
    assert_int_equal(store_migrate(world->db, NOW, NULL, &world->err), OWED_SCHEMA);
    assert_non_null(strstr(world->err.text, "99"));
    assert_false(store_in_transaction(world->db));
}

static void
an_applied_migration_with_another_text_is_refused(void **state)
{
    struct world *world = *state;
    world->store.is_spoilt = true;
    const struct script *first = &world->db->driver->sql->schema[0];
    record(world, "schema", first->name, 1, "0123456789abcdef");
    assert_int_equal(store_check(world->db, &world->err), OWED_SCHEMA);
    assert_non_null(strstr(world->err.text, first->name));
    assert_non_null(strstr(world->err.text, "0123456789ab"));
    assert_int_equal(store_migrate(world->db, NOW, NULL, &world->err), OWED_SCHEMA);
}

static void
a_routine_of_another_text_is_replaced(void **state)
{
    struct world *world = *state;
    world->store.is_spoilt = true;
    const struct script *routine = &world->db->driver->sql->routines[0];
    record(world, "routine", routine->name, 0, "old");
    int applied = 0;
    assert_ok(store_migrate(world->db, NOW, &applied, &world->err));
    assert_int_equal(applied, 1);
    assert_ok(store_migrate(world->db, NOW, &applied, &world->err));
    assert_int_equal(applied, 0);
}

struct printed {
    int count;
    bool has_first;
    struct buf text;
};

static void
note(void *state, const char *name, const char *text)
{
    struct printed *printed = state;
    printed->count++;
    printed->has_first = printed->has_first || strcmp(name, "0001_tables") == 0;
    buf_puts(&printed->text, text);
}

/* scheme_of: a driver has one scheme for all of its dialects. */
static const char *
scheme_of(const struct world *world)
{
    const struct driver *driver = world->db->driver;
    return driver->sql->delimiter == NULL ? driver->scheme : "mysql";
}

static void
what_migrate_would_run_can_be_printed(void **state)
{
    struct world *world = *state;
    struct printed printed = {0};
    buf_init(&printed.text, 1 << 20);
    const struct printer printer = {note, &printed};
    const char *scheme = scheme_of(world);
    assert_ok(store_print_migrations(scheme, world->db, NOW, &printer, &world->err));
    assert_false(printed.has_first);
    int routines = printed.count;
    for (int i = 0; i < routines; i++)
        assert_non_null(world->db->driver->sql->routines[i].name);
    assert_null(world->db->driver->sql->routines[routines].name);
    printed.count = 0;
    assert_ok(store_print_migrations(scheme, NULL, NOW, &printer, &world->err));
    assert_true(printed.has_first);
    int migrations = 0;
    while (world->db->driver->sql->schema[migrations].name != NULL)
        migrations++;
    assert_int_equal(printed.count, migrations + routines);
    assert_int_equal(
        store_print_migrations("oracle", NULL, NOW, &printer, &world->err), OWED_CONFIG);
    buf_done(&printed.text);
}

static void
a_store_made_from_what_was_printed_is_as_migrate_would_have_left_it(void **state)
{
    struct world *world = *state;
    if (world->db->driver->sql->delimiter != NULL)
        skip(); // a client is told where to cut, in its own words
    struct printed printed = {0};
    buf_init(&printed.text, 1 << 20);
    const struct printer printer = {note, &printed};
    const char *scheme = scheme_of(world);
    assert_ok(store_print_migrations(scheme, NULL, NOW, &printer, &world->err));
    struct test_store store;
    test_store_empty(&store);
    struct db_options options = {.create = true};
    struct db *db;
    assert_ok(store_open(store.url, &options, &db, &world->err));
    assert_ok(db->driver->script(db, buf_text(&printed.text), &world->err));
    assert_ok(store_check(db, &world->err));
    int applied = -1;
    assert_ok(store_migrate(db, NOW, &applied, &world->err));
    assert_int_equal(applied, 0);
    store_close(db);
    test_store_free(&store);
    buf_done(&printed.text);
}

struct migrator {
    struct db *db;
    pthread_barrier_t *start;
    owed_status status;
    int applied;
    owed_error err;
};

static void *
migrate_at_once(void *argument)
{
    struct migrator *migrator = argument;
    pthread_barrier_wait(migrator->start);
    migrator->status = store_migrate(migrator->db, NOW, &migrator->applied, &migrator->err);
    return NULL;
}

static void
of_two_that_migrate_at_the_same_instant_one_does_it_all(void **state)
{
    struct world *world = *state;
    struct test_store store;
    test_store_empty(&store);
    struct db_options options = {.create = true};
    pthread_barrier_t start;
    assert_int_equal(pthread_barrier_init(&start, NULL, 2), 0);
    struct migrator both[2] = {{.start = &start}, {.start = &start}};
    for (int i = 0; i < 2; i++)
        assert_ok(store_open(store.url, &options, &both[i].db, &world->err));
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, migrate_at_once, &both[1]), 0);
    migrate_at_once(&both[0]);
    pthread_join(thread, NULL);
    pthread_barrier_destroy(&start);
    for (int i = 0; i < 2; i++) {
        if (both[i].status != OWED_OK)
            print_error("%s\n", both[i].err.text);
        assert_int_equal(both[i].status, OWED_OK);
        assert_ok(store_check(both[i].db, &world->err));
    }
    assert_true(both[0].applied == 0 || both[1].applied == 0);
    assert_true(both[0].applied + both[1].applied > 1);
    for (int i = 0; i < 2; i++)
        store_close(both[i].db);
    test_store_free(&store);
}

static void
migrations_are_numbered_without_a_gap_and_carry_their_checksum(void **state)
{
    struct world *world = *state;
    for (const struct script *s = world->db->driver->sql->schema; s->name != NULL; s++) {
        assert_int_equal(strlen(s->checksum), 64);
        assert_int_equal(s->version, s - world->db->driver->sql->schema + 1);
    }
}

static void
an_unknown_scheme_is_refused_and_a_known_one_shown(void **state)
{
    struct world *world = *state;
    static const char *const bad[] = {"", "shop.db", "oracle:x", ":", "SQLITE:x",
        "password=geheim host=::1", "u=geheim:x", "geheim/x@h:1/o"};
    struct db_options options = {.create = true};
    struct db *db = NULL;
    for (size_t i = 0; i < COUNT(bad); i++) {
        check_case(store_open(bad[i], &options, &db, &world->err) == OWED_CONFIG, bad[i]);
        check_case(strstr(world->err.text, "sqlite:") != NULL, bad[i]);
        check_case(strstr(world->err.text, "geheim") == NULL, world->err.text);
    }
    assert_int_equal(store_open(NULL, &options, &db, &world->err), OWED_CONFIG);
    assert_null(db);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_migrated_store_passes_the_check_and_needs_nothing_more),
        TEST(an_empty_store_is_told_to_be_made),
        TEST(a_newer_schema_is_refused_by_the_name_of_both_versions),
        TEST(an_applied_migration_with_another_text_is_refused),
        TEST(a_routine_of_another_text_is_replaced),
        TEST(what_migrate_would_run_can_be_printed),
        TEST(a_store_made_from_what_was_printed_is_as_migrate_would_have_left_it),
        TEST(of_two_that_migrate_at_the_same_instant_one_does_it_all),
        TEST(migrations_are_numbered_without_a_gap_and_carry_their_checksum),
        TEST(an_unknown_scheme_is_refused_and_a_known_one_shown),
    };
    return run_on_all_stores("store migrate", tests, COUNT(tests));
}
