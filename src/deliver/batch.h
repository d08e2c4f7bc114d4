/* SPDX-License-Identifier: MIT
 *
 * batch.h - rows that were claimed together: claim.c takes them, inside_pass.c goes through them,
 * give_back.c gives back what is left.
 */
#ifndef DELIVER_BATCH_H
#define DELIVER_BATCH_H

#include <stdatomic.h>

#include "deliver/claim_filter.h"
#include "engine/mark.h"
#include "store/unread.h"

enum task_state {
    TASK_TODO,
    TASK_ALONE, // to do, in a transaction of its own
    TASK_OPEN,  // ran; its transaction is open
    TASK_LEFT,  // not for us
    TASK_AWAY,  // a sortie has it
    TASK_READY, // is handed on with the others of its batch
    TASK_BACK,  // given back, since its lane is paused
    TASK_DONE   // recorded, or noted in the gathered ledger, or lost
};

struct task {
    const struct claimed *row;
    int64_t lease_expires_at_us;
    enum task_state state;
    bool has_failed; // in a transaction of others, which it undid: next time it has a savepoint
};

struct batch {
    struct arena arena;
    const char *claimed_by; // the worker's own text
    struct unread unread;   // what was claimed ahead and is not read yet: see batch_read
    struct task *tasks;
    size_t count;
    bool is_full;          // there may be more
    size_t cursor;         // nothing to do before it, unless a group broke up
    atomic_size_t flights; // outside: who still needs it
    size_t sorties;        // of the loop, and not over
    size_t weight;         // bytes, as long as there are any
    bool is_shared;        // other threads may have a part of it in hand
};

/* claim.c: worker_claim takes up to limit rows of a share; *ret_batch is NULL when there are none.
 * receivers NULL: as the share's filter has it. */
bool worker_claim(struct worker *worker, enum share share, const char *const *receivers,
    int32_t limit, struct batch **ret_batch);
/* claim_from says where a claim begins to look, claim_learn what came of it; claim_came makes tasks of the
 * rows of a batch. */
void claim_from(
    struct worker *worker, enum share share, struct claim *claim, struct looked *ret_looked);
void claim_learn(struct worker *worker, enum share share, const struct batch *batch, int32_t limit,
    struct looked *looked);
/* claim_where_found has a look that follows a claim at everything rely on the lanes which that one found. */
void claim_where_found(struct worker *worker, enum share share, struct claim *claim);
owed_status claim_came(
    struct worker *worker, struct batch *batch, struct claimed *rows, owed_error *err);
struct batch *batch_new(void);
/* batch_read reads what was claimed ahead, if that was left for later; false: that failed, and leases that
 * lapse bring it back. */
bool batch_read(struct worker *worker, struct batch *batch);
void claim_fill(struct worker *worker, enum share share, struct claim *ret_claim);
void batch_free(struct batch *batch);
/* claim_name is the name that a row of ours is claimed under; unlike the row's own it stays. */
const char *claim_name(const struct worker *worker, const struct claimed *row);
/* batch_drop remembers what was not done, to be handed back once the store is there again. */
void batch_drop(struct worker *worker, const struct batch *batch);
/* batch_hand_back gives back what was not done. */
bool batch_hand_back(struct worker *worker, const struct batch *batch);
/* hand_back gives back single rows; unstarted of them were ours to run. */
bool hand_back(struct worker *worker, const struct fence *fences, size_t count, size_t unstarted);
/* hold_back gives back those of a batch that may not start now. */
bool hold_back(struct worker *worker, struct batch *batch);
/* claim_unspend gives back to --limit what was claimed and not attempted. */
void claim_unspend(struct worker *worker, int64_t count);

/* batch_run runs a batch of receivers in C, and gives back what was not for us. */
void batch_run(struct worker *worker, enum share share, struct batch *batch);

#endif
