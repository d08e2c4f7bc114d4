/* SPDX-License-Identifier: MIT
 *
 * outside_start.c - rows that wait are begun, in their order, as far as there is room and nothing holds them.
 */
#include "base/clock.h"
#include "base/error.h"
#include "deliver/endpoints.h"
#include "deliver/sortie.h"

int32_t
sortie_room(const struct worker *w, const struct known *known)
{
    if (known->receiver->runner == RUN_START)
        return w->settings.in_flight - known->away;
    return w->ops->room(w->outside, known->receiver);
}

void
sortie_note_renewal(struct worker *w, const struct sortie *sortie)
{
    int64_t at_us = sortie->task->lease_expires_at_us - lease_us(w, sortie->known->receiver) / 2;
    if (at_us < w->next_renewal_us)
        w->next_renewal_us = at_us;
}

static void
start(struct worker *w, struct sortie *sortie)
{
    struct flight *flight = &sortie->flight;
    flight->started_at_us = worker_now_us(w);
    flight->started_mono_us = worker_mono_us(w);
    flight->timeout_us = sortie->known->receiver->declared.timeout_us;
    sorties_append(&w->flying, sortie);
    w->flight_count++;
    flight->next = NULL;
    if (sortie->known->receiver->runner == RUN_ENDPOINT)
        flight->endpoint = card_take(w, sortie->task->row->target);
    bool is_entered = is_errand(sortie) ? errand_enter(w, sortie)
                                        : around_enter(&flight->delivery, &flight->outcome);
    if (!is_entered)
        sorties_land(w, flight);
    else if (is_errand(sortie))
        errand_start(w, sortie);
    else
        w->ops->start(w->outside, flight);
}

bool
sorties_give_back(struct worker *w, struct sorties *list, bool is_stop)
{
    bool ok = true;
    while (list->first != NULL) {
        struct fence fences[LEDGER_ROWS];
        struct sortie *given[LEDGER_ROWS];
        size_t count = 0;
        for (; list->first != NULL && count < LEDGER_ROWS; count++) {
            struct sortie *s = list->first;
            sorties_take_out(list, s);
            fences[count] = s->task->row->fence;
            given[count] = s;
        }
        ok = hand_back(w, fences, count, is_stop ? count : 0) && ok;
        for (size_t i = 0; i < count && !is_stop; i++)
            visit_leave(w, fences[i].delivery_id);
        for (size_t i = 0; i < count; i++)
            sortie_done(w, given[i]);
    }
    return ok;
}

/* may_start asks for a row; one that is held goes to the others that are. */
static bool
may_start(struct worker *w, struct sortie *s, struct sorties *held)
{
    const struct receiver *receiver = s->known->receiver;
    bool has_room = sortie_room(w, s->known) > 0;
    enum hold hold = has_room ? hold_ask(w, s->task->row, receiver) : HOLD_NONE;
    s->is_trial = hold == HOLD_TRIAL;
    if (has_room ? hold != HOLD_HELD : !hold_holds(w, s->task->row, receiver))
        return has_room;
    sorties_take_out(&w->waiting, s);
    sorties_append(held, s);
    return false;
}

void
sortie_end_trial(struct worker *w, struct sortie *s)
{
    if (s->is_trial)
        hold_release(w, s->task->row, s->known->receiver);
    s->is_trial = false;
}

/* start_some starts, in their order, what there is room for. */
static bool
start_some(struct worker *w, struct sorties *held)
{
    struct sortie *next = NULL;
    for (struct sortie *s = w->waiting.first; s != NULL; s = next) {
        next = s->next;
        if (worker_is_stopping(w) || !may_start(w, s, held))
            continue;
        owed_error err = {0};
        owed_status status = lease_keep(w, s->task, s->known->receiver, &err);
        if (status != OWED_OK)
            sortie_end_trial(w, s);
        if (status != OWED_OK && status != OWED_LOST) {
            trouble(w, "renew a lease", &err);
            return false;
        }
        sorties_take_out(&w->waiting, s);
        sortie_note_renewal(w, s);
        if (status == OWED_OK) {
            start(w, s);
            continue;
        }
        report_lost(w, s->task->row);
        sortie_done(w, s);
    }
    return true;
}

bool
sorties_start(struct worker *w)
{
    struct sorties held = {0};
    if (!cards_ready(w))
        return false;
    bool ok = start_some(w, &held);
    return sorties_give_back(w, &held, false) && ok;
}
