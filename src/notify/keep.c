/* SPDX-License-Identifier: MIT
 *
 * keep.c - tickets that a store keeps: put in with the caller's work, found by their ids from any process.
 */
#include "notify/keep.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "deliver/handle.h"
#include "notify/notifier.h"

#define FIRST_LOOK_US (5 * US_PER_MS)
#define LAST_LOOK_US (250 * US_PER_MS)

struct keep *
keep_new(owed *owed, owed_notifier *notifier, const owed_outbox_options *options)
{
    static const owed_outbox_options none;
    options = options == NULL ? &none : options;
    struct keep *keep = calloc(1, sizeof *keep);
    if (keep == NULL)
        return NULL;
    atomic_init(&keep->holds, 1);
    keep->notifier = notifier;
    keep->owed = owed;
    keep->clock = options->clock.now_us == NULL ? owed->clock : clock_or_system(options->clock);
    keep->dice = dice_or_system(options->dice);
    pthread_mutex_init(&keep->lock, NULL);
    pthread_mutex_init(&keep->drain_lock, NULL);
    return keep;
}

void
keep_close(struct keep *keep)
{
    if (keep == NULL)
        return;
    pthread_mutex_lock(&keep->lock);
    store_close(keep->db);
    keep->db = NULL;
    keep->owed = NULL;
    pthread_mutex_unlock(&keep->lock);
    owed_close(keep->drainer);
    keep_release(keep);
}

void
keep_release(struct keep *keep)
{
    if (keep == NULL || atomic_fetch_sub(&keep->holds, 1) != 1)
        return;
    pthread_mutex_destroy(&keep->drain_lock);
    pthread_mutex_destroy(&keep->lock);
    free(keep);
}

static owed_ticket *
new_ticket(struct keep *keep, const char *id, int64_t event_id, int64_t enqueued_at_us)
{
    owed_ticket *ticket = ticket_blank();
    if (ticket == NULL)
        return NULL;
    atomic_fetch_add(&keep->holds, 1);
    ticket->keep = keep;
    ticket->event_id = event_id;
    ticket->enqueued_at_us = enqueued_at_us;
    snprintf(ticket->id, sizeof ticket->id, "%s", id);
    return ticket;
}

/* --- in --- */

static owed_status
fire(struct keep *keep, owed_tx *tx, const owed_ticket *ticket, struct str payload, owed_error *err)
{
    char key[sizeof TICKET_KEY_PREFIX + MESSAGE_ID_MAX];
    snprintf(key, sizeof key, TICKET_KEY_PREFIX "%s", ticket->id);
    const owed_fire_options options = {.dedupe_key = key, .occurred_at_us = ticket->enqueued_at_us};
    if (tx != NULL)
        return owed_fire_json(tx, TICKET_EVENT, 1, payload.p, payload.len, &options, NULL, err);
    owed_status status = owed_begin(keep->owed, &tx, err);
    if (status != OWED_OK)
        return status;
    status = owed_fire_json(tx, TICKET_EVENT, 1, payload.p, payload.len, &options, NULL, err);
    if (status == OWED_OK)
        return owed_commit(tx, err);
    owed_rollback(tx);
    return status;
}

owed_status
keep_enqueue(struct keep *keep, const struct ticket_text *text, const owed_value *context,
    owed_ticket **ret_ticket, owed_error *err)
{
    struct ticket_text own = *text;
    if (own.options.retry != NULL)
        return fail(err, OWED_INVALID,
            "a ticket that a store keeps is retried on its receiver's curve: retry is NULL here");
    owed_ticket *ticket = new_ticket(keep, "", 0, clock_now_us(&keep->clock));
    if (ticket == NULL)
        return fail_memory(err);
    CLEANUP(buf_done) struct buf json;
    buf_init(&json, TICKET_JSON_BYTES);
    pthread_mutex_lock(&keep->lock);
    message_id_write(&keep->dice, ticket->id);
    own.id = ticket->id;
    owed_status status = ticket_write(&json, &own, context, err);
    if (status == OWED_OK)
        status = fire(keep, own.options.tx, ticket, buf_view(&json), err);
    pthread_mutex_unlock(&keep->lock);
    if (status != OWED_OK) {
        owed_ticket_release(ticket);
        return status;
    }
    *ret_ticket = ticket;
    return OWED_OK;
}

/* --- looking --- */

/* connect has a connection to look with; the lock is held. */
static owed_status
connect_to_look(struct keep *keep, owed_error *err)
{
    if (keep->owed == NULL)
        return fail(err, OWED_CLOSED, "the outbox was closed: its tickets are no longer looked at");
    return keep->db != NULL ? OWED_OK : handle_connect(keep->owed, &keep->db, err);
}

