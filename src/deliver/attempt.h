/* SPDX-License-Identifier: MIT
 *
 * attempt.h - one attempt: is the row still to be run, running it, and how it ended.
 */
#ifndef DELIVER_ATTEMPT_H
#define DELIVER_ATTEMPT_H

#include "deliver/batch.h"
#include "deliver/delivery.h"
#include "deliver/ledger.h"
#include "deliver/shared.h"

struct attempt {
    struct worker *worker;
    struct task *task;
    struct known *known;
    owed_delivery delivery;
    const void *payload;
    int64_t started_at_us;
    int64_t started_mono_us;
    int64_t duration_us;
    owed_outcome outcome;
    bool may_share; // the transaction, with its neighbours
    bool asked;     // it has the group's transaction
    bool is_saved;  // in a savepoint
    bool laid_open; // its neighbours' outcomes were written behind that savepoint
    bool expands;   // the row stands for targets: they are asked for, and no receiver runs
    size_t target_count;
    owed_finish_function finish; // in place of the receiver, which has run; NULL: none
    void *finish_state;
    struct fired **mark;
};

enum readiness {
    READY,
    NOT_OURS,   // no such receiver, or no such event, here
    NOT_HELD,   // the claim was lost
    NOT_TO_RUN, // over already: its end stands in the gathered ledger
    NO_STORE    // trouble
};
enum readiness row_check(struct worker *worker, struct task *task, const struct known *known);
enum readiness attempt_prepare(struct worker *worker, struct task *task, struct known *known,
    struct arena *arena, struct attempt *ret_attempt);
/* attempt_run calls the receiver; afterwards outcome and duration stand. */
void attempt_run(struct attempt *attempt);
void attempt_ended(struct attempt *attempt, struct ended *ret_ended);
/* attempt_over leaves the hook around an attempt whose outcome could not be recorded. */
void attempt_over(struct attempt *attempt);
/* attempt_decode is for who prepares an attempt by itself: READY, NOT_TO_RUN or NO_STORE. */
enum readiness attempt_decode(struct worker *worker, const struct task *task,
    const struct known *known, struct arena *arena, const void **ret_payload);
/* show_hand tells the supervisor what is in hand from now on. */
void show_hand(struct worker *worker, const struct task *task, const struct receiver *receiver,
    int64_t started_at_us);
/* worker_phase tells the supervisor how far the attempt in hand is. */
void worker_phase(struct worker *worker, enum phase phase);
enum ending ending_of(owed_outcome outcome);
/* delivery_ending is ending_of, unless it was the hook that failed. */
enum ending delivery_ending(const owed_delivery *delivery, owed_outcome outcome);
/* lease_us is how long a claim of that receiver's rows lasts. */
int64_t lease_us(const struct worker *worker, const struct receiver *receiver);
/* lease_keep renews a lease of which less than half is left; LOST. */
owed_status lease_keep(
    struct worker *worker, struct task *task, const struct receiver *receiver, owed_error *err);

/* expand.c: expand_run asks for the targets of a row and owes them; the row goes when it is settled. */
owed_outcome expand_run(struct attempt *attempt);

#endif
