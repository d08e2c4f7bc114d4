/* SPDX-License-Identifier: MIT
 *
 * sent_once.h - notifications that are sent once: keys, claimed under a token by who sends, and known for a
 * while once it was sent. Who comes late neither completes nor releases a key that another one has.
 */
#ifndef STORE_SENT_ONCE_H
#define STORE_SENT_ONCE_H

#include "store/store.h"

struct sent_once {
    const char *key;
    const char *token; // the same for every attempt of one sender
    int64_t now_us;
    int64_t lease_us; // a claim whose sender died is over after it
};

enum once_claim {
    ONCE_CLAIMED,
    ONCE_PENDING, // another one sends it just now
    ONCE_SENT     // ret_receipt, in the arena, says what came of it
};
owed_status store_once_claim(struct db *db, const struct sent_once *once, struct arena *arena,
    enum once_claim *ret_claim, const char **ret_receipt, owed_error *err);

/* store_once_complete keeps a receipt, not empty, until then; store_once_release gives the key back. In the open
 * transaction, or one of their own. */
owed_status store_once_complete(struct db *db, const struct sent_once *once, const char *receipt,
    int64_t until_us, owed_error *err);
owed_status store_once_release(struct db *db, const struct sent_once *once, owed_error *err);

/* store_once_prune forgets up to limit keys whose time is over. */
owed_status store_once_prune(
    struct db *db, int64_t now_us, int64_t limit, int64_t *ret_count, owed_error *err);

#endif
