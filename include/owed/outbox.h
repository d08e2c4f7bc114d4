/* SPDX-License-Identifier: MIT
 *
 * outbox.h - notifications that are sent later, by whoever drains them; in memory, or kept in a store.
 *
 * To enqueue touches nothing: nothing is rendered, no key is claimed, no provider is called. What the
 * dispatcher decides, it decides when the ticket is drained. What is pending in memory is lost with the process;
 * what a store keeps is not (notifier.h), and any relay that declares the notifier drains it, too.
 *
 * An outbox and its tickets may be used by any number of threads at once.
 */
#ifndef OWED_OUTBOX_H
#define OWED_OUTBOX_H

#include <owed/notifier.h>
#include <owed/notify.h>

OWED_BEGIN_DECLS

typedef struct owed_outbox owed_outbox;
typedef struct owed_ticket owed_ticket;
typedef struct owed_worker owed_worker;

typedef enum owed_ticket_state {
    OWED_TICKET_PENDING = 0,
    OWED_TICKET_SENT,
    OWED_TICKET_FAILED
} owed_ticket_state;

/* Zeroed: the system's clock (of a store's: the handle's) and dice, and no bound. */
typedef struct owed_outbox_options {
    int64_t max_pending; /* above it, enqueue refuses; 0: none, as must be where a store keeps it */
    owed_clock clock;    /* for enqueued_at_us */
    owed_dice dice;      /* for ids */
} owed_outbox_options;

/* owed_outbox_new makes an outbox for a dispatcher, which outlives it. options may be NULL. INVALID: a
 * negative bound; NOMEM. */
OWED_API owed_status owed_outbox_new(owed_dispatcher *dispatcher,
    const owed_outbox_options *options, owed_outbox **ret_outbox, owed_error *err) OWED_MUSTUSE;

/* owed_outbox_open makes one whose tickets a store keeps. handle, whose registry declares the notifier, outlives it
 * and is used to enqueue alone, by one thread at a time; to drain and to look the outbox has connections of its
 * own, and the handle's clock and log, which whoever drains uses on his thread. options may be NULL. INVALID: a bound, or a negative one; NOMEM. */
OWED_API owed_status owed_outbox_open(owed *handle, owed_notifier *notifier,
    const owed_outbox_options *options, owed_outbox **ret_outbox, owed_error *err) OWED_MUSTUSE;

/* owed_outbox_free fails what is pending with CLOSED and frees the outbox; tickets live on until each is
 * released. No drain is under way and no worker uses it any more. What a store keeps stays owed; the
 * tickets say what they knew last. */
OWED_API void owed_outbox_free(owed_outbox *outbox);

/* owed_outbox_enqueue copies the recipient, the context and the options (but now_us, all of them are kept with
 * the ticket as they are; its id is the ticket's) and appends a ticket. The template is kept by pointer and outlives the ticket; so
 * is options->failure, which must be NULL. ret_ticket may be NULL; else the caller releases it.
 * LIMIT: the outbox is full. INVALID: a failure to fill in. NOMEM.
 * Where a store keeps it, the template's name is kept, the ticket goes with options->tx, or in a transaction of its
 * own, and options->retry must be NULL: the receiver's curve holds. Besides: what owed_fire_json and owed_commit say. */
OWED_API owed_status owed_outbox_enqueue(owed_outbox *outbox, const owed_recipient *recipient,
    const owed_template *tmpl, const owed_value *context, const owed_send_options *options,
    owed_ticket **ret_ticket, owed_error *err) OWED_MUSTUSE;

/* owed_outbox_find finds a ticket that a store keeps by its id, whoever enqueued it; the caller releases it. One that is fired in
 * SQL is found where its dedupe_key is "ticket:" and the id that its payload has. NOT_FOUND: there is none, or none
 * any more. INVALID: the outbox is in memory. UNAVAILABLE, BUSY, STORE. */
