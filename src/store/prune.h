/* SPDX-License-Identifier: MIT
 *
 * prune.h - deleting events that nobody needs any more, batch by batch: prune.c. What is owed is never
 * deleted, whatever its age; see forget.h for how that is kept against those who make rows owed again.
 */
#ifndef STORE_PRUNE_H
#define STORE_PRUNE_H

#include "store/store.h"

#define PRUNE_BATCH_ROWS 5000

struct prune {
    int64_t now_us;
    int64_t retention_us; // of events that have no window of their own
    int64_t batch_rows;   // events and deliveries of one transaction; 1 or more
    int64_t limit;        // of events; below 0: none
    int64_t most_held;    // old ones that are still owed are looked at up to so many; below 0: all
    bool dry_run;         // count only
};

/* The arms by which an event can be due. */
enum prune_arm {
    PRUNE_SUCCEEDED, // it goes when it has succeeded, and did
    PRUNE_SETTLED,   // it goes when it has settled, and did
    PRUNE_OWN,       // past a window of its own
    PRUNE_OLD,       // past the ordinary window, whatever else it may wait for
    PRUNE_ARMS
};

/* A walk through all arms, in steps. */
struct prune_course {
    struct prune prune;
    enum prune_arm arm;
    int64_t window_seconds;        // of PRUNE_OWN
    int64_t after_id;              // in this arm
    int64_t resume_id[PRUNE_ARMS]; // where the next course begins: this one saw too many held ones
    int64_t held;                  // seen in this arm
    int64_t events;                // gone
    int64_t rows;                  // gone, their deliveries included
    bool is_over;
};

/* prune_begin starts a course; resume_id stays from the one before, so begin with {0}. */
void prune_begin(struct prune_course *course, const struct prune *prune);

/* prune_batch_rows is how many rows a batch has where nobody says: few where everybody else waits meanwhile. */
int64_t prune_batch_rows(const struct db *db);

/* prune_rest_us is for how long, after a batch that took so long, the store is left to those who write, also where several
 * that delete would keep it from them. */
int64_t prune_rest_us(const struct db *db, int64_t took_us);

/*
 * store_prune_turn tells whether this connection may delete now: where the commits of several that delete would keep
 * those who fire waiting, one does at a time. It has its turn until store_prune_leave, or until the connection ends;
 * who has it and has done nothing for longer than stuck_seconds keeps nobody from going on.
 */
owed_status store_prune_turn(
    struct db *db, int64_t stuck_seconds, bool *ret_is_ours, owed_error *err);
void store_prune_leave(struct db *db);

/* store_prune_peek passes over what has nothing to go: nearly always that is the whole course. It only reads, in one
 * transaction, or in the one that is open. */
owed_status store_prune_peek(struct db *db, struct prune_course *course, owed_error *err);

/* store_prune_step deletes one batch, in a transaction of its own. An event with more deliveries than a
 * batch goes in pieces, each once more found due. */
owed_status store_prune_step(struct db *db, struct prune_course *course, owed_error *err);

#endif
