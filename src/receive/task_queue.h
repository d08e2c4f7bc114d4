/* SPDX-License-Identifier: MIT
 *
 * task_queue.h - a task queue on a broker: the end that hands on, and the end that takes.
 */
#ifndef RECEIVE_TASK_QUEUE_H
#define RECEIVE_TASK_QUEUE_H

#include <owed/task.h>

#include "base/buf.h"
#include "declare/broker_url.h"
#include "declare/registry.h"
#include "receive/broker_find.h"

#define TASK_TOPIC "owed.tasks"

struct owed_task_queue {
    struct arena arena;
    struct broker_url url;
    const char *shown; // the URL, for messages
    const char *topic;
    struct broker_files files;
    int64_t timeout_us;
    // The end that hands on:
    const struct broker_kind *kind; // NULL: not loaded yet
    void *connection;               // NULL: none
    struct buf text;
    // The end that takes:
    const struct broker_taker_kind *taker_kind;
    void *taker;
};

/* task_queue_open is owed_task_queue_open; where it refuses, *ret_word is the word of owed.conf for what is wrong. */
owed_status task_queue_open(const char *url, const owed_task_queue_settings *settings,
    const char **ret_word, owed_task_queue **ret_queue, owed_error *err);

/* task_queue_is_fed tells whether a receiver publishes to just this topic of just this broker. */
bool task_queue_is_fed(const owed_task_queue *queue, const struct receiver *receiver);

/* task_queue_find loads both of the broker's kinds, once. */
owed_status task_queue_find(owed_task_queue *queue, owed_error *err);
/* These two connect where there is no connection, and make the queue where there is none. */
owed_status task_queue_connect(owed_task_queue *queue, owed_error *err);
owed_status task_queue_connect_taker(owed_task_queue *queue, owed_error *err);
/* task_queue_fail is fail with the queue's name before it. */
owed_status task_queue_fail(
    const owed_task_queue *queue, owed_status status, const char *why, owed_error *err);
void task_queue_disconnect(owed_task_queue *queue);
void task_queue_disconnect_taker(owed_task_queue *queue);

/* task_backend.c */
owed_status task_queue_enqueue_many(
    void *state, owed_task_message *claims, size_t count, owed_error *err);
owed_status task_queue_enqueue(void *state, int64_t delivery_id, const char *claimed_by,
    int64_t claimed_at_us, owed_error *err);

#endif
