/* SPDX-License-Identifier: MIT
 *
 * ticket.h - a send that is put off: what it needs, copied, and what came of it.
 */
#ifndef NOTIFY_TICKET_H
#define NOTIFY_TICKET_H

#include <owed/outbox.h>

#include <pthread.h>
#include <stdatomic.h>
#include <sys/queue.h>
#include <time.h>

#include "base/arena.h"
#include "notify/dispatcher.h"

struct keep;

struct owed_ticket {
    atomic_int holds;
    STAILQ_ENTRY(owed_ticket) next;
    struct arena arena; // all that was copied
    char id[MESSAGE_ID_MAX + 1];
    int64_t enqueued_at_us;
    const owed_template *tmpl;
    owed_recipient recipient;
    owed_value *context;
    owed_send_options options;
    owed_retry retry;

    struct keep *keep; // NULL: in memory. Else nothing above but id and enqueued_at_us is filled in
    int64_t event_id;  // 0: not known yet

    pthread_mutex_t lock; // of what follows
    pthread_cond_t settled;
    owed_ticket_state state;
    owed_receipt *receipt;
    owed_error error;
};

/* ticket_new copies what a send needs, with one hold; NULL where memory is out. */
owed_ticket *ticket_new(const owed_recipient *recipient, const owed_template *tmpl,
    const owed_value *context, const owed_send_options *options);

/* ticket_blank is one that copies nothing. */
owed_ticket *ticket_blank(void);

void ticket_hold(owed_ticket *ticket);

/* ticket_settle takes the receipt over, or copies the error where there is none, and wakes all who wait. */
void ticket_settle(owed_ticket *ticket, owed_receipt *receipt, const owed_error *error);

/* deadline_in is a moment of CLOCK_MONOTONIC, us from now. */
struct timespec deadline_in(int64_t us);

#endif
