/* SPDX-License-Identifier: MIT
 *
 * hand_off.c - a row whose receiver runs at a task site, handed on with its claim.
 *
 * What is handed on stays claimed, under a full lease and a name of its own: who gives back or settles
 * what this worker holds does not meet it. A backend that refuses one is left alone for a while, since
 * it would refuse the next one, too.
 */
#include "base/clock.h"
#include "base/error.h"
#include "base/failpoint.h"
#include "deliver/worker.h"

/* --- the backend --- */

static owed_status
check(const owed_task_backend *backend, owed_error *err)
{
    if (backend == NULL || backend->enqueue != NULL)
        return OWED_OK;
    return fail(err, OWED_INVALID,
        "the task backend has no function to enqueue: give it one, or NULL for no backend at all");
}

owed_status
owed_set_task_backend(owed *handle, const owed_task_backend *backend, owed_error *err)
{
    owed_status status = check(backend, err);
    if (status == OWED_OK)
        handle->task_backend = backend == NULL ? (owed_task_backend){0} : *backend;
    return status;
}

owed_status
owed_registry_set_task_backend(
    owed_registry *registry, const owed_task_backend *backend, owed_error *err)
{
    owed_status status = check(backend, err);
    if (status == OWED_OK)
        registry->task_backend = backend == NULL ? (owed_task_backend){0} : *backend;
    return status;
}

const owed_task_backend *
task_backend_of(const owed *handle)
{
    if (handle->task_backend.enqueue != NULL)
        return &handle->task_backend;
    const owed_task_backend *declared = &handle->registry->task_backend;
    return declared->enqueue != NULL ? declared : NULL;
}

/* --- resting --- */

bool
hand_off_waits(const struct worker *w)
{
    return w->hand_off.failures > 0 && worker_mono_us(w) < w->hand_off.next_mono_us;
}

int64_t
hand_off_wait_us(const struct worker *w)
{
    return hand_off_waits(w) ? w->hand_off.next_mono_us - worker_mono_us(w) : INT64_MAX;
}

/* put_off writes why a row could not be handed on. It comes back when the backend is tried again. */
static bool
put_off(struct worker *w, struct task *task, const struct known *known, const owed_error *why)
{
    struct hand_off *rest = &w->hand_off;
    int64_t wait_us = relay_back_off_us(++rest->failures);
    // One call has no clock to wait on: it is over before the rest is.
    rest->next_mono_us = w->visit != NULL ? INT64_MAX : worker_mono_us(w) + wait_us;
    owed_error sentence;
    fail(&sentence, why->status, "it could not be handed to its task site: %s", why->text);
    const struct ended ended = {
        .row = task->row,
        .receiver = known->receiver,
        .ending = ENDING_NOT_SENT,
        .wait_us = wait_us,
        .text = sentence.text,
        .started_at_us = worker_now_us(w),
    };
    ledger_add(w, &w->gathered, &ended);
    task->state = TASK_DONE;
    return record_now(w);
}

static void
end_rest(struct worker *w)
{
    if (w->hand_off.failures > 0)
        log_say(&w->owed->log, OWED_LOG_INFO, "the task site takes deliveries again",
            LOG_INT("failures", w->hand_off.failures));
    w->hand_off.failures = 0;
}

/* --- handing on --- */

/* renew gives the row its full lease, if it is still ours to hand on. */
static owed_status
renew(struct worker *w, struct task *task, const struct known *known, owed_error *err)
{
    struct fence fence = task->row->fence;
    fence.claimed_by = w->hand_off.claimed_by;
    int64_t until_us = worker_now_us(w) + lease_us(w, known->receiver);
    owed_status status = store_hand_off(w->owed->db, &fence, until_us, err);
    if (status == OWED_OK)
        worker_wrote(w);
    return status;
}

static owed_status
enqueue(struct worker *w, const struct task *task, owed_error *err)
{
    const owed_task_backend *backend = task_backend_of(w->owed);
    const struct fence *fence = &task->row->fence;
    owed_status status = backend->enqueue(
        backend->state, fence->delivery_id, w->hand_off.claimed_by, fence->claimed_at_us, err);
    if (handle_end_stray(w->owed))
        return fail(err, OWED_INVALID,
            "the task backend left a transaction open: it was rolled back, and the message with it");
    if (status != OWED_OK && err->text[0] == '\0')
        return fail(err, status, "the task backend gave no reason (%s)", owed_status_text(status));
    return status;
}

bool
hand_off_row(struct worker *w, struct task *task, const struct known *known)
{
    owed_error err = {0};
    if (task_backend_of(w->owed) == NULL) {
        fail(&err, OWED_CONFIG,
            "receiver %s runs at a task site and no task backend is configured here; one set with "
            "owed_set_task_backend, or by a module, is right",
            known->receiver->declared.key);
        return put_off(w, task, known, &err);
    }
    owed_status status = renew(w, task, known, &err);
    if (status == OWED_LOST) {
        report_lost(w, task->row);
        task->state = TASK_DONE;
        return true;
    }
    if (status != OWED_OK) {
        trouble(w, "renew a lease", &err);
        return false;
    }
    failpoint("hand-off-ready");
    status = enqueue(w, task, &err);
    if (status != OWED_OK)
        return put_off(w, task, known, &err);
    failpoint("handed-off");
    end_rest(w);
    task->state = TASK_DONE;
    log_say(&w->owed->log, OWED_LOG_DEBUG, "delivery handed to its task site",
        LOG_TEXT("receiver", known->receiver->declared.key),
        LOG_INT("delivery", task->row->fence.delivery_id));
    return true;
}
