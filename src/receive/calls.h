/* SPDX-License-Identifier: MIT
 *
 * calls.h - requests to endpoints: where strangers say that they are.
 *
 * A call waits for its host's addresses and for its turn at that host, and then flies on a wire of its own: none of its
 * connections is shared with receivers of the application.
 * One that flies for longer than a second leaves its place to others, so that those which never answer do not hold up
 * those which do.
 */
#ifndef RECEIVE_CALLS_H
#define RECEIVE_CALLS_H

#include "receive/hosts.h"
#include "receive/landing.h"
#include "receive/lookup.h"
#include "receive/rate.h"
#include "receive/wire.h"

struct call;

struct calls {
    struct landing *landing;
    bool is_open;
    int32_t at_once;
    struct wire wire;
    struct lookups lookups;
    struct hosts hosts;
    struct call *flying; // all that have not ended, wherever they are; the newest first
    int32_t count;
    int32_t looking;      // look-ups that have not been heard of, whoever waits for them
    int32_t slow;         // of these, that left their place
    int32_t slow_limit;   // so many may
    int64_t look_mono_us; // when to look for slow ones next
    void *rates;          // tree of buckets, by endpoint
};

/* calls_now_us is the monotonic clock of hosts and calls. calls_land ends a call that has not ended; its place may have been
 * left to others. */
int64_t calls_now_us(void);
void calls_land(struct calls *calls, struct call *call, owed_outcome outcome);
#define PUT_OFF_US INT64_C(1000000) // so long something waits whose host has no room for it

/* calls_init opens nothing: the first call does. */
void calls_init(struct calls *calls, struct landing *landing, int32_t at_once);
void calls_close(struct calls *calls);

void calls_start(struct calls *calls, struct flight *flight);
/* calls_step lands what has ended; wire.ended_fd and lookups.ended_fd are readable when something has. It answers
 * whether there is more room than before.
 * calls_next_us is when it is to be called at the latest, on the monotonic clock; INT64_MAX. */
bool calls_step(struct calls *calls);
int64_t calls_next_us(const struct calls *calls);
void calls_abandon(struct calls *calls, struct flight *flight);

#endif
