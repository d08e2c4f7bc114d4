/* SPDX-License-Identifier: MIT
 *
 * outbox.c - a queue of tickets, in memory or as a store keeps it (keep.c), and the thread that drains it.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/error.h"
#include "notify/dispatcher.h"
#include "notify/keep.h"
#include "notify/notifier.h"
#include "notify/ticket.h"

#define DEFAULT_INTERVAL_US (50 * US_PER_MS)
#define KEPT_INTERVAL_US US_PER_SECOND // each look is a claim

struct owed_outbox {
    owed_dispatcher *dispatcher;
    owed_clock clock;
    owed_dice dice;
    size_t max_pending; // SIZE_MAX: none
    struct keep *keep;  // NULL: in memory

    pthread_mutex_t lock; // of what follows, and of the dice
    pthread_cond_t arrived;
    STAILQ_HEAD(, owed_ticket) pending; // the oldest first
    size_t count;                       // of a store's: of those that came since the last drain
};

owed_status
owed_outbox_new(owed_dispatcher *dispatcher, const owed_outbox_options *options,
    owed_outbox **ret_outbox, owed_error *err)
{
    static const owed_outbox_options none;
    options = options == NULL ? &none : options;
    if (options->max_pending < 0)
        return fail(err, OWED_INVALID,
            "an outbox holds 1 or more tickets, or any number (0), not %" PRId64,
            options->max_pending);
    owed_outbox *outbox = calloc(1, sizeof *outbox);
    if (outbox == NULL)
        return fail_memory(err);
    outbox->dispatcher = dispatcher;
    outbox->clock = clock_or_system(options->clock);
    outbox->dice = dice_or_system(options->dice);
    outbox->max_pending = options->max_pending == 0 ? SIZE_MAX : (size_t)options->max_pending;
    pthread_mutex_init(&outbox->lock, NULL);
    pthread_cond_init(&outbox->arrived, NULL);
    STAILQ_INIT(&outbox->pending);
    *ret_outbox = outbox;
    return OWED_OK;
}

owed_status
owed_outbox_open(owed *handle, owed_notifier *notifier, const owed_outbox_options *options,
    owed_outbox **ret_outbox, owed_error *err)
{
    if (options != NULL && options->max_pending != 0)
        return fail(
            err, OWED_INVALID, "an outbox that a store keeps has no bound: max_pending is 0 here");
    owed_outbox *outbox = NULL;
    owed_status status = owed_outbox_new(notifier->dispatcher, options, &outbox, err);
    if (status != OWED_OK)
        return status;
    outbox->keep = keep_new(handle, notifier, options);
    if (outbox->keep == NULL) {
        owed_outbox_free(outbox);
        return fail_memory(err);
    }
    *ret_outbox = outbox;
    return OWED_OK;
}

/* pop takes the oldest ticket over; NULL: there is none. */
static owed_ticket *
pop(owed_outbox *outbox)
{
    pthread_mutex_lock(&outbox->lock);
    owed_ticket *ticket = STAILQ_FIRST(&outbox->pending);
    if (ticket != NULL) {
        STAILQ_REMOVE_HEAD(&outbox->pending, next);
        outbox->count--;
    }
    pthread_mutex_unlock(&outbox->lock);
    return ticket;
}

void
owed_outbox_free(owed_outbox *outbox)
{
    owed_error closed;
    if (outbox == NULL)
        return;
    for (owed_ticket *ticket = pop(outbox); ticket != NULL; ticket = pop(outbox)) {
        fail(&closed, OWED_CLOSED, "ticket %s was pending when its outbox was closed", ticket->id);
        ticket_settle(ticket, NULL, &closed);
        owed_ticket_release(ticket);
    }
    keep_close(outbox->keep);
    pthread_cond_destroy(&outbox->arrived);
    pthread_mutex_destroy(&outbox->lock);
    free(outbox);
}

/* --- in --- */

/* push appends a ticket, whose hold is the outbox's from then on; false: it is full. */
static bool
push(owed_outbox *outbox, owed_ticket *ticket)
{
    pthread_mutex_lock(&outbox->lock);
    bool has_room = outbox->count < outbox->max_pending;
    if (has_room) {
        message_id_write(&outbox->dice, ticket->id);
        ticket->enqueued_at_us = clock_now_us(&outbox->clock);
        STAILQ_INSERT_TAIL(&outbox->pending, ticket, next);
        outbox->count++;
        pthread_cond_signal(&outbox->arrived);
    }
    pthread_mutex_unlock(&outbox->lock);
    return has_room;
}

