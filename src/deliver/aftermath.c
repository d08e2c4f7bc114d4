/* SPDX-License-Identifier: MIT
 *
 * aftermath.c - what the worker that died in this slot left undone.
 *
 * A receiver that crashed its worker, or ran past its timeout and was killed, has failed an attempt. A
 * kill from outside says nothing about the receiver: it is a loss. All else that the dead worker held
 * is free again, uncounted. Where it crashed and nobody can tell over which row (many were in flight,
 * or none had come to its receiver yet), each is a loss: it is claimed alone from now on, so that the
 * one to blame shows, and does not crash workers for ever.
 *
 * On a server a dead worker's session may live on for a while, with all that it has locked: it is ended
 * before anything else.
 */
#include <signal.h>
#include <stdio.h>

#include "base/error.h"
#include "base/moment.h"
#include "deliver/worker.h"
#include "store/look.h"

static bool
was_called_off(const struct slot *slot)
{
    return slot->death.cause == DEATH_CALLED_OFF;
}

/* is_failure tells whether the receiver is to blame. */
static bool
is_failure(const struct slot *slot, enum phase phase)
{
    if (phase != PHASE_RUNNING || was_called_off(slot))
        return false;
    return slot->death.cause == DEATH_TIMEOUT || slot->death.signal != SIGKILL;
}

static void
say_how(const struct slot *slot, char *text, size_t size)
{
    const struct death *death = &slot->death;
    char limit[MOMENT_BYTES];
    if (death->cause == DEATH_TIMEOUT)
        snprintf(text, size, "still running after %s: the worker was killed",
            duration_write(slot->hand.timeout_us, limit));
    else if (death->signal != 0)
        snprintf(
            text, size, "the worker running it died: SIG%s", or_empty(sigabbrev_np(death->signal)));
    else
        snprintf(
            text, size, "the worker running it died: it exited with status %d", death->exit_status);
}

/* read_row reads the row in hand, if it is still held under the dead worker's claim. */
static owed_status
read_row(struct worker *w, struct arena *arena, struct claimed *ret_row, owed_error *err)
{
    const struct in_hand *hand = &w->slot->hand;
    struct delivery_row row;
    owed_status status = store_delivery(w->owed->db, hand->delivery_id, arena, &row, err);
    if (status == OWED_NOT_FOUND)
        return OWED_LOST;
    if (status != OWED_OK)
        return status;
    if (strcmp(row.status, "claimed") != 0 || strcmp(row.claimed_by, w->claimed_by) != 0 ||
        row.claimed_at_us != hand->claimed_at_us)
        return OWED_LOST;
    *ret_row = (struct claimed){
        .fence = {row.id, w->claimed_by, row.claimed_at_us},
        .event_id = row.event_id,
        .event_name = row.event_name,
        .receiver_key = row.receiver_key,
        .lane = row.lane,
        .target = row.target,
        .attempts = row.attempts,
        .max_attempts = row.max_attempts,
    };
    return OWED_OK;
}

static owed_status
record_failure(struct worker *w, const struct claimed *row, owed_error *err)
{
    const struct known *known = known_find(w, row->receiver_key);
    char text[160];
    say_how(w->slot, text, sizeof text);
    const struct ended ended = {
        .row = row,
        .receiver = known == NULL ? NULL : known->receiver,
        .ending = ENDING_DIED,
        .text = text,
        .started_at_us = w->slot->hand.started_at_us,
        .started_mono_us = w->slot->hand.started_mono_us,
        .duration_us = worker_now_us(w) - w->slot->hand.started_at_us,
        .code = -w->slot->death.signal,
    };
    ledger_add(w, &w->gathered, &ended);
    return ledger_flush(w, &w->gathered, err);
}

