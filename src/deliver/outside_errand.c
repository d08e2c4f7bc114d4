/* SPDX-License-Identifier: MIT
 *
 * outside_errand.c - receivers that only start, among the flights of the loop: begun on the relay's
 * thread, in flight for as long as they take, and given up at the end of their time.
 */
#include <stdio.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "deliver/scope.h"
#include "deliver/sortie.h"

bool
is_errand(const struct sortie *sortie)
{
    return sortie->known->receiver->runner == RUN_START;
}

static void
note_deadline(struct worker *w, struct sortie *sortie, int64_t in_us)
{
    sortie->deadline_mono_us = worker_mono_us(w) + in_us;
    if (sortie->deadline_mono_us < w->next_deadline_mono_us)
        w->next_deadline_mono_us = sortie->deadline_mono_us;
}

/* give_up lands one that was not finished; false: it was, just now. */
static bool
give_up(struct worker *w, struct sortie *sortie, const char *why)
{
    if (!errand_close(&sortie->errand))
        return false;
    struct flight *flight = &sortie->flight;
    delivery_say(
        &flight->delivery, "receiver %s did not finish: %s", sortie->task->row->receiver_key, why);
    flight->outcome = (owed_outcome){.verdict = OWED_VERDICT_FAILED};
    flight->duration_us = worker_mono_us(w) - flight->started_mono_us;
    flight->next = NULL;
    sorties_land(w, flight);
    return true;
}

bool
errand_enter(struct worker *w, struct sortie *sortie)
{
    struct flight *flight = &sortie->flight;
    errand_prepare(&sortie->errand, w->errands, sortie->batch, sortie, &flight->delivery);
    if (around_enter(&flight->delivery, &flight->outcome))
        return true;
    errand_withdraw(&sortie->errand, &flight->delivery);
    return false;
}

void
errand_start(struct worker *w, struct sortie *sortie)
{
    struct flight *flight = &sortie->flight;
    const struct receiver *receiver = sortie->known->receiver;
    owed *handle = w->owed;
    sortie->deadline_mono_us = INT64_MAX;
    if (flight->timeout_us > 0)
        note_deadline(w, sortie, flight->timeout_us);
    else if (w->errands_are_limited)
        note_deadline(w, sortie, lease_us(w, sortie->known->receiver));
    sortie->known->away++;
    errand_open(&sortie->errand);
    // From here on the delivery may be in other hands; the batch stays, since we hold it too.
    show_hand(w, sortie->task, receiver, flight->started_at_us);
    struct owed_scope block;
    const struct cause cause = cause_of(handle, sortie->task->row);
    scope_enter(&block, &cause, true);
    receiver->declared.start(&flight->delivery, sortie->payload);
    scope_leave(&block);
    worker_phase(w, PHASE_IDLE);
    handle->db->driver->sweep(handle->db);
    if (handle_end_stray(handle))
        give_up(w, sortie, "it left a transaction open that it had begun, which was rolled back");
}

void
errands_collect(struct worker *w)
{
    if (w->errands == NULL)
        return;
    struct errand *next = NULL;
    for (struct errand *e = errands_take(w->errands); e != NULL; e = next) {
        next = e->next;
        struct sortie *sortie = e->sortie;
        struct flight *flight = &sortie->flight;
        char who[LIMIT_KEY_BYTES + sizeof "receiver "];
        snprintf(who, sizeof who, "receiver %s", sortie->task->row->receiver_key);
        flight->outcome = e->function != NULL
            ? owed_done()
            : delivery_make_sense(&flight->delivery, e->outcome, who);
        flight->duration_us = worker_mono_us(w) - flight->started_mono_us;
        flight->next = NULL;
        sorties_land(w, flight);
    }
}

void
errands_expire(struct worker *w)
{
    int64_t now_us = worker_mono_us(w);
    if (now_us < w->next_deadline_mono_us)
        return;
    w->next_deadline_mono_us = INT64_MAX;
    struct sortie *next = NULL;
    for (struct sortie *s = w->flying.first; s != NULL; s = next) {
        next = s->next;
        if (!is_errand(s))
            continue;
        if (now_us >= s->deadline_mono_us)
            give_up(w, s, w->errands_are_limited ? "the relay ended" : "its time was over");
        else if (s->deadline_mono_us < w->next_deadline_mono_us)
            w->next_deadline_mono_us = s->deadline_mono_us;
    }
}

