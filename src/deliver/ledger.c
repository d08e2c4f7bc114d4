/* SPDX-License-Identifier: MIT
 *
 * ledger.c - what attempts came to, on its way into the store.
 *
 * What becomes of a row is decided when its attempt ends; it is counted and logged once it is
 * committed, and only if the row was still held under its fence.
 */
#include <assert.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/moment.h"
#include "base/traceparent.h"
#include "deliver/worker.h"
#include "store/look.h"

static struct curve
curve_of(const struct worker *w, const struct receiver *receiver)
{
    struct curve curve = {w->settings.backoff_base_us, w->settings.backoff_cap_us};
    if (receiver == NULL)
        return curve;
    if (receiver->declared.backoff_base_us > 0)
        curve.base_us = receiver->declared.backoff_base_us;
    if (receiver->declared.backoff_cap_us > 0)
        curve.cap_us = receiver->declared.backoff_cap_us;
    return curve;
}

static struct decision
decide_on(const struct worker *w, const struct ended *ended)
{
    const struct claimed *row = ended->row;
    const struct attempt_facts facts = {
        .ending = ended->ending,
        .wait_us = ended->wait_us,
        .until_us = ended->until_us,
        .attempts = row->attempts,
        .max_attempts = row->max_attempts > 0 ? row->max_attempts : w->settings.max_attempts,
        .curve = curve_of(w, ended->receiver),
        .max_retry_delay_us = w->settings.max_retry_delay_us,
        .due_at_us = row->due_at_us,
        .give_up_after_us =
            ended->receiver == NULL ? 0 : ended->receiver->declared.give_up_after_us,
        .now_us = worker_now_us(w),
    };
    struct decision decision = decide(&facts, &w->owed->dice);
    // Under a limit no row comes twice, not even on a clock that stands still.
    if (w->frozen_now_us != 0 && decision.available_at_us <= w->frozen_now_us)
        decision.available_at_us = w->frozen_now_us + 1;
    return decision;
}

/* keep copies a text, cut to the setting error-length at a character's start. */
static const char *
keep(const struct worker *w, struct ledger *ledger, const char *text)
{
    struct str view = str_of(text);
    size_t max = (size_t)w->settings.error_length;
    if (view.len > max) {
        view.len = max;
        while (view.len > 0 && ((unsigned char)view.p[view.len] & 0xc0) == 0x80)
            view.len--;
    }
    const char *copy = arena_copy(&ledger->arena, view);
    return copy == NULL ? "(no memory was left for the text)" : copy;
}

/* keep_shown keeps what an attempt said, without the secrets of its event. */
static const char *
keep_shown(
    const struct worker *w, struct ledger *ledger, const struct claimed *row, const char *text)
{
    return keep(w, ledger, secrecy_hide(w, row, or_empty(text), &ledger->arena));
}

/* give_up_text says since when it was owed, and for how long its receiver allows that. */
static const char *
give_up_text(struct ledger *ledger, const struct ended *ended)
{
    char since[MOMENT_BYTES];
    char bound[MOMENT_BYTES];
    const char *text = arena_printf(&ledger->arena, "owed since %s, given up after %s: %s",
        moment_write(ended->row->due_at_us, since),
        duration_write(ended->receiver->declared.give_up_after_us, bound), or_empty(ended->text));
    return text == NULL ? ended->text : text;
}

/* last_error_of is what stays with the row; NULL: nothing new. */
static const char *
last_error_of(
    const struct worker *w, struct ledger *ledger, const struct ended *ended, enum ending ending)
{
    if (ending == ENDING_SUCCEEDED || ending == ENDING_NOT_YET)
        return NULL;
    const char *text = ending == ENDING_GAVE_UP ? give_up_text(ledger, ended) : ended->text;
    return keep_shown(w, ledger, ended->row, text);
}

/* result_of is what an attempt leaves with the row; NULL: what stands there stays. */
static const char *
result_of(const struct worker *w, struct ledger *ledger, const struct ended *ended)
{
    if (ended->delivery == NULL || ended->delivery->left.result == NULL)
        return NULL;
    return arena_strdup(
        &ledger->arena, secrecy_hide(w, ended->row, ended->delivery->left.result, &ledger->arena));
}

/* verdict_of is what owed_attempt keeps; NULL: no row. */
static const char *
verdict_of(const struct ended *ended, enum ending ending)
{
    bool is_kept = ending == ENDING_SUCCEEDED ? ended->keeps_all : ending_is_attempt(ending);
    return is_kept ? ending_verdict(ending) : NULL;
}

/* note_delivery takes over what the report of an attempt needs of it. */
static void
note_delivery(
    const struct worker *w, struct ledger *ledger, const struct ended *ended, struct note *note)
{
    owed_delivery *delivery = ended->delivery;
    if (delivery == NULL)
        return;
    if (around_is_entered(delivery))
        note->to_leave = delivery;
    // Where the transaction was to blame, that is what counts.
    const owed_outcome failed = {.verdict = OWED_VERDICT_FAILED};
    note->outcome = ended->ending == ENDING_FAILED ? failed : ended->outcome;
    struct log_field *fields = NULL;
    if (delivery->note_count > 0)
        fields = arena_alloc(&ledger->arena, delivery->note_count * sizeof *fields);
    if (fields == NULL)
        return;
    for (size_t i = 0; i < delivery->note_count; i++)
        fields[i] = LOG_TEXT(arena_strdup(&ledger->arena, delivery->notes[i].key),
            keep_shown(w, ledger, ended->row, delivery->notes[i].text));
    note->fields = fields;
    note->field_count = delivery->note_count;
}

