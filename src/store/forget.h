/* SPDX-License-Identifier: MIT
 *
 * forget.h - events that go, with all that was owed for them: forget.c.
 */
#ifndef STORE_FORGET_H
#define STORE_FORGET_H

#include "store/verbs.h"

/* What to forget, in a transaction that is open. */
struct forgetting {
    struct str event_ids; // JSON array
    const char *once;     // "succeeded": all that was owed; "settled": it all has ended
    int64_t most_rows;    // of deliveries; what is left of an event is for another time
    int64_t slack_us;     // by which a last success that is kept may lag behind
};
struct forgotten {
    int64_t events;
    int64_t rows; // events and deliveries
};

/*
 * forget takes the events, looks once more which of them can go, keeps the last successes, and deletes.
 * Nobody can make anything owed for them from the look to the end of the transaction. With more deliveries
 * than most_rows only these go, and no event.
 */
owed_status forget(
    struct db *db, const struct forgetting *forgetting, struct forgotten *ret, owed_error *err);

/*
 * consume deletes what has just succeeded, where its event goes by it. consume_first does so instead of
 * settling, where the dialect can: gone[i] is true for what it ended. consume_after does so for what was
 * settled as landed[i] says. Only settlements that name an event are looked at.
 */
owed_status consume_first(
    struct db *db, const struct settlement *settlements, size_t count, bool *gone, owed_error *err);
owed_status consume_after(struct db *db, const struct settlement *settlements, size_t count,
    const bool *landed, owed_error *err);

#endif
