/* SPDX-License-Identifier: MIT
 *
 * hands.h - what works for a benchmark on threads of its own: relays, or others that fire.
 */
#ifndef BENCH_HANDS_H
#define BENCH_HANDS_H

#include <pthread.h>

#include "bench/session.h"

struct hand {
    struct bench *bench;
    owed *owed;
    pthread_t thread;
    atomic_bool is_started;
    atomic_bool is_done;
    int64_t events;                // firing: its share
    struct samples waits;          // firing: transactions
    struct samples slices[SLICES]; // relays: claims
    atomic_int *slice;             // that is on; NULL: all are one
    int64_t ended_us;
    owed_relay_counts counts; // firing: succeeded, events
    owed_status status;
    owed_error err;
};

struct hands {
    struct hand *hand;
    int count;
};

/* hands_open connects so many; hands_close stops what still runs. */
owed_status hands_open(struct bench *bench, struct hands *hands, int64_t count, owed_error *err);
void hands_close(struct hands *hands);

/* Each starts all of them. once: relays end when nothing is left. */
owed_status hands_relay(struct hands *hands, bool once, owed_error *err);
owed_status hands_fire(struct hands *hands, int64_t events, owed_error *err);

/* hands_stop asks relays to end, and may be called by a receiver; hands_join waits for the end, and stops
 * them all once bench_stop was called. It answers what the first that failed came to. */
void hands_stop(struct hands *hands);
owed_status hands_join(struct hands *hands, owed_error *err);

/* hands_are_at_work tells whether none of them has ended. */
bool hands_are_at_work(const struct hands *hands);
int64_t hands_ended_us(const struct hands *hands); // monotonic; when the last one did
int64_t hands_succeeded(const struct hands *hands);
void hands_waits(const struct hands *hands, struct samples *samples);

#endif
