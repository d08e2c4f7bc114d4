/* SPDX-License-Identifier: MIT
 *
 * mark.h - where a claim begins to look.
 *
 * Rows are claimed in the order in which they came due, and a store that keeps the index entries of what
 * was claimed until it is swept would have every claim walk over them. So a claim begins at the mark: when
 * the last row came due that an earlier one took. That hides what comes to lie before it: the commit of a
 * transaction that was long under way, a lease that lapsed, a requeue. Full looks find these: the first
 * one, one a second, the one after a claim that was not filled, and whenever something else is asked for.
 * With the mark alone nothing can be said to be empty.
 */
#ifndef ENGINE_MARK_H
#define ENGINE_MARK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"

#define MARK_FULL_EVERY_US US_PER_SECOND

/* Zeroed: nothing is known, and the next look is a full one. */
struct mark {
    int64_t at_us;        // 0: none
    uint64_t about;       // what was asked for, as a number
    int64_t full_mono_us; // the latest full look
};

/* What one claim looked for and found. */
struct looked {
    int64_t from_us; // as mark_from said
    uint64_t about;
    int64_t mono_us; // when it began
    bool is_filled;  // as many came as were asked for
    int64_t last_us; // when the last of them came due
};

/* mark_from tells where a claim begins; 0: it is a full look. */
int64_t mark_from(const struct mark *mark, uint64_t about, int64_t mono_us);
void mark_move(struct mark *mark, const struct looked *looked);

#endif
