/* SPDX-License-Identifier: MIT
 *
 * test_sqlite_stress.c - several processes write while others checkpoint and read; then nothing is
 * missing and the database is sound.
 */
#include "world.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "store/sqlite.h"

enum { WRITERS = 3, RUN_MS = 2500 };

static int64_t
elapsed_ms(const struct timespec *start)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (now.tv_sec - start->tv_sec) * 1000 + (now.tv_nsec - start->tv_nsec) / 1000000;
}

static struct db *
open_own(const char *url)
{
    struct db_options options = {.busy_timeout_us = 20 * SECOND};
    struct db *db;
    owed_error err;
    if (store_open(url, &options, &db, &err) != OWED_OK)
        _exit(2);
    return db;
}

/* Each is a process of its own; what it returns goes to the pipe. */
static int64_t
write_events(struct db *db, int n)
{
    (void)n;
    struct new_event event = an_event(EVENT);
    char payload[3000];
    memset(payload, '7', sizeof payload);
    event.payload = (struct str){payload, sizeof payload};
    int64_t id;
    bool fresh;
    return store_insert_event(db, &event, &id, &fresh, NULL) == OWED_OK ? 1 : -1;
}

static int64_t
checkpoint(struct db *db, int n)
{
    // Aggressive ones, far below the thresholds, so that the log starts over again and again.
    struct sqlite_db *conn = sqlite_of(db);
    conn->wal_pages = n % 2 == 0 ? 200 : 10;
    sqlite_checkpoint_above(conn, 50);
    return 0;
}

static int64_t
read_for_a_while(struct db *db, int n)
{
    (void)n;
    struct arena arena;
    arena_init(&arena, 0);
    struct status first, second;
    bool same = store_begin(db, false, NULL) == OWED_OK &&
        store_status(db, NOW, &arena, &first, NULL) == OWED_OK &&
        store_status(db, NOW, &arena, &second, NULL) == OWED_OK && first.events == second.events;
    store_rollback(db);
    arena_done(&arena);
    return same ? 0 : -1;
}

static int
start(const char *url, int64_t (*work)(struct db *db, int n), int out)
{
    pid_t child = fork();
    if (child != 0)
        return child;
    struct timespec begin;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    int64_t sum = 0;
    struct db *db = open_own(url);
    for (int n = 0; elapsed_ms(&begin) < RUN_MS; n++) {
        int64_t done = work(db, n);
        if (done < 0)
            _exit(3);
        sum += done;
    }
    store_close(db);
    _exit(write(out, &sum, sizeof sum) == sizeof sum ? 0 : 4);
}

