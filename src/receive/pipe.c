/* SPDX-License-Identifier: MIT
 *
 * pipe.c - the list of coprocesses.
 */
#include "receive/pipe.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "receive/coprocess.h"

#define EVENTS_AT_ONCE 64

static int64_t
now_us(void)
{
    return clock_monotonic_us(&clock_system);
}

owed_status
pipes_open(struct pipes *pipes, struct landing *landing, const struct log *log, owed_error *err)
{
    static const struct log silent = {0};
    *pipes = (struct pipes){.landing = landing, .log = log == NULL ? &silent : log};
    pipes->epoll = epoll_create1(EPOLL_CLOEXEC);
    if (pipes->epoll < 0)
        return fail_native(err, OWED_UNAVAILABLE, errno,
            "coprocesses cannot be watched: epoll_create1: %s", strerrordesc_np(errno));
    return OWED_OK;
}

/* find returns a receiver's coprocess, or makes one; NULL: out of memory. */
static struct coprocess *
find(struct pipes *pipes, const struct receiver *receiver)
{
    for (struct coprocess *c = pipes->first; c != NULL; c = c->next) {
        if (c->receiver == receiver)
            return c;
    }
    struct coprocess *made = calloc(1, sizeof *made);
    if (made == NULL)
        return NULL;
    int32_t declared = receiver->declared.in_flight;
    *made = (struct coprocess){.receiver = receiver,
        .landing = pipes->landing,
        .log = pipes->log,
        .epoll = pipes->epoll,
        .in = -1,
        .limit = declared > 0 ? declared : PIPE_IN_FLIGHT,
        .next = pipes->first};
    pipes->first = made;
    return made;
}

int32_t
pipes_room(struct pipes *pipes, const struct receiver *receiver)
{
    const struct coprocess *coprocess = find(pipes, receiver);
    if (coprocess == NULL || coprocess->count >= coprocess->limit)
        return 0;
    return coprocess->limit - coprocess->count;
}

void
pipes_start(struct pipes *pipes, struct flight *flight)
{
    owed_delivery *delivery = &flight->delivery;
    struct coprocess *coprocess = find(pipes, delivery->receiver);
    if (coprocess == NULL || !jobs_add(coprocess, flight)) {
        landing_add(pipes->landing, flight,
            owed_failed(delivery, "pipe %s: out of memory", delivery->receiver->declared.pipe));
        return;
    }
    coprocess->is_stirred = true;
    // It can begin while the relay waits for its store.
    if (coprocess->stage == COPROCESS_READY)
        jobs_give(coprocess);
}

static void
hear(struct pipes *pipes, int timeout_ms)
{
    struct epoll_event events[EVENTS_AT_ONCE];
    // Level-triggered: who finds no room is there the next time.
    int ready = epoll_wait(pipes->epoll, events, EVENTS_AT_ONCE, timeout_ms);
    for (int i = 0; i < ready; i++) {
        struct coprocess *coprocess = events[i].data.ptr;
        coprocess->is_stirred = true;
    }
}

void
pipes_step(struct pipes *pipes)
{
    if (pipes->first == NULL)
        return;
    hear(pipes, 0);
    int64_t now = now_us();
    for (struct coprocess *c = pipes->first; c != NULL; c = c->next) {
        if (!c->is_stirred && coprocess_next_us(c) > now)
            continue;
        c->is_stirred = false;
        coprocess_step(c, now);
    }
}

void
pipes_abandon(struct pipes *pipes, struct flight *flight)
{
    (void)pipes;
    jobs_drop(flight->builtin, flight);
}

struct flight *
pipes_recall(struct pipes *pipes)
{
    struct flight *first = NULL;
    struct flight **end = &first;
    for (struct coprocess *c = pipes->first; c != NULL; c = c->next) {
        *end = jobs_recall(c);
        while (*end != NULL)
            end = &(*end)->next;
    }
    return first;
}

int64_t
pipes_next_us(const struct pipes *pipes)
{
    int64_t next_us = INT64_MAX;
    for (const struct coprocess *c = pipes->first; c != NULL; c = c->next) {
        int64_t own_us = c->is_stirred ? 0 : coprocess_next_us(c);
        if (own_us < next_us)
            next_us = own_us;
    }
    return next_us;
}

/* end_all asks all that run to end, and forgets what waits; false: none runs. */
static bool
end_all(struct pipes *pipes)
{
    bool some = false;
    int64_t now = now_us();
    for (struct coprocess *c = pipes->first; c != NULL; c = c->next) {
        jobs_free(c);
        coprocess_leave(c, now);
        some = some || c->stage != COPROCESS_AT_REST;
    }
    return some;
}

void
pipes_close(struct pipes *pipes)
{
    while (end_all(pipes)) {
        int64_t wait_us = pipes_next_us(pipes) - now_us();
        if (wait_us > US_PER_SECOND)
            wait_us = US_PER_SECOND;
        hear(pipes, wait_us <= 0 ? 0 : (int)(wait_us / US_PER_MS) + 1);
        pipes_step(pipes);
    }
    while (pipes->first != NULL) {
        struct coprocess *coprocess = pipes->first;
        pipes->first = coprocess->next;
        free(coprocess);
    }
    if (pipes->epoll >= 0)
        close(pipes->epoll);
    pipes->epoll = -1;
}
