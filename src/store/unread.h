/* SPDX-License-Identifier: MIT
 *
 * unread.h - rows that were claimed and are read later, apart from their connection.
 */
#ifndef STORE_UNREAD_H
#define STORE_UNREAD_H

#include "store/store.h"

/* The connection is free meanwhile. Zeroed: none; unread_done frees it. unread_last_us is when the last of
 * them was available. */
struct unread {
    struct rows *rows; // NULL: none
    const struct driver *driver;
    struct claim claim; // that they answer
    size_t count;
};
int64_t unread_last_us(const struct unread *unread);
void unread_done(struct unread *unread);

/* store_claim_unread is store_claim, but where the driver can keep rows they are left in *ret_unread, and
 * *ret_count is how many. store_read_claimed reads them, with any connection to the store, and ends them; those
 * whose event is gone are none of them any more. Both use one arena. */
owed_status store_claim_unread(struct db *db, const struct claim *claim, struct arena *arena,
    struct unread *ret_unread, struct claimed **ret_rows, size_t *ret_count, owed_error *err);
owed_status store_read_claimed(struct db *db, struct unread *unread, struct arena *arena,
    struct claimed **ret_rows, size_t *ret_count, owed_error *err);

#endif
