/* SPDX-License-Identifier: MIT
 *
 * outside_pass.c - many attempts at once, with no transaction open.
 *
 * A row that is claimed waits until there is room for its kind, then flies, then lands: its outcome is
 * written with all others that have landed meanwhile. A store that fails keeps them landed until it is
 * back; a flight is never repeated for its sake.
 */
#include <stdlib.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/failpoint.h"
#include "deliver/endpoints.h"
#include "deliver/sortie.h"

/* --- starting --- */

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

void
sorties_land(struct worker *w, struct flight *ended)
{
    while (ended != NULL) {
        struct sortie *sortie = (struct sortie *)ended;
        ended = ended->next;
        sortie->flight.next = NULL;
        sorties_take_out(&w->flying, sortie);
        sorties_append(&w->landed, sortie);
        w->flight_count--;
        sortie->known->landed++;
        // One that could not enter the hook was never handed out.
        if (sortie->errand.line != NULL)
            sortie->known->away--;
    }
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

static bool
start_waiting(struct worker *w)
{
    struct sorties held = {0};
    if (!cards_ready(w))
        return false;
    bool ok = start_some(w, &held);
    return sorties_give_back(w, &held, false) && ok;
}

/* --- landing --- */

void
outside_attend(struct worker *w)
{
    if (w->flight_count == 0)
        return;
    sorties_land(w, w->ops->poll(w->outside, NULL, 0, 0));
    errands_collect(w);
    errands_expire(w);
}

void
outside_wait(struct worker *w, int64_t timeout_us)
{
    int fds[WAKE_FDS + 1];
    size_t count = w->wake == NULL ? 0 : wake_fds(w->wake, fds);
    if (w->errands != NULL)
        fds[count++] = errands_fd(w->errands);
    if (errands_next_us(w) < timeout_us)
        timeout_us = errands_next_us(w);
    int64_t wait_us = w->wake == NULL ? timeout_us : wake_timeout_us(w->wake, timeout_us);
    int timeout_ms = (int)((wait_us + US_PER_MS - 1) / US_PER_MS);
    sorties_land(w, w->ops->poll(w->outside, fds, count, timeout_ms));
    errands_collect(w);
    errands_expire(w);
    if (w->wake != NULL)
        wake_take(w->wake);
}

static void
note_landed(struct worker *w, struct ledger *ledger, struct sortie *sortie)
{
    struct flight *flight = &sortie->flight;
    const struct ended ended = {
        .row = sortie->task->row,
        .receiver = sortie->known->receiver,
        .ending = flight->is_put_off ? ENDING_PUT_OFF
                                     : delivery_ending(&flight->delivery, flight->outcome),
        .wait_us = flight->outcome.wait_us,
        .until_us = flight->outcome.until_us,
        .delivery = &flight->delivery,
        .outcome = flight->outcome,
        .text = delivery_text(&flight->delivery),
        .started_at_us = flight->started_at_us,
        .started_mono_us = flight->started_mono_us,
        .duration_us = flight->duration_us,
        .code = flight->code,
        .excerpt = flight->excerpt,
        .keeps_all = sortie->known->receiver->runner == RUN_WEBHOOK ||
            sortie->known->receiver->runner == RUN_ENDPOINT,
    };
    ledger_add(w, ledger, &ended);
}

/* ends_itself: it finishes with a function, in a transaction of its own. */
static bool
ends_itself(const struct sortie *sortie)
{
    return sortie->errand.state == ERRAND_FINISHED && sortie->errand.function != NULL;
}

/* settle_some writes a ledger full of what has landed. */
static bool
settle_some(struct worker *w)
{
    struct ledger *ledger = &w->group.ledger; // no group is open here
    ledger_clear(ledger);
    ledger->is_unsure = w->landed_unsure;
    size_t count = 0;
    for (struct sortie *s = w->landed.first; s != NULL && count < LEDGER_ROWS && !ends_itself(s);
         s = s->next, count++)
        note_landed(w, ledger, s);
    owed_error err = {0};
    if (endpoints_flush(w, ledger, w->landed.first, &err) != OWED_OK) {
        w->landed_unsure = ledger->is_unsure;
        ledger_clear(ledger);
        trouble(w, "acknowledge", &err);
        return false;
    }
    w->landed_unsure = false;
    failpoint("ack-sent");
    owed_status status = endpoints_see_to_kept(w, w->landed.first, count, &err);
    for (; count > 0; count--) {
        struct sortie *s = w->landed.first;
        sorties_take_out(&w->landed, s);
        s->task->state = TASK_DONE;
        w->lost_landed += s->task->row->losses > 0;
        sortie_end_trial(w, s);
        sortie_done(w, s);
    }
    if (status != OWED_OK)
        trouble(w, "look after what is kept for endpoints", &err);
    return status == OWED_OK;
}

bool
outside_settle(struct worker *w)
{
    while (w->landed.first != NULL) {
        struct sortie *first = w->landed.first;
        if (!(ends_itself(first) ? errand_settle(w, first) : settle_some(w)))
            return false;
    }
    return true;
}

/* --- the pass --- */

/* may_start_first: nothing of what landed can keep others of its lane from starting. */
static bool
may_start_first(const struct worker *w)
{
    for (const struct sortie *s = w->landed.first; s != NULL; s = s->next)
        if (s->is_trial || ends_itself(s) || s->flight.outcome.verdict != OWED_VERDICT_DONE)
            return false;
    return true;
}

/* claim_and_start goes on until there is no room, or nothing more to claim. */
static bool
claim_and_start(struct worker *w)
{
    bool has_claimed = false;
    for (bool again = true; again && !w->trouble.now;) {
        has_claimed = outside_claim(w, &again) || has_claimed;
        if (!w->trouble.now)
            start_waiting(w);
    }
    return has_claimed;
}

bool
outside_pass(struct worker *w)
{
    if (w->outside == NULL)
        return false;
    outside_attend(w);
    bool has_landed = w->landed.first != NULL;
    // What can fly, or be claimed, while the store writes need not wait for it.
    bool is_clear = may_start_first(w);
    if (is_clear && !start_waiting(w))
        return has_landed;
    if (is_clear && has_landed)
        outside_claim_ahead(w);
    if (!outside_settle(w) || !outside_renew(w) || !start_waiting(w))
        return has_landed;
    return claim_and_start(w) || has_landed;
}

/* take_back gives others what was started and has not begun. */
static void
take_back(struct worker *w)
{
    struct flight *flight =
        w->outside == NULL || w->ops->recall == NULL ? NULL : w->ops->recall(w->outside);
    while (flight != NULL) {
        struct sortie *sortie = (struct sortie *)flight;
        flight = flight->next;
        sortie->flight.next = NULL;
        sorties_take_out(&w->flying, sortie);
        sorties_append(&w->waiting, sortie);
        w->flight_count--;
        around_leave_unrecorded(&sortie->flight.delivery);
        sortie_end_trial(w, sortie);
    }
}

void
outside_stop(struct worker *w)
{
    if (worker_is_stopping(w))
        take_back(w);
    sorties_give_back(w, &w->waiting, true);
}

void
outside_finish(struct worker *w)
{
    errands_limit(w);
    while (w->flight_count > 0) {
        outside_wait(w, US_PER_SECOND);
        outside_stop(w);
        if (!w->trouble.now && outside_settle(w))
            outside_renew(w);
    }
}

/* outside_close forgets what could not be recorded, too: leases bring it back. */
void
outside_close(struct worker *w)
{
    if (w->outside == NULL)
        return;
    w->ops->close(w->outside);
    cards_done(w);
    struct sorties *lists[] = {&w->waiting, &w->flying, &w->landed};
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
        while (lists[i]->first != NULL) {
            struct sortie *sortie = lists[i]->first;
            sorties_take_out(lists[i], sortie);
            if (sortie->errand.line != NULL)
                errand_close(&sortie->errand);
            around_leave_unrecorded(&sortie->flight.delivery);
            sortie_done(w, sortie);
        }
}