/* consumed_event is the event that may go by this success; 0: it stays until prune finds it. */
static int64_t
consumed_event(const struct worker *w, const struct claimed *row)
{
    struct keeping keeping = registry_keeping(w->owed->registry, row->event_name);
    return keeping.delete_when == OWED_DELETE_WHEN_SUCCEEDED ? row->event_id : 0;
}

/* note_trace keeps the trace that the event belongs to, where a line is going to be logged. */
static void
note_trace(
    const struct worker *w, struct ledger *ledger, const struct ended *ended, struct note *note)
{
    char trace_id[TRACE_ID_BYTES];
    bool is_said = note->ending != ENDING_SUCCEEDED || w->owed->log.level <= OWED_LOG_DEBUG;
    if (is_said && !is_empty(ended->row->traceparent))
        note->trace_id =
            arena_strdup(&ledger->arena, traceparent_trace_id(ended->row->traceparent, trace_id));
}

void
ledger_add(struct worker *w, struct ledger *ledger, const struct ended *ended)
{
    assert(ledger->count < LEDGER_ROWS);
    const struct claimed *row = ended->row;
    struct decision decision = decide_on(w, ended);
    if (ledger->count == 0)
        ledger->oldest_mono_us = worker_mono_us(w);
    ledger->landed[ledger->count] = false;
    struct note *note = &ledger->notes[ledger->count];
    *note = (struct note){.ending = decision.ending, .state = decision.state};
    note->receiver_key = ended->receiver != NULL ? ended->receiver->declared.key
                                                 : keep(w, ledger, row->receiver_key);
    if (decision.wait_was_cut)
        note->asked_wait_us = ended->wait_us;
    note_delivery(w, ledger, ended, note);
    note_trace(w, ledger, ended, note);
    if (decision.ending == ENDING_NOT_YET || decision.ending == ENDING_PUT_OFF)
        note->later = keep_shown(w, ledger, row, ended->text);
    note->wants_room = ended->ending == ENDING_PUT_OFF;
    note->expanded = ended->expanded && decision.ending == ENDING_SUCCEEDED;
    note->target_count = ended->target_count;
    if (decision.ending != ended->ending && decision.ending == ENDING_RETRY_AFTER &&
        ended->receiver != NULL)
        note->was_told = ended->receiver->was_told;
    if (decision.state == STATE_SUCCEEDED && !note->expanded && ended->receiver != NULL)
        note->succeeded_at_us = ended->receiver->succeeded_at_us;
    if (decision.ending != ENDING_SUCCEEDED && ending_is_attempt(decision.ending))
        failure_note(ledger, ended, note);
    hold_note(w, ledger, ended, decision.pause_us, note);

    struct settlement *settlement = &ledger->settlements[ledger->count++];
    *settlement = (struct settlement){
        .fence = row->fence,
        .status = state_name(decision.state),
        .attempts = decision.attempts,
        .available_at_us = decision.available_at_us,
        .now_us = worker_now_us(w),
        .last_error = last_error_of(w, ledger, ended, decision.ending),
        .verdict = verdict_of(ended, decision.ending),
        .attempt = ended->ending == ENDING_LOST ? row->attempts : row->attempts + 1,
        .started_at_us = ended->started_at_us,
        .duration_us = ended->duration_us,
        .code = ended->code,
        .excerpt = is_empty(ended->excerpt) ? "" : keep_shown(w, ledger, row, ended->excerpt),
    };
    settlement->fence.claimed_by = claim_name(w, row);
    settlement->expanded = note->expanded;
    settlement->result = result_of(w, ledger, ended);
    if (decision.state == STATE_SUCCEEDED && !note->expanded)
        settlement->consumed_event_id = consumed_event(w, row);
}

owed_status
ledger_write(struct worker *w, struct ledger *ledger, owed_error *err)
{
    owed_status status =
        store_settle(w->owed->db, ledger->settlements, ledger->count, ledger->landed, err);
    if (status != OWED_LOST)
        return status;
    ledger->landed[0] = false;
    return OWED_OK;
}

owed_status
ledger_write_last(struct worker *w, struct ledger *ledger, owed_error *err)
{
    size_t last = ledger->count - 1;
    owed_status status =
        store_settle(w->owed->db, &ledger->settlements[last], 1, &ledger->landed[last], err);
    return status == OWED_LOST ? OWED_OK : status;
}

