/* SPDX-License-Identifier: MIT
 *
 * delivery.c - the facts of one attempt, and the call of its receiver.
 */
#include "deliver/delivery.h"

#include <assert.h>
#include <stdio.h>

#include "base/digest.h"
#include "base/error.h"
#include "base/limits.h"
#include "deliver/errand.h"
#include "deliver/shared.h"

void
idempotency_key(const uint8_t uid[static 16], const char *receiver_key, const char *target,
    char ret_key[static IDEMPOTENCY_KEY_BYTES])
{
    static const char digits[] = "0123456789abcdef";
    const struct str pieces[] = {
        {(const char *)uid, 16}, {"", 1}, str_of(receiver_key), {"", 1}, str_of(target)};
    uint8_t digest[SHA256_BYTES];
    // A key that is not the digest would let a duplicate through: better no process than that.
    bool ok = sha256(pieces, sizeof pieces / sizeof pieces[0], digest);
    assert(ok);
    memcpy(ret_key, "owed_", 5);
    char *p = ret_key + 5;
    for (size_t i = 0; i < 16; i++) {
        *p++ = digits[digest[i] >> 4];
        *p++ = digits[digest[i] & 15];
    }
    *p = '\0';
}

static void
make_key(const owed_delivery *delivery)
{
    const struct claimed *row = delivery->row;
    idempotency_key(
        row->event_uid, row->receiver_key, or_empty(row->target), delivery->idempotency_key);
}

owed_status
delivery_init(owed_delivery *delivery, owed *handle, const struct receiver *receiver,
    const struct claimed *row, size_t text_size, struct arena *arena, owed_error *err)
{
    *delivery = (owed_delivery){
        .owed = handle,
        .receiver = receiver,
        .row = row,
        .attempt = row->attempts + 1,
        .idempotency_key = arena_alloc(arena, IDEMPOTENCY_KEY_BYTES),
        .arena = arena,
        .text_size = text_size,
    };
    if (delivery->idempotency_key == NULL)
        return fail_memory(err);
    if (receiver->runner == RUN_FUNCTION)
        return OWED_OK;
    delivery->text = arena_alloc(arena, text_size + 1);
    if (delivery->text == NULL)
        return fail_memory(err);
    make_key(delivery);
    return OWED_OK;
}

const char *
delivery_text(const owed_delivery *delivery)
{
    if (delivery->text == NULL && delivery->text_set)
        return "(no memory was left for the text)";
    return or_empty(delivery->text);
}

void
delivery_forget_text(owed_delivery *delivery)
{
    if (delivery->text != NULL)
        delivery->text[0] = '\0';
    delivery->text_set = false;
}

static owed_outcome
failed_as(owed_delivery *delivery, const char *who, const char *text)
{
    delivery_say(delivery, "%s %s", who, text);
    return (owed_outcome){.verdict = OWED_VERDICT_FAILED};
}

owed_outcome
delivery_make_sense(owed_delivery *delivery, owed_outcome outcome, const char *who)
{
    if (outcome.verdict < OWED_VERDICT_DONE || outcome.verdict > OWED_VERDICT_NOT_YET)
        return failed_as(delivery, who,
            "returned no outcome: it has to end in owed_done, owed_failed, owed_permanent, "
            "owed_retry_after, owed_defer or owed_not_yet");
    if ((outcome.verdict == OWED_VERDICT_RETRY_AFTER && outcome.wait_us < 0) ||
        (outcome.verdict == OWED_VERDICT_DEFER && outcome.wait_us <= 0))
        return failed_as(delivery, who, "made up an outcome with a wait that is none");
    if (outcome.verdict == OWED_VERDICT_NOT_YET && outcome.until_us <= 0)
        return failed_as(delivery, who, "made up an outcome that is due at no moment");
    if (outcome.verdict != OWED_VERDICT_DONE && !delivery->text_set)
        delivery_say(delivery, "%s was not done and did not say why", who);
    return outcome;
}