/* hang_up: a connection that is lost is made anew by the next look. */
static void
hang_up(struct keep *keep, owed_status status)
{
    if (status != OWED_UNAVAILABLE)
        return;
    store_close(keep->db);
    keep->db = NULL;
}

static owed_status
find_event(struct keep *keep, const char *id, int64_t *ret_event_id, owed_error *err)
{
    owed_status status = connect_to_look(keep, err);
    return status == OWED_OK ? ticket_event(keep->db, id, ret_event_id, err) : status;
}

/* find_row finds the delivery of a ticket. Its event's id is known once its transaction is: one that was rolled back
 * leaves its own to the next event. */
static owed_status
find_row(owed_ticket *ticket, struct arena *arena, struct delivery_row **ret_row, owed_error *err)
{
    struct keep *keep = ticket->keep;
    pthread_mutex_lock(&keep->lock);
    owed_status status = ticket->event_id != 0
        ? connect_to_look(keep, err)
        : find_event(keep, ticket->id, &ticket->event_id, err);
    if (status == OWED_OK)
        status = ticket_delivery(keep->db, ticket->id, ticket->event_id, arena, ret_row, err);
    hang_up(keep, status);
    pthread_mutex_unlock(&keep->lock);
    return status;
}

owed_status
keep_look(owed_ticket *ticket, owed_error *err)
{
    CLEANUP(arena_done) struct arena arena;
    arena_init(&arena, 0);
    struct delivery_row *row = NULL;
    pthread_mutex_lock(&ticket->lock);
    owed_status status = OWED_OK;
    if (ticket->state != OWED_TICKET_SENT) {
        status = find_row(ticket, &arena, &row, err);
        if (status == OWED_OK)
            status = ticket_learn(ticket, row, err);
    }
    pthread_mutex_unlock(&ticket->lock);
    return status;
}

bool
keep_wait(owed_ticket *ticket, int64_t timeout_us)
{
    int64_t end_us = clock_monotonic_us(&clock_system) + (timeout_us > 0 ? timeout_us : 0);
    for (int64_t pause_us = FIRST_LOOK_US;; pause_us *= 2) {
        if (owed_ticket_state_of(ticket) != OWED_TICKET_PENDING)
            return true;
        int64_t left_us = end_us - clock_monotonic_us(&clock_system);
        if (left_us <= 0)
            return false;
        pause_us = pause_us < LAST_LOOK_US ? pause_us : LAST_LOOK_US;
        struct timespec at = deadline_in(pause_us < left_us ? pause_us : left_us);
        pthread_mutex_lock(&ticket->lock);
        pthread_cond_clockwait(&ticket->settled, &ticket->lock, CLOCK_MONOTONIC, &at);
        pthread_mutex_unlock(&ticket->lock);
    }
}

owed_status
keep_take(
    struct keep *keep, const char *id, int64_t event_id, owed_ticket **ret_ticket, owed_error *err)
{
    CLEANUP(arena_done) struct arena arena;
    arena_init(&arena, 0);
    struct event_row event = {0};
    pthread_mutex_lock(&keep->lock);
    owed_status status = connect_to_look(keep, err);
    if (status == OWED_OK)
        status = store_event(keep->db, event_id, &arena, &event, err);
    hang_up(keep, status);
    pthread_mutex_unlock(&keep->lock);
    if (status != OWED_OK)
        return status;
    *ret_ticket = new_ticket(keep, id, event_id, event.occurred_at_us);
    return *ret_ticket == NULL ? fail_memory(err) : OWED_OK;
}

owed_status
keep_find(struct keep *keep, const char *id, owed_ticket **ret_ticket, owed_error *err)
{
    int64_t event_id = 0;
    pthread_mutex_lock(&keep->lock);
    owed_status status = find_event(keep, id, &event_id, err);
    hang_up(keep, status);
    pthread_mutex_unlock(&keep->lock);
    return status == OWED_OK ? keep_take(keep, id, event_id, ret_ticket, err) : status;
}

size_t
keep_length(struct keep *keep)
{
    CLEANUP(arena_done) struct arena arena;
    arena_init(&arena, 0);
    struct owed_name *names = NULL;
    size_t count = 0, length = 0;
    pthread_mutex_lock(&keep->lock);
    owed_status status = connect_to_look(keep, NULL);
    if (status == OWED_OK)
        status = store_owed_names(keep->db, &arena, &names, &count, NULL);
    hang_up(keep, status);
    pthread_mutex_unlock(&keep->lock);
    for (size_t i = 0; status == OWED_OK && i < count; i++)
        if (strcmp(names[i].receiver_key, NOTIFY_RECEIVER) == 0)
            length += (size_t)names[i].owed;
    return length;
}
