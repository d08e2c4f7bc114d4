/* SPDX-License-Identifier: MIT
 *
 * test_postgres_pooler.c - PostgreSQL behind pgbouncer that hands out a session for each transaction,
 * with its settings as they come.
 */
#include "world.h"

#include <fcntl.h>
#include <libpq-fe.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "loopback.h"

#define PGBOUNCER "/usr/sbin/pgbouncer"
#define READY_MS 20000

struct pooled {
    struct world *world;
    pid_t pid;
    int log; // what it writes
    int port;
    char url[256];
    struct db *db;
};

static const char *
part(const PQconninfoOption *options, const char *keyword)
{
    for (; options->keyword != NULL; options++)
        if (strcmp(options->keyword, keyword) == 0)
            return options->val == NULL ? "" : options->val;
    return "";
}

static void
write_settings(struct pooled *pooled, const char *path)
{
    PQconninfoOption *options = PQconninfoParse(pooled->world->url, NULL);
    assert_non_null(options);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file,
        "[databases]\n* = host=%s port=%s user=%s\n"
        "[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = %d\nunix_socket_dir =\n"
        "auth_type = any\npool_mode = transaction\n",
        part(options, "host"), part(options, "port"), part(options, "user"), pooled->port);
    fclose(file);
    snprintf(pooled->url, sizeof pooled->url, "postgres://%s@127.0.0.1:%d/%s",
        part(options, "user"), pooled->port, part(options, "dbname"));
    PQconninfoFree(options);
}

/* await_ready reads what the pooler says as it starts. */
static void
await_ready(const struct pooled *pooled)
{
    char said[4096] = "";
    size_t len = 0;
    struct pollfd more = {.fd = pooled->log, .events = POLLIN};
    while (strstr(said, "process up") == NULL) {
        assert_int_equal(poll(&more, 1, READY_MS), 1);
        ssize_t got = read(pooled->log, said + len, sizeof said - 1 - len);
        if (got <= 0)
            fail_msg("the pooler did not start: %s", said);
        len += (size_t)got;
        said[len] = '\0';
    }
}

