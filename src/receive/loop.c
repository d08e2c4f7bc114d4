/* SPDX-License-Identifier: MIT
 *
 * loop.c - everything outside: one wait for requests that have ended, programs and the caller's
 * descriptors alike.
 */
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/error.h"
#include "receive/calls.h"
#include "receive/exec.h"
#include "receive/file.h"
#include "receive/pipe.h"
#include "receive/publish.h"
#include "receive/webhook.h"

#define ENDS_AT_ONCE 1000 // room for what ends as soon as it starts
#define WAITS_MAX 16      // descriptors of the caller

struct outside {
    struct outside_settings settings;
    struct landing landing;
    struct webhooks webhooks;
    struct calls calls;
    struct programs programs;
    struct pipes pipes;
    struct publishers publishers;
    bool blocked_sigpipe; // in the thread that opened it
};

static void
start_webhook(struct outside *outside, struct flight *flight)
{
    webhooks_start(&outside->webhooks, flight);
}

static void
start_call(struct outside *outside, struct flight *flight)
{
    calls_start(&outside->calls, flight);
}

static void
abandon_call(struct outside *outside, struct flight *flight)
{
    calls_abandon(&outside->calls, flight);
}

static void
start_exec(struct outside *outside, struct flight *flight)
{
    programs_start(&outside->programs, flight);
}

static void
start_pipe(struct outside *outside, struct flight *flight)
{
    pipes_start(&outside->pipes, flight);
}

static void
start_publish(struct outside *outside, struct flight *flight)
{
    publishers_start(&outside->publishers, flight);
}

static void
start_file(struct outside *outside, struct flight *flight)
{
    landing_add(&outside->landing, flight, file_append(&flight->delivery));
}

static void
start_discard(struct outside *outside, struct flight *flight)
{
    landing_add(&outside->landing, flight, owed_done());
}

static void
abandon_webhook(struct outside *outside, struct flight *flight)
{
    webhooks_abandon(&outside->webhooks, flight);
}

static void
abandon_exec(struct outside *outside, struct flight *flight)
{
    programs_abandon(&outside->programs, flight);
}

static void
abandon_pipe(struct outside *outside, struct flight *flight)
{
    pipes_abandon(&outside->pipes, flight);
}

static void
abandon_publish(struct outside *outside, struct flight *flight)
{
    publishers_abandon(&outside->publishers, flight);
}

/* What can be run here, by enum runner. */
static const struct kind {
    void (*start)(struct outside *outside, struct flight *flight);
    void (*abandon)(struct outside *outside, struct flight *flight); // NULL: never under way
} kinds[] = {
    [RUN_WEBHOOK] = {start_webhook, abandon_webhook},
    [RUN_EXEC] = {start_exec, abandon_exec},
    [RUN_PIPE] = {start_pipe, abandon_pipe},
    [RUN_PUBLISH] = {start_publish, abandon_publish},
    [RUN_FILE] = {start_file, NULL},
    [RUN_DISCARD] = {start_discard, NULL},
    [RUN_ENDPOINT] = {start_call, abandon_call},
};

static const struct kind *
kind_of(const struct receiver *receiver)
{
    size_t runner = receiver->runner;
    if (runner >= sizeof kinds / sizeof kinds[0] || kinds[runner].start == NULL)
        return NULL;
    return &kinds[runner];
}

/* Whoever writes to a connection that its peer has closed, as a TLS library may, gets SIGPIPE, which
 * would end the process. It stays blocked in this thread as long as the loop is open. */
static void
block_sigpipe(struct outside *outside)
{
    sigset_t pipe;
    sigset_t before;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    outside->blocked_sigpipe =
        pthread_sigmask(SIG_BLOCK, &pipe, &before) == 0 && sigismember(&before, SIGPIPE) == 0;
}

static void
unblock_sigpipe(const struct outside *outside)
{
    if (!outside->blocked_sigpipe)
        return;
    sigset_t pipe;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    const struct timespec at_once = {0};
    while (sigtimedwait(&pipe, NULL, &at_once) == SIGPIPE)
        continue;
    pthread_sigmask(SIG_UNBLOCK, &pipe, NULL);
}

