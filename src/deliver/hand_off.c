/* SPDX-License-Identifier: MIT
 *
 * hand_off.c - a row whose receiver runs at a task site, handed on with its claim.
 *
 * What is handed on stays claimed, under a full lease and a name of its own: who gives back or settles
 * what this worker holds does not meet it. A backend that refuses one is left alone for a while, since
 * it would refuse the next one, too.
 */
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/failpoint.h"
#include "base/moment.h"
#include "deliver/worker.h"
#include "store/take.h"

#define GATHERED_ROWS 500

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

void
hand_off_away(const struct worker *w, struct buf *text)
{
    const struct hand_off *rest = &w->hand_off;
    char since[MOMENT_BYTES];
    if (rest->failures > 0)
        buf_printf(text, "the task site since %s: %s", moment_write(rest->failing_since_us, since),
            rest->why.text);
}

static void
note_failure(struct worker *w, const owed_error *why)
{
    struct hand_off *rest = &w->hand_off;
    if (rest->failures++ > 0)
        return;
    rest->failing_since_us = worker_now_us(w);
    rest->why = *why;
}

/* put_off writes why a row could not be handed on. It comes back when the backend is tried again. */
static bool
put_off(struct worker *w, struct task *task, const struct known *known, const owed_error *why)
{
    struct hand_off *rest = &w->hand_off;
    note_failure(w, why);
    int64_t wait_us = relay_back_off_us(rest->failures);
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

/* handing_of is a row with its full lease, under the name of what is handed on. */
static struct handing
handing_of(struct worker *w, const struct task *task, const struct known *known)
{
    struct handing handing = {.fence = task->row->fence,
        .lease_expires_at_us = worker_now_us(w) + lease_us(w, known->receiver)};
    handing.fence.claimed_by = w->hand_off.claimed_by;
    return handing;
}

/* check_answer completes what a backend answered. */
static owed_status
check_answer(struct worker *w, owed_status status, owed_error *err)
{
    if (handle_end_stray(w->owed))
        return fail(err, OWED_INVALID,
            "the task backend left a transaction open: it was rolled back, and the message with it");
    if (status != OWED_OK && err->text[0] == '\0')
        return fail(err, status, "the task backend gave no reason (%s)", owed_status_text(status));
    return status;
}

static void
lose(struct worker *w, struct task *task)
{
    report_lost(w, task->row);
    task->state = TASK_DONE;
}

static void
end_handed(struct worker *w, struct task *task, const struct known *known)
{
    end_rest(w);
    task->state = TASK_DONE;
    w->counts.handed_on++;
    log_say(&w->owed->log, OWED_LOG_DEBUG, "delivery handed to its task site",
        LOG_TEXT("receiver", known->receiver->declared.key),
        LOG_INT("delivery", task->row->fence.delivery_id));
}

static bool
refuse_without_backend(struct worker *w, struct task *task, const struct known *known)
{
    owed_error err = {0};
    fail(&err, OWED_CONFIG,
        "receiver %s runs at a task site and no task backend is configured here; task-queue in owed.conf, "
        "or one set with owed_set_task_backend, or by a module, is right",
        known->receiver->declared.key);
    return put_off(w, task, known, &err);
}

/* hand_off_one hands on a row by itself. */
static bool
hand_off_one(struct worker *w, struct task *task, const struct known *known)
{
    const owed_task_backend *backend = task_backend_of(w->owed);
    const struct handing handing = handing_of(w, task, known);
    const struct fence *fence = &handing.fence;
    owed_error err = {0};
    owed_status status = store_hand_off(w->owed->db, fence, handing.lease_expires_at_us, &err);
    if (status == OWED_LOST) {
        lose(w, task);
        return true;
    }
    if (status != OWED_OK) {
        trouble(w, "renew a lease", &err);
        return false;
    }
    worker_wrote(w);
    failpoint("hand-off-ready");
    status = backend->enqueue(
        backend->state, fence->delivery_id, fence->claimed_by, fence->claimed_at_us, &err);
    if (check_answer(w, status, &err) != OWED_OK)
        return put_off(w, task, known, &err);
    failpoint("handed-off");
    end_handed(w, task, known);
    return true;
}

/* --- handing on many --- */

/* gather has a row wait for the others; false: there is no memory for it. */
static bool
gather(struct hand_off *hand_off, struct task *task, const struct known *known)
{
    if (hand_off->ready_count == hand_off->ready_size) {
        size_t size = hand_off->ready_size == 0 ? GATHERED_ROWS : hand_off->ready_size * 2;
        struct ready *more = realloc(hand_off->ready, size * sizeof *more);
        if (more == NULL)
            return false;
        hand_off->ready = more;
        hand_off->ready_size = size;
    }
    hand_off->ready[hand_off->ready_count++] = (struct ready){task, known};
    task->state = TASK_READY;
    return true;
}

bool
hand_off_row(struct worker *w, struct task *task, const struct known *known)
{
    const owed_task_backend *backend = task_backend_of(w->owed);
    if (backend == NULL)
        return refuse_without_backend(w, task, known);
    if (backend->enqueue_many != NULL && gather(&w->hand_off, task, known))
        return true;
    return hand_off_one(w, task, known);
}

int32_t
hand_off_rows(const struct worker *w)
{
    const owed_task_backend *backend = task_backend_of(w->owed);
    bool is_many = backend != NULL && backend->enqueue_many != NULL && w->pace.may_grow;
    return is_many ? GATHERED_ROWS : 0;
}

/* renew_all gives all of them their leases; who was lost leaves the list. */
static bool
renew_all(struct worker *w, struct handing *handings, size_t count, size_t *ret_count)
{
    struct ready *ready = w->hand_off.ready;
    owed_error err = {0};
    for (size_t i = 0; i < count; i++)
        handings[i] = handing_of(w, ready[i].task, ready[i].known);
    if (store_hand_off_all(w->owed->db, handings, count, &err) != OWED_OK) {
        trouble(w, "renew leases", &err);
        return false;
    }
    worker_wrote(w);
    size_t held = 0;
    for (size_t i = 0; i < count; i++) {
        if (handings[i].is_lost)
            lose(w, ready[i].task);
        else
            ready[held++] = ready[i];
    }
    *ret_count = held;
    return true;
}

/* settle_all notes what became of each: of those that are not kept the first says why, and all others
 * keep their place. */
static bool
settle_all(struct worker *w, const owed_task_message *messages, size_t count, const owed_error *why)
{
    const struct ready *ready = w->hand_off.ready;
    const struct ready *refused = NULL;
    for (size_t i = 0; i < count; i++) {
        ready[i].task->state = TASK_TODO;
        if (messages[i].is_kept)
            end_handed(w, ready[i].task, ready[i].known);
        else if (refused == NULL)
            refused = &ready[i];
    }
    return refused == NULL || put_off(w, refused->task, refused->known, why);
}

static owed_status
enqueue_all(struct worker *w, owed_task_message *messages, size_t count, owed_error *err)
{
    const owed_task_backend *backend = task_backend_of(w->owed);
    for (size_t i = 0; i < count; i++) {
        const struct fence *fence = &w->hand_off.ready[i].task->row->fence;
        messages[i] = (owed_task_message){.delivery_id = fence->delivery_id,
            .claimed_by = w->hand_off.claimed_by,
            .claimed_at_us = fence->claimed_at_us};
    }
    failpoint("hand-off-ready");
    owed_status status = backend->enqueue_many(backend->state, messages, count, err);
    status = check_answer(w, status, err);
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        messages[i].is_kept = messages[i].is_kept && status != OWED_INVALID;
        kept += messages[i].is_kept;
    }
    failpoint("handed-off");
    if (status == OWED_OK && kept < count)
        return fail(err, OWED_UNAVAILABLE,
            "the task backend kept %zu of %zu messages, and gave no reason", kept, count);
    return status;
}

bool
hand_off_all(struct worker *w, struct batch *batch)
{
    size_t count = w->hand_off.ready_count;
    w->hand_off.ready_count = 0;
    if (count == 0)
        return true;
    owed_error err = {0};
    CLEANUP(free_ptr) struct handing *handings = calloc(count, sizeof *handings);
    CLEANUP(free_ptr) owed_task_message *messages = calloc(count, sizeof *messages);
    if (handings == NULL || messages == NULL) {
        fail_memory(&err);
        trouble(w, "hand on", &err);
        return false;
    }
    if (!renew_all(w, handings, count, &count))
        return false;
    if (count > 0)
        (void)enqueue_all(w, messages, count, &err);
    bool ok = settle_all(w, messages, count, &err);
    return ok && hand_off_waits(w) ? hold_back(w, batch) : ok;
}
