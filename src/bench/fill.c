/* SPDX-License-Identifier: MIT
 *
 * fill.c - events of a benchmark, many in a transaction.
 */
#include "bench/fill.h"

#include "deliver/handle.h"
#include "store/verbs.h"

/* finish makes history of what the open transaction fired. */
static owed_status
finish(owed_tx *tx, int64_t first_id, int64_t last_id, owed_error *err)
{
    int64_t now_us = 0;
    owed_status status = store_now(tx->db, &now_us, err);
    if (status != OWED_OK)
        return status;
    return change(tx->db, STMT_BENCH_FINISH, ARGS(V_INT(first_id), V_INT(last_id), V_TIME(now_us)),
        NULL, err);
}

static owed_status
fire(const struct bench *bench, owed_tx *tx, int64_t events, int64_t *ids, owed_error *err)
{
    return owed_fire_many(tx, &bench_event_type, bench->bulk, sizeof bench->bulk[0], (size_t)events,
        NULL, ids, NULL, err);
}

static owed_status
fire_one_transaction(const struct bench *bench, owed *handle, int64_t events, bool history,
    int64_t *ret_last_id, owed_error *err)
{
    int64_t ids[BENCH_BULK];
    owed_tx *tx = NULL;
    owed_status status = owed_begin(handle, &tx, err);
    if (status != OWED_OK)
        return status;
    status = fire(bench, tx, events, ids, err);
    if (status == OWED_OK && history)
        status = finish(tx, ids[0], ids[events - 1], err);
    if (status != OWED_OK) {
        owed_rollback(tx);
        return status;
    }
    status = owed_commit(tx, err);
    if (status == OWED_OK && ret_last_id != NULL)
        *ret_last_id = ids[events - 1];
    return status;
}

owed_status
fill_fire(
    const struct bench *bench, owed *handle, int64_t events, int64_t *ret_last_id, owed_error *err)
{
    return fire_one_transaction(bench, handle, events, false, ret_last_id, err);
}

static owed_status
fill(struct bench *bench, int64_t events, bool history, owed_error *err)
{
    owed_status status = OWED_OK;
    while (events > 0 && status == OWED_OK) {
        int64_t some = events < BENCH_BULK ? events : BENCH_BULK;
        events -= some;
        status = bench_go_on(err);
        if (status == OWED_OK)
            status =
                fire_one_transaction(bench, bench->owed, some, history, &bench->last_event_id, err);
    }
    return status;
}

owed_status
fill_owed(struct bench *bench, int64_t events, owed_error *err)
{
    return fill(bench, events, false, err);
}

owed_status
fill_history(struct bench *bench, int64_t events, owed_error *err)
{
    return fill(bench, events, true, err);
}
