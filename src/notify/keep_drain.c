/* SPDX-License-Identifier: MIT
 *
 * keep_drain.c - tickets of a store, sent on the thread that drains: a relay of one receiver, once.
 */
#include "notify/keep.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "deliver/handle.h"
#include "notify/notifier.h"

// So many are sent before it is recorded what came of them, and so many may be sent again where this process dies,
// or are asked of a provider that has just asked for a wait.
#define IN_FLIGHT 16

struct tried {
    char id[MESSAGE_ID_MAX + 1];
    int64_t event_id;
};

struct draining {
    struct tried *tried; // in the order in which they were
    size_t count, room;
    bool is_short; // of memory
};

void
draining_note(struct draining *draining, const char *id, int64_t event_id)
{
    if (draining->count == draining->room) {
        size_t room = draining->room == 0 ? 16 : draining->room * 2;
        struct tried *more = reallocarray(draining->tried, room, sizeof *more);
        draining->is_short = draining->is_short || more == NULL;
        if (more == NULL)
            return;
        draining->tried = more;
        draining->room = room;
    }
    struct tried *tried = &draining->tried[draining->count++];
    snprintf(tried->id, sizeof tried->id, "%s", id);
    tried->event_id = event_id;
}

/* open_drainer has a handle like the caller's, which is not for this thread. */
static owed_status
open_drainer(struct keep *keep, owed_error *err)
{
    const owed *like = keep->owed;
    const owed_settings settings = {
        .url = like->url,
        .registry = like->registry,
        .no_publish = true,
        .busy_timeout_us = like->busy_timeout_us,
        .clock = like->has_own_clock ? like->clock : (owed_clock){0},
        .log = like->log.write,
        .log_state = like->log.state,
    };
    return keep->drainer != NULL ? OWED_OK : owed_open(&settings, &keep->drainer, err);
}

static owed_status
run(struct keep *keep, int64_t limit, struct draining *draining, owed_error *err)
{
    owed_status status = open_drainer(keep, err);
    if (status != OWED_OK)
        return status;
    const char *lane = keep->notifier->options.lane;
    const owed_relay_settings settings = {
        .lanes = (const char *const[]){lane == NULL ? "default" : lane, NULL},
        .once = true,
        .limit = limit, // what is due by now, however fast others enqueue
        .in_flight = IN_FLIGHT,
        .prune_us = -1,
    };
    keep->drainer->serves = NOTIFY_RECEIVER;
    keep->drainer->draining = draining;
    status = owed_relay_run(keep->drainer, &settings, NULL, err);
    keep->drainer->draining = NULL;
    if (status != OWED_UNAVAILABLE)
        return status;
    owed_close(keep->drainer);
    keep->drainer = NULL;
    return status;
}

static owed_status
list_tried(struct keep *keep, const struct draining *draining, owed_ticket_list *ret_handled,
    owed_error *err)
{
    owed_ticket_list handled = {calloc(draining->count + 1, sizeof *handled.tickets), 0};
    if (handled.tickets == NULL)
        return fail_memory(err);
    owed_status status = OWED_OK;
    for (size_t i = 0; status == OWED_OK && i < draining->count; i++) {
        const struct tried *tried = &draining->tried[i];
        status = keep_take(keep, tried->id, tried->event_id, &handled.tickets[handled.count], err);
        if (status == OWED_OK)
            handled.count++;
        else if (status == OWED_NOT_FOUND)
            status = OWED_OK; // it went as soon as it had succeeded
    }
    if (status == OWED_OK)
        *ret_handled = handled;
    else
        owed_ticket_list_done(&handled);
    return status;
}

owed_status
keep_drain(struct keep *keep, int64_t limit, owed_ticket_list *ret_handled, owed_error *err)
{
    struct draining draining = {0};
    pthread_mutex_lock(&keep->drain_lock);
    owed_status status = run(keep, limit, &draining, err);
    pthread_mutex_unlock(&keep->drain_lock);
    if (status == OWED_OK && ret_handled != NULL)
        status =
            draining.is_short ? fail_memory(err) : list_tried(keep, &draining, ret_handled, err);
    free(draining.tried);
    return status;
}