static const char *
ask(struct db *db, const char *sql, char *answer, size_t size)
{
    sqlite3_stmt *stmt;
    assert_int_equal(sqlite3_prepare_v2(db->driver->native(db), sql, -1, &stmt, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
    snprintf(answer, size, "%s", (const char *)sqlite3_column_text(stmt, 0));
    sqlite3_finalize(stmt);
    return answer;
}

static void
many_processes_write_checkpoint_and_read_and_nothing_breaks(void **state)
{
    struct world *world = *state;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t children[WRITERS + 4];
    int count = 0;
    while (count < WRITERS)
        children[count++] = start(world->url, write_events, ends[1]);
    children[count++] = start(world->url, checkpoint, ends[1]);
    children[count++] = start(world->url, checkpoint, ends[1]);
    children[count++] = start(world->url, read_for_a_while, ends[1]);
    children[count++] = start(world->url, read_for_a_while, ends[1]);
    close(ends[1]);
    for (int i = 0; i < count; i++) {
        int status = 0;
        assert_int_equal(waitpid(children[i], &status, 0), children[i]);
        assert_int_equal(status, 0);
    }
    int64_t written = 0, one;
    while (read(ends[0], &one, sizeof one) == sizeof one)
        written += one;
    close(ends[0]);
    assert_true(written > 0);
    struct status counted;
    assert_ok(store_status(world->db, NOW, &world->arena, &counted, &world->err));
    assert_int_equal(counted.events, written);
    char answer[200];
    assert_string_equal(ask(world->db, "pragma integrity_check", answer, sizeof answer), "ok");
    print_message("%lld events\n", (long long)written);
}

static int64_t
wal_bytes(struct world *world)
{
    char path[300];
    struct stat file;
    snprintf(path, sizeof path, "%s-wal", strchr(world->url, '/'));
    return stat(path, &file) == 0 ? file.st_size : 0;
}

static void
write_mib(struct world *world, int count)
{
    struct new_event event = an_event(EVENT);
    size_t len = 1 << 20;
    char *payload = malloc(len);
    memset(payload, '7', len);
    event.payload = (struct str){payload, len};
    int64_t id;
    bool fresh;
    for (int i = 0; i < count; i++) {
        assert_ok(store_begin(world->db, true, &world->err));
        assert_ok(store_insert_event(world->db, &event, &id, &fresh, &world->err));
        assert_ok(store_commit(world->db, &world->err));
    }
    free(payload);
}

static void
the_log_does_not_grow_without_a_relay(void **state)
{
    struct world *world = *state;
    write_mib(world, 90);
    int64_t most = wal_bytes(world);
    assert_true(most > 60 * (INT64_C(1) << 20));
    write_mib(world, 90);
    assert_true(wal_bytes(world) < most + (INT64_C(8) << 20));
}

static void
tidying_keeps_the_log_small(void **state)
{
    struct world *world = *state;
    for (int i = 0; i < 10; i++) {
        write_mib(world, 5);
        world->db->driver->tidy(world->db);
    }
    assert_true(wal_bytes(world) < INT64_C(12) << 20);
}

static int64_t
file_bytes(struct world *world)
{
    struct stat file;
    assert_int_equal(stat(strchr(world->url, '/'), &file), 0);
    return file.st_size;
}

static void
the_log_is_not_moved_while_somebody_else_may_start_it_over(void **state)
{
    struct world *world = *state;
    struct db_options hasty = {.busy_timeout_us = SECOND};
    struct db *third;
    assert_ok(store_open(world->url, &hasty, &third, &world->err));
    write_mib(world, 8);
    int64_t before = file_bytes(world);
    assert_ok(store_begin(third, true, &world->err));
    world->db->driver->tidy(world->db);
    assert_int_equal(file_bytes(world), before);
    store_rollback(third);
    write_mib(world, 8);
    world->db->driver->tidy(world->db);
    assert_true(file_bytes(world) > before);
    store_close(third);
}

static void
tidying_waits_for_no_reader_and_no_writer(void **state)
{
    struct world *world = *state;
    write_mib(world, 5);
    assert_ok(store_begin(world->other, false, &world->err));
    struct status status;
    assert_ok(store_status(world->other, NOW, &world->arena, &status, &world->err));
    write_mib(world, 5);
    struct timespec start;
    clock_gettime(CLOCK_MONOTONIC, &start);
    world->db->driver->tidy(world->db); // beside a reader
    store_rollback(world->other);
    write_mib(world, 5);
    assert_ok(store_begin(world->other, true, &world->err));
    world->db->driver->tidy(world->db); // beside a writer: left for another time
    store_rollback(world->other);
    assert_true(elapsed_ms(&start) < 3000);
    write_mib(world, 1);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(many_processes_write_checkpoint_and_read_and_nothing_breaks),
        TEST(the_log_does_not_grow_without_a_relay),
        TEST(tidying_keeps_the_log_small),
        TEST(the_log_is_not_moved_while_somebody_else_may_start_it_over),
        TEST(tidying_waits_for_no_reader_and_no_writer),
    };
    return run_on_stores("sqlite", "sqlite stress", tests, COUNT(tests));
}
