/* SPDX-License-Identifier: MIT
 *
 * attempt.c - one row's turn: whether it can run here, and the call of its receiver.
 */
#include <stdio.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/failpoint.h"
#include "declare/codec.h"
#include "deliver/scope.h"
#include "deliver/worker.h"

enum ending
ending_of(owed_outcome outcome)
{
    static const enum ending endings[] = {
        [OWED_VERDICT_DONE] = ENDING_SUCCEEDED,
        [OWED_VERDICT_FAILED] = ENDING_FAILED,
        [OWED_VERDICT_PERMANENT] = ENDING_PERMANENT,
        [OWED_VERDICT_RETRY_AFTER] = ENDING_RETRY_AFTER,
        [OWED_VERDICT_DEFER] = ENDING_DEFERRED,
        [OWED_VERDICT_NOT_YET] = ENDING_NOT_YET,
    };
    size_t verdict = (size_t)outcome.verdict;
    bool is_known = verdict > 0 && verdict < sizeof endings / sizeof endings[0];
    return is_known ? endings[verdict] : ENDING_FAILED;
}

enum ending
delivery_ending(const owed_delivery *delivery, owed_outcome outcome)
{
    enum ending ending = ending_of(outcome);
    return delivery->hook_failed && ending == ENDING_FAILED ? ENDING_HOOK : ending;
}

int64_t
lease_us(const struct worker *w, const struct receiver *receiver)
{
    int64_t declared = receiver->declared.lease_us;
    return declared > 0 ? declared : w->settings.lease_us;
}

owed_status
lease_keep(struct worker *w, struct task *task, const struct receiver *receiver, owed_error *err)
{
    int64_t now_us = worker_now_us(w);
    int64_t full_us = lease_us(w, receiver);
    if (task->lease_expires_at_us - now_us >= full_us / 2)
        return OWED_OK;
    struct fence fence = task->row->fence;
    fence.claimed_by = claim_name(w, task->row);
    owed_status status = store_renew(w->owed->db, &fence, now_us + full_us, err);
    if (status != OWED_OK)
        return status;
    worker_wrote(w);
    task->lease_expires_at_us = now_us + full_us;
    return OWED_OK;
}

/* note_end notes the end of a row that never reached its receiver. */
static enum readiness
note_end(struct worker *w, const struct task *task, const struct known *known, enum ending ending,
    const char *text)
{
    const struct ended ended = {
        .row = task->row,
        .receiver = known->receiver,
        .ending = ending,
        .text = text,
        .started_at_us = worker_now_us(w),
    };
    ledger_add(w, &w->gathered, &ended);
    return NOT_TO_RUN;
}

/* was_withdrawn tells whether the catalogue marks the event as removed for longer than the grace. */
static bool
was_withdrawn(struct worker *w, const char *event_name)
{
    struct arena arena;
    arena_init(&arena, 0);
    struct catalogue_event *events = NULL;
    size_t count = 0;
    owed_error err;
    bool is_withdrawn = false;
    int64_t grace_us = w->settings.orphan_grace_us < 0 ? 0 : w->settings.orphan_grace_us;
    if (store_catalogue_events(w->owed->db, &arena, &events, &count, &err) == OWED_OK)
        for (size_t i = 0; i < count; i++)
            if (strcmp(events[i].name, event_name) == 0)
                is_withdrawn = events[i].removed_at_us != 0 &&
                    events[i].removed_at_us + grace_us <= worker_now_us(w);
    arena_done(&arena);
    return is_withdrawn;
}

/* check_event sees to rows whose receiver is declared for another event than the row's. */
static enum readiness
check_event(struct worker *w, struct task *task, const struct known *known)
{
    const struct claimed *row = task->row;
    if (receiver_wants(known->receiver, row->event_name))
        return READY;
    bool is_declared = registry_type(w->owed->registry, row->event_name) != NULL;
    if (!is_declared && !was_withdrawn(w, row->event_name))
        return NOT_OURS;
    owed_error sentence;
    fail(&sentence, OWED_CONFIG, "event %s is no longer declared for receiver %s", row->event_name,
        row->receiver_key);
    return note_end(w, task, known, ENDING_FAILED, sentence.text);
}

enum readiness
row_check(struct worker *w, struct task *task, const struct known *known)
{
    const struct claimed *row = task->row;
    enum readiness readiness = check_event(w, task, known);
    if (readiness != READY)
        return readiness;
    owed_error err = {0};
    if (w->settings.max_losses > 0 && row->losses >= w->settings.max_losses) {
        fail(&err, OWED_LIMIT,
            "claimed and lost %d times: each time the relay that held it ended without a word",
            row->losses);
        return note_end(w, task, known, ENDING_LOST, err.text);
    }
    owed_status status = lease_keep(w, task, known->receiver, &err);
    if (status == OWED_OK)
        return READY;
    if (status == OWED_LOST) {
        report_lost(w, row);
        return NOT_HELD;
    }
    trouble(w, "renew a lease", &err);
    return NO_STORE;
}

