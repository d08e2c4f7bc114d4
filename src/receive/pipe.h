/* SPDX-License-Identifier: MIT
 *
 * pipe.h - the coprocesses of a loop, one for each receiver.
 */
#ifndef RECEIVE_PIPE_H
#define RECEIVE_PIPE_H

#include "receive/landing.h"

struct coprocess;

struct pipes {
    struct landing *landing;
    const struct log *log;
    int epoll; // readable when one of them has something to say
    struct coprocess *first;
};

owed_status pipes_open(
    struct pipes *pipes, struct landing *landing, const struct log *log, owed_error *err);

/* pipes_close asks all of them to end, and waits until they are gone: two graces at most. */
void pipes_close(struct pipes *pipes);

/* pipes_room says how many more deliveries its coprocess may be given. */
int32_t pipes_room(struct pipes *pipes, const struct receiver *receiver);
void pipes_start(struct pipes *pipes, struct flight *flight);

/* pipes_step starts, hears and ends what is due, and lands what was answered. */
void pipes_step(struct pipes *pipes);
void pipes_abandon(struct pipes *pipes, struct flight *flight);

/* pipes_recall takes back what no coprocess was given, as a list. */
struct flight *pipes_recall(struct pipes *pipes);

/* pipes_next_us is when pipes_step has something to do at the latest; INT64_MAX: nothing. */
int64_t pipes_next_us(const struct pipes *pipes);

#endif
