/* SPDX-License-Identifier: MIT
 *
 * commit_latency.c - how long the application's own commits take while a relay drains a backlog in
 * another process, on the same SQLite file.
 *
 * usage: commit_latency OWED MODULE [EVENTS]
 *
 * One line for each way a relay writes, and for each of two applications: one that has a connection
 * of its own with SQLite's stock busy timeout of 5 s, and one that fires through owed.
 */
#include <owed/sqlite.h>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bench_module.h"

#define PACE_MS 2          // between two commits of the application
#define ALONE_COMMITS 1000 // measured without a relay
#define SAMPLES_MAX 200000
#define BUSY_TIMEOUT_MS 5000

extern char **environ;

struct bench {
    const char *program;
    const char *module;
    size_t events;
    char folder[64];
    char url[96];
    owed_registry *registry;
    owed *owed;
    sqlite3 *app; // the application's own connection
    int64_t samples[SAMPLES_MAX];
    size_t count;
    size_t busy;
};

static void
die(const char *what, const char *why)
{
    fprintf(stderr, "commit_latency: %s: %s\n", what, why);
    exit(1);
}

static void
must(owed_status status, const char *what, const owed_error *err)
{
    if (status != OWED_OK)
        die(what, err->text);
}

static int64_t
now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static int
run(sqlite3 *db, const char *statements)
{
    return sqlite3_exec(db, statements, NULL, NULL, NULL);
}

static void
open_store(struct bench *bench)
{
    owed_error err;
    snprintf(bench->folder, sizeof bench->folder, "/tmp/owed-bench-XXXXXX");
    if (mkdtemp(bench->folder) == NULL)
        die("no folder", bench->folder);
    char path[80];
    snprintf(path, sizeof path, "%s/shop.db", bench->folder);
    snprintf(bench->url, sizeof bench->url, "sqlite:%s", path);
    must(owed_init(bench->url, &err), "owed_init", &err);
    must(owed_registry_new("bench", &bench->registry, &err), "owed_registry_new", &err);
    must(owed_module_init(bench->registry, &err), "owed_module_init", &err);
    owed_settings settings = {.url = bench->url, .registry = bench->registry};
    must(owed_open(&settings, &bench->owed, &err), "owed_open", &err);
    if (sqlite3_open(path, &bench->app) != SQLITE_OK)
        die(path, "cannot be opened");
    sqlite3_busy_timeout(bench->app, BUSY_TIMEOUT_MS);
    run(bench->app,
        "pragma synchronous = full; pragma wal_autocheckpoint = 0;"
        "create table app (n integer); create table effect (event_id integer)");
}

static void
close_store(struct bench *bench)
{
    owed_close(bench->owed);
    owed_registry_free(bench->registry);
    sqlite3_close(bench->app);
    char path[100];
    static const char *const names[] = {"shop.db", "shop.db-wal", "shop.db-shm", "log"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        snprintf(path, sizeof path, "%s/%s", bench->folder, names[i]);
        unlink(path);
    }
    rmdir(bench->folder);
}

/* fire_backlog owes the events in transactions of a thousand. */
static void
fire_backlog(struct bench *bench, const owed_event_type *type, size_t events)
{
    const owed_bytes json = {"{\"order\": 7}", 12};
    owed_error err;
    owed_tx *tx = NULL;
    for (size_t i = 0; i < events; i++) {
        if (i % 1000 == 0)
            must(owed_begin(bench->owed, &tx, &err), "owed_begin", &err);
        must(owed_fire(tx, type, &json, NULL, NULL, &err), "owed_fire", &err);
        if (i % 1000 == 999 || i + 1 == events)
            must(owed_commit(tx, &err), "owed_commit", &err);
    }
}

/* Two applications: each makes one change and says whether it was kept. */
static bool
commit_own(struct bench *bench)
{
    if (run(bench->app, "begin immediate; insert into app (n) values (1); commit") == SQLITE_OK)
        return true;
    run(bench->app, "rollback");
    return false;
}

static bool
commit_firing(struct bench *bench)
{
    owed_error err;
    owed_tx *tx = NULL;
    if (owed_begin(bench->owed, &tx, &err) != OWED_OK)
        return false;
    run(owed_tx_sqlite(tx), "insert into app (n) values (1)");
    owed_status status = owed_fire_json(tx, "bench.Quiet", 1, "{}", 2, NULL, NULL, &err);
    if (status == OWED_OK)
        return owed_commit(tx, &err) == OWED_OK;
    owed_rollback(tx);
    return false;
}

