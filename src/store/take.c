/* SPDX-License-Identifier: MIT
 *
 * take.c - a claim on its way to a task site, and its arrival there.
 *
 * Whoever is handed a claim takes the row by one conditional update. It moves the claim, so that the
 * same message, come again or come late, finds nothing.
 */
#include "store/take.h"

#include "base/cleanup.h"
#include "store/verbs.h"

#define FENCE(fence) \
    V_INT((fence)->delivery_id), V_TEXT((fence)->claimed_by), V_TIME((fence)->claimed_at_us)

static owed_status
lost(const struct fence *fence, owed_error *err)
{
    return fail(err, OWED_LOST, "delivery %lld is not held under the claim of \"%s\" at %lld",
        (long long)fence->delivery_id, or_empty(fence->claimed_by),
        (long long)fence->claimed_at_us);
}

owed_status
store_hand_off(
    struct db *db, const struct fence *fence, int64_t lease_expires_at_us, owed_error *err)
{
    int64_t changed = 0;
    owed_status status =
        change(db, STMT_HAND_OFF, ARGS(FENCE(fence), V_TIME(lease_expires_at_us)), &changed, err);
    return status == OWED_OK && changed == 0 ? lost(fence, err) : status;
}

static owed_status
hand_off_each(struct db *db, struct handing *handings, size_t count, owed_error *err)
{
    owed_status status = OWED_OK;
    for (size_t i = 0; i < count && (status == OWED_OK || status == OWED_LOST); i++) {
        status = store_hand_off(db, &handings[i].fence, handings[i].lease_expires_at_us, err);
        handings[i].is_lost = status == OWED_LOST;
    }
    return status == OWED_LOST ? OWED_OK : status;
}

owed_status
store_hand_off_all(struct db *db, struct handing *handings, size_t count, owed_error *err)
{
    struct scope scope = {0};
    owed_status status = OWED_OK;
    do {
        status = scope_begin(db, &scope, err);
        if (status == OWED_OK)
            status = scope_end(&scope, hand_off_each(db, handings, count, err), err);
    } while (scope_repeats(&scope, status));
    return status;
}

/* move is the update that decides; what was read before it is true if it finds the row. */
static owed_status
move(struct db *db, const struct taking *taking, const struct claimed *row, owed_error *err)
{
    int64_t changed = 0;
    owed_status status = change(db, STMT_TAKE,
        ARGS(FENCE(&taking->fence), V_TEXT(row->fence.claimed_by), V_TIME(row->fence.claimed_at_us),
            V_TIME(row->lease_expires_at_us)),
        &changed, err);
    return status == OWED_OK && changed == 0 ? lost(&taking->fence, err) : status;
}

owed_status
store_take(struct db *db, const struct taking *taking, struct arena *arena, struct claimed *ret_row,
    owed_error *err)
{
    const struct claim claim = {
        .delivery_id = taking->fence.delivery_id,
        .claimed_by = taking->claimed_by,
        .now_us = taking->now_us,
        .lease_us = taking->lease_us,
    };
    struct scope scope = {0};
    owed_status status = OWED_OK;
    // A take that a crash of the store undoes is made again by the same message, which nobody forgets before
    // the attempt has been recorded, and recorded for good.
    do {
        status = scope_begin_light(db, &scope, err);
        if (status == OWED_OK)
            status = claimed_fetch(db, &claim, arena, ret_row, err);
        if (status == OWED_OK)
            status = move(db, taking, ret_row, err);
        status = scope_end(&scope, status, err);
    } while (scope_repeats(&scope, status));
    return status;
}
