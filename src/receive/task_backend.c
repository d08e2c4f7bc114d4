/* SPDX-License-Identifier: MIT
 *
 * task_backend.c - claims handed to a task queue. A claim is handed on once its broker has said so.
 */
#include "base/clock.h"
#include "base/error.h"
#include "receive/task_message.h"
#include "receive/task_queue.h"

#define QUICK_US INT64_C(1000000)

/* send_once sends what has no answer yet, on a connection that may have to be opened. */
static owed_status
send_once(owed_task_queue *queue, struct broker_message *message, owed_error *err)
{
    owed_status status = task_queue_connect(queue, err);
    if (status != OWED_OK)
        return status;
    if (queue->kind->send(queue->connection, message, err))
        return OWED_OK;
    task_queue_disconnect(queue);
    return OWED_UNAVAILABLE;
}

static owed_status
send_message(owed_task_queue *queue, struct broker_message *message, owed_error *err)
{
    bool was_open = queue->connection != NULL;
    int64_t began_us = clock_monotonic_us(&clock_system);
    owed_status status = send_once(queue, message, err);
    // A connection that has stood idle may have been closed meanwhile, which says nothing of the broker. One
    // that comes twice runs once.
    bool is_quick = clock_monotonic_us(&clock_system) - began_us < QUICK_US;
    if (status != OWED_OK && was_open && is_quick && message->answer == BROKER_SILENT)
        status = send_once(queue, message, err);
    return status;
}

owed_status
task_queue_enqueue(void *state, int64_t delivery_id, const char *claimed_by, int64_t claimed_at_us,
    owed_error *err)
{
    owed_task_queue *queue = state;
    const struct task_message claim = {delivery_id, claimed_by, claimed_at_us};
    char id[TASK_MESSAGE_ID_BYTES];
    buf_clear(&queue->text);
    task_message_write(&claim, &queue->text);
    if (queue->text.failed || !task_message_id(&claim, id))
        return fail_memory(err);
    if (queue->text.len > BROKER_TASK_BYTES)
        return fail(err, OWED_LIMIT, "the message is over %d bytes: a shorter worker-id is right",
            BROKER_TASK_BYTES);
    struct broker_message message = {
        .id = id,
        .topic = queue->topic,
        .exchange = "",
        .event = "",
        .correlation_id = "",
        .payload = buf_view(&queue->text),
    };
    owed_error why = {0};
    owed_status status = send_message(queue, &message, &why);
    if (message.answer == BROKER_ACKED)
        return OWED_OK;
    if (status == OWED_OK)
        status = OWED_UNAVAILABLE;
    // A queue that is gone is made anew with the next connection.
    task_queue_disconnect(queue);
    const char *text = message.text[0] != '\0' ? message.text : why.text;
    return fail(
        err, status, "%s: %s", queue->shown, text[0] == '\0' ? "it has not answered" : text);
}