/* arrives says that a ticket came in: a worker need not wait any longer. */
static void
arrives(owed_outbox *outbox)
{
    pthread_mutex_lock(&outbox->lock);
    outbox->count++;
    pthread_cond_signal(&outbox->arrived);
    pthread_mutex_unlock(&outbox->lock);
}

static owed_status
enqueue_kept(owed_outbox *outbox, const struct ticket_text *text, const owed_value *context,
    owed_ticket **ret_ticket, owed_error *err)
{
    owed_ticket *ticket = NULL;
    owed_status status = keep_enqueue(outbox->keep, text, context, &ticket, err);
    if (status != OWED_OK)
        return status;
    arrives(outbox);
    if (ret_ticket != NULL)
        *ret_ticket = ticket;
    else
        owed_ticket_release(ticket);
    return OWED_OK;
}

owed_status
owed_outbox_enqueue(owed_outbox *outbox, const owed_recipient *recipient, const owed_template *tmpl,
    const owed_value *context, const owed_send_options *options, owed_ticket **ret_ticket,
    owed_error *err)
{
    if (options != NULL && options->failure != NULL)
        return fail(
            err, OWED_INVALID, "a ticket keeps what went wrong: options.failure is NULL here");
    if (outbox->keep != NULL) {
        struct ticket_text text = {
            .template_name = owed_template_name(tmpl), .recipient = *recipient};
        if (options != NULL)
            text.options = *options;
        return enqueue_kept(outbox, &text, context, ret_ticket, err);
    }
    if (options != NULL && options->tx != NULL)
        return fail(
            err, OWED_INVALID, "an outbox in memory takes part in no transaction: tx is NULL here");
    owed_ticket *ticket = ticket_new(recipient, tmpl, context, options);
    if (ticket == NULL)
        return fail_memory(err);
    ticket_hold(
        ticket); // the caller's: once it stands in the queue, it may be drained and released
    bool is_in = push(outbox, ticket);
    if (!is_in)
        owed_ticket_release(ticket);
    if (!is_in || ret_ticket == NULL)
        owed_ticket_release(ticket);
    if (!is_in)
        return fail(err, OWED_LIMIT,
            "the outbox is full: %zu tickets are pending, and no more are allowed",
            outbox->max_pending);
    if (ret_ticket != NULL)
        *ret_ticket = ticket;
    return OWED_OK;
}

owed_status
owed_outbox_find(owed_outbox *outbox, const char *id, owed_ticket **ret_ticket, owed_error *err)
{
    if (outbox->keep == NULL)
        return fail(err, OWED_INVALID,
            "tickets in memory are not found by their ids: keep what enqueue gave");
    return keep_find(outbox->keep, id, ret_ticket, err);
}

size_t
owed_outbox_length(owed_outbox *outbox)
{
    if (outbox->keep != NULL)
        return keep_length(outbox->keep);
    pthread_mutex_lock(&outbox->lock);
    size_t count = outbox->count;
    pthread_mutex_unlock(&outbox->lock);
    return count;
}

/* --- out --- */

static void
send_ticket(owed_outbox *outbox, owed_ticket *ticket)
{
    owed_receipt *receipt = NULL;
    owed_error error;
    owed_status status = send_waiting(outbox->dispatcher, &ticket->recipient, ticket->tmpl,
        ticket->context, &ticket->options, &receipt, &error);
    ticket_settle(ticket, status == OWED_OK ? receipt : NULL, &error);
}

/* make_room has room for one more, before its ticket is sent. */
static bool
make_room(owed_ticket_list *list, size_t *room)
{
    if (list->count < *room)
        return true;
    size_t wanted = *room == 0 ? 16 : *room * 2;
    owed_ticket **more = reallocarray(list->tickets, wanted, sizeof *more);
    if (more == NULL)
        return false;
    list->tickets = more;
    *room = wanted;
    return true;
}