/* is_held tells whether a row is still claimed under its fence. */
static owed_status
is_held(struct worker *w, const struct fence *fence, bool *ret_held, owed_error *err)
{
    CLEANUP(arena_done) struct arena arena;
    arena_init(&arena, 0);
    struct delivery_row row;
    owed_status status = store_delivery(w->owed->db, fence->delivery_id, &arena, &row, err);
    *ret_held = status == OWED_OK && strcmp(row.status, state_name(STATE_CLAIMED)) == 0 &&
        strcmp(row.claimed_by, fence->claimed_by) == 0 && row.claimed_at_us == fence->claimed_at_us;
    return status == OWED_NOT_FOUND ? OWED_OK : status;
}

owed_status
ledger_ask(struct worker *w, struct ledger *ledger, owed_error *err)
{
    size_t kept = 0;
    for (size_t i = 0; i < ledger->count; i++) {
        bool held = false;
        owed_status status = is_held(w, &ledger->settlements[i].fence, &held, err);
        if (status != OWED_OK)
            return status;
        if (held)
            continue;
        ledger->settlements[kept] = ledger->settlements[i];
        ledger->notes[kept] = ledger->notes[i];
        ledger->landed[kept++] = true;
    }
    ledger->count = kept;
    return OWED_OK;
}

bool
ledger_is_old(const struct worker *w, const struct ledger *ledger)
{
    return ledger->count > 0 && worker_mono_us(w) - ledger->oldest_mono_us >= GATHER_US;
}

static void
count_note(owed_relay_counts *counts, const struct note *note)
{
    if (!ending_is_attempt(note->ending) || note->expanded)
        return; // it neither succeeded nor failed
    if (note->state == STATE_SUCCEEDED)
        counts->succeeded++;
    else if (note->state == STATE_DEAD)
        counts->dead++;
    else
        counts->failed++;
}

static void
leave(struct worker *w, const struct settlement *settlement, const struct note *note, bool is_here)
{
    if (note->to_leave == NULL)
        return;
    bool is_later = note->outcome.verdict == OWED_VERDICT_NOT_YET; // its text stays with nothing
    if (is_here)
        around_leave(note->to_leave, note->outcome,
            is_later ? delivery_text(note->to_leave) : settlement->last_error);
    else
        around_leave_unrecorded(note->to_leave);
    // It may have written: the other workers are to look once more.
    worker_wrote(w);
}

void
ledger_report(struct worker *w, const struct ledger *ledger)
{
    for (size_t i = 0; i < ledger->count; i++) {
        const struct note *note = &ledger->notes[i];
        const struct settlement *settlement = &ledger->settlements[i];
        if (!ledger->landed[i] && !ledger->is_unsure) {
            report_discarded(w, settlement, note);
            continue;
        }
        count_note(&w->counts, note);
        if (note->succeeded_at_us != NULL)
            atomic_store(note->succeeded_at_us, settlement->now_us);
        hold_hear(w, note);
        put_off_hear(w, settlement, note);
        if (note->expanded)
            report_expanded(w, settlement, note);
        if (w->visit != NULL)
            visit_heard(w, settlement, note);
        if (note->asked_wait_us > 0)
            report_cut(w, settlement, note);
        if (note->was_told != NULL)
            report_unbounded(w, note);
        if (note->later != NULL)
            report_not_yet(w, settlement, note);
        else if (note->ending == ENDING_NOT_SENT)
            report_not_sent(w, settlement, note);
        else if (note->state != STATE_SUCCEEDED)
            report_failure(w, settlement, note);
        else if (!note->expanded)
            report_success(w, settlement, note);
    }
    // Before the application's code may take this process with it.
    worker_share_counts(w);
    for (size_t i = 0; i < ledger->count; i++) {
        bool is_here = ledger->landed[i] || ledger->is_unsure;
        if (is_here)
            failure_tell(w, &ledger->settlements[i], &ledger->notes[i]);
        leave(w, &ledger->settlements[i], &ledger->notes[i], is_here);
    }
}

void
ledger_part(struct ledger *ledger, const owed_delivery *delivery)
{
    for (size_t i = 0; i < ledger->count; i++)
        if (ledger->notes[i].to_leave == delivery)
            ledger->notes[i].to_leave = NULL;
}

void
ledger_clear(struct ledger *ledger)
{
    ledger->count = 0;
    ledger->is_unsure = false;
    arena_reset(&ledger->arena);
}

bool
ledger_may_wait(const struct worker *w, const struct ledger *ledger)
{
    for (size_t i = 0; i < ledger->count; i++)
        if (ledger->notes[i].ending != ENDING_SUCCEEDED || ledger->notes[i].to_leave != NULL)
            return false;
    return !ledger_is_old(w, ledger);
}

void
ledger_written(struct worker *w, struct ledger *ledger)
{
    worker_wrote(w);
    ledger_report(w, ledger);
    ledger_clear(ledger);
}

owed_status
ledger_flush(struct worker *w, struct ledger *ledger, owed_error *err)
{
    if (ledger->count == 0)
        return OWED_OK;
    int64_t begun_us = worker_mono_us(w);
    owed_status status = ledger_write(w, ledger, err);
    w->kept_us += worker_mono_us(w) - begun_us;
    if (status == OWED_UNSURE)
        ledger->is_unsure = true;
    if (status != OWED_OK)
        return status;
    ledger_written(w, ledger);
    worker_yield(w);
    return OWED_OK;
}
