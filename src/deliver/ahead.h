/* SPDX-License-Identifier: MIT
 *
 * ahead.h - the next claim, made while receivers run or outcomes are written.
 *
 * A thread makes it on a connection of its own. Its commit need not be durable: a claim that a crash of the
 * server undoes is made again under another fence, and what was begun under the first can no longer be
 * acknowledged, since the acknowledgement names it. It touches nothing of the worker.
 */
#ifndef DELIVER_AHEAD_H
#define DELIVER_AHEAD_H

#include "deliver/batch.h"

struct ahead;

/* ahead_begin claims up to limit rows of a share, where that is allowed and none is under way. receivers is
 * read until it has been taken; NULL: as the share's filter has it. */
void ahead_begin(
    struct worker *worker, enum share share, const char *const *receivers, int32_t limit);
/* ahead_has tells whether something was claimed ahead for a share, or is on its way. */
bool ahead_has(const struct worker *worker, enum share share);
/* ahead_has_come tells whether it need not be waited for. */
bool ahead_has_come(const struct worker *worker, enum share share);
/* ahead_take waits for it. *ret_batch is NULL when nothing came, else *ret_limit is how many were wanted;
 * false: the store failed. */
bool ahead_take(struct worker *worker, struct batch **ret_batch, int32_t *ret_limit);
/* ahead_drop ends it, with its connection, for a store that failed: what came is let go. */
void ahead_drop(struct worker *worker);
/* ahead_hand_back gives back what was claimed ahead; false: the store failed. */
bool ahead_hand_back(struct worker *worker);
void ahead_close(struct worker *worker);

#endif
