/* SPDX-License-Identifier: MIT
 *
 * explain.h - why a delivery has not run, or what became of it, in one sentence.
 */
#ifndef OPERATE_EXPLAIN_H
#define OPERATE_EXPLAIN_H

#include "base/buf.h"
#include "store/look.h"

/* The reasons, in the order in which they are tried; the first that holds is the answer. */
enum reason {
    REASON_UNSENT, // it ended without a request
    REASON_SUCCEEDED,
    REASON_DEAD,
    REASON_ORPHANED,
    REASON_CANCELLED,
    REASON_LANE_PAUSED, // for as long as a destination asked
    REASON_HANDED_BACK,
    REASON_LAPSED,
    REASON_HANDED_ON, // to its task site
    REASON_TAKEN,     // by a task
    REASON_CLAIMED,
    REASON_PAUSED,
    REASON_ENDPOINT_ENDED, // removed, or disabled
    REASON_ENDPOINT_PAUSED,
    REASON_UNDECLARED,
    REASON_REMOVED,
    REASON_NOT_DUE,
    REASON_WAITING,
    REASON_MISPLACED,
    REASON_NO_RELAY,
    REASON_SUSPECT,
    REASON_BEHIND,
    REASON_NEXT,
    REASON_COUNT
};

/* reason_name is the word for programs: "not_due". */
const char *reason_name(enum reason reason);

/* relay_serves tells whether a relay's lanes, a JSON array, have this one; "*" is every lane. */
bool relay_serves(const struct relay_row *relay, const char *lane);

/*
 * explain_delivery appends the sentence, without a line end. Reads only. NOT_FOUND: no such delivery.
 */
owed_status explain_delivery(struct db *db, int64_t delivery_id, int64_t now_us,
    struct arena *arena, enum reason *ret_reason, struct buf *sentence, owed_error *err);

#endif
