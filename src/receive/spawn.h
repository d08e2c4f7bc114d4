/* SPDX-License-Identifier: MIT
 *
 * spawn.h - starting a program: its own process group, its input, two pipes, nothing else open.
 */
#ifndef RECEIVE_SPAWN_H
#define RECEIVE_SPAWN_H

#include <sys/types.h>

#include "deliver/delivery.h"

struct child {
    pid_t pid; // and its process group
    int pidfd; // -1: this system has none
    int out;   // our ends: non-blocking, close on exec
    int err;
};

/*
 * spawn runs the program with the payload on its standard input, as a file that is read from its
 * start: a program which reads none of it, or only a part, holds nobody up. Its environment is ours,
 * without OWED_SEAT, and OWED_EVENT_ID, OWED_EVENT_NAME, OWED_DELIVERY_ID, OWED_RECEIVER,
 * OWED_TARGET, OWED_ATTEMPT, OWED_IDEMPOTENCY_KEY, OWED_CORRELATION_ID, OWED_DUE_AT, and TRACEPARENT where
 * the event has one. Signals are at
 * their defaults, none is blocked. The sentence of a failure does not name the program.
 */
owed_status spawn(const owed_delivery *delivery, struct child *ret_child, owed_error *err);

/*
 * spawn_coprocess runs a command, an absolute path and its arguments with blanks between them, for as long as
 * its receiver has work: what is written to ret_input, which does not block, is its standard input. Of
 * the environment above it has OWED_RECEIVER alone.
 */
owed_status spawn_coprocess(const char *command, const char *receiver_key, struct child *ret_child,
    int *ret_input, owed_error *err);

/* child_kill sends a signal to one that is not reaped, wherever it is by now, and to the group that it was started as. */
void child_kill(const struct child *child, int signal_number);

#endif
