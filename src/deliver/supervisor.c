/* SPDX-License-Identifier: MIT
 *
 * supervisor.c - one loop over signals and time.
 *
 * It sleeps until a signal comes (a child ended, a worker rings, a stop is asked for) or a time has:
 * a restart, the end of a receiver's timeout, of the grace after a stop, the service manager's beat.
 */
#include "deliver/supervisor.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/notify.h"
#include "deliver/crew.h"

#define OUTSIDE_WORKERS 4
#define SIGNAL_EXIT 128
#define HAND_BACK_US (5 * US_PER_SECOND)

struct relay {
    const struct supervisor *settings;
    struct crew crew;
    struct shared *shared;
    int signal_fd;
    struct sigaction old_pipe;
    bool told_ready;
    int stop_signals;
    int last_signal;
    int64_t grace_ends_us; // INT64_MAX: never
    int64_t beat_every_us; // 0: the service manager wants none
    int64_t next_beat_us;
};

static int64_t
now_us(void)
{
    return clock_monotonic_us(&clock_system);
}

/* --- set-up --- */

static owed_status
open_signals(struct relay *relay, owed_error *err)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGCHLD);
    sigaddset(&set, SIGUSR1);
    sigprocmask(SIG_BLOCK, &set, &relay->crew.signals);
    // Whoever read our log lines may be gone: that is no reason to end, nor to say so.
    sigaction(SIGPIPE, &(struct sigaction){.sa_handler = SIG_IGN}, &relay->old_pipe);
    relay->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    if (relay->signal_fd < 0)
        return fail_native(err, OWED_NOMEM, errno,
            "the relay's supervisor could not listen for signals (errno %d)", errno);
    return OWED_OK;
}

static owed_status
count_workers(const struct supervisor *s, int *ret_inside, int *ret_functions, owed_error *err)
{
    *ret_inside = s->inside_workers > 0 ? s->inside_workers : 1;
    *ret_functions = s->outside_workers > 0 ? s->outside_workers : OUTSIDE_WORKERS;
    // One more looks after all that flies outside.
    if (*ret_inside + 1 + *ret_functions > SHARED_SLOTS)
        return fail(err, OWED_LIMIT,
            "a relay has at most %d workers, and %d for inside and %d for "
            "outside receivers were asked for",
            SHARED_SLOTS - 1, *ret_inside, *ret_functions);
    return OWED_OK;
}

static owed_status
open_relay(struct relay *relay, owed_error *err)
{
    const struct supervisor *s = relay->settings;
    int inside, functions;
    owed_status status = count_workers(s, &inside, &functions, err);
    if (status != OWED_OK)
        return status;
    status = shared_new(s->worker_id, &s->dice, &relay->shared, &relay->crew.shared_fd, err);
    if (status != OWED_OK)
        return status;
    relay->crew.shared = relay->shared;
    relay->shared->once = s->once || s->limit > 0;
    if (s->limit > 0)
        atomic_store(&relay->shared->limit_left, s->limit);
    for (int i = 0; i < inside; i++)
        crew_add(&relay->crew, ROLE_INSIDE);
    crew_add(&relay->crew, ROLE_LOOP);
    return OWED_OK;
}

static void
close_relay(struct relay *relay)
{
    shared_free(relay->shared);
    close_fd(&relay->crew.shared_fd);
}

/* close_signals drains them first: a ring that came too late must not end this process. */
static void
close_signals(struct relay *relay)
{
    struct signalfd_siginfo info;
    if (relay->signal_fd >= 0) {
        while (read(relay->signal_fd, &info, sizeof info) == (ssize_t)sizeof info)
            ;
        close(relay->signal_fd);
    }
    sigaction(SIGPIPE, &relay->old_pipe, NULL);
    sigprocmask(SIG_SETMASK, &relay->crew.signals, NULL);
}

/* --- one turn of the loop --- */

static void
begin_stop(struct relay *relay, const char *why)
{
    if (relay->crew.stopping)
        return;
    notify_send("STOPPING=1");
    log_say(&relay->settings->log, OWED_LOG_INFO, "stopping", LOG_TEXT("why", why));
    int64_t now = now_us();
    if (relay->settings->stop_grace_us > 0)
        relay->grace_ends_us = now + relay->settings->stop_grace_us;
    crew_stop(&relay->crew, now);
}

static void
take_stop_signal(struct relay *relay, int number)
{
    relay->last_signal = number;
    if (++relay->stop_signals == 1) {
        begin_stop(relay, number == SIGINT ? "SIGINT" : "SIGTERM");
        return;
    }
    log_say(&relay->settings->log, OWED_LOG_WARNING, "stopping at once: a second signal came");
    crew_kill(&relay->crew, true);
}

static void
take_signals(struct relay *relay)
{
    struct signalfd_siginfo info;
    while (read(relay->signal_fd, &info, sizeof info) == (ssize_t)sizeof info)
        if (info.ssi_signo == SIGTERM || info.ssi_signo == SIGINT)
            take_stop_signal(relay, (int)info.ssi_signo);
}

