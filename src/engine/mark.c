/* SPDX-License-Identifier: MIT
 *
 * mark.c - where a claim begins to look.
 */
#include "engine/mark.h"

int64_t
mark_from(const struct mark *mark, uint64_t about, int64_t mono_us)
{
    bool is_known = mark->at_us > 0 && mark->about == about;
    return is_known && mono_us - mark->full_mono_us < MARK_FULL_EVERY_US ? mark->at_us : 0;
}

void
mark_move(struct mark *mark, const struct looked *looked)
{
    if (looked->from_us == 0)
        *mark = (struct mark){.about = looked->about, .full_mono_us = looked->mono_us};
    // What was handed back comes from before the mark.
    int64_t last_us = looked->last_us > mark->at_us ? looked->last_us : mark->at_us;
    mark->at_us = looked->is_filled ? last_us : 0;
}
