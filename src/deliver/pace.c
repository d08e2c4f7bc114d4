/* SPDX-License-Identifier: MIT
 *
 * pace.c - how many rows a claim takes.
 *
 * Each claim and each acknowledgement has a commit, whose price all its rows share. So where nobody has said
 * how many a claim may take, it takes more and more while full batches are done in no time. What is
 * taken and not done yet when a relay dies is claimed row by row afterwards, and an application that
 * writes to a single writer waits for each of our commits: then it stays small.
 */
#include "base/clock.h"
#include "deliver/worker.h"

#define PACE_QUICK_US (10 * US_PER_MS) // in which a batch is done that may be twice as large
#define PACE_SLOW_US (25 * US_PER_MS)

int32_t
pace_most(struct worker *w)
{
    bool is_single = w->owed->db->driver->single_writer;
    if (!w->pace.may_grow || (is_single && others_write(w)))
        return w->settings.batch_size;
    // Somebody who was not seen to write may want to.
    int32_t most = is_single && others_are_here(w) ? PACE_SHORT_ROWS : PACE_ROWS;
    return most > w->settings.batch_size ? most : w->settings.batch_size;
}

int32_t
pace_limit(struct worker *w)
{
    if (w->pace.rows <= w->settings.batch_size)
        return w->settings.batch_size;
    int32_t most = pace_most(w);
    return w->pace.rows < most ? w->pace.rows : most;
}

void
pace_note(struct worker *w, size_t count, int32_t limit, int64_t took_us)
{
    struct pace *pace = &w->pace;
    if (!pace->may_grow)
        return;
    bool is_full = (int64_t)count >= limit;
    if (!is_full || took_us > PACE_SLOW_US)
        pace->rows = w->settings.batch_size;
    else if (took_us < PACE_QUICK_US)
        pace->rows = limit * 2 < PACE_ROWS ? limit * 2 : PACE_ROWS;
}
