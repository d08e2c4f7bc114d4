/* SPDX-License-Identifier: MIT
 *
 * traces.h - what a benchmark writes to a store, and how all of it goes again.
 */
#ifndef BENCH_TRACES_H
#define BENCH_TRACES_H

#include "store/store.h"

/* traces_refuse refuses (INVALID) a store where a benchmark would be in somebody's way: see bench_run. */
owed_status traces_refuse(struct db *db, bool beside, owed_error *err);

/* traces_make makes the tables that the bare loop and the receivers write to. Who is there first has the
 * store for himself. */
owed_status traces_make(struct db *db, owed_error *err);

/* traces_are_gone: has somebody taken back what a benchmark wrote that still runs? */
bool traces_are_gone(struct db *db);

/* traces_trim deletes events below an id with what is owed for them, the oldest first, in chunks; most:
 * about so many, below 0 all. */
owed_status traces_trim(
    struct db *db, int64_t below_id, int64_t most, int64_t *ret_events, owed_error *err);

/* traces_remove deletes everything, and the tables last. */
owed_status traces_remove(struct db *db, int64_t *ret_events, owed_error *err);

#endif