OWED_API owed_status owed_outbox_find(
    owed_outbox *outbox, const char *id, owed_ticket **ret_ticket, owed_error *err) OWED_MUSTUSE;

/* owed_outbox_length is how many tickets are pending and nobody's; of a store's, 0 where it cannot be reached. */
OWED_API size_t owed_outbox_length(owed_outbox *outbox);

/* Tickets that a drain has handled, in the order in which it took them. */
typedef struct owed_ticket_list {
    owed_ticket **tickets;
    size_t count;
} owed_ticket_list;

#define OWED_DRAIN_ALL INT64_MAX

/* owed_outbox_drain sends up to limit tickets, the oldest first, on the calling thread: each is settled with
 * its receipt or with what went wrong, and then comes the next one. A key that another drain is sending is
 * waited for, and the ticket gets that receipt as a duplicate. ret_handled may be NULL; else
 * owed_ticket_list_done gives it back. INVALID: a limit below 1. NOMEM: nothing was handled.
 * Of a store's, each ticket that is due when it begins has one attempt, under a relay's claim, in the order in which they came due; one that
 * failed or waits is pending still. Drains of one outbox take turns; several outboxes, processes and relays share
 * the work. Besides: the statuses of owed_relay_run. */
OWED_API owed_status owed_outbox_drain(owed_outbox *outbox, int64_t limit,
    owed_ticket_list *ret_handled, owed_error *err) OWED_MUSTUSE;
OWED_API void owed_ticket_list_done(owed_ticket_list *list);

/* --- tickets --- */

/* owed_ticket_release gives the caller's hold back; NULL is fine. */
OWED_API void owed_ticket_release(owed_ticket *ticket);

/* owed_ticket_id is 32 random hex digits; the string lives as long as the ticket. */
OWED_API const char *owed_ticket_id(const owed_ticket *ticket);
OWED_API int64_t owed_ticket_enqueued_at_us(const owed_ticket *ticket);
OWED_API owed_ticket_state owed_ticket_state_of(owed_ticket *ticket);
OWED_API bool owed_ticket_is_sent(owed_ticket *ticket);
OWED_API bool owed_ticket_is_failed(owed_ticket *ticket);

/* owed_ticket_result gives the receipt, which is the ticket's. Else the status and the sentence of the send
 * that failed; PENDING: nobody has tried yet, or it is tried again. Of a store's ticket the state is that of its delivery: SENT where
 * it succeeded, FAILED where it is dead, orphaned or cancelled (CLOSED), and until somebody owes it once more; its receipt has neither
 * subject nor text. NOT_FOUND: its transaction is open, or was rolled back, or its event was pruned; UNAVAILABLE. */
OWED_API owed_status owed_ticket_result(
    owed_ticket *ticket, const owed_receipt **ret_receipt, owed_error *err) OWED_MUSTUSE;

/* owed_ticket_wait waits up to a time, in real microseconds, and tells whether the ticket is settled. */
OWED_API bool owed_ticket_wait(owed_ticket *ticket, int64_t timeout_us);

/* --- a worker --- */

/* owed_worker_new makes a thread that drains, not yet running. interval_us: how long it waits for an
 * arrival before it looks again; 0: 50 ms, and a second where a store keeps the tickets. INVALID: negative; NOMEM. */
OWED_API owed_status owed_worker_new(owed_outbox *outbox, int64_t interval_us,
    owed_worker **ret_worker, owed_error *err) OWED_MUSTUSE;

/* owed_worker_start starts it. INVALID: it runs already. NOMEM: no thread can be had. */
OWED_API owed_status owed_worker_start(owed_worker *worker, owed_error *err) OWED_MUSTUSE;

/* owed_worker_stop wakes it, lets it drain once more and waits for its end; one that does not run is left
 * alone. It may be started again. owed_worker_free stops it first. */
OWED_API void owed_worker_stop(owed_worker *worker);
OWED_API void owed_worker_free(owed_worker *worker);

OWED_END_DECLS

#endif
