/* SPDX-License-Identifier: MIT
 *
 * meeting.h - one thread fires and waits, and hears from another when the receiver was started.
 */
#ifndef BENCH_MEETING_H
#define BENCH_MEETING_H

#include "bench/hands.h"

struct meeting {
    struct bench *bench;
    struct hands *hands;
    pthread_mutex_t lock;
    pthread_cond_t came;
    int64_t started_us; // monotonic; 0: not yet
};

/* meeting_init lets the benchmark's receivers tell it. */
owed_status meeting_init(
    struct meeting *meeting, struct bench *bench, struct hands *hands, owed_error *err);
void meeting_done(struct meeting *meeting);

/* meeting_fire fires one event and waits for its receiver; *ret_us is how long after the commit it was
 * started. UNAVAILABLE: it was not, for a minute. */
owed_status meeting_fire(struct meeting *meeting, int64_t *ret_us, owed_error *err);

#endif
