/* SPDX-License-Identifier: MIT
 *
 * task_backend.c - claims handed to a task queue. One is handed on once its broker has said so.
 */
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "receive/task_message.h"
#include "receive/task_queue.h"

#define QUICK_US INT64_C(1000000)

/* A message of the task queue, and the caller's. */
struct parcel {
    struct broker_message message; // the first member: a broker hands back messages
    char id[TASK_MESSAGE_ID_BYTES];
    owed_task_message *claim;
};

/* send_once sends what has no answer yet, on a connection that may have to be opened. */
static owed_status
send_once(owed_task_queue *queue, struct broker_message *messages, owed_error *err)
{
    owed_status status = task_queue_connect(queue, err);
    if (status != OWED_OK)
        return status;
    if (queue->kind->send(queue->connection, messages, err))
        return OWED_OK;
    task_queue_disconnect(queue);
    return OWED_UNAVAILABLE;
}

static owed_status
send_messages(owed_task_queue *queue, struct broker_message *messages, owed_error *err)
{
    bool was_open = queue->connection != NULL;
    int64_t began_us = clock_monotonic_us(&clock_system);
    owed_status status = send_once(queue, messages, err);
    // A connection that has stood idle may have been closed meanwhile, which says nothing of the broker. One
    // that comes twice runs once.
    bool is_quick = clock_monotonic_us(&clock_system) - began_us < QUICK_US;
    struct broker_message *silent = broker_silent(messages);
    if (status != OWED_OK && was_open && is_quick && silent != NULL)
        status = send_once(queue, silent, err);
    return status;
}

static owed_status
write_parcel(owed_task_queue *queue, owed_task_message *claim, struct arena *arena,
    struct parcel *parcel, owed_error *err)
{
    const struct task_message message = {
        claim->delivery_id, claim->claimed_by, claim->claimed_at_us};
    buf_clear(&queue->text);
    task_message_write(&message, &queue->text);
    struct str text = {arena_copy(arena, buf_view(&queue->text)), queue->text.len};
    if (queue->text.failed || text.p == NULL || !task_message_id(&message, parcel->id))
        return fail_memory(err);
    if (text.len > BROKER_TASK_BYTES)
        return fail(err, OWED_LIMIT, "the message is over %d bytes: a shorter worker-id is right",
            BROKER_TASK_BYTES);
    parcel->claim = claim;
    parcel->message = (struct broker_message){
        .id = parcel->id,
        .topic = queue->topic,
        .exchange = "",
        .event = "",
        .correlation_id = "",
        .payload = text,
    };
    return OWED_OK;
}

/* take_answers notes what the broker has; OK, or why it has not all of them. */
static owed_status
take_answers(owed_task_queue *queue, struct parcel *parcels, size_t count, const owed_error *why,
    owed_error *err)
{
    const char *text = why->text[0] == '\0' ? "it has not answered" : why->text;
    bool has_all = true;
    for (size_t i = count; i-- > 0;) {
        const struct broker_message *message = &parcels[i].message;
        parcels[i].claim->is_kept = message->answer == BROKER_ACKED;
        has_all = has_all && message->answer == BROKER_ACKED;
        if (message->answer != BROKER_ACKED && message->text[0] != '\0')
            text = message->text;
    }
    if (has_all)
        return OWED_OK;
    // A queue that is gone is made anew with the next connection.
    task_queue_disconnect(queue);
    return task_queue_fail(queue, OWED_UNAVAILABLE, text, err);
}

static owed_status
send_claims(owed_task_queue *queue, owed_task_message *claims, size_t count, struct arena *arena,
    owed_error *err)
{
    struct parcel *parcels = arena_alloc(arena, count * sizeof *parcels);
    if (parcels == NULL)
        return fail_memory(err);
    for (size_t i = 0; i < count; i++) {
        owed_status status = write_parcel(queue, &claims[i], arena, &parcels[i], err);
        if (status != OWED_OK)
            return status;
        if (i > 0)
            parcels[i - 1].message.next = &parcels[i].message;
    }
    owed_error why = {0};
    owed_status status = send_messages(queue, &parcels[0].message, &why);
    if (status == OWED_CONFIG || status == OWED_NOMEM)
        return task_queue_fail(queue, status, why.text, err);
    return take_answers(queue, parcels, count, &why, err);
}

owed_status
task_queue_enqueue_many(void *state, owed_task_message *claims, size_t count, owed_error *err)
{
    struct arena arena;
    for (size_t i = 0; i < count; i++)
        claims[i].is_kept = false;
    arena_init(&arena, 0);
    owed_status status = count == 0 ? OWED_OK : send_claims(state, claims, count, &arena, err);
    arena_done(&arena);
    return status;
}

owed_status
task_queue_enqueue(void *state, int64_t delivery_id, const char *claimed_by, int64_t claimed_at_us,
    owed_error *err)
{
    owed_task_message claim = {
        .delivery_id = delivery_id, .claimed_by = claimed_by, .claimed_at_us = claimed_at_us};
    return task_queue_enqueue_many(state, &claim, 1, err);
}
