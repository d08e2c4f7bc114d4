/* SPDX-License-Identifier: MIT
 *
 * claim_where.h - where a claim looks, as arguments of the statements that pick.
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

#endif
