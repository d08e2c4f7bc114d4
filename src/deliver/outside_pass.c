/* SPDX-License-Identifier: MIT
 *
 * outside_pass.c - many attempts at once, with no transaction open.
 *
 * A row that is claimed waits until there is room for its kind, then flies, then lands: its outcome is
 * written with all others that have landed meanwhile. A store that fails keeps them landed until it is
 * back; a flight is never repeated for its sake.
 */
#include <poll.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/failpoint.h"
#include "deliver/endpoints.h"
#include "deliver/sortie.h"

#define GATHER_ROWS 250 // a commit's worth; what is not written yet is sent again after a crash
#define GATHER_MAX_US INT64_C(10000) // what has landed waits no longer for more
#define FLIGHTS_LEFT 32              // fewer in flight may all land during a nap
#define NAP_US 1000

/* --- landing --- */

/* note_flow counts what its destination took. */
static void
note_flow(struct worker *w, struct sortie *sortie, int64_t now_us)
{
    const struct flight *flight = &sortie->flight;
    if (flight->is_put_off || flight->outcome.verdict != OWED_VERDICT_DONE)
        return;
    flow_note(&w->flow, now_us);
    flow_note(&sortie->known->flow, now_us);
}

void
sorties_land(struct worker *w, struct flight *ended)
{
    int64_t now_us = ended == NULL ? 0 : worker_mono_us(w);
    if (w->landed.first == NULL)
        w->landed_mono_us = now_us;
    while (ended != NULL) {
        struct sortie *sortie = (struct sortie *)ended;
        ended = ended->next;
        sortie->flight.next = NULL;
        sorties_take_out(&w->flying, sortie);
        sorties_append(&w->landed, sortie);
        w->flight_count--;
        sortie->known->landed++;
        note_flow(w, sortie, now_us);
        // One that could not enter the hook was never handed out.
        if (sortie->errand.line != NULL)
            sortie->known->away--;
    }
}

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

size_t
sorties_note(struct worker *w, struct ledger *ledger)
{
    size_t count = 0;
    ledger_clear(ledger);
    for (struct sortie *s = w->landed.first; s != NULL && count < LEDGER_ROWS && !ends_itself(s);
         s = s->next, count++)
        note_landed(w, ledger, s);
    return count;
}

void
sortie_settled(struct worker *w, struct sorties *list)
{
    struct sortie *s = list->first;
    sorties_take_out(list, s);
    s->task->state = TASK_DONE;
    w->lost_landed += s->task->row->losses > 0;
    sortie_end_trial(w, s);
    sortie_done(w, s);
}

/* settle_some writes a ledger full of what has landed. */
static bool
settle_some(struct worker *w)
{
    struct ledger *ledger = &w->group.ledger; // no group is open here
    size_t count = sorties_note(w, ledger);
    ledger->is_unsure = w->landed_unsure;
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
    for (; count > 0; count--)
        sortie_settled(w, &w->landed);
    if (status != OWED_OK)
        trouble(w, "look after what is kept for endpoints", &err);
    return status == OWED_OK;
}

/* gathers tells whether what landed waits for more to be written along: soon there will be, while rows flow, and
 * nobody waits for what these came to. */
static bool
gathers(const struct worker *w)
{
    // After a crash all these are sent again: no more than twice what may be in flight.
    if (behind_is_busy(w))
        return w->landed.count + behind_rows(w) < 2 * (size_t)w->settings.in_flight;
    return w->flight_count >= FLIGHTS_LEFT && w->landed.count < GATHER_ROWS &&
        worker_mono_us(w) - w->landed_mono_us < GATHER_MAX_US;
}

/* goes_on: requests need not wait until what has landed is written. Towards the end there are hardly any. */
static bool
goes_on(struct worker *w)
{
    bool flows =
        w->visit == NULL && !worker_is_stopping(w) && flow_rows(&w->flow, worker_mono_us(w)) > 0;
    bool has_more = w->flight_count >= FLIGHTS_LEFT || ahead_has(w, SHARE_LOOP);
    return flows && has_more && (gathers(w) || behind_begin(w));
}

bool
outside_settle(struct worker *w)
{
    behind_collect(w, true);
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

/* claim_and_start goes on until there is no room, or nothing more to claim. While nothing lands, what is in
 * stock may not start for long, and others have room. */
static bool
claim_and_start(struct worker *w, bool has_landed, bool waits)
{
    bool has_claimed = false;
    for (bool again = true; again && !w->trouble.now;) {
        bool has_more = waits ? ahead_has(w, SHARE_LOOP) : ahead_has_come(w, SHARE_LOOP);
        if (has_landed && outside_has_stock(w) && !has_more) {
            outside_forgo_claim(w);
            break;
        }
        has_claimed = outside_claim(w, &again) || has_claimed;
        if (!w->trouble.now)
            sorties_start(w);
    }
    return has_claimed;
}

/* nap lets some land, where each by itself would wake us. */
static void
nap(void)
{
    const struct timespec a_moment = {.tv_nsec = NAP_US * 1000};
    ppoll(NULL, 0, &a_moment, NULL);
}

bool
outside_pass(struct worker *w)
{
    if (w->outside == NULL)
        return false;
    outside_attend(w);
    behind_collect(w, false);
    bool has_landed = w->landed.first != NULL || behind_is_busy(w);
    // What can fly, or be claimed, while the store writes need not wait for it.
    bool is_clear = may_start_first(w);
    if (is_clear && !sorties_start(w))
        return has_landed;
    if (is_clear && has_landed)
        outside_claim_ahead(w);
    bool waits = !is_clear || !has_landed || !goes_on(w);
    if (waits && !outside_settle(w))
        return has_landed;
    if (!outside_renew(w) || !sorties_start(w))
        return has_landed;
    bool has_claimed = claim_and_start(w, has_landed, waits);
    if (!waits)
        nap();
    return has_claimed || has_landed;
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
    behind_drop(w);
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
