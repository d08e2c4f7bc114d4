/* SPDX-License-Identifier: MIT
 *
 * requeue.c - the store's verb, then a word to whoever sleeps.
 */
#include "operate/requeue.h"

owed_status
requeue_dead(owed *handle, const struct requeue *requeue, int64_t *ret_count, owed_error *err)
{
    int64_t count = 0;
    owed_status status = store_requeue(handle->db, requeue, &count, err);
    if (status != OWED_OK)
        return status;
    if (count > 0 && !requeue->dry_run)
        wakers_send(handle->wakers, handle->db, &handle->clock);
    *ret_count = count;
    return OWED_OK;
}
