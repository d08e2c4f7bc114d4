/* SPDX-License-Identifier: MIT
 *
 * requeue.c - the store's verbs for deliveries, then a word to whoever sleeps.
 */
#include "operate/requeue.h"

static struct requeue
watched(const struct requeue *requeue, const struct acting *acting, int64_t audit_id)
{
    struct requeue whole = *requeue;
    whole.dry_run = acting->dry_run;
    whole.now_us = acting->now_us;
    whole.audit_id = audit_id;
    whole.step = acting->step;
    whole.state = acting->state;
    return whole;
}

owed_status
requeue_dead(owed *handle, const struct requeue *requeue, const struct acting *acting,
    int64_t *ret_count, owed_error *err)
{
    int64_t audit_id = 0;
    int64_t count = 0;
    owed_status status = act_begin(handle->db, acting, "requeue", &audit_id, err);
    if (status != OWED_OK)
        return status;
    const struct requeue whole = watched(requeue, acting, audit_id);
    status = store_requeue(handle->db, &whole, &count, err);
    if (count > 0 && !acting->dry_run)
        wakers_send(handle->wakers, handle->db, &handle->clock);
    *ret_count = count;
    return status == OWED_OK ? act_end(handle->db, acting, audit_id, err) : status;
}

owed_status
cancel_owed(owed *handle, const struct requeue *which, const struct acting *acting,
    int64_t *ret_count, int64_t *ret_running, owed_error *err)
{
    int64_t audit_id = 0;
    owed_status status = act_begin(handle->db, acting, "cancel", &audit_id, err);
    if (status != OWED_OK)
        return status;
    const struct requeue whole = watched(which, acting, audit_id);
    status = store_cancel(handle->db, &whole, ret_count, ret_running, err);
    return status == OWED_OK ? act_end(handle->db, acting, audit_id, err) : status;
}
