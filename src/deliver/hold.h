/* SPDX-License-Identifier: MIT
 *
 * hold.h - pauses, as a worker meets them.
 */
#ifndef DELIVER_HOLD_H
#define DELIVER_HOLD_H

#include "deliver/ledger.h"
#include "deliver/pauses.h"

struct receiver;

#define TRIAL_LOOK_US INT64_C(100000) // how often to look whether another worker's trial is over

/* What claims leave out: room for lists of it. */
struct left_out {
    struct pause_of list[PAUSES];
    const char *lanes[PAUSES + 1];
    struct left_target targets[PAUSES];
};

/* hold.c: pauses. hold_ask asks for a row before it starts; after a trial hold_release, once its outcome
 * is recorded or will never be. */
bool hold_any(const struct worker *worker);
enum hold hold_ask(
    struct worker *worker, const struct claimed *row, const struct receiver *receiver);
/* hold_holds asks without starting it. */
bool hold_holds(struct worker *worker, const struct claimed *row, const struct receiver *receiver);
void hold_release(
    struct worker *worker, const struct claimed *row, const struct receiver *receiver);
void hold_release_all(struct worker *worker);
/* hold_note keeps what hold_hear needs once the outcome is committed. */
void hold_note(struct worker *worker, struct ledger *ledger, const struct ended *ended,
    int64_t pause_us, struct note *note);
void hold_hear(struct worker *worker, const struct note *note);
/* hold_rests: all of a receiver is paused, or a row of it on trial. */
bool hold_rests(const struct worker *worker, const struct receiver *receiver);
/* hold_leave_out has a claim bring no rows of lanes and targets that are paused, or on trial. */
void hold_leave_out(const struct worker *worker, struct claim *claim);
/* hold_wait_us tells how long until that changes; INT64_MAX: nothing will. */
int64_t hold_wait_us(const struct worker *worker);

#endif