void
errands_limit(struct worker *w)
{
    w->errands_are_limited = true;
    for (struct sortie *s = w->flying.first; s != NULL; s = s->next)
        if (is_errand(s) && s->deadline_mono_us == INT64_MAX)
            note_deadline(w, s, lease_us(w, s->known->receiver));
}

int64_t
errands_next_us(const struct worker *w)
{
    if (w->next_deadline_mono_us == INT64_MAX)
        return INT64_MAX;
    int64_t left_us = w->next_deadline_mono_us - worker_mono_us(w);
    return left_us > 0 ? left_us : 0;
}

void
errand_lose(struct worker *w, struct sortie *sortie)
{
    if (is_errand(sortie))
        give_up(w, sortie, "its row was taken");
}

static void
let_go(struct worker *w, struct sortie *sortie)
{
    sorties_take_out(&w->landed, sortie);
    sortie->task->state = TASK_DONE;
    around_leave_unrecorded(&sortie->flight.delivery);
    sortie_end_trial(w, sortie);
    sortie_done(w, sortie);
}

/* is_still_held asks whether a commit came to nothing whose answer was lost: LOST where it did not. */
static owed_status
is_still_held(struct worker *w, const struct sortie *sortie, owed_error *err)
{
    if (!sortie->is_unsure)
        return OWED_OK;
    struct fence fence = sortie->task->row->fence;
    fence.claimed_by = w->claimed_by;
    int64_t until_us = worker_now_us(w) + lease_us(w, sortie->known->receiver);
    return store_renew(w->owed->db, &fence, until_us, err);
}

/* put_off keeps one whose function could not be committed: it runs again once the store is back, or at
 * once where nothing but others' locks was in its way. */
static void
put_off(struct worker *w, struct sortie *sortie, const struct attempt *attempt, bool is_again)
{
    ledger_part(&w->gathered, &attempt->delivery);
    ledger_part(&w->group.ledger, &attempt->delivery);
    sortie->task->state = TASK_AWAY;
    sortie->is_unsure = !is_again && w->trouble.error.status == OWED_UNSURE;
}

/* take_notes gives a delivery memory of its own: the batch's may be in other hands. */
static void
take_notes(owed_delivery *delivery, struct arena *arena)
{
    struct log_field *notes = arena_alloc(arena, DELIVERY_NOTES * sizeof *notes);
    delivery->arena = arena;
    if (notes == NULL)
        delivery->note_count = 0;
    for (size_t i = 0; i < delivery->note_count; i++)
        notes[i] = delivery->notes[i];
    delivery->notes = notes;
}

/* run_function runs what it is to finish with, in the transaction that acknowledges it. */
static bool
run_function(struct worker *w, struct sortie *sortie)
{
    struct flight *flight = &sortie->flight;
    struct attempt attempt = {
        .worker = w,
        .task = sortie->task,
        .known = sortie->known,
        .delivery = flight->delivery,
        .finish = sortie->errand.function,
        .finish_state = sortie->errand.function_state,
    };
    // The receiver may still hold the first one; what is said now is said of this.
    attempt.delivery.errand = NULL;
    CLEANUP(arena_done) struct arena arena;
    arena_init(&arena, 0);
    take_notes(&attempt.delivery, &arena);
    attempt.delivery.begin = group_begin;
    attempt.delivery.begin_state = &attempt;
    attempt_run(&attempt);
    attempt.started_at_us = flight->started_at_us;
    attempt.started_mono_us = flight->started_mono_us;
    attempt.duration_us = flight->duration_us;
    bool ok = group_settle(&attempt) && record_now(w);
    worker_phase(w, PHASE_IDLE);
    bool is_again = ok && sortie->task->state == TASK_ALONE;
    if (is_again || (!ok && sortie->task->state != TASK_DONE)) {
        put_off(w, sortie, &attempt, is_again);
        return is_again;
    }
    attempt_over(&attempt);
    flight->delivery.around.enter = NULL;
    let_go(w, sortie);
    return ok;
}

bool
errand_settle(struct worker *w, struct sortie *sortie)
{
    owed_error err = {0};
    owed_status status = is_still_held(w, sortie, &err);
    if (status == OWED_OK)
        return run_function(w, sortie);
    if (status == OWED_LOST)
        let_go(w, sortie);
    else
        trouble(w, "see whether a commit was kept", &err);
    return status == OWED_LOST;
}