static void
sample(struct bench *bench, bool (*commit)(struct bench *bench))
{
    int64_t start = now_us();
    bool kept = commit(bench);
    int64_t took = now_us() - start;
    if (!kept)
        bench->busy++;
    if (bench->count < SAMPLES_MAX)
        bench->samples[bench->count++] = took;
}

static pid_t
start_relay(const struct bench *bench)
{
    char log[100];
    snprintf(log, sizeof log, "%s/log", bench->folder);
    char *const argv[] = {strdup(bench->program), strdup("relay"), strdup("--once"),
        strdup("--all-lanes"), strdup("--store"), strdup(bench->url), strdup("--app"),
        strdup("bench"), strdup("--module"), strdup(bench->module), NULL};
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 1, log, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_adddup2(&actions, 1, 2);
    pid_t pid = -1;
    int code = posix_spawn(&pid, bench->program, &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    for (size_t i = 0; argv[i] != NULL; i++)
        free(argv[i]);
    if (code != 0)
        die(bench->program, "cannot be started");
    return pid;
}

static bool
has_ended(pid_t pid)
{
    int status = 0;
    if (waitpid(pid, &status, WNOHANG) != pid)
        return false;
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        die("the relay", "ended badly: see the log in its folder");
    return true;
}

static int
by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a;
    int64_t y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void
print(struct bench *bench, const char *relay, const char *application, double rate)
{
    qsort(bench->samples, bench->count, sizeof bench->samples[0], by_value);
    if (bench->count == 0)
        return;
    const int64_t *sorted = bench->samples;
    double p50 = (double)sorted[bench->count / 2] / 1000;
    double p99 = (double)sorted[bench->count * 99 / 100] / 1000;
    double max = (double)sorted[bench->count - 1] / 1000;
    printf("%-22s %-16s %8zu %8.2f %8.2f %8.2f %6zu ", relay, application, bench->count, p50, p99,
        max, bench->busy);
    if (rate > 0)
        printf("%10.0f\n", rate);
    else
        printf("%10s\n", "-");
    fflush(stdout);
}

static void
measure(struct bench *bench, const char *relay, const owed_event_type *type, bool firing)
{
    bool (*commit)(struct bench * bench) = firing ? commit_firing : commit_own;
    // One durable commit each takes its time: a tenth of them will do.
    size_t events = type == &bench_written ? bench->events / 10 : bench->events;
    bench->count = bench->busy = 0;
    if (type != NULL)
        fire_backlog(bench, type, events);
    int64_t start = now_us();
    pid_t pid = type != NULL ? start_relay(bench) : -1;
    while (pid > 0 ? !has_ended(pid) : bench->count < ALONE_COMMITS) {
        sample(bench, commit);
        poll(NULL, 0, PACE_MS);
    }
    double seconds = (double)(now_us() - start) / 1000000;
    print(bench, relay, firing ? "fires" : "own connection",
        type != NULL ? (double)events / seconds : 0);
}

int
main(int argc, char **argv)
{
    static struct bench bench;
    if (argc < 3 || access(argv[1], X_OK) != 0) {
        fprintf(stderr, "usage: commit_latency OWED MODULE [EVENTS]\n");
        return 64;
    }
    bench.program = argv[1];
    bench.module = argv[2];
    bench.events = argc > 3 ? strtoul(argv[3], NULL, 10) : 20000;
    open_store(&bench);
    printf("The application's commits, one every %d ms, milliseconds; %zu deliveries each time, "
           "%zu one by one\n\n",
        PACE_MS, bench.events, bench.events / 10);
    printf("%-22s %-16s %8s %8s %8s %8s %6s %10s\n", "relay", "application", "commits", "p50",
        "p99", "max", "busy", "drained/s");
    for (int firing = 0; firing < 2; firing++) {
        measure(&bench, "none", NULL, firing);
        measure(&bench, "takes", &bench_taken, firing);
        measure(&bench, "writes, one by one", &bench_written, firing);
        measure(&bench, "writes, in groups", &bench_grouped, firing);
    }
    close_store(&bench);
    return 0;
}
