/* SPDX-License-Identifier: MIT
 *
 * claim_filter.h - the receivers of this process, and which rows a claim may ask for.
 */
#ifndef DELIVER_CLAIM_FILTER_H
#define DELIVER_CLAIM_FILTER_H

#include "deliver/flow.h"
#include "deliver/handle.h"

struct receiver;
struct worker;

#define SLOW_US INT64_C(20000) // a receiver that usually takes longer runs alone

struct known {
    const struct receiver *receiver;
    bool timed;
    int64_t usual_us; // how long it takes, as a moving average
    int32_t away;     // attempts that it has started and that are in flight
    int32_t waiting;  // claimed for the loop and not begun, as was counted before a claim
    int32_t landed;   // in the loop, since its last claim
    int32_t bound;    // more are not to wait after it
    struct flow flow; // of the loop
};

/* What a worker runs; a role is a set of these. */
enum share {
    SHARE_INSIDE,
    SHARE_EXPAND,   // rows that stand for the targets of any receiver
    SHARE_TASK,     // rows that are handed on to a task site: nothing is run
    SHARE_LOOP,     // webhooks, programs, files
    SHARE_FUNCTION, // outside receivers in C
    SHARE_COUNT
};

struct claim_filter {
    bool serves;            // there is something of this share to run
    bool on;                // name the receivers to the store, since it holds rows of others
    bool met_stranger;      // a row came that cannot be run here
    const char **keys;      // all that can be run, NULL-ended
    struct known **members; // the same
    const char **some;      // room for a list of a part of them
};

owed_status filters_init(struct worker *worker, owed_error *err);
/* filters_refresh compares what is known here with the catalogue. */
owed_status filters_refresh(struct worker *worker, owed_error *err);
struct known *known_find(const struct worker *worker, const char *key);
/* known_is_of tells whether this worker runs it in that share: at a task site it runs what any relay
 * hands on. */
bool known_is_of(const struct worker *worker, const struct known *known, enum share share);
/* share_is_served: the share has receivers here, and nothing keeps it from being claimed now. */
bool share_is_served(const struct worker *worker, enum share share);
/* serves_anything: without it a worker only looks after the store. */
bool serves_anything(const struct worker *worker);
const char *share_kind(enum share share); // of its rows
void known_time(struct known *known, int64_t duration_us);
bool known_is_slow(const struct known *known); // or was never timed

#endif
