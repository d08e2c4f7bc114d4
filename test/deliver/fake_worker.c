/* SPDX-License-Identifier: MIT
 *
 * fake_worker.c - a worker without a store, for tests of its supervisor: argv[1] says what it does.
 *
 * It tells what it sees on standard error, where the supervisor's own log lines go as well.
 */
#include <dirent.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "deliver/shared.h"

static struct shared *shared;
static int slot;
static enum role role;
static sigset_t first_mask; // that it was started with

static bool
am_first(void)
{
    return slot == 0;
}

static void
tell_seat(void)
{
    const struct slot *s = &shared->slots[slot];
    fprintf(stderr, "worker slot=%d role=%d pid=%d cause=%d signal=%d status=%d delivery=%d\n",
        slot, (int)role, getpid(), atomic_load(&s->death.cause), s->death.signal,
        s->death.exit_status, (int)s->hand.delivery_id);
}

/* make_good stands for what a worker does first. */
static bool
make_good(void)
{
    bool died = atomic_load(&shared->slots[slot].death.cause) != DEATH_NONE;
    slot_make_good(shared, slot);
    return died;
}

static void
begin(int delivery_id, int64_t timeout_us)
{
    struct in_hand hand = {.delivery_id = delivery_id,
        .started_mono_us = clock_monotonic_us(&clock_system),
        .timeout_us = timeout_us,
        .receiver_key = "shop.label"};
    slot_begin(shared, slot, &hand);
}

/* wait_for_stop takes SIGTERM as a real worker does: it ends well. */
static void
wait_for_stop(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    int number;
    // One that was started after the stop gets no signal any more.
    if (atomic_load(&shared->stop) == 0)
        sigwait(&set, &number);
    exit(0);
}

static void
wait_for_ever(void)
{
    for (;;)
        pause();
}

static void
ready(void)
{
    slot_ready(shared, slot);
}

static void
serve(void)
{
    make_good();
    ready();
    wait_for_stop();
}

static _Noreturn void
crash(void)
{
    setrlimit(RLIMIT_CORE, &(struct rlimit){0});
    signal(SIGSEGV, SIG_DFL);
    raise(SIGSEGV);
    abort();
}

static void
crash_in_receiver(void)
{
    bool again = make_good();
    ready();
    if (am_first() && !again) {
        begin(42, 0);
        crash();
    }
    wait_for_stop();
}

static void
exit_in_receiver(void)
{
    bool again = make_good();
    ready();
    if (am_first() && !again) {
        begin(42, 0);
        exit(3);
    }
    wait_for_stop();
}

static void
hang_in_receiver(void)
{
    bool again = make_good();
    ready();
    if (am_first() && !again) {
        begin(42, 20000);
        wait_for_ever();
    }
    wait_for_stop();
}

static void
run_long(void)
{
    bool again = make_good();
    ready();
    if (am_first() && !again)
        begin(42, 0);
    if (!again)
        wait_for_ever();
    fprintf(stderr, "made good\n");
    wait_for_stop();
}

static void
ignore_stop(void)
{
    make_good();
    ready();
    wait_for_ever();
}

static void
crash_early(void)
{
    if (am_first())
        crash();
    serve();
}

static void
refuse(void)
{
    if (am_first())
        exit(78);
    serve();
}

/* The store goes away after the first worker was ready, and comes back later. */
static void
lose_store(void)
{
    static const char *const ends[] = {"ready", "69", "69", "served"};
    long long start = atomic_fetch_add(&shared->fences, am_first() ? 1 : 0);
    make_good();
    if (!am_first() || start >= 3)
        serve();
    fprintf(stderr, "store %s\n", ends[start]);
    if (start == 0)
        ready();
    exit(69);
}

static void
leave_unasked(void)
{
    make_good();
    ready();
    if (am_first() && atomic_fetch_add(&shared->fences, 1) == 0)
        exit(0);
    wait_for_stop();
}

static void
end_by_itself(void)
{
    make_good();
    ready();
    atomic_fetch_add(&shared->succeeded, 3);
    exit(0);
}

/* The first worker commits after the other has found nothing: what the other saw is out of date. */
static void
work_once(void)
{
    make_good();
    ready();
    if (am_first()) {
        slot_works(shared, slot);
        while (!atomic_load(&shared->slots[1].idle))
            sched_yield();
        fprintf(stderr, "worked\n");
        shared_committed(shared);
    }
    slot_waits(shared, slot, slot_works(shared, slot));
    // The others come and look again, as a wake-up makes them do.
    while (atomic_load(&shared->stop) == 0) {
        slot_waits(shared, slot, slot_works(shared, slot));
        sched_yield();
    }
    wait_for_stop();
}

/* What is left over is no longer anybody's business: not even that the others have seen it. */
static void
spend_limit(void)
{
    make_good();
    ready();
    long long seen = slot_works(shared, slot);
    shared_committed(shared);
    atomic_store(&shared->limit_left, 0);
    slot_waits(shared, slot, seen);
    wait_for_stop();
}

static void
need_functions(void)
{
    if (am_first())
        atomic_store(&shared->has_outside_functions, true);
    serve();
}

static void
list_descriptors(void)
{
    DIR *dir = opendir("/proc/self/fd");
    char line[256] = "";
    size_t len = 0;
    for (struct dirent *e = readdir(dir); e != NULL; e = readdir(dir))
        if (e->d_name[0] != '.' && strtol(e->d_name, NULL, 10) != dirfd(dir))
            len += (size_t)snprintf(line + len, sizeof line - len, " %s", e->d_name);
    closedir(dir);
    if (am_first())
        fprintf(stderr, "descriptors%s manager=%d seat=%d blocked=%d\n", line,
            getenv("NOTIFY_SOCKET") != NULL, getenv(SEAT_VARIABLE) != NULL,
            sigismember(&first_mask, SIGTERM));
    serve();
}

static const struct {
    const char *name;
    void (*behave)(void);
} behaviours[] = {
    {"serve", serve},
    {"crash-in-receiver", crash_in_receiver},
    {"exit-in-receiver", exit_in_receiver},
    {"hang-in-receiver", hang_in_receiver},
    {"run-long", run_long},
    {"ignore-stop", ignore_stop},
    {"crash-early", crash_early},
    {"refuse", refuse},
    {"lose-store", lose_store},
    {"leave-unasked", leave_unasked},
    {"end-by-itself", end_by_itself},
    {"work-once", work_once},
    {"spend-limit", spend_limit},
    {"need-functions", need_functions},
    {"list-descriptors", list_descriptors},
};

int
main(int argc, char **argv)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigprocmask(SIG_BLOCK, &set, &first_mask);
    signal(SIGPIPE, SIG_IGN);
    owed_error err;
    if (argc != 2 || shared_take_seat(&shared, &slot, &role, &err) != OWED_OK || shared == NULL)
        return 64;
    tell_seat();
    for (size_t i = 0; i < sizeof behaviours / sizeof behaviours[0]; i++)
        if (strcmp(argv[1], behaviours[i].name) == 0)
            behaviours[i].behave();
    return 64;
}
