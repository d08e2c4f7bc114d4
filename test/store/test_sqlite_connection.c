/* SPDX-License-Identifier: MIT
 *
 * test_sqlite_connection.c - URLs, files, the application's own connection, and what errors say.
 */
#include "world.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct db_options making = {.create = true, .busy_timeout_us = SECOND};

static bool
file_exists(const char *folder, const char *name)
{
    char path[300];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return access(path, F_OK) == 0;
}

static void
a_url_names_a_file(void **state)
{
    struct world *world = *state;
    const struct {
        const char *format;
        const char *file;
    } urls[] = {{"sqlite:%s/a.db", "a.db"}, {"sqlite://%s/b.db", "b.db"},
        {"sqlite:%s/c%%20d.db", "c d.db"}, {"sqlite:%s/%%25%%3F.db", "%?.db"},
        {"sqlite:%s/f:x.db", "f:x.db"}};
    for (size_t i = 0; i < COUNT(urls); i++) {
        char url[300];
        snprintf(url, sizeof url, urls[i].format, world->folder);
        struct db *db;
        assert_ok(store_open(url, &making, &db, &world->err));
        check_case(file_exists(world->folder, urls[i].file), urls[i].file);
        check_case(db->driver->path(db)[0] == '/', urls[i].file);
        store_close(db);
    }
}

static void
a_relative_path_is_taken_from_here(void **state)
{
    struct world *world = *state;
    int here = open(".", O_RDONLY | O_DIRECTORY);
    assert_int_equal(chdir(world->folder), 0);
    struct db *db;
    assert_ok(store_open("sqlite:shop.db", &making, &db, &world->err));
    store_close(db);
    assert_ok(store_open("sqlite:file:shop.db", &making, &db, &world->err));
    store_close(db);
    assert_int_equal(fchdir(here), 0);
    close(here);
    assert_true(file_exists(world->folder, "shop.db"));
    assert_true(file_exists(world->folder, "file:shop.db"));
}

static void
a_bad_url_is_refused_with_a_good_one(void **state)
{
    struct world *world = *state;
    static const char *const bad[] = {"sqlite:", "sqlite://host/a.db", "sqlite://",
        "sqlite::memory:", "sqlite:a.db?mode=ro", "sqlite:a.db#x", "sqlite:%zz.db", "sqlite:a%2",
        "sqlite:a%00b"};
    for (size_t i = 0; i < COUNT(bad); i++) {
        struct db *db = NULL;
        check_case(store_open(bad[i], &making, &db, &world->err) == OWED_CONFIG, bad[i]);
        check_case(strstr(world->err.text, "sqlite:shop.db") != NULL, bad[i]);
        check_case(db == NULL, bad[i]);
    }
}

static void
a_store_that_is_not_there_is_unavailable_and_not_made(void **state)
{
    struct world *world = *state;
    char url[300];
    snprintf(url, sizeof url, "sqlite:%s/none.db", world->folder);
    struct db_options options = {0};
    struct db *db = NULL;
    assert_int_equal(store_open(url, &options, &db, &world->err), OWED_UNAVAILABLE);
    assert_non_null(strstr(world->err.text, "none.db"));
    assert_non_null(strstr(world->err.text, "owed init"));
    assert_false(file_exists(world->folder, "none.db"));
    snprintf(url, sizeof url, "sqlite:%s/no/such/folder.db", world->folder);
    assert_int_equal(store_open(url, &making, &db, &world->err), OWED_UNAVAILABLE);
}

static void
a_file_that_is_no_database_is_unavailable(void **state)
{
    struct world *world = *state;
    char path[300], url[320];
    snprintf(path, sizeof path, "%s/letter.txt", world->folder);
    FILE *file = fopen(path, "w");
    for (int i = 0; i < 100; i++)
        fputs("Dear customer, this is no database at all. ", file);
    fclose(file);
    snprintf(url, sizeof url, "sqlite:%s", path);
    struct db *db = NULL;
    assert_int_equal(store_open(url, &making, &db, &world->err), OWED_UNAVAILABLE);
    assert_non_null(strstr(world->err.text, "not a database"));
    assert_non_null(strstr(world->err.text, "letter.txt"));
}

