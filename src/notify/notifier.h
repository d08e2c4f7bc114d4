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

#define NOTIFY_RECEIVER "owed.notify"
#define GONE_EVENT "owed.AddressGone"
#define LIMIT_THREADS 64

struct job;

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
