/* SPDX-License-Identifier: MIT
 *
 * testing.c - visits for the tests of an application, also inside a transaction of theirs.
 */
#include <owed/testing.h>

#include "base/error.h"
#include "deliver/worker.h"

/* While a transaction of the caller's is open the handle works in savepoints of it. */
struct stage {
    owed *handle;
    owed_tx *tx;
    struct db *db;
};

static owed_status
stage_enter(owed *handle, struct stage *ret_stage, owed_error *err)
{
    *ret_stage = (struct stage){.handle = handle, .tx = handle->tx, .db = handle->db};
    if (handle->tx == NULL)
        return OWED_OK;
    owed_status status = tx_check(handle->tx, err);
    if (status != OWED_OK)
        return status;
    struct db *nested = driver_nest(handle->tx->db);
    if (nested == NULL)
        return fail_memory(err);
    handle->outer = handle->tx;
    handle->tx = NULL;
    handle->db = nested;
    return OWED_OK;
}

static void
stage_leave(const struct stage *stage)
{
    owed *handle = stage->handle;
    if (stage->tx == NULL)
        return;
    store_close(handle->db);
    handle->db = stage->db;
    handle->tx = stage->tx;
    handle->outer = NULL;
}

static owed_status
run(owed *handle, const owed_relay_settings *settings, struct visit visit,
    struct visit_result *ret_result, owed_error *err)
{
    owed_status status = visit_is_free(handle, err);
    if (status != OWED_OK)
        return status;
    struct stage stage;
    status = stage_enter(handle, &stage, err);
    if (status != OWED_OK)
        return status;
    visit.is_nested = stage.tx != NULL;
    status = visit_run(handle, settings, &visit, ret_result, err);
    stage_leave(&stage);
    return status;
}

owed_status
owed_deliver_pending(owed *handle, const owed_pending_settings *settings,
    owed_relay_counts *ret_counts, owed_error *err)
{
    const owed_pending_settings none = {0};
    const owed_pending_settings *given = settings != NULL ? settings : &none;
    if (given->limit > LIMIT_BATCH_SIZE)
        return fail(err, OWED_INVALID, "limit is %lld: one claim has %d rows at most",
            (long long)given->limit, LIMIT_BATCH_SIZE);
    if (given->now_us < 0)
        return fail(err, OWED_INVALID, "now_us is negative: give a moment after 1970, or 0");
    const char *const lanes[] = {given->lane, NULL};
    const owed_relay_settings relay = {
        .lanes = given->lane != NULL ? lanes : NULL,
        .all_lanes = given->lane == NULL,
        .limit = given->limit,
        .batch_size = given->batch_size,
    };
    const struct visit visit = {.ignore_backoff = given->ignore_backoff, .now_us = given->now_us};
    struct visit_result result = {0};
    owed_status status = run(handle, &relay, visit, &result, err);
    if (ret_counts != NULL)
        *ret_counts = result.counts;
    return status;
}

owed_status
owed_drain(owed *handle, int64_t now_us, owed_relay_counts *ret_counts, owed_error *err)
{
    const owed_pending_settings settings = {.ignore_backoff = true, .now_us = now_us};
    return owed_deliver_pending(handle, &settings, ret_counts, err);
}

owed_status
owed_deliver_one(owed *handle, int64_t delivery_id, const char **ret_status, owed_error *err)
{
    if (delivery_id <= 0)
        return fail(err, OWED_NOT_FOUND, "there is no delivery %lld: ids begin with 1",
            (long long)delivery_id);
    const owed_relay_settings relay = {.all_lanes = true};
    struct visit_result result = {0};
    owed_status status = run(
        handle, &relay, (struct visit){.delivery_id = delivery_id, .is_site = true}, &result, err);
    if (status == OWED_OK && ret_status != NULL)
        *ret_status = result.recorded;
    return status;
}
