/* SPDX-License-Identifier: MIT
 *
 * sortie.h - a row on its way through the loop of outside attempts.
 */
#ifndef DELIVER_SORTIE_H
#define DELIVER_SORTIE_H

#include "deliver/errand.h"
#include "deliver/worker.h"

struct sortie {
    struct flight flight; // the first member: the loop hands back flights
    struct batch *batch;
    struct task *task;
    struct known *known;
    bool is_lost;         // its lease could not be renewed
    bool is_trial;        // no other may start in its lane until it has landed
    struct errand errand; // of a receiver that only starts; below here: only then
    const void *payload;
    int64_t deadline_mono_us; // INT64_MAX: none
    bool is_unsure;           // the answer to the commit of its function was lost
    struct sortie *prev, *next;
};

void sorties_append(struct sorties *list, struct sortie *sortie);
void sorties_take_out(struct sorties *list, struct sortie *sortie);

/* sorties_give_back frees rows that wait, for everybody, and empties the list. is_stop: the relay ends. */
bool sorties_give_back(struct worker *worker, struct sorties *list, bool is_stop);

/* sorties_start begins what waits, in its order, as far as there is room; false is trouble. */
bool sorties_start(struct worker *worker);

/* sorties_land moves what has ended, a list, from the flying to the landed. */
void sorties_land(struct worker *worker, struct flight *ended);
/* sorties_note fills a ledger with what has landed, in its order, and answers how many of these that is. */
size_t sorties_note(struct worker *worker, struct ledger *ledger);
/* sortie_settled ends the first of a list: its outcome was written. */
void sortie_settled(struct worker *worker, struct sorties *list);

/* sortie_done forgets a sortie, and gives back a large payload at once. */
void sortie_done(struct worker *worker, struct sortie *sortie);
/* sortie_let_go ends the batch with its last sortie. May be called from any thread. */
void sortie_let_go(struct batch *batch);
int32_t sortie_room(const struct worker *worker, const struct known *known);
/* outside_renew renews what has spent half of its lease in flight, and gives back what has waited so long;
 * false is trouble. */
bool outside_renew(struct worker *worker);
/* sortie_note_renewal sees to it that its lease is renewed when it is half spent. */
void sortie_note_renewal(struct worker *worker, const struct sortie *sortie);

/* --- receivers that only start: outside_errand.c --- */

bool is_errand(const struct sortie *sortie);
/* errand_enter is around_enter for one that is going to be handed out. */
bool errand_enter(struct worker *worker, struct sortie *sortie);
void errand_start(struct worker *worker, struct sortie *sortie);
/* errands_collect lands what was finished, errands_expire what was not in time. */
void errands_collect(struct worker *worker);
void errands_expire(struct worker *worker);
int64_t errands_next_us(
    const struct worker *worker); // until the next one's time is over; INT64_MAX
/* errands_limit gives all that have no end of their own one: a stop was asked for. */
void errands_limit(struct worker *worker);
/* errand_lose ends the waiting for one whose lease was lost, if it is such. */
void errand_lose(struct worker *worker, struct sortie *sortie);
/* errand_settle records one that is finished with a function; false is trouble. */
bool errand_settle(struct worker *worker, struct sortie *sortie);

/* sortie_end_trial lets others of its lane start, if it was the one on trial. */
void sortie_end_trial(struct worker *worker, struct sortie *sortie);

/* outside_claim takes rows for the room there is, and as many more as have landed since the last claim:
 * so many will find room before the next. true: some were ours. *ret_again: there may be more. */
bool outside_claim(struct worker *worker, bool *ret_again);
/* outside_forgo_claim: what has landed by now is no reason to claim more later. */
void outside_forgo_claim(struct worker *worker);
/* outside_has_stock: what is to start next is here, and is going to: no claim is waited for. */
bool outside_has_stock(const struct worker *worker);
/* outside_claim_ahead begins one, where the last suggests that there is more of what flows: outcomes are written
 * meanwhile. */
void outside_claim_ahead(struct worker *worker);

#endif
