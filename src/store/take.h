/* SPDX-License-Identifier: MIT
 *
 * take.h - a claim that is handed on to a task site, and taken there.
 */
#ifndef STORE_TAKE_H
#define STORE_TAKE_H

#include "store/store.h"

/* store_hand_off gives a held row a lease of its own before it is handed to a task site. That this
 * lease may end before anybody took the row is no loss; LOST. */
owed_status store_hand_off(
    struct db *db, const struct fence *fence, int64_t lease_expires_at_us, owed_error *err);

/* store_hand_off_all does so for many with one commit; which were lost is noted of each. */
struct handing {
    struct fence fence;
    int64_t lease_expires_at_us;
    bool is_lost;
};
owed_status store_hand_off_all(
    struct db *db, struct handing *handings, size_t count, owed_error *err);

/*
 * store_take moves a claim that was handed on to the one that was handed it, and commits by itself.
 * LOST: the row is not held under that claim, or it or its event is gone. Of all that try it with the
 * same claim one takes the row.
 */
struct taking {
    struct fence fence; // as it was handed on
    const char *claimed_by;
    int64_t now_us;
    int64_t lease_us;
};
owed_status store_take(struct db *db, const struct taking *taking, struct arena *arena,
    struct claimed *ret_row, owed_error *err);

#endif
