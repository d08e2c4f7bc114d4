/* SPDX-License-Identifier: MIT
 *
 * test_queue.c - a queue of task messages in this process, for an application's tests.
 */
#include <owed/testing.h>

#include <stdio.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"
#include "deliver/task.h"

struct message {
    owed_test_message said;
    struct message *next;
};

struct owed_test_queue {
    struct arena arena;
    struct message *first, **end;
    char refuses[256]; // why; "": it takes everything
};

owed_status
owed_test_queue_new(owed_test_queue **ret_queue, owed_error *err)
{
    owed_test_queue *queue = calloc(1, sizeof *queue);
    if (queue == NULL)
        return fail_memory(err);
    arena_init(&queue->arena, 0);
    queue->end = &queue->first;
    *ret_queue = queue;
    return OWED_OK;
}

void
owed_test_queue_free(owed_test_queue *queue)
{
    if (queue == NULL)
        return;
    arena_done(&queue->arena);
    free(queue);
}

static owed_status
keep(void *state, int64_t delivery_id, const char *claimed_by, int64_t claimed_at_us,
    owed_error *err)
{
    owed_test_queue *queue = state;
    if (queue->refuses[0] != '\0')
        return fail(err, OWED_UNAVAILABLE, "%s", queue->refuses);
    struct message *message = arena_alloc(&queue->arena, sizeof *message);
    const char *copy = arena_strdup(&queue->arena, claimed_by);
    if (message == NULL || copy == NULL)
        return fail_memory(err);
    *message = (struct message){.said = {delivery_id, copy, claimed_at_us}};
    *queue->end = message;
    queue->end = &message->next;
    return OWED_OK;
}

owed_task_backend
owed_test_queue_backend(owed_test_queue *queue)
{
    return (owed_task_backend){.enqueue = keep, .state = queue};
}

void
owed_test_queue_refuse(owed_test_queue *queue, const char *why)
{
    snprintf(queue->refuses, sizeof queue->refuses, "%s", or_empty(why));
}

size_t
owed_test_queue_count(const owed_test_queue *queue)
{
    size_t count = 0;
    for (const struct message *m = queue->first; m != NULL; m = m->next)
        count++;
    return count;
}

const owed_test_message *
owed_test_queue_message(const owed_test_queue *queue, size_t place)
{
    const struct message *message = queue->first;
    while (message != NULL && place-- > 0)
        message = message->next;
    return message == NULL ? NULL : &message->said;
}

static void
forget_first(owed_test_queue *queue)
{
    queue->first = queue->first->next;
    if (queue->first == NULL)
        queue->end = &queue->first;
}

owed_status
owed_test_queue_run(
    owed_test_queue *queue, owed *handle, owed_relay_counts *ret_counts, owed_error *err)
{
    owed_relay_counts counts = {0};
    owed_status status = OWED_OK;
    while (status == OWED_OK && queue->first != NULL) {
        const owed_test_message *said = &queue->first->said;
        const char *recorded = NULL;
        status = owed_take_and_deliver(
            handle, said->delivery_id, said->claimed_by, said->claimed_at_us, &recorded, err);
        if (status != OWED_OK)
            break;
        task_count(&counts, recorded);
        forget_first(queue);
    }
    if (ret_counts != NULL)
        *ret_counts = counts;
    return status;
}
