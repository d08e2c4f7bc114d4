/* SPDX-License-Identifier: MIT
 *
 * flow.h - how fast the loop's rows succeed.
 *
 * Where they do so by the thousand a second, whole batches are worth a moment's wait: each claim and each
 * acknowledgement has a commit, whose price all its rows share. Where they do not, nobody waits.
 */
#ifndef DELIVER_FLOW_H
#define DELIVER_FLOW_H

#include <stdint.h>

#define FLOW_US INT64_C(20000)
#define FLOW_LEAST 64 // fewer rows in that time are no flow

struct flow {
    int64_t since_mono_us; // when counting began
    int32_t count;
    int32_t rows;    // of the time before, in FLOW_US
    int64_t took_us; // that time
};

/* flow_note counts a row that succeeded. */
void flow_note(struct flow *flow, int64_t mono_us);

/* flow_rows says how many have lately succeeded in FLOW_US; 0: that is no flow. */
int32_t flow_rows(const struct flow *flow, int64_t mono_us);

#endif