static void
a_connection_of_ours_writes_ahead_and_syncs_every_commit(void **state)
{
    struct world *world = *state;
    const struct {
        const char *sql;
        const char *answer;
    } settings[] = {{"pragma journal_mode", "wal"}, {"pragma synchronous", "2"}};
    for (size_t i = 0; i < COUNT(settings); i++) {
        sqlite3_stmt *stmt;
        sqlite3 *handle = world->db->driver->native(world->db);
        assert_int_equal(sqlite3_prepare_v2(handle, settings[i].sql, -1, &stmt, NULL), SQLITE_OK);
        assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
        const char *answer = (const char *)sqlite3_column_text(stmt, 0);
        check_case(strcmp(answer, settings[i].answer) == 0, settings[i].sql);
        sqlite3_finalize(stmt);
    }
}

static void
a_read_only_connection_looks_and_cannot_write(void **state)
{
    struct world *world = *state;
    fire(world, EVENT);
    struct db_options options = {.read_only = true};
    struct db *db;
    assert_ok(store_open(world->url, &options, &db, &world->err));
    assert_ok(store_check(db, &world->err));
    struct status status;
    assert_ok(store_status(db, NOW, &world->arena, &status, &world->err));
    assert_int_equal(status.events, 1);
    struct relay_row relay = {.id = "r", .host = "h", .lanes = "[]"};
    assert_int_equal(store_relay_heartbeat(db, &relay, &world->err), OWED_UNAVAILABLE);
    store_close(db);
}

static void
a_writer_that_does_not_give_way_makes_us_busy_not_blocked(void **state)
{
    struct world *world = *state;
    assert_ok(store_begin(world->other, true, &world->err));
    struct db_options options = {.busy_timeout_us = 20000};
    struct db *db;
    assert_ok(store_open(world->url, &options, &db, &world->err));
    assert_int_equal(store_begin(db, true, &world->err), OWED_BUSY);
    assert_non_null(strstr(world->err.text, "begin_write"));
    assert_non_null(strstr(world->err.text, "shop.db"));
    assert_true(world->err.native != 0);
    store_rollback(world->other);
    assert_ok(store_begin(db, true, &world->err));
    store_rollback(db);
    store_close(db);
}

static void
a_file_that_was_deleted_or_replaced_is_written_to_no_more(void **state)
{
    struct world *world = *state;
    const struct driver *driver = world->db->driver;
    char away[300];
    snprintf(away, sizeof away, "%s.away", driver->path(world->db));
    assert_ok(driver->still_there(world->db, &world->err));
    assert_int_equal(rename(driver->path(world->db), away), 0);
    assert_int_equal(driver->still_there(world->db, &world->err), OWED_UNAVAILABLE);
    assert_int_equal(store_begin(world->db, true, &world->err), OWED_UNAVAILABLE);
    assert_non_null(strstr(world->err.text, "deleted or replaced"));
    assert_int_equal(rename(away, driver->path(world->db)), 0);
    fire(world, EVENT);
}

static void
a_full_disk_is_said_and_the_store_goes_on(void **state)
{
    struct world *world = *state;
    sqlite3 *handle = world->db->driver->native(world->db);
    assert_int_equal(
        sqlite3_exec(handle, "pragma max_page_count = 40", NULL, NULL, NULL), SQLITE_OK);
    struct new_event event = an_event(EVENT);
    char *big = calloc(1, 200001);
    memset(big, ' ', 200000);
    big[0] = '1';
    event.payload = str_of(big);
    int64_t id;
    bool fresh;
    assert_ok(store_begin(world->db, true, &world->err));
    assert_int_equal(
        store_insert_event(world->db, &event, &id, &fresh, &world->err), OWED_UNAVAILABLE);
    assert_non_null(strstr(world->err.text, "full"));
    assert_non_null(strstr(world->err.text, "make room"));
    store_rollback(world->db);
    free(big);
    fire(world, EVENT);
}

