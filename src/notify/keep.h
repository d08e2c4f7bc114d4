/* SPDX-License-Identifier: MIT
 *
 * keep.h - an outbox whose tickets a store keeps: each is an event owed.Ticket, found by its dedupe key.
 */
#ifndef NOTIFY_KEEP_H
#define NOTIFY_KEEP_H

#include <pthread.h>

#include "notify/ticket.h"
#include "notify/ticket_json.h"
#include "store/look.h"

/* The outbox's side of a store; its tickets hold it, too. */
struct keep {
    atomic_int holds;
    owed_notifier *notifier;
    owed_clock clock;

    pthread_mutex_t lock; // of what follows
    owed *owed;           // the caller's: to enqueue; NULL: the outbox is closed
    owed_dice dice;
    struct db *db; // to look; NULL: there is no connection now

    pthread_mutex_t drain_lock; // of what follows
    owed *drainer;              // a handle of our own; NULL: nobody has drained yet
};

/* keep_new makes one with one hold, NULL where memory is out. keep_close ends what needs the store and gives that hold
 * back. NULL is fine for both ways of letting go. */
struct keep *keep_new(owed *owed, owed_notifier *notifier, const owed_outbox_options *options);
void keep_close(struct keep *keep);
void keep_release(struct keep *keep);

/* What owed_outbox_enqueue, find, length and drain do; text's id is drawn here. */
owed_status keep_enqueue(struct keep *keep, const struct ticket_text *text,
    const owed_value *context, owed_ticket **ret_ticket, owed_error *err);
owed_status keep_find(struct keep *keep, const char *id, owed_ticket **ret_ticket, owed_error *err);
size_t keep_length(struct keep *keep);
owed_status keep_drain(
    struct keep *keep, int64_t limit, owed_ticket_list *ret_handled, owed_error *err);

/* keep_take makes a ticket of an event. */
owed_status keep_take(
    struct keep *keep, const char *id, int64_t event_id, owed_ticket **ret_ticket, owed_error *err);

/* keep_look has a ticket know what became of its delivery; keep_wait waits until that has ended. */
owed_status keep_look(owed_ticket *ticket, owed_error *err);
bool keep_wait(owed_ticket *ticket, int64_t timeout_us);

/* ticket_event finds the event of a ticket, ticket_delivery its delivery, which lives in the arena. NOT_FOUND. */
owed_status ticket_event(struct db *db, const char *id, int64_t *ret_event_id, owed_error *err);
owed_status ticket_delivery(struct db *db, const char *id, int64_t event_id, struct arena *arena,
    struct delivery_row **ret_row, owed_error *err);

/* ticket_learn takes it from the row; with the ticket's lock held. */
owed_status ticket_learn(owed_ticket *ticket, const struct delivery_row *row, owed_error *err);

/* Who drains on his own thread is told of each ticket that is tried. */
struct draining;
void draining_note(struct draining *draining, const char *id, int64_t event_id);

#endif
