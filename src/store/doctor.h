/* SPDX-License-Identifier: MIT
 *
 * doctor.h - looking for trouble: statements that all answer in one shape, and a few facts of the
 * catalogue: doctor.c.
 */
#ifndef STORE_DOCTOR_H
#define STORE_DOCTOR_H

#include "store/store.h"

/* One thing that is wrong. What each column holds the statement's file says. */
struct trouble {
    const char *subject; // a table, a receiver, a session ...
    const char *detail;  // more of it; "" for none
    int64_t amount;
    int64_t other; // another number, or a moment
};

/* store_troubles runs a statement of the family doctor_*; none where the dialect has no such statement. */
owed_status store_troubles(struct db *db, enum stmt stmt, const struct value *args,
    size_t arg_count, struct arena *arena, struct trouble **ret_troubles, size_t *ret_count,
    owed_error *err);

/* store_limit_looks lets no statement of this connection run for longer than is good for a look. */
owed_status store_limit_looks(struct db *db, owed_error *err);

/* store_lanes_in_use lists the lanes, of whichever app, in which anything is owed, paused ones left out. */
owed_status store_lanes_in_use(struct db *db, struct arena *arena, const char *const **ret_lanes,
    size_t *ret_count, owed_error *err);

/* store_unpublished lists the receivers that anything is owed to and that the catalogue never had. */
owed_status store_unpublished(struct db *db, struct arena *arena, struct trouble **ret_troubles,
    size_t *ret_count, owed_error *err);

/* store_drift lists the routines whose text here is not this program's. migrate.c */
owed_status store_drift(struct db *db, struct arena *arena, struct trouble **ret_troubles,
    size_t *ret_count, owed_error *err);

#endif