static void
an_adopted_connection_fires_in_the_callers_transaction(void **state)
{
    struct world *world = *state;
    sqlite3 *theirs;
    assert_int_equal(sqlite3_open(strchr(world->url, '/'), &theirs), SQLITE_OK);
    assert_int_equal(sqlite3_exec(theirs, "begin", NULL, NULL, NULL), SQLITE_OK);
    struct db *db;
    assert_ok(driver_sqlite.adopt(theirs, &db, &world->err));
    assert_true(db->adopted);
    assert_true(store_in_transaction(db));
    struct new_event event = an_event(EVENT);
    int64_t id;
    bool fresh;
    assert_ok(store_insert_event(db, &event, &id, &fresh, &world->err));
    // It is theirs to end: we do not.
    assert_int_equal(store_begin(db, true, &world->err), OWED_BUG);
    assert_int_equal(store_commit(db, &world->err), OWED_BUG);
    store_rollback(db);
    assert_true(store_in_transaction(db));
    store_close(db);
    // Nothing of ours is left on it, and it is still open.
    assert_null(sqlite3_next_stmt(theirs, NULL));
    assert_int_equal(sqlite3_get_autocommit(theirs), 0);
    struct event_row row;
    assert_int_equal(store_event(world->db, id, &world->arena, &row, &world->err), OWED_NOT_FOUND);
    assert_int_equal(sqlite3_exec(theirs, "commit", NULL, NULL, NULL), SQLITE_OK);
    assert_ok(store_event(world->db, id, &world->arena, &row, &world->err));
    assert_int_equal(sqlite3_close(theirs), SQLITE_OK);
}

static void
an_adopted_connection_writes_nothing_once_its_transaction_is_over(void **state)
{
    struct world *world = *state;
    sqlite3 *theirs;
    assert_int_equal(sqlite3_open(strchr(world->url, '/'), &theirs), SQLITE_OK);
    assert_int_equal(sqlite3_exec(theirs, "begin", NULL, NULL, NULL), SQLITE_OK);
    struct db *db;
    assert_ok(driver_sqlite.adopt(theirs, &db, &world->err));
    assert_int_equal(sqlite3_exec(theirs, "commit", NULL, NULL, NULL), SQLITE_OK);
    struct new_event event = an_event(EVENT);
    int64_t id;
    bool fresh;
    assert_int_equal(store_insert_event(db, &event, &id, &fresh, &world->err), OWED_ABORTED);
    struct status status;
    assert_ok(store_status(db, NOW, &world->arena, &status, &world->err));
    assert_int_equal(status.events, 0);
    store_close(db);
    sqlite3_close(theirs);
}

static int
their_hook(void *arg, sqlite3 *handle, const char *name, int pages)
{
    (void)handle;
    (void)name;
    (void)pages;
    ++*(int *)arg;
    return SQLITE_OK;
}

static void
adopting_switches_automatic_checkpoints_off_and_leaves_the_callers_hook(void **state)
{
    struct world *world = *state;
    for (int own_hook = 0; own_hook < 2; own_hook++) {
        sqlite3 *theirs;
        struct db *db;
        int heard = 0;
        assert_int_equal(sqlite3_open(strchr(world->url, '/'), &theirs), SQLITE_OK);
        if (own_hook == 1)
            sqlite3_wal_hook(theirs, their_hook, &heard);
        assert_ok(driver_sqlite.adopt(theirs, &db, &world->err));
        store_close(db);
        assert_int_equal(
            sqlite3_exec(theirs, "create table if not exists app (x); insert into app values (1)",
                NULL, NULL, NULL),
            SQLITE_OK);
        assert_int_equal(heard > 0, own_hook);
        // What stands in the hook's place now: nothing, or theirs.
        void *before = sqlite3_wal_hook(theirs, NULL, NULL);
        assert_ptr_equal(before, own_hook == 1 ? &heard : NULL);
        sqlite3_close(theirs);
    }
}

static void
an_adopted_connection_without_our_tables_says_so(void **state)
{
    struct world *world = *state;
    sqlite3 *theirs;
    assert_int_equal(sqlite3_open(":memory:", &theirs), SQLITE_OK);
    struct db *db;
    assert_ok(driver_sqlite.adopt(theirs, &db, &world->err));
    assert_int_equal(store_check(db, &world->err), OWED_SCHEMA);
    store_close(db);
    sqlite3_close(theirs);
}

static void
statements_survive_a_change_of_the_schema(void **state)
{
    struct world *world = *state;
    fire(world, EVENT);
    sqlite3 *handle = world->other->driver->native(world->other);
    assert_int_equal(sqlite3_exec(handle, "create table app (x)", NULL, NULL, NULL), SQLITE_OK);
    fire(world, EVENT);
}

