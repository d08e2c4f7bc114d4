/* SPDX-License-Identifier: MIT
 *
 * flow.c - rows are counted for a while, and what that came to holds for the next.
 */
#include "deliver/flow.h"

#include <stdbool.h>

#define FLOW_LONGEST_US (10 * FLOW_US)

void
flow_note(struct flow *flow, int64_t mono_us)
{
    int64_t took_us = mono_us - flow->since_mono_us;
    if (took_us >= FLOW_US) {
        // A count that nobody added to for long is about a time that is over. But all that lands while
        // the store takes its time to write is noted at one moment.
        flow->rows = took_us < FLOW_LONGEST_US ? (int32_t)(flow->count * FLOW_US / took_us) : 0;
        flow->took_us = took_us;
        flow->since_mono_us = mono_us;
        flow->count = 0;
    }
    flow->count++;
}

int32_t
flow_rows(const struct flow *flow, int64_t mono_us)
{
    bool is_over = mono_us - flow->since_mono_us >= 2 * flow->took_us;
    return is_over || flow->rows < FLOW_LEAST ? 0 : flow->rows;
}
