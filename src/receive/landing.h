/* SPDX-License-Identifier: MIT
 *
 * landing.h - where flights that ended wait to be collected.
 */
#ifndef RECEIVE_LANDING_H
#define RECEIVE_LANDING_H

#include "deliver/outside.h"
#include "receive/share.h"

#define RUNNERS (RUN_ENDPOINT + 1)

struct landing {
    owed_clock clock;
    struct share shares[RUNNERS]; // by enum runner
    struct flight *first;         // in the order in which they ended
    struct flight *last;
};

/* landing_add ends a flight: its outcome, how long it took, and that its room is free. */
void landing_add(struct landing *landing, struct flight *flight, owed_outcome outcome);

/* landing_take empties the list and returns it. */
struct flight *landing_take(struct landing *landing);

/* landing_drop takes one flight out, if it is there. */
void landing_drop(struct landing *landing, struct flight *flight);

#endif
