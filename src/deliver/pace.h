/* SPDX-License-Identifier: MIT
 *
 * pace.h - how many rows a claim takes.
 */
#ifndef DELIVER_PACE_H
#define DELIVER_PACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct worker;

#define PACE_ROWS 500 // of the largest claim; a ledger holds as many

#define PACE_SHORT_ROWS 150 // the same where others may wait for a single writer

struct pace {
    bool may_grow; // nobody has said how many
    int32_t rows;  // of the next claim, where that is more than the batch size
};

/* pace_most is how many the largest claim may take just now, pace_limit how many the next one takes. */
int32_t pace_most(struct worker *worker);
int32_t pace_limit(struct worker *worker);
/* pace_note learns from a claim of count rows, limit at most, that took so long to run. */
void pace_note(struct worker *worker, size_t count, int32_t limit, int64_t took_us);

#endif