static void
set_limits(struct outside *outside)
{
    struct share *shares = outside->landing.shares;
    shares[RUN_WEBHOOK].limit = outside->settings.in_flight;
    shares[RUN_ENDPOINT].limit = outside->settings.in_flight;
    shares[RUN_EXEC].limit = outside->settings.exec_in_flight;
    shares[RUN_PIPE].limit = INT32_MAX; // each has its own
    shares[RUN_PUBLISH].limit = INT32_MAX;
    shares[RUN_FILE].limit = ENDS_AT_ONCE;
    shares[RUN_DISCARD].limit = ENDS_AT_ONCE;
}

static owed_status
loop_open(const struct outside_settings *settings, struct outside **ret_outside, owed_error *err)
{
    struct outside *outside = calloc(1, sizeof *outside);
    if (outside == NULL)
        return fail_memory(err);
    outside->settings = *settings;
    outside->settings.clock = clock_or_system(settings->clock);
    outside->landing.clock = outside->settings.clock;
    set_limits(outside);
    owed_status status = programs_open(&outside->programs, &outside->landing, err);
    outside->pipes.epoll = -1;
    calls_init(&outside->calls, &outside->landing, settings->in_flight);
    if (status == OWED_OK)
        status = pipes_open(&outside->pipes, &outside->landing, settings->log, err);
    if (status == OWED_OK)
        status = publishers_open(&outside->publishers, &outside->landing, settings->log, err);
    if (status == OWED_OK)
        status = webhooks_open(&outside->webhooks, &outside->landing, settings->in_flight, err);
    if (status != OWED_OK) {
        publishers_close(&outside->publishers);
        pipes_close(&outside->pipes);
        programs_close(&outside->programs);
        free(outside);
        return status;
    }
    block_sigpipe(outside);
    *ret_outside = outside;
    return OWED_OK;
}

static int32_t
loop_room(struct outside *outside, const struct receiver *receiver)
{
    const struct kind *kind = kind_of(receiver);
    if (kind == NULL)
        return 0;
    // A program that was abandoned is gone only once it has been reaped.
    if (receiver->runner == RUN_EXEC && outside->programs.count >= outside->settings.exec_in_flight)
        return 0;
    if (receiver->runner == RUN_PIPE)
        return pipes_room(&outside->pipes, receiver);
    if (receiver->runner == RUN_PUBLISH)
        return publishers_room(&outside->publishers, receiver);
    return share_room(&outside->landing.shares[receiver->runner], receiver);
}

static void
loop_start(struct outside *outside, struct flight *flight)
{
    const struct receiver *receiver = flight->delivery.receiver;
    const struct kind *kind = kind_of(receiver);
    flight->builtin = NULL;
    flight->next = NULL;
    flight->code = 0;
    flight->is_put_off = false;
    flight->excerpt[0] = '\0';
    if (kind == NULL) {
        landing_add(&outside->landing, flight,
            owed_failed(&flight->delivery, "this receiver is not run by the loop"));
        return;
    }
    share_take(&outside->landing.shares[receiver->runner], receiver);
    kind->start(outside, flight);
}

/* wait_for waits for any of it; true: the caller's. */
static bool
wait_for(struct outside *outside, const int *fds, size_t fd_count, int timeout_ms)
{
    struct pollfd waits[WAITS_MAX + 6];
    if (fd_count > WAITS_MAX)
        fd_count = WAITS_MAX;
    for (size_t i = 0; i < fd_count; i++)
        waits[i] = (struct pollfd){.fd = fds[i], .events = POLLIN};
    nfds_t count = fd_count;
    waits[count++] = (struct pollfd){.fd = outside->webhooks.wire.ended_fd, .events = POLLIN};
    waits[count++] = (struct pollfd){.fd = outside->programs.epoll, .events = POLLIN};
    waits[count++] = (struct pollfd){.fd = outside->pipes.epoll, .events = POLLIN};
    waits[count++] = (struct pollfd){.fd = outside->publishers.ended_fd, .events = POLLIN};
    if (outside->calls.is_open) {
        waits[count++] = (struct pollfd){.fd = outside->calls.wire.ended_fd, .events = POLLIN};
        waits[count++] = (struct pollfd){.fd = outside->calls.lookups.ended_fd, .events = POLLIN};
    }
    bool called = false;
    int ready = poll(waits, count, timeout_ms);
    for (size_t i = 0; i < fd_count && ready > 0; i++)
        called = called || waits[i].revents != 0;
    return called;
}

