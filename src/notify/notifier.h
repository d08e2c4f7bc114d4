/* SPDX-License-Identifier: MIT
 *
 * notifier.h - what delivers tickets: the receiver, and the threads that do the sends.
 */
#ifndef NOTIFY_NOTIFIER_H
#define NOTIFY_NOTIFIER_H

#include <owed/notifier.h>

#include <pthread.h>
#include <stdbool.h>
#include <sys/queue.h>

#include "notify/ticket_json.h"

#define NOTIFY_RECEIVER "owed.notify"
#define GONE_EVENT "owed.AddressGone"
#define LIMIT_THREADS 64

/* Where nobody says otherwise: a provider that fails for hours, or asks for waits for a day, costs no message. */
#define NOTIFY_MAX_ATTEMPTS 16
#define NOTIFY_BACKOFF_BASE_US INT64_C(30000000)
#define NOTIFY_GIVE_UP_AFTER_US (INT64_C(48) * 3600 * 1000000)

struct job;

/* What is to be told, read from a delivery; all of it lives in the arena. What cannot be read is dead at once. */
struct told {
    struct ticket_text ticket;
    const owed_template *tmpl;
};
typedef owed_status (*told_reader)(
    owed_delivery *delivery, struct arena *arena, struct told *ret_told, owed_error *err);

/* notifier_start is a receiver's start: one attempt, on a thread of the notifier's. */
void notifier_start(owed_notifier *notifier, owed_delivery *delivery, told_reader read);

/* notifier_turn_away fails an attempt in a process that has no channels. */
void notifier_turn_away(owed_delivery *delivery);

/* notifier_target names the channel by which a recipient (NULL: one that cannot be read) will be told most likely; channel
 * pins one. */
owed_status notifier_target(const owed_notifier *notifier, const owed_recipient *recipient,
    const char *channel, owed_target_list *list, owed_error *err);

struct owed_notifier {
    const owed_templates *templates;
    owed_dispatcher *dispatcher;
    owed_notifier_options options;
    int64_t next_prune_us; // of keys; the relay's thread alone looks at it

    pthread_mutex_t lock; // of what follows
    pthread_cond_t wanted;
    STAILQ_HEAD(, job) jobs;
    pthread_t threads[LIMIT_THREADS];
    int thread_count;
    bool is_ending;
};

#endif