static void
a_statement_that_is_being_read_is_not_run_again(void **state)
{
    struct world *world = *state;
    struct rows *rows, *again;
    const struct value most = {.type = VALUE_INT, .integer = 10};
    const struct driver *driver = world->db->driver;
    assert_ok(driver->run(world->db, STMT_COUNT_EVENTS, &most, 1, &rows, &world->err));
    assert_int_equal(
        driver->run(world->db, STMT_COUNT_EVENTS, &most, 1, &again, &world->err), OWED_BUG);
    assert_ok(driver->finish(rows, NULL, &world->err));
    assert_ok(driver->run(world->db, STMT_COUNT_EVENTS, &most, 1, &rows, &world->err));
    assert_true(driver->next(rows));
    assert_false(driver->next(rows));
    assert_false(driver->next(rows));
    assert_ok(driver->finish(rows, NULL, &world->err));
}

static void
every_statement_takes_and_gives_what_its_list_says(void **state)
{
    struct world *world = *state;
    static const struct {
        const char *name;
        int parameters;
        int columns;
    } listed[STMT_MAX] = {
#define STATEMENT(name, file, parameters, columns) [STMT_##name] = {file, parameters, columns},
#include "store/statements.def"
#undef STATEMENT
    };
    sqlite3 *handle = world->db->driver->native(world->db);
    // A statement over a table that another one makes wants it to be there.
    static const enum stmt makers[] = {
        STMT_BENCH_MAKE_EVENT, STMT_BENCH_MAKE_DELIVERY, STMT_BENCH_MAKE_EFFECT};
    for (size_t i = 0; i < COUNT(makers); i++) {
        const char *text = world->db->driver->sql->statements[makers[i]];
        sqlite3_stmt *stmt = NULL;
        check_case(sqlite3_prepare_v2(handle, text, -1, &stmt, NULL) == SQLITE_OK &&
                sqlite3_step(stmt) == SQLITE_DONE,
            listed[makers[i]].name);
        sqlite3_finalize(stmt);
    }
    for (int i = 0; i < STMT_MAX; i++) {
        bool is_made = i >= STMT_BENCH_MAKE_EVENT && i <= STMT_BENCH_MAKE_EFFECT;
        if (is_made)
            continue;
        sqlite3_stmt *stmt = NULL;
        const char *rest = NULL;
        const char *text = world->db->driver->sql->statements[i];
        if (text == NULL) // another dialect's own
            continue;
        int code = sqlite3_prepare_v2(handle, text, -1, &stmt, &rest);
        check_case(code == SQLITE_OK, listed[i].name);
        check_case(sqlite3_bind_parameter_count(stmt) == listed[i].parameters, listed[i].name);
        check_case(sqlite3_column_count(stmt) == listed[i].columns, listed[i].name);
        check_case(strspn(rest, " \n") == strlen(rest), listed[i].name);
        sqlite3_finalize(stmt);
    }
}

static void
a_file_that_may_not_be_written_is_refused_with_the_way_out(void **state)
{
    struct world *world = *state;
    sqlite3 *handle = world->db->driver->native(world->db);
    assert_int_equal(sqlite3_exec(handle, "pragma query_only = on", NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(try_fire_on(world, world->db), OWED_UNAVAILABLE);
    assert_non_null(strstr(world->err.text, " cannot be written ("));
    assert_non_null(strstr(world->err.text, "the file and its folder have to be writable"));
    assert_int_equal(count_of(world, "owed_event"), 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_url_names_a_file),
        TEST(a_relative_path_is_taken_from_here),
        TEST(a_bad_url_is_refused_with_a_good_one),
        TEST(a_store_that_is_not_there_is_unavailable_and_not_made),
        TEST(a_file_that_is_no_database_is_unavailable),
        TEST(a_connection_of_ours_writes_ahead_and_syncs_every_commit),
        TEST(a_read_only_connection_looks_and_cannot_write),
        TEST(a_writer_that_does_not_give_way_makes_us_busy_not_blocked),
        TEST(a_file_that_was_deleted_or_replaced_is_written_to_no_more),
        TEST(a_full_disk_is_said_and_the_store_goes_on),
        TEST(an_adopted_connection_fires_in_the_callers_transaction),
        TEST(an_adopted_connection_writes_nothing_once_its_transaction_is_over),
        TEST(adopting_switches_automatic_checkpoints_off_and_leaves_the_callers_hook),
        TEST(an_adopted_connection_without_our_tables_says_so),
        TEST(statements_survive_a_change_of_the_schema),
        TEST(a_statement_that_is_being_read_is_not_run_again),
        TEST(every_statement_takes_and_gives_what_its_list_says),
        TEST(a_file_that_may_not_be_written_is_refused_with_the_way_out),
    };
    return run_on_stores("sqlite", "sqlite connection", tests, COUNT(tests));
}