static owed_status
see_to_hand(struct worker *w, enum phase phase, owed_error *err)
{
    struct arena arena;
    arena_init(&arena, 0);
    struct claimed row;
    owed_status status = read_row(w, &arena, &row, err);
    if (status == OWED_OK && is_failure(w->slot, phase))
        status = record_failure(w, &row, err);
    else if (status == OWED_OK && !was_called_off(w->slot))
        status = store_count_loss(w->owed->db, &row.fence, err);
    if (status == OWED_OK)
        worker_wrote(w);
    arena_done(&arena);
    // Recorded before it died, or somebody else's by now.
    return status == OWED_LOST ? OWED_OK : status;
}

/* is_riddle tells whether it crashed over one of its rows, but not over which. */
static bool
is_riddle(const struct slot *slot, enum phase phase)
{
    return phase == PHASE_IDLE && slot->death.signal != SIGKILL;
}

static owed_status
see_to_rest(struct worker *w, enum phase phase, int64_t *ret_given, owed_error *err)
{
    if (is_riddle(w->slot, phase))
        return store_count_loss_all(w->owed->db, w->claimed_by, ret_given, err);
    return store_hand_back_all(w->owed->db, w->claimed_by, 0, ret_given, err);
}

void
session_note(struct slot *slot, enum thread_session which, struct db *db)
{
    if (slot == NULL)
        return;
    bool is_named = db != NULL && db->driver->session != NULL;
    snprintf(slot->thread_sessions[which], SHARED_SESSION_BYTES, "%s",
        is_named ? or_empty(db->driver->session(db)) : "");
}

/* end_thread ends a session of a thread of the one before: a claim that was under way there would be nobody's, and
 * what it writes would keep its locks. */
static owed_status
end_thread(struct worker *w, enum thread_session which, owed_error *err)
{
    struct db *db = w->owed->db;
    const char *noted = w->slot->thread_sessions[which];
    if (noted[0] == '\0' || db->driver->end_session == NULL)
        return OWED_OK;
    owed_status status = db->driver->end_session(db, noted, err);
    if (status == OWED_UNAVAILABLE)
        return status;
    session_note(w->slot, which, NULL);
    return OWED_OK;
}

static owed_status
end_threads(struct worker *w, owed_error *err)
{
    owed_status status = OWED_OK;
    if (w->ahead == NULL)
        status = end_thread(w, SESSION_AHEAD, err);
    if (status == OWED_OK && w->behind == NULL)
        status = end_thread(w, SESSION_BEHIND, err);
    return status;
}

/* take_over ends the session of the one before, and notes ours for the one after. */
static owed_status
take_over(struct worker *w, owed_error *err)
{
    struct db *db = w->owed->db;
    char *noted = w->slot->session;
    owed_status ended = end_threads(w, err);
    if (ended != OWED_OK)
        return ended;
    const char *ours = db->driver->session == NULL ? "" : or_empty(db->driver->session(db));
    if (strcmp(noted, ours) == 0)
        return OWED_OK;
    owed_status status = OWED_OK;
    if (noted[0] != '\0' && db->driver->end_session != NULL)
        status = db->driver->end_session(db, noted, err);
    // Where it may not be ended, its locks keep us waiting; that is all.
    if (status == OWED_UNAVAILABLE)
        return status;
    snprintf(noted, SHARED_SESSION_BYTES, "%s", ours);
    return OWED_OK;
}

owed_status
aftermath(struct worker *w, owed_error *err)
{
    struct slot *slot = w->slot;
    owed_status status = slot == NULL ? OWED_OK : take_over(w, err);
    if (status != OWED_OK || slot == NULL || slot->death.cause == DEATH_NONE)
        return status;
    enum phase phase = (enum phase)atomic_load(&slot->phase);
    status = phase == PHASE_IDLE ? OWED_OK : see_to_hand(w, phase, err);
    int64_t given = 0;
    if (status == OWED_OK)
        status = see_to_rest(w, phase, &given, err);
    if (status != OWED_OK)
        return status;
    if (given > 0)
        worker_wrote(w);
    log_say(&w->owed->log, OWED_LOG_INFO, "what a dead worker held is free again",
        LOG_TEXT("worker", w->claimed_by), LOG_INT("handed_back", given));
    slot_make_good(w->seat.shared, w->seat.slot);
    return OWED_OK;
}