/* start runs the pooler; it refuses to be root. */
static void
start(struct pooled *pooled)
{
    int ends[2];
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    pooled->log = ends[0];
    char path[128];
    snprintf(path, sizeof path, "%s/pgbouncer.ini", pooled->world->folder);
    pooled->port = loopback_closed_port();
    write_settings(pooled, path);
    pooled->pid = fork();
    if (pooled->pid == 0) {
        freopen("/dev/null", "w", stdout);
        dup2(ends[1], STDERR_FILENO);
        if (geteuid() == 0)
            execl(PGBOUNCER, "pgbouncer", "-u", "nobody", path, (char *)NULL);
        else
            execl(PGBOUNCER, "pgbouncer", path, (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    await_ready(pooled);
}

static void
open_pooled(struct pooled *pooled)
{
    const struct db_options options = {.connect_timeout_us = 5 * SECOND};
    struct world *world = pooled->world;
    assert_ok(store_open(pooled->url, &options, &pooled->db, &world->err));
}

static int
setup(void **state)
{
    struct pooled *pooled = calloc(1, sizeof *pooled);
    void *world = NULL;
    if (pooled == NULL || world_new(&world) != 0)
        return -1;
    pooled->world = world;
    *state = pooled;
    if (access(PGBOUNCER, X_OK) != 0)
        return 0;
    start(pooled);
    open_pooled(pooled);
    return 0;
}

static int
teardown(void **state)
{
    struct pooled *pooled = *state;
    store_close(pooled->db);
    if (pooled->pid > 0) {
        kill(pooled->pid, SIGKILL);
        waitpid(pooled->pid, NULL, 0);
    }
    if (pooled->db != NULL)
        close(pooled->log);
    void *world = pooled->world;
    world_free(&world);
    free(pooled);
    return 0;
}

#define HAS_POOLER(pooled_) \
    do { \
        if ((pooled_)->db == NULL) { \
            print_message("there is no " PGBOUNCER " here\n"); \
            skip(); \
        } \
    } while (0)

static void
a_pooler_is_noticed_and_said(void **state)
{
    struct pooled *pooled = *state;
    HAS_POOLER(pooled);
    const struct driver *driver = pooled->db->driver;
    assert_non_null(driver->warning(pooled->db));
    assert_string_equal(driver->session(pooled->db), "");
    assert_int_equal(driver->wake_fd(pooled->db), -1);
    assert_false(driver->asleep(pooled->db, true));
    assert_non_null(driver->deaf(pooled->db));
    assert_null(driver->warning(pooled->world->db));
}

/* Two connections of ours take turns on one session of the server's, and on several. */
static void
statements_run_on_whatever_session_there_is(void **state)
{
    struct pooled *pooled = *state;
    HAS_POOLER(pooled);
    struct world *world = pooled->world;
    const struct db_options options = {0};
    struct db *other;
    assert_ok(store_open(pooled->url, &options, &other, &world->err));
    for (int i = 0; i < 5; i++) {
        assert_ok(try_fire_on(world, pooled->db));
        assert_ok(try_fire_on(world, other));
        assert_ok(store_begin(pooled->db, true, &world->err));
        assert_ok(try_fire_on(world, pooled->db));
        assert_ok(store_begin(other, true, &world->err));
        assert_ok(try_fire_on(world, other));
        assert_ok(store_commit(other, &world->err));
        assert_ok(store_commit(pooled->db, &world->err));
    }
    store_close(other);
    assert_int_equal(count_of(world, "owed_event"), 20);
}

static void
a_receivers_transaction_is_guarded_there_too(void **state)
{
    struct pooled *pooled = *state;
    HAS_POOLER(pooled);
    struct world *world = pooled->world;
    struct db *db = pooled->db;
    for (int commits = 0; commits < 2; commits++) {
        assert_ok(store_begin(db, true, &world->err));
        db->driver->guard(db, true);
        assert_ok(db->driver->savepoint(db, &world->err));
        assert_ok(try_fire_on(world, db));
        PGconn *handle = db->driver->native(db);
        if (commits == 1)
            PQclear(PQexec(handle, "commit"));
        owed_status status = db->driver->release(db, &world->err);
        assert_int_equal(status, commits == 1 ? OWED_ABORTED : OWED_OK);
        if (commits == 1)
            store_rollback(db);
        else
            assert_ok(store_commit(db, &world->err));
        db->driver->guard(db, false);
    }
    assert_int_equal(count_of(world, "owed_event"), 1);
}

static void
a_delivery_goes_its_way(void **state)
{
    struct pooled *pooled = *state;
    HAS_POOLER(pooled);
    struct world *world = pooled->world;
    static const char *const keys[] = {"shop.billing", NULL};
    publish_keys(world, keys);
    struct db *ours = world->db;
    world->db = pooled->db;
    int64_t id = only_delivery(world, fire(world, EVENT));
    assert_int_equal(claim_as(world, "me", NOW, 10), 1);
    struct settlement settlement = a_settlement(&world->rows[0].fence, "succeeded");
    assert_ok(store_settle(world->db, &settlement, 1, NULL, &world->err));
    assert_string_equal(status_of(world, id), "succeeded");
    world->db = ours;
}

static void
a_pooler_that_goes_away_is_unavailable(void **state)
{
    struct pooled *pooled = *state;
    HAS_POOLER(pooled);
    struct world *world = pooled->world;
    assert_ok(store_begin(pooled->db, true, &world->err));
    assert_ok(try_fire_on(world, pooled->db));
    kill(pooled->pid, SIGKILL);
    waitpid(pooled->pid, NULL, 0);
    pooled->pid = 0;
    assert_int_equal(store_commit(pooled->db, &world->err), OWED_UNAVAILABLE);
    assert_int_equal(store_begin(pooled->db, true, &world->err), OWED_UNAVAILABLE);
}

#define POOLED(name_) cmocka_unit_test_setup_teardown(name_, setup, teardown)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        POOLED(a_pooler_is_noticed_and_said),
        POOLED(statements_run_on_whatever_session_there_is),
        POOLED(a_receivers_transaction_is_guarded_there_too),
        POOLED(a_delivery_goes_its_way),
        POOLED(a_pooler_that_goes_away_is_unavailable),
    };
    return run_on_stores("postgres", "postgres pooler", tests, COUNT(tests));
}
