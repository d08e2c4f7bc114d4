/* SPDX-License-Identifier: MIT
 *
 * claim_where.h - where a claim looks, and by which statement.
 */
#ifndef STORE_CLAIM_WHERE_H
#define STORE_CLAIM_WHERE_H

#include "store/verbs.h"

/* Lanes and receivers as JSON arrays; one lane alone is passed as it is. */
struct where {
    struct buf lanes;
    struct buf receivers;
    struct buf events;
    struct buf but_targets;
    size_t lane_count;
    const char *one_lane; // the caller's, or in the arena
};

/* find_where fills in a zeroed where; where_done frees it, whatever came of that. */
owed_status find_where(struct db *db, const struct claim *claim, struct arena *arena,
    struct where *where, owed_error *err);
void where_done(struct where *where);

/* The statement that fits a claim. */
struct choice {
    enum stmt pick; // ids, in the order of the queue
    enum stmt
        whole; // the whole claim, where the dialect has it: three arguments follow, claimed_by,
               // lease_expires_at and the most bytes of payloads
    struct value values[13]; // they borrow from claim and where
    size_t count;
};
void choose(
    const struct claim *claim, const struct where *where, int32_t limit, struct choice *ret_choice);

#endif