owed_outcome
delivery_call(owed_delivery *delivery, const void *payload)
{
    const owed_run run = delivery->receiver->declared.run;
    delivery_forget_text(delivery);
    owed_outcome outcome = {.verdict = OWED_VERDICT_DONE};
    if (run != NULL)
        outcome = run(delivery, payload);
    if (run != NULL && outcome.verdict == OWED_VERDICT_DONE)
        return outcome;
    char who[LIMIT_KEY_BYTES + sizeof "receiver "];
    snprintf(who, sizeof who, "receiver %s", delivery->row->receiver_key);
    return run == NULL ? failed_as(delivery, who, "has no function to run here")
                       : delivery_make_sense(delivery, outcome, who);
}

owed_tx *
owed_delivery_tx(owed_delivery *delivery)
{
    if (delivery->tx != NULL || delivery->begin == NULL)
        return delivery->tx;
    if (delivery->begin_error.status != OWED_OK)
        return NULL;
    if (delivery->begin(delivery, &delivery->begin_error) != OWED_OK)
        return NULL;
    return delivery->tx;
}

bool
owed_delivery_lost(const owed_delivery *delivery)
{
    if (delivery->errand != NULL) {
        bool is_open = errand_hold(delivery);
        bool is_closed = !is_open && delivery->errand->state == ERRAND_CLOSED;
        errand_unhold(delivery);
        return is_closed;
    }
    return delivery->slot != NULL && slot_is_lost(delivery->slot);
}

int64_t
owed_delivery_id(const owed_delivery *delivery)
{
    return delivery->row->fence.delivery_id;
}

int64_t
owed_delivery_event_id(const owed_delivery *delivery)
{
    return delivery->row->event_id;
}

const char *
owed_delivery_event_name(const owed_delivery *delivery)
{
    return or_empty(delivery->row->event_name);
}

int32_t
owed_delivery_event_version(const owed_delivery *delivery)
{
    return delivery->row->event_version;
}

const char *
owed_delivery_receiver_key(const owed_delivery *delivery)
{
    return or_empty(delivery->row->receiver_key);
}

const char *
owed_delivery_target(const owed_delivery *delivery)
{
    return or_empty(delivery->row->target);
}

int32_t
owed_delivery_attempt(const owed_delivery *delivery)
{
    return delivery->attempt;
}

int64_t
owed_delivery_due_at_us(const owed_delivery *delivery)
{
    return delivery->row->due_at_us;
}

int64_t
owed_delivery_occurred_at_us(const owed_delivery *delivery)
{
    return delivery->row->occurred_at_us;
}

const char *
owed_delivery_actor_key(const owed_delivery *delivery)
{
    return or_empty(delivery->row->actor_key);
}

const char *
owed_delivery_actor_label(const owed_delivery *delivery)
{
    return or_empty(delivery->row->actor_label);
}

const char *
owed_delivery_scope(const owed_delivery *delivery)
{
    return is_empty(delivery->row->scope) ? "{}" : delivery->row->scope;
}

const char *
owed_delivery_correlation_id(const owed_delivery *delivery)
{
    return or_empty(delivery->row->correlation_id);
}

const char *
owed_delivery_traceparent(const owed_delivery *delivery)
{
    return or_empty(delivery->row->traceparent);
}

const char *
owed_delivery_idempotency_key(const owed_delivery *delivery)
{
    if (delivery->idempotency_key[0] == '\0')
        make_key(delivery);
    return delivery->idempotency_key;
}

owed_bytes
owed_delivery_payload(const owed_delivery *delivery)
{
    return (owed_bytes){.data = delivery->row->payload.p, .len = delivery->row->payload.len};
}

void *
owed_delivery_state(const owed_delivery *delivery)
{
    return delivery->receiver->declared.state;
}

/* --- what an attempt leaves --- */

bool
delivery_leave(owed_delivery *delivery, const struct delivery_left *left)
{
    bool is_open = errand_hold(delivery);
    if (is_open)
        delivery->left = *left;
    errand_unhold(delivery);
    return is_open;
}

void
delivery_is_over(const owed_delivery *delivery)
{
    if (delivery->left.over != NULL)
        delivery->left.over(delivery->left.state);
}

void
delivery_keep(owed_delivery *delivery)
{
    delivery->keeps = true;
}
