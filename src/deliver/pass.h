/* SPDX-License-Identifier: MIT
 *
 * pass.h - one look for work that is due, and what is in flight outside.
 */
#ifndef DELIVER_PASS_H
#define DELIVER_PASS_H

#include "deliver/claim_filter.h"

struct sortie; // an attempt outside: outside_pass.c
struct sorties {
    struct sortie *first, *last;
    size_t count;
};

/* inside_pass.c and outside_pass.c: true: there was something to do. */
bool inside_pass(struct worker *worker, enum share share);
bool outside_pass(struct worker *worker);
/* outside_attend lets what is in flight go on, without waiting and without a word to the store. */
void outside_attend(struct worker *worker);
/* outside_wait polls what is in flight, and what wakes, for up to timeout_us. */
void outside_wait(struct worker *worker, int64_t timeout_us);
/* outside_settle records what has ended. */
bool outside_settle(struct worker *worker);
/* outside_bytes_left tells how much more payload may be claimed for the loop; 0: nothing. */
size_t outside_bytes_left(const struct worker *worker);
/* outside_most_lost is how many rows that somebody was lost with the loop claims together. */
int32_t outside_most_lost(const struct worker *worker);
/* outside_stop hands back what waits for room; outside_finish waits until nothing is in flight. */
void outside_stop(struct worker *worker);
void outside_finish(struct worker *worker);
void outside_close(struct worker *worker);

#endif
