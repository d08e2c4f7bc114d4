/* SPDX-License-Identifier: MIT
 *
 * task_worker.c - the loop of a worker: a message is taken, its delivery ended, the message forgotten.
 *
 * In trouble, with the broker or with the store, what is in hand goes back to the queue; whatever had
 * been taken in the store by then comes back when its lease is over.
 */
#include <poll.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/failpoint.h"
#include "base/moment.h"
#include "deliver/handle.h"
#include "deliver/relay.h"
#include "deliver/task.h"
#include "receive/task_message.h"
#include "receive/task_queue.h"

#define WAIT_US (50 * US_PER_MS)
#define ONCE_US US_PER_SECOND
#define WORKER_ID "task"
#define GIVE_UP_FAILURES 5
#define MESSAGE_ARENA_BYTES ((size_t)64 * 1024)

/* What is away, and for how long it has been. */
struct away {
    const char *said;    // when it fails
    const char *refused; // when it is there, and refuses
    const char *back;
    int failures;
    owed_error logged;
};

struct task_worker {
    owed_task_queue *queue;
    owed *owed;
    owed_relay_settings relay;
    const owed_task_worker_settings *settings;
    owed_relay_counts counts;
    int64_t taken;
    int64_t empty_since_us; // monotonic; 0: the latest take gave one
    struct away broker;
    struct away store;
    struct arena arena;
};

static bool
is_stopping(const struct task_worker *w)
{
    return atomic_load(&w->owed->stop) > 0;
}

static void
beat(const struct task_worker *w)
{
    if (w->settings->beat != NULL)
        w->settings->beat(w->settings->beat_state, w->queue->taker != NULL);
}

/* --- trouble --- */

static bool
is_worth_waiting(owed_status status)
{
    return status == OWED_UNAVAILABLE || status == OWED_BUSY || status == OWED_UNSURE ||
        status == OWED_STORE || status == OWED_ABORTED;
}

/* wait_away says once what fails, and waits before it is tried again. OK, or why that is given up. */
static owed_status
wait_away(struct task_worker *w, struct away *away, const owed_error *why)
{
    char wait[MOMENT_BYTES];
    int64_t wait_us = relay_back_off_us(++away->failures);
    if (away->failures == 1 || strcmp(away->logged.text, why->text) != 0)
        log_say(&w->owed->log, OWED_LOG_ERROR,
            why->status == OWED_STORE ? away->refused : away->said, LOG_TEXT("error", why->text),
            LOG_TEXT("next_try_in", duration_rough(wait_us, wait)));
    away->logged = *why;
    task_queue_disconnect_taker(w->queue);
    if (w->relay.once && away->failures >= GIVE_UP_FAILURES)
        return why->status;
    int64_t until_us = clock_monotonic_us(&clock_system) + wait_us;
    struct pollfd stop = {.fd = w->owed->stop_fd, .events = POLLIN};
    for (int64_t left_us = wait_us; left_us > 0 && !is_stopping(w);
         left_us = until_us - clock_monotonic_us(&clock_system)) {
        poll(&stop, 1, (int)((left_us < WAIT_US ? left_us : WAIT_US) / US_PER_MS) + 1);
        beat(w);
    }
    return OWED_OK;
}

static void
end_away(struct task_worker *w, struct away *away)
{
    if (away->failures > 0)
        log_say(&w->owed->log, OWED_LOG_INFO, away->back, LOG_INT("failures", away->failures));
    away->failures = 0;
}

/* broker_failed waits for it, unless no waiting helps. */
static owed_status
broker_failed(struct task_worker *w, owed_error *err)
{
    const owed_error why = *err;
    task_queue_fail(w->queue, why.status, why.text, err);
    if (why.status == OWED_CONFIG || why.status == OWED_NOMEM)
        return why.status;
    return wait_away(w, &w->broker, err);
}

/* mend_store waits until the store is there again; what fails for another reason ends the worker. */
static owed_status
mend_store(struct task_worker *w, owed_error *err)
{
    owed_status status;
    do {
        status = wait_away(w, &w->store, err);
        if (status != OWED_OK || is_stopping(w))
            return status;
        status = handle_reconnect(w->owed, err);
    } while (is_worth_waiting(status));
    return status;
}

/* --- a message --- */

static owed_status
forget(struct task_worker *w, const struct broker_task *task, owed_error *err)
{
    failpoint("task-ended");
    owed_status status = w->queue->taker_kind->done(w->queue->taker, task, err);
    return status == OWED_OK ? OWED_OK : broker_failed(w, err);
}

