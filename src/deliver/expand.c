/* SPDX-License-Identifier: MIT
 *
 * expand.c - a row that stands for targets, fired where nobody could name them.
 *
 * The targets are owed, and the row goes under its fence, in the one transaction that carries its
 * acknowledgement: there is never a part of them, nor both.
 */
#include "base/error.h"
#include "deliver/targets.h"
#include "deliver/worker.h"

static owed_status
owe(struct attempt *a, const struct owed_target_list *list, owed_error *err)
{
    const struct claimed *row = a->task->row;
    struct new_delivery delivery = {
        .event_id = row->event_id,
        .receiver_key = row->receiver_key,
        .lane = is_side_lane(row->lane, NULL) ? row->lane : a->known->receiver->lane,
        .kind = a->known->receiver->kind,
        .max_attempts = row->max_attempts,
        .available_at_us = row->available_at_us,
        .due_at_us = row->due_at_us,
    };
    a->target_count = list->count;
    owed_status status =
        store_is_replay(a->worker->owed->db, row->fence.delivery_id, &delivery.again, err);
    return status != OWED_OK ? status : targets_owe(a->worker->owed->db, list, &delivery, err);
}

static bool
is_stores_fault(owed_status status)
{
    return status == OWED_BUSY || status == OWED_UNAVAILABLE || status == OWED_UNSURE;
}

owed_outcome
expand_run(struct attempt *a)
{
    owed_delivery *delivery = &a->delivery;
    const owed_outcome failed = {.verdict = OWED_VERDICT_FAILED};
    struct owed_target_list list;
    target_list_init(&list, a->task->row->receiver_key, delivery->arena);
    owed_error err = {0};
    owed_status status = targets_ask(delivery, a->payload, &list, &err);
    if (status == OWED_OK && owed_delivery_tx(delivery) == NULL)
        return failed; // why not stands in begin_error
    bool is_named = status == OWED_OK;
    if (is_named)
        status = owe(a, &list, &err);
    if (status == OWED_OK)
        return (owed_outcome){.verdict = OWED_VERDICT_DONE};
    if (is_named && is_stores_fault(status))
        delivery->begin_error = err; // it does not count
    delivery_say(delivery, "%s", err.text);
    return failed;
}