/* add_functions opens the posts of outside receivers in C once a worker has found such. */
static void
add_functions(struct relay *relay)
{
    if (!atomic_load(&relay->shared->has_outside_functions) || relay->crew.stopping)
        return;
    for (int i = 0; i < relay->shared->slot_count; i++)
        if (relay->shared->slots[i].role == ROLE_FUNCTION)
            return;
    int inside, functions;
    if (count_workers(relay->settings, &inside, &functions, NULL) != OWED_OK)
        return;
    for (int i = 0; i < functions; i++)
        crew_add(&relay->crew, ROLE_FUNCTION);
}

static void
tell_ready(struct relay *relay)
{
    if (relay->told_ready || !crew_is_ready(&relay->crew))
        return;
    relay->told_ready = true;
    notify_send("READY=1");
    log_say(&relay->settings->log, OWED_LOG_INFO, "relay ready",
        LOG_TEXT("relay", relay->shared->instance), LOG_INT("workers", relay->shared->slot_count));
}

static bool
all_idle(const struct shared *shared)
{
    for (int i = 0; i < shared->slot_count; i++)
        if (!atomic_load(&shared->slots[i].idle) && !atomic_load(&shared->slots[i].closed))
            return false;
    return true;
}

static bool
has_done_all(struct relay *relay)
{
    // What is due after the last attempt that was asked for is left to others.
    if (relay->settings->limit > 0 && atomic_load(&relay->shared->limit_left) <= 0)
        return all_idle(relay->shared);
    return relay->shared->once && shared_all_wait(relay->shared);
}

static void
beat(struct relay *relay, int64_t now)
{
    if (relay->beat_every_us == 0 || now < relay->next_beat_us)
        return;
    notify_send("WATCHDOG=1");
    relay->next_beat_us = now + relay->beat_every_us;
}

static int64_t
next_us(const struct relay *relay)
{
    int64_t us = crew_next_us(&relay->crew);
    if (relay->grace_ends_us < us)
        us = relay->grace_ends_us;
    if (relay->beat_every_us > 0 && relay->next_beat_us < us)
        us = relay->next_beat_us;
    return us;
}

/* plan says in shared memory when we look unasked. A worker with a hand that is over its time before
 * then rings; one that began before it could read this is seen by reading the hands once more. */
static int64_t
plan(struct relay *relay)
{
    int64_t at_us = INT64_MAX;
    for (;;) {
        atomic_store(&relay->shared->look_at_us, at_us);
        int64_t us = next_us(relay);
        if (us >= at_us)
            return at_us;
        at_us = us;
    }
}

static void
wait_until(struct relay *relay, int64_t at_us)
{
    struct pollfd fd = {.fd = relay->signal_fd, .events = POLLIN};
    int64_t left_us = at_us - now_us();
    if (left_us < 0)
        left_us = 0;
    struct timespec timeout = {.tv_sec = (time_t)(left_us / US_PER_SECOND),
        .tv_nsec = (long)(left_us % US_PER_SECOND) * 1000};
    ppoll(&fd, 1, at_us == INT64_MAX ? NULL : &timeout, NULL);
}

static void
turn(struct relay *relay)
{
    int64_t now = now_us();
    crew_bury(&relay->crew, now);
    if (relay->crew.failure != 0)
        begin_stop(relay, "a worker cannot run");
    crew_kill_overdue(&relay->crew, now);
    if (now >= relay->grace_ends_us) {
        crew_kill(&relay->crew, false);
        // Who hands back what the killed ones held must have time to start.
        relay->grace_ends_us = now + HAND_BACK_US;
    }
    add_functions(relay);
    crew_start(&relay->crew, now);
    tell_ready(relay);
    beat(relay, now);
    if (!relay->crew.stopping && has_done_all(relay))
        begin_stop(relay, "all is done");
}

static int
run(struct relay *relay)
{
    for (;;) {
        take_signals(relay);
        turn(relay);
        if (crew_is_gone(&relay->crew))
            break;
        wait_until(relay, plan(relay));
    }
    if (relay->stop_signals > 1)
        return SIGNAL_EXIT + relay->last_signal;
    return relay->crew.failure;
}

static owed_relay_counts
counts(const struct shared *shared)
{
    return (owed_relay_counts){.succeeded = atomic_load(&shared->succeeded),
        .failed = atomic_load(&shared->failed),
        .dead = atomic_load(&shared->dead),
        .orphaned = atomic_load(&shared->orphaned),
        .handed_back = atomic_load(&shared->handed_back),
        .handed_on = atomic_load(&shared->handed_on),
        .put_off = atomic_load(&shared->put_off),
        .next_due_us = atomic_load(&shared->next_due_us)};
}

owed_status
supervisor_run(const struct supervisor *settings, owed_relay_counts *ret_counts, int *ret_exit,
    owed_error *err)
{
    struct relay relay = {.settings = settings,
        .crew = {.settings = settings, .shared_fd = -1},
        .signal_fd = -1,
        .grace_ends_us = INT64_MAX,
        .beat_every_us = notify_watchdog_us() / 2};
    owed_status status = open_relay(&relay, err);
    if (status != OWED_OK) {
        close_relay(&relay);
        return status;
    }
    status = open_signals(&relay, err);
    if (status == OWED_OK) {
        *ret_exit = run(&relay);
        if (ret_counts != NULL)
            *ret_counts = counts(relay.shared);
    }
    close_signals(&relay);
    close_relay(&relay);
    return status;
}
