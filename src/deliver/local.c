/* SPDX-License-Identifier: MIT
 *
 * local.c - one receiver, run in the firing process with its event as the cause.
 */
#include "deliver/local.h"

#include "base/error.h"
#include "declare/codec.h"
#include "deliver/delivery.h"
#include "deliver/scope.h"

#define TEXT_BYTES 2000 // of what a receiver says that was not done

static struct claimed
facts_of(const struct new_event *event, int64_t event_id, const char *receiver_key)
{
    struct claimed row = {
        .event_id = event_id,
        .receiver_key = receiver_key,
        .target = "",
        .lane = "",
        .available_at_us = event->recorded_at_us,
        .due_at_us = event->due_at_us,
        .event_name = event->name,
        .event_version = event->version,
        .payload = event->payload,
        .occurred_at_us = event->occurred_at_us,
        .recorded_at_us = event->recorded_at_us,
        .actor_key = event->actor_key,
        .actor_label = event->actor_label,
        .scope = event->scope,
        .correlation_id = event->correlation_id,
        .traceparent = event->traceparent,
    };
    memcpy(row.event_uid, event->uid, sizeof row.event_uid);
    return row;
}

/* enter puts the block around a receiver. What runs inside the fire is in the caller's blocks as well. */
static void
enter(const struct local_run *run, struct owed_scope *block)
{
    const struct cause cause = {
        run->event_id, run->event->correlation_id, run->event->traceparent, run->owed->url};
    scope_enter(block, &cause, run->tx == NULL);
    run->owed->depth++;
}

static void
leave(const struct local_run *run, struct owed_scope *block)
{
    run->owed->depth--;
    scope_leave(block);
}

static owed_outcome
call(const struct local_run *run, owed_delivery *delivery, const void *payload)
{
    struct owed_scope block;
    enter(run, &block);
    owed_outcome outcome = delivery_call(delivery, payload);
    leave(run, &block);
    return outcome;
}

/* prepare makes the delivery that the receiver sees, and decodes its payload. */
static owed_status
prepare(const struct local_run *run, struct arena *arena, owed_delivery **ret_delivery,
    const void **ret_payload, owed_error *err)
{
    const struct receiver *receiver = run->receiver;
    struct claimed *row = arena_alloc(arena, sizeof *row);
    owed_delivery *delivery = arena_alloc(arena, sizeof *delivery);
    if (row == NULL || delivery == NULL)
        return fail_memory(err);
    *row = facts_of(run->event, run->event_id, receiver->declared.key);
    row->due_at_us += receiver->declared.due_us;
    owed_status status = delivery_init(delivery, run->owed, receiver, row, TEXT_BYTES, arena, err);
    if (status == OWED_OK)
        status =
            codec_decode(receiver->type, row->event_version, row->payload, arena, ret_payload, err);
    delivery->tx = run->tx;
    *ret_delivery = delivery;
    return status;
}

owed_outcome
local_run(const struct local_run *run, struct arena *arena, const char **ret_text)
{
    const owed_outcome failed = {.verdict = OWED_VERDICT_FAILED};
    owed_delivery *delivery = NULL;
    owed_error err = {0};
    const void *payload = NULL;
    *ret_text = "out of memory";
    if (prepare(run, arena, &delivery, &payload, &err) != OWED_OK) {
        const char *text = arena_strdup(arena, err.text);
        if (text != NULL)
            *ret_text = text;
        return failed;
    }
    owed_outcome outcome = call(run, delivery, payload);
    *ret_text = delivery_text(delivery);
    return outcome;
}

owed_status
local_targets(const struct local_run *run, struct owed_target_list *list, owed_error *err)
{
    owed_delivery *delivery = NULL;
    const void *payload = NULL;
    owed_status status = prepare(run, list->arena, &delivery, &payload, err);
    if (status != OWED_OK)
        return status;
    struct owed_scope block;
    enter(run, &block);
    status = targets_ask(delivery, payload, list, err);
    leave(run, &block);
    return status;
}