enum readiness
attempt_decode(struct worker *w, const struct task *task, const struct known *known,
    struct arena *arena, const void **ret_payload)
{
    const struct claimed *row = task->row;
    owed_error err = {0};
    owed_status status = codec_decode(
        known->receiver->type, row->event_version, row->payload, arena, ret_payload, &err);
    if (status == OWED_OK)
        return READY;
    if (status == OWED_INVALID || status == OWED_LIMIT || status == OWED_CONFIG)
        return note_end(w, task, known, ENDING_UNDECODABLE, err.text);
    trouble(w, "prepare an attempt", &err);
    return NO_STORE;
}

enum readiness
attempt_prepare(struct worker *w, struct task *task, struct known *known, struct arena *arena,
    struct attempt *ret_attempt)
{
    *ret_attempt = (struct attempt){.worker = w, .task = task, .known = known};
    enum readiness readiness = row_check(w, task, known);
    if (readiness == READY)
        readiness = attempt_decode(w, task, known, arena, &ret_attempt->payload);
    if (readiness != READY)
        return readiness;
    owed_error err = {0};
    owed_status status = delivery_init(&ret_attempt->delivery, w->owed, known->receiver, task->row,
        (size_t)w->settings.error_length, arena, &err);
    if (status == OWED_OK)
        return READY;
    trouble(w, "prepare an attempt", &err);
    return NO_STORE;
}

void
show_hand(struct worker *w, const struct task *task, const struct receiver *receiver,
    int64_t started_at_us)
{
    if (w->seat.shared == NULL)
        return;
    const struct claimed *row = task->row;
    struct in_hand hand = {
        .delivery_id = row->fence.delivery_id,
        .claimed_at_us = row->fence.claimed_at_us,
        .started_at_us = started_at_us,
        .started_mono_us = clock_monotonic_us(&clock_system),
        .timeout_us = receiver->declared.timeout_us,
        .lease_us = lease_us(w, receiver),
        .lease_expires_at_us = task->lease_expires_at_us,
        .attempt = row->attempts + 1,
    };
    snprintf(hand.receiver_key, sizeof hand.receiver_key, "%s", row->receiver_key);
    slot_begin(w->seat.shared, w->seat.slot, &hand);
}

void
worker_phase(struct worker *w, enum phase phase)
{
    if (w->seat.shared != NULL)
        slot_phase(w->seat.shared, w->seat.slot, phase);
}

/* end_own_transaction sees to a receiver that left a transaction of the handle's open. */
static void
end_own_transaction(struct attempt *a)
{
    struct worker *w = a->worker;
    if (w->owed->tx == NULL)
        return;
    owed_rollback(w->owed->tx);
    delivery_say(&a->delivery,
        "receiver %s left a transaction open that it had begun: it was rolled back",
        a->task->row->receiver_key);
    a->outcome = (owed_outcome){.verdict = OWED_VERDICT_FAILED};
}

static owed_outcome
call_finish(struct attempt *a)
{
    owed_delivery *delivery = &a->delivery;
    delivery_forget_text(delivery);
    return delivery_make_sense(
        delivery, a->finish(delivery, a->finish_state), "the function to finish with");
}

void
attempt_run(struct attempt *a)
{
    owed *handle = a->worker->owed;
    a->started_at_us = worker_now_us(a->worker);
    a->started_mono_us = worker_mono_us(a->worker);
    show_hand(a->worker, a->task, a->known->receiver, a->started_at_us);
    a->delivery.slot =
        a->worker->slot != NULL ? a->worker->slot : keeper_slot(a->worker->taking_over.keeper);
    struct owed_scope block;
    const struct cause cause = cause_of(handle, a->task->row);
    scope_enter(&block, &cause, true);
    a->worker->in_hand = a;
    // A row that stands for targets reaches no receiver: nothing is wrapped around it.
    if (a->expands)
        a->outcome = expand_run(a);
    else if (a->finish != NULL)
        a->outcome = call_finish(a);
    else if (around_enter(&a->delivery, &a->outcome))
        a->outcome = delivery_call(&a->delivery, a->payload);
    a->worker->in_hand = NULL;
    handle->db->driver->sweep(handle->db);
    scope_leave(&block);
    worker_phase(a->worker, PHASE_ACKNOWLEDGING);
    failpoint("receiver-ran");
    end_own_transaction(a);
    a->duration_us = worker_mono_us(a->worker) - a->started_mono_us;
    if (!a->expands)
        known_time(a->known, a->duration_us);
}

void
attempt_ended(struct attempt *a, struct ended *ret_ended)
{
    *ret_ended = (struct ended){
        .row = a->task->row,
        .receiver = a->known->receiver,
        .ending = delivery_ending(&a->delivery, a->outcome),
        .wait_us = a->outcome.wait_us,
        .until_us = a->outcome.until_us,
        .delivery = &a->delivery,
        .outcome = a->outcome,
        .text = delivery_text(&a->delivery),
        .started_at_us = a->started_at_us,
        .started_mono_us = a->started_mono_us,
        .duration_us = a->duration_us,
        .expanded = a->expands && a->outcome.verdict == OWED_VERDICT_DONE,
        .target_count = a->target_count,
    };
}

void
attempt_over(struct attempt *a)
{
    if (!around_is_entered(&a->delivery))
        return;
    ledger_part(&a->worker->gathered, &a->delivery);
    ledger_part(&a->worker->group.ledger, &a->delivery);
    around_leave_unrecorded(&a->delivery);
    worker_wrote(a->worker);
}
