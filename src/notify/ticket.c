/* SPDX-License-Identifier: MIT
 *
 * ticket.c - how a ticket ends, and how to ask it.
 */
#include "notify/ticket.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/error.h"
#include "notify/keep.h"

void
ticket_hold(owed_ticket *ticket)
{
    atomic_fetch_add(&ticket->holds, 1);
}

void
owed_ticket_release(owed_ticket *ticket)
{
    if (ticket == NULL || atomic_fetch_sub(&ticket->holds, 1) != 1)
        return;
    keep_release(ticket->keep);
    owed_receipt_free(ticket->receipt);
    pthread_cond_destroy(&ticket->settled);
    pthread_mutex_destroy(&ticket->lock);
    arena_done(&ticket->arena);
    free(ticket);
}

void
ticket_settle(owed_ticket *ticket, owed_receipt *receipt, const owed_error *error)
{
    pthread_mutex_lock(&ticket->lock);
    ticket->receipt = receipt;
    if (receipt == NULL)
        ticket->error = *error;
    ticket->state = receipt == NULL ? OWED_TICKET_FAILED : OWED_TICKET_SENT;
    pthread_cond_broadcast(&ticket->settled);
    pthread_mutex_unlock(&ticket->lock);
}

const char *
owed_ticket_id(const owed_ticket *ticket)
{
    return ticket->id;
}

int64_t
owed_ticket_enqueued_at_us(const owed_ticket *ticket)
{
    return ticket->enqueued_at_us;
}

owed_ticket_state
owed_ticket_state_of(owed_ticket *ticket)
{
    // Where it cannot be looked at, it is what it was.
    owed_status status = ticket->keep == NULL ? OWED_OK : keep_look(ticket, NULL);
    (void)status;
    pthread_mutex_lock(&ticket->lock);
    owed_ticket_state state = ticket->state;
    pthread_mutex_unlock(&ticket->lock);
    return state;
}

bool
owed_ticket_is_sent(owed_ticket *ticket)
{
    return owed_ticket_state_of(ticket) == OWED_TICKET_SENT;
}

bool
owed_ticket_is_failed(owed_ticket *ticket)
{
    return owed_ticket_state_of(ticket) == OWED_TICKET_FAILED;
}

owed_status
owed_ticket_result(owed_ticket *ticket, const owed_receipt **ret_receipt, owed_error *err)
{
    owed_status status = ticket->keep == NULL ? OWED_OK : keep_look(ticket, err);
    if (status != OWED_OK)
        return status;
    pthread_mutex_lock(&ticket->lock);
    owed_ticket_state state = ticket->state;
    const owed_error error = ticket->error;
    pthread_mutex_unlock(&ticket->lock);
    if (state == OWED_TICKET_SENT) {
        *ret_receipt = ticket->receipt; // what is sent never changes again
        return OWED_OK;
    }
    if (state == OWED_TICKET_FAILED) {
        if (err != NULL)
            *err = error;
        return error.status;
    }
    if (error.status != OWED_OK)
        return fail(err, OWED_PENDING, "ticket %s is pending: it is tried again after: %s",
            ticket->id, error.text);
    return fail(err, OWED_PENDING, "ticket %s is pending: nobody has tried yet", ticket->id);
}

struct timespec
deadline_in(int64_t us)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    int64_t ns = at.tv_nsec + us % US_PER_SECOND * 1000;
    at.tv_sec += us / US_PER_SECOND + ns / 1000000000;
    at.tv_nsec = ns % 1000000000;
    return at;
}

bool
owed_ticket_wait(owed_ticket *ticket, int64_t timeout_us)
{
    if (ticket->keep != NULL)
        return keep_wait(ticket, timeout_us);
    struct timespec deadline = deadline_in(timeout_us > 0 ? timeout_us : 0);
    int failed = 0;
    pthread_mutex_lock(&ticket->lock);
    while (ticket->state == OWED_TICKET_PENDING && failed == 0)
        failed =
            pthread_cond_clockwait(&ticket->settled, &ticket->lock, CLOCK_MONOTONIC, &deadline);
    bool is_settled = ticket->state != OWED_TICKET_PENDING;
    pthread_mutex_unlock(&ticket->lock);
    return is_settled;
}
