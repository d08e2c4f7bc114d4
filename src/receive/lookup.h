/* SPDX-License-Identifier: MIT
 *
 * lookup.h - hosts are looked up on threads of their own, since a resolver may take its time.
 */
#ifndef RECEIVE_LOOKUP_H
#define RECEIVE_LOOKUP_H

#include <pthread.h>

#include "receive/guard.h"

#define LOOKUP_THREADS 32
#define LOOKUP_KEPT 8 // of these, for hosts that were found before

struct lookup {
    struct guard guard;
    struct place place;
    owed_status status;
    owed_error err;
    owed_address_list addresses;
    void *owner;      // NULL: nobody waits for it any more
    void *host;       // of the caller's
    bool is_doubtful; // it was not found before, and may take as long as the resolver bears
    struct lookup *next;
};

struct lookups {
    pthread_mutex_t lock;
    pthread_cond_t wanted;
    pthread_t threads[LOOKUP_THREADS];
    int thread_count, idle;
    int ended_fd; // readable when something has ended
    // Behind the lock:
    struct lookup_line {
        struct lookup *first, **end;
    } known, doubtful;
    int queued;        // in both
    int doubtful_busy; // threads
    struct lookup *ended;
    bool is_over;
};

owed_status lookups_open(struct lookups *lookups, owed_error *err);
/* lookups_close waits for the look-ups under way: the resolver has its own limit. */
void lookups_close(struct lookups *lookups);

/* lookups_start is given a lookup from malloc; false: no thread could be started. */
bool lookups_start(struct lookups *lookups, struct lookup *lookup);
/* lookups_take returns what has ended since, a list to be freed one by one. */
struct lookup *lookups_take(struct lookups *lookups);
/* lookups_leave: its owner waits no longer. */
void lookups_leave(struct lookups *lookups, struct lookup *lookup);

#endif
