/* SPDX-License-Identifier: MIT
 *
 * claim_rows.h - the rows of one claim, as they are read.
 */
#ifndef STORE_CLAIM_ROWS_H
#define STORE_CLAIM_ROWS_H

#include "store/unread.h"
#include "store/verbs.h"

/* A batch under way. */
struct batch {
    const struct claim *claim;
    struct arena *arena;
    const char *claimed_by; // in the arena
    struct claimed *rows;
    size_t count;
    size_t bytes;          // of payloads
    struct buf taken;      // ids, as a JSON array
    struct buf orphans;    // ids of rows whose event is gone
    bool has_claimed;      // a row among them was claimed: its lease was over
    bool is_marked;        // what is read is what fits, and is taken already
    struct unread *unread; // for rows that are taken already and read later; NULL: now
};

struct batch batch_of(const struct claim *claim, struct arena *arena);
/* batch_ids begins the lists of ids, batch_ids_done ends them. */
void batch_ids(struct batch *batch);
void batch_ids_done(struct batch *batch);

/* fetch fills the batch, of most rows, with those of a statement; or with none of them, where it has a place
 * for rows that are read later and the driver can keep them. */
owed_status fetch(struct db *db, struct batch *batch, size_t most, enum stmt stmt, struct args args,
    owed_error *err);

/* put_away ends rows whose event is gone. */
owed_status put_away(struct db *db, struct batch *batch, owed_error *err);

#endif