owed_status
owed_outbox_drain(
    owed_outbox *outbox, int64_t limit, owed_ticket_list *ret_handled, owed_error *err)
{
    if (limit < 1)
        return fail(err, OWED_INVALID,
            "a drain of %" PRId64 " tickets, where 1 or more would be right", limit);
    if (outbox->keep != NULL) {
        pthread_mutex_lock(&outbox->lock);
        outbox->count = 0;
        pthread_mutex_unlock(&outbox->lock);
        return keep_drain(outbox->keep, limit, ret_handled, err);
    }
    owed_ticket_list handled = {0};
    size_t room = 0;
    for (int64_t i = 0; i < limit; i++) {
        if (ret_handled != NULL && !make_room(&handled, &room))
            break; // what is handled is told; the rest stays
        owed_ticket *ticket = pop(outbox);
        if (ticket == NULL)
            break;
        send_ticket(outbox, ticket);
        if (ret_handled == NULL)
            owed_ticket_release(ticket);
        else
            handled.tickets[handled.count++] = ticket;
    }
    if (ret_handled != NULL && handled.tickets == NULL)
        return fail_memory(err);
    if (ret_handled != NULL)
        *ret_handled = handled;
    return OWED_OK;
}

void
owed_ticket_list_done(owed_ticket_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        owed_ticket_release(list->tickets[i]);
    free(list->tickets);
    *list = (owed_ticket_list){0};
}

/* --- a worker --- */

struct owed_worker {
    owed_outbox *outbox;
    int64_t interval_us;
    pthread_t thread;
    bool is_running;  // the caller's side
    bool is_stopping; // under the outbox's lock
};

owed_status
owed_worker_new(owed_outbox *outbox, int64_t interval_us, owed_worker **ret_worker, owed_error *err)
{
    if (interval_us < 0)
        return fail(err, OWED_INVALID,
            "a worker waits for a time of 1 us or more, or 50 ms (0), not %" PRId64 " us",
            interval_us);
    owed_worker *worker = calloc(1, sizeof *worker);
    if (worker == NULL)
        return fail_memory(err);
    worker->outbox = outbox;
    int64_t usual_us = outbox->keep == NULL ? DEFAULT_INTERVAL_US : KEPT_INTERVAL_US;
    worker->interval_us = interval_us == 0 ? usual_us : interval_us;
    *ret_worker = worker;
    return OWED_OK;
}

/*
 * await_arrival waits for a ticket, for a stop or for the interval's end, and tells how many to send: what is there now,
 * so that a worker which is to stop does, however fast others come; *ret_is_last: it is to stop.
 */
static int64_t
await_arrival(owed_worker *worker, bool *ret_is_last)
{
    owed_outbox *outbox = worker->outbox;
    struct timespec at = deadline_in(worker->interval_us);
    int failed = 0;
    pthread_mutex_lock(&outbox->lock);
    while (outbox->count == 0 && !worker->is_stopping && failed == 0)
        failed = pthread_cond_clockwait(&outbox->arrived, &outbox->lock, CLOCK_MONOTONIC, &at);
    *ret_is_last = worker->is_stopping;
    int64_t count = outbox->count == 0 ? 1 : (int64_t)outbox->count;
    pthread_mutex_unlock(&outbox->lock);
    return outbox->keep == NULL ? count : OWED_DRAIN_ALL;
}

static void *
work(void *state)
{
    owed_worker *worker = state;
    bool is_last = false;
    while (!is_last) {
        int64_t limit = await_arrival(worker, &is_last);
        // Its limit is right, and it lists nothing: there is nothing that could fail.
        owed_status status = owed_outbox_drain(worker->outbox, limit, NULL, NULL);
        (void)status;
    }
    return NULL;
}

owed_status
owed_worker_start(owed_worker *worker, owed_error *err)
{
    if (worker->is_running)
        return fail(err, OWED_INVALID, "the worker runs already");
    worker->is_stopping = false;
    int failed = pthread_create(&worker->thread, NULL, work, worker);
    if (failed != 0)
        return fail_native(err, OWED_NOMEM, failed, "no thread can be had for a worker");
    worker->is_running = true;
    return OWED_OK;
}

void
owed_worker_stop(owed_worker *worker)
{
    if (!worker->is_running)
        return;
    pthread_mutex_lock(&worker->outbox->lock);
    worker->is_stopping = true;
    pthread_cond_broadcast(&worker->outbox->arrived);
    pthread_mutex_unlock(&worker->outbox->lock);
    pthread_join(worker->thread, NULL);
    worker->is_running = false;
}

void
owed_worker_free(owed_worker *worker)
{
    if (worker == NULL)
        return;
    owed_worker_stop(worker);
    free(worker);
}
