/* SPDX-License-Identifier: MIT
 *
 * start_latency.c - from the end of a commit to the start of its receiver, in an idle relay of another
 * process, and what that relay holds in memory.
 *
 * usage: start_latency OWED MODULE URL [EVENTS]
 *
 * URL names an empty store. One line: the store, p50, p99 and the worst in milliseconds, the relay's
 * proportional share of memory, over its processes, and p50 and p99 from before the transaction.
 */
#include "bench_payload.h"

#include <owed/owed.h>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PAUSE_MS 30     // the relay is idle again long before
#define WARM_US 1500000 // who fires looks once a second where relays listen
#define GIVE_UP_US 60000000
#define EVENTS_MAX 100000

extern char **environ;

OWED_API owed_status owed_module_init(owed_registry *registry, owed_error *err);

static _Atomic int64_t *started;
static char clock_path[] = "/tmp/owed-start-XXXXXX";

static void
die(const char *what, const char *why)
{
    fprintf(stderr, "start_latency: %s: %s\n", what, why);
    unlink(clock_path);
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

static void
map_clock(void)
{
    int fd = mkstemp(clock_path);
    if (fd < 0 || ftruncate(fd, 4096) != 0)
        die(clock_path, "cannot be made");
    void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (page == MAP_FAILED)
        die(clock_path, "cannot be mapped");
    started = page;
    setenv("START_CLOCK", clock_path, 1);
}

static pid_t
start_relay(const char *program, const char *module, const char *url)
{
    // The environment has the URL: a command line is there for all to read.
    setenv("OWED_STORE", url, 1);
    char *const argv[] = {strdup(program), strdup("relay"), strdup("--app"), strdup("bench"),
        strdup("--module"), strdup(module), NULL};
    pid_t pid = -1;
    int code = posix_spawn(&pid, program, NULL, NULL, argv, environ);
    for (size_t i = 0; argv[i] != NULL; i++)
        free(argv[i]);
    if (code != 0)
        die(program, "cannot be started");
    return pid;
}

struct sample {
    int64_t commit_us; // from the end of the commit; below 0: the receiver did not start
    int64_t call_us;   // from before the transaction
};

/* fire_one commits one event and answers how long its receiver took to start. */
static struct sample
fire_one(owed *owed)
{
    owed_error err;
    owed_tx *tx = NULL;
    atomic_store(started, 0);
    int64_t called_us = now_us();
    must(owed_begin(owed, &tx, &err), "owed_begin", &err);
    must(owed_fire_json(
             tx, "bench.Start", 1, BENCH_PAYLOAD, strlen(BENCH_PAYLOAD), NULL, NULL, &err),
        "owed_fire_json", &err);
    must(owed_commit(tx, &err), "owed_commit", &err);
    int64_t committed_us = now_us();
    struct timespec step = {.tv_nsec = 50000};
    while (atomic_load(started) == 0) {
        if (now_us() - committed_us > GIVE_UP_US)
            return (struct sample){.commit_us = -1};
        nanosleep(&step, NULL);
    }
    int64_t took_us = atomic_load(started) - committed_us;
    return (struct sample){
        .commit_us =
            took_us < 0 ? 0 : took_us, // it may start before the committer has its own answer
        .call_us = atomic_load(started) - called_us,
    };
}

static int
by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a;
    int64_t y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* pss_kb reads what a process holds, what it shares with others divided by their number. */
static long
pss_kb(const char *pid)
{
    char path[64], line[256];
    snprintf(path, sizeof path, "/proc/%.20s/smaps_rollup", pid);
    FILE *file = fopen(path, "re");
    long kb = 0;
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, "Pss:", 4) == 0)
            kb = strtol(line + 4, NULL, 10);
    if (file != NULL)
        fclose(file);
    return kb;
}

static long
relay_kb(pid_t relay)
{
    char path[80], children[4096] = "", own[16];
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)relay, (int)relay);
    FILE *file = fopen(path, "re");
    if (file != NULL) {
        if (fgets(children, sizeof children, file) == NULL)
            children[0] = '\0';
        fclose(file);
    }
    snprintf(own, sizeof own, "%d", (int)relay);
    long kb = pss_kb(own);
    char *rest = NULL;
    for (char *pid = strtok_r(children, " ", &rest); pid != NULL; pid = strtok_r(NULL, " ", &rest))
        kb += pss_kb(pid);
    return kb;
}

int
main(int argc, char **argv)
{
    if (argc < 4 || access(argv[1], X_OK) != 0) {
        fprintf(stderr, "usage: start_latency OWED MODULE URL [EVENTS]\n");
        return 64;
    }
    size_t events = argc > 4 ? strtoul(argv[4], NULL, 10) : 200;
    if (events < 1 || events > EVENTS_MAX)
        die(argv[4], "is not a number of events from 1 to 100000");
    static int64_t from_commit[EVENTS_MAX], from_call[EVENTS_MAX];
    owed_error err;
    map_clock();
    must(owed_init(argv[3], &err), "owed_init", &err);
    owed_registry *registry = NULL;
    must(owed_registry_new("bench", &registry, &err), "owed_registry_new", &err);
    must(owed_module_init(registry, &err), "owed_module_init", &err);
    owed_settings settings = {.url = argv[3], .registry = registry};
    owed *owed = NULL;
    must(owed_open(&settings, &owed, &err), "owed_open", &err);
    pid_t relay = start_relay(argv[1], argv[2], argv[3]);
    fire_one(owed); // waits until the relay is up
    for (int64_t warm_us = now_us() + WARM_US; now_us() < warm_us;) {
        poll(NULL, 0, PAUSE_MS);
        fire_one(owed);
    }
    size_t count = 0;
    for (; count < events; count++) {
        poll(NULL, 0, PAUSE_MS);
        struct sample sample = fire_one(owed);
        if (sample.commit_us < 0)
            die("the relay", "did not start a receiver within a minute");
        from_commit[count] = sample.commit_us;
        from_call[count] = sample.call_us;
    }
    long kb = relay_kb(relay);
    kill(relay, SIGTERM);
    waitpid(relay, NULL, 0);
    qsort(from_commit, count, sizeof from_commit[0], by_value);
    qsort(from_call, count, sizeof from_call[0], by_value);
    printf("%-10.*s p50 %8.3f ms  p99 %8.3f ms  worst %8.3f ms  memory %5.1f MB"
           "  from the call p50 %8.3f ms  p99 %8.3f ms\n",
        (int)strcspn(argv[3], ":"), argv[3], (double)from_commit[count / 2] / 1000,
        (double)from_commit[count * 99 / 100] / 1000, (double)from_commit[count - 1] / 1000,
        (double)kb / 1024, (double)from_call[count / 2] / 1000,
        (double)from_call[count * 99 / 100] / 1000);
    owed_close(owed);
    owed_registry_free(registry);
    unlink(clock_path);
    return 0;
}
