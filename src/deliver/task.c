/* SPDX-License-Identifier: MIT
 *
 * task.c - the task's side: a message is taken, and its receiver run.
 */
#include <owed/task.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "deliver/task.h"
#include "deliver/worker.h"

#define WORKER_ID "task"
#define CLAIMED_BY_BYTES 1024 // no claim of ours is as long

/* is_claim tells whether a message can be one of ours at all. Others may write to a queue, too. */
static bool
is_claim(const struct fence *fence)
{
    struct str name = str_of(or_empty(fence->claimed_by));
    return fence->delivery_id > 0 && fence->claimed_at_us > 0 &&
        fence->claimed_at_us <= LIMIT_MOMENT_US && name.len > 0 && name.len <= CLAIMED_BY_BYTES &&
        utf8_is_valid(name);
}

static owed_status
refuse_transactions(const owed *handle, owed_error *err)
{
    if (handle->tx == NULL && !store_in_transaction(handle->db))
        return OWED_OK;
    return fail(err, OWED_INVALID,
        "a transaction is open on this handle: end it first, since taking a delivery commits by itself");
}

static owed_status
drop(owed *handle, const struct fence *fence)
{
    log_say(&handle->log, OWED_LOG_WARNING, "task message dropped, nothing was run",
        LOG_INT("delivery", fence->delivery_id), LOG_INT("claimed_at", fence->claimed_at_us),
        LOG_TEXT("why", "it carries no claim of owed"));
    return OWED_OK;
}

owed_status
task_deliver(owed *handle, const owed_relay_settings *settings, const struct fence *handed,
    const char **ret_recorded, owed_error *err)
{
    owed_status status = visit_is_free(handle, err);
    if (status == OWED_OK)
        status = refuse_transactions(handle, err);
    if (status != OWED_OK)
        return status;
    const struct visit visit = {
        .delivery_id = handed->delivery_id, .is_site = true, .handed = handed};
    struct visit_result result = {0};
    status =
        is_claim(handed) ? visit_run(handle, settings, &visit, &result, err) : drop(handle, handed);
    if (status == OWED_OK)
        *ret_recorded = result.recorded;
    return status;
}

owed_status
owed_take_and_deliver(owed *handle, int64_t delivery_id, const char *claimed_by,
    int64_t claimed_at_us, const char **ret_status, owed_error *err)
{
    const struct fence handed = {delivery_id, claimed_by, claimed_at_us};
    const owed_relay_settings settings = {.worker_id = WORKER_ID, .all_lanes = true};
    const char *recorded = NULL;
    owed_status status = task_deliver(handle, &settings, &handed, &recorded, err);
    if (status == OWED_OK && ret_status != NULL)
        *ret_status = recorded;
    return status;
}

void
task_count(owed_relay_counts *counts, const char *recorded)
{
    const struct {
        const char *status;
        int64_t *count;
    } rows[] = {
        {"succeeded", &counts->succeeded},
        {"failed", &counts->failed},
        {"dead", &counts->dead},
    };
    for (size_t i = 0; recorded != NULL && i < sizeof rows / sizeof rows[0]; i++)
        if (strcmp(rows[i].status, recorded) == 0)
            ++*rows[i].count;
}