static void
report_poison(const struct task_worker *w, const struct broker_task *task)
{
    log_say(&w->owed->log, OWED_LOG_WARNING, "task message dropped, nothing was run",
        LOG_TEXT("topic", w->queue->topic), LOG_TEXT("message", task->place),
        LOG_INT("bytes", (int64_t)task->bytes.len), LOG_TEXT("why", "it is no message of owed"));
}

static owed_status
deliver(struct task_worker *w, const struct broker_task *task, owed_error *err)
{
    struct task_message message;
    const char *recorded = NULL;
    arena_reset(&w->arena);
    if (task->is_again)
        log_say(&w->owed->log, OWED_LOG_DEBUG, "task message comes again",
            LOG_TEXT("topic", w->queue->topic), LOG_TEXT("message", task->place));
    failpoint("task-taken");
    if (!task_message_read(task->bytes, &w->arena, &message)) {
        report_poison(w, task);
        struct broker_task foreign = *task;
        foreign.is_foreign = true;
        return forget(w, &foreign, err);
    }
    const struct fence handed = {message.delivery_id, message.claimed_by, message.claimed_at_us};
    owed_status status = task_deliver(w->owed, &w->relay, &handed, &recorded, err);
    if (is_worth_waiting(status))
        return mend_store(w, err);
    if (status != OWED_OK)
        return status;
    end_away(w, &w->store);
    task_count(&w->counts, recorded);
    // A stop may have come before its row was taken: then it is another worker's.
    return recorded == NULL && is_stopping(w) ? OWED_OK : forget(w, task, err);
}

/* --- the loop --- */

static bool
is_over(const struct task_worker *w)
{
    if (is_stopping(w) || (w->relay.limit > 0 && w->taken >= w->relay.limit))
        return true;
    return w->relay.once && w->empty_since_us != 0 &&
        clock_monotonic_us(&clock_system) - w->empty_since_us >= ONCE_US;
}

/* take gives the next message; none where nothing came, or the broker is away. */
static owed_status
take(struct task_worker *w, struct broker_task *ret_task, owed_error *err)
{
    owed_task_queue *queue = w->queue;
    owed_status status = task_queue_connect_taker(queue, err);
    if (status == OWED_OK)
        status = queue->taker_kind->take(queue->taker, WAIT_US, ret_task, err);
    if (status != OWED_OK)
        return broker_failed(w, err);
    end_away(w, &w->broker);
    return OWED_OK;
}

static owed_status
step(struct task_worker *w, owed_error *err)
{
    struct broker_task task = {0};
    owed_status status = take(w, &task, err);
    beat(w);
    if (status != OWED_OK)
        return status;
    if (task.bytes.p == NULL) {
        if (w->broker.failures == 0 && w->empty_since_us == 0)
            w->empty_since_us = clock_monotonic_us(&clock_system);
        return OWED_OK;
    }
    w->empty_since_us = 0;
    w->taken++;
    return is_stopping(w) ? OWED_OK : deliver(w, &task, err);
}

owed_status
owed_task_queue_run(owed_task_queue *queue, owed *handle, const owed_task_worker_settings *settings,
    owed_relay_counts *ret_counts, owed_error *err)
{
    static const owed_task_worker_settings none = {0};
    owed_error own;
    struct task_worker w = {
        .queue = queue,
        .owed = handle,
        .settings = settings == NULL ? &none : settings,
        .broker = {.said = "the task queue is away",
            .refused = "the task queue refuses this worker",
            .back = "the task queue is back"},
        .store = {.said = "the store is away: the message goes back to its queue",
            .refused = "the store refused: the message goes back to its queue",
            .back = "the store is back"},
    };
    arena_init(&w.arena, MESSAGE_ARENA_BYTES);
    if (w.settings->relay != NULL)
        w.relay = *w.settings->relay;
    w.relay.all_lanes = true;
    w.relay.lanes = NULL;
    if (w.relay.worker_id == NULL)
        w.relay.worker_id = WORKER_ID;
    owed_status status = OWED_OK;
    while (status == OWED_OK && !is_over(&w))
        status = step(&w, err == NULL ? &own : err);
    task_queue_disconnect_taker(queue);
    log_say(&handle->log, OWED_LOG_INFO, "task worker stopped", LOG_INT("messages", w.taken),
        LOG_INT("succeeded", w.counts.succeeded), LOG_INT("failed", w.counts.failed),
        LOG_INT("dead", w.counts.dead));
    handle_forget_stop(handle);
    arena_done(&w.arena);
    if (ret_counts != NULL)
        *ret_counts = w.counts;
    return status;
}
