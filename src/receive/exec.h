/* SPDX-License-Identifier: MIT
 *
 * exec.h - programs under way.
 */
#ifndef RECEIVE_EXEC_H
#define RECEIVE_EXEC_H

#include "receive/landing.h"

#define EXEC_TIMEOUT_US (INT64_C(5) * 60 * 1000000)
#define EXEC_GRACE_US \
    INT64_C(1000000) // between SIGTERM and SIGKILL, never longer than the limit itself

struct program;

struct programs {
    struct landing *landing;
    int epoll; // readable when one of them has something to say
    struct program *running;
    int32_t count; // of running, the abandoned ones that are not gone yet included
    int32_t blind; // of these: no pidfd says when they end, so they are looked at
};

owed_status programs_open(struct programs *programs, struct landing *landing, owed_error *err);

/* programs_close kills what still runs and waits until it is gone. */
void programs_close(struct programs *programs);

void programs_start(struct programs *programs, struct flight *flight);

/* programs_step reads what was written, ends what is over its time, and lands what has ended. */
void programs_step(struct programs *programs);
void programs_abandon(struct programs *programs, struct flight *flight);

/* programs_next_us is when programs_step has something to do at the latest, on the system's
 * monotonic clock; INT64_MAX: nothing. */
int64_t programs_next_us(const struct programs *programs);

#endif