/* step does what can be done; true: there is more room than before. */
static bool
step(struct outside *outside)
{
    webhooks_step(&outside->webhooks);
    programs_step(&outside->programs);
    pipes_step(&outside->pipes);
    publishers_step(&outside->publishers);
    return calls_step(&outside->calls);
}

/* milliseconds_until rounds up, so that nobody wakes just before the time. */
static int
milliseconds_until(int64_t at_us, int64_t now_us)
{
    if (at_us <= now_us)
        return 0;
    int64_t ms = (at_us - now_us) / US_PER_MS + 1;
    return ms > INT_MAX ? INT_MAX : (int)ms;
}

static struct flight *
loop_poll(struct outside *outside, const int *fds, size_t fd_count, int timeout_ms)
{
    int64_t now_us = clock_monotonic_us(&clock_system);
    int64_t until_us = timeout_ms < 0 ? INT64_MAX : now_us + timeout_ms * US_PER_MS;
    for (bool called = false;;) {
        called = step(outside) || called;
        if (outside->landing.first != NULL || called)
            return landing_take(&outside->landing);
        now_us = clock_monotonic_us(&clock_system);
        if (now_us >= until_us)
            return NULL;
        int64_t next_us = programs_next_us(&outside->programs);
        int64_t pipes_us = pipes_next_us(&outside->pipes);
        if (pipes_us < next_us)
            next_us = pipes_us;
        int64_t calls_us = calls_next_us(&outside->calls);
        if (calls_us < next_us)
            next_us = calls_us;
        if (next_us > until_us)
            next_us = until_us;
        called = wait_for(outside, fds, fd_count, milliseconds_until(next_us, now_us));
    }
}

static void
loop_abandon(struct outside *outside, struct flight *flight)
{
    const struct receiver *receiver = flight->delivery.receiver;
    const struct kind *kind = kind_of(receiver);
    if (flight->builtin == NULL || kind == NULL || kind->abandon == NULL) {
        landing_drop(&outside->landing, flight);
        return;
    }
    kind->abandon(outside, flight);
    share_give(&outside->landing.shares[receiver->runner], receiver);
}

static struct flight *
loop_recall(struct outside *outside)
{
    struct flight *recalled = pipes_recall(&outside->pipes);
    struct flight **end = &recalled;
    while (*end != NULL)
        end = &(*end)->next;
    *end = publishers_recall(&outside->publishers);
    for (const struct flight *flight = recalled; flight != NULL; flight = flight->next) {
        const struct receiver *receiver = flight->delivery.receiver;
        share_give(&outside->landing.shares[receiver->runner], receiver);
    }
    return recalled;
}

static void
loop_away(const struct outside *outside, struct buf *text)
{
    publishers_away(&outside->publishers, text);
}

static void
loop_close(struct outside *outside)
{
    if (outside == NULL)
        return;
    webhooks_close(&outside->webhooks);
    calls_close(&outside->calls);
    programs_close(&outside->programs);
    pipes_close(&outside->pipes);
    publishers_close(&outside->publishers);
    for (size_t i = 0; i < RUNNERS; i++)
        share_done(&outside->landing.shares[i]);
    unblock_sigpipe(outside);
    free(outside);
}

const struct outside_ops outside_builtin = {
    .open = loop_open,
    .room = loop_room,
    .start = loop_start,
    .poll = loop_poll,
    .abandon = loop_abandon,
    .recall = loop_recall,
    .away = loop_away,
    .close = loop_close,
};
