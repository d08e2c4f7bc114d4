/* SPDX-License-Identifier: MIT
 *
 * test_sqlite_wake.c - noticing that another connection wrote.
 */
#include "world.h"

#include <poll.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static bool
is_readable(int fd, int timeout_ms)
{
    struct pollfd entry = {.fd = fd, .events = POLLIN};
    return poll(&entry, 1, timeout_ms) == 1;
}

static void
drain(struct db *db)
{
    db->driver->wake_fd(db);
    while (db->driver->changed(db))
        ;
}

static void
another_connections_commit_is_noticed(void **state)
{
    struct world *world = *state;
    drain(world->other);
    int fd = world->other->driver->wake_fd(world->other);
    assert_true(fd >= 0);
    assert_false(is_readable(fd, 0));
    assert_false(world->other->driver->changed(world->other));
    fire(world, EVENT);
    assert_true(is_readable(fd, 5000));
    assert_true(world->other->driver->changed(world->other));
    assert_false(is_readable(fd, 0));
    assert_false(world->other->driver->changed(world->other));
}

static void
another_processs_commit_is_noticed(void **state)
{
    struct world *world = *state;
    struct db_options options = {0};
    drain(world->other);
    int fd = world->other->driver->wake_fd(world->other);
    pid_t child = fork();
    if (child == 0) {
        struct db *db;
        owed_error err;
        struct relay_row relay = {.id = "r", .host = "h", .lanes = "[]"};
        bool ok = store_open(world->url, &options, &db, &err) == OWED_OK &&
            store_relay_heartbeat(db, &relay, &err) == OWED_OK;
        _exit(ok ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_true(is_readable(fd, 5000));
    assert_true(world->other->driver->changed(world->other));
}

static void
our_own_commit_is_no_news(void **state)
{
    struct world *world = *state;
    drain(world->db);
    fire(world, EVENT);
    assert_false(world->db->driver->changed(world->db));
}

static void
a_rollback_is_no_news(void **state)
{
    struct world *world = *state;
    drain(world->other);
    assert_ok(store_begin(world->db, true, &world->err));
    fire(world, EVENT);
    store_rollback(world->db);
    assert_false(world->other->driver->changed(world->other));
}

static void
the_watch_survives_the_log_being_made_anew(void **state)
{
    struct world *world = *state;
    // A reader that has not read yet holds no log open: it is there once somebody writes.
    struct db_options reading = {.read_only = true};
    struct db *reader;
    store_close(world->other);
    store_close(world->db);
    world->other = world->db = NULL; // the last to close takes the log away
    assert_ok(store_open(world->url, &reading, &reader, &world->err));
    int fd = reader->driver->wake_fd(reader);
    assert_true(fd >= 0);
    for (int i = 0; i < 2; i++) {
        struct db_options options = {0};
        assert_ok(store_open(world->url, &options, &world->db, &world->err));
        drain(reader);
        fire(world, EVENT);
        assert_true(is_readable(fd, 5000));
        assert_true(reader->driver->changed(reader));
        // The file goes, and comes back under its name.
        sqlite3 *handle = world->db->driver->native(world->db);
        store_close(reader);
        assert_int_equal(
            sqlite3_exec(handle, "pragma journal_mode = delete", NULL, NULL, NULL), SQLITE_OK);
        assert_ok(store_open(world->url, &reading, &reader, &world->err));
        fd = reader->driver->wake_fd(reader);
        assert_int_equal(
            sqlite3_exec(handle, "pragma journal_mode = wal", NULL, NULL, NULL), SQLITE_OK);
        fire(world, EVENT);
        assert_true(is_readable(fd, 5000));
        assert_true(reader->driver->changed(reader));
        fire(world, EVENT);
        assert_true(is_readable(fd, 5000));
        assert_true(reader->driver->changed(reader));
        store_close(world->db);
        world->db = NULL;
    }
    store_close(reader);
}

static void
another_file_beside_the_store_is_no_sign(void **state)
{
    struct world *world = *state;
    fire(world, EVENT);
    drain(world->other);
    int fd = world->other->driver->wake_fd(world->other);
    drain(world->other);
    char path[4200];
    snprintf(path, sizeof path, "%s.txt", world->other->driver->path(world->other));
    FILE *file = fopen(path, "we");
    assert_non_null(file);
    fclose(file);
    assert_false(is_readable(fd, 0));
    unlink(path);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(another_connections_commit_is_noticed),
        TEST(another_processs_commit_is_noticed),
        TEST(our_own_commit_is_no_news),
        TEST(a_rollback_is_no_news),
        TEST(the_watch_survives_the_log_being_made_anew),
        TEST(another_file_beside_the_store_is_no_sign),
    };
    return run_on_stores("sqlite", "sqlite wake", tests, COUNT(tests));
}
