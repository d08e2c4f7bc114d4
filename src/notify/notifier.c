/* SPDX-License-Identifier: MIT
 *
 * notifier.c - tickets, as a relay delivers them.
 *
 * The relay's thread starts a ticket: it reads it and claims its key. A thread of ours sends it, so that a slow
 * provider holds up nobody else. What came of it is recorded with the acknowledgement: the receipt always, and where
 * there is more to write (a key, an address that is gone) in the transaction that carries it.
 */
#include "notify/notifier.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/str.h"
#include "deliver/delivery.h"
#include "notify/json_fields.h"
#include "notify/keep.h"
#include "notify/post.h"
#include "store/look.h"
#include "store/sent_once.h"

#define NOTIFY_LEASE_US (5 * 60 * US_PER_SECOND)
#define KEY_WAIT_US US_PER_SECOND // until a key is asked for again that another one sends
#define PRUNE_US (60 * US_PER_SECOND)
#define PRUNE_ROWS 1000
#define RESULT_BYTES ((size_t)256 * 1024)

/* One attempt under way. */
struct job {
    STAILQ_ENTRY(job) next;
    owed_notifier *notifier;
    owed_delivery *delivery;
    struct arena arena;
    struct told told;
    const char *but[ROUTE_MAX + 1];
    struct str before;
    bool has_key;          // claimed by us
    int64_t wait_until_us; // another one has it; 0: nobody
    struct posted posted;
    struct buf result;
};

/* --- jobs --- */

static void
job_free(void *state)
{
    struct job *job = state;
    posted_done(&job->posted);
    buf_done(&job->result);
    arena_done(&job->arena);
    free(job);
}

static int64_t
now_of(const owed_delivery *delivery)
{
    return clock_now_us(&delivery->owed->clock);
}

static struct sent_once
key_of(const struct job *job, const owed_delivery *delivery)
{
    int64_t lease_us = delivery->receiver->declared.lease_us;
    return (struct sent_once){.key = job->told.ticket.options.dedup_key,
        .token = job->told.ticket.options.id,
        .now_us = now_of(delivery),
        .lease_us = lease_us > 0 ? lease_us : NOTIFY_LEASE_US};
}

static owed_status
fire_gone(owed_tx *tx, const struct job *job, const owed_send_attempt *attempt, owed_error *err)
{
    CLEANUP(buf_done) struct buf json;
    buf_init(&json, RESULT_BYTES);
    buf_putc(&json, '{');
    field_write_text(&json, "channel", attempt->channel);
    field_write_text(&json, "address", attempt->address);
    field_write_text(&json, "ticket", job->told.ticket.options.id);
    buf_putc(&json, '}');
    if (json.failed)
        return fail_memory(err);
    return owed_fire_json(tx, GONE_EVENT, 1, json.p, json.len, NULL, NULL, err);
}

/* settle_key keeps what was sent under its key, or gives the key back. */
static owed_status
settle_key(owed_delivery *delivery, owed_tx *tx, const struct job *job, owed_error *err)
{
    const struct sent_once once = key_of(job, delivery);
    int64_t ttl_us = job->notifier->options.dedup_ttl_us;
    if (!job->has_key)
        return OWED_OK;
    return job->posted.end == POSTED_SENT
        ? store_once_complete(tx->db, &once, buf_text(&job->result), once.now_us + ttl_us, err)
        : store_once_release(tx->db, &once, err);
}

/* settle runs in the transaction that carries the acknowledgement. */
static owed_outcome
settle(owed_delivery *delivery, void *state)
{
    const struct job *job = state;
    owed_error err = {0};
    owed_tx *tx = owed_delivery_tx(delivery);
    if (tx == NULL)
        return owed_failed(delivery, "no transaction could be had to record what was sent");
    owed_status status = settle_key(delivery, tx, job, &err);
    const struct attempts *attempts = &job->posted.attempts;
    for (size_t i = 0; status == OWED_OK && i < attempts->count; i++)
        if (attempts->list[i].verdict == OWED_ANSWER_GONE)
            status = fire_gone(tx, job, &attempts->list[i], &err);
    if (status != OWED_OK)
        return owed_failed(delivery, "%s", err.text);
    delivery_keep(delivery);
    return posted_outcome(&job->posted, delivery);
}

static bool
writes_more(const struct job *job)
{
    for (size_t i = 0; i < job->posted.attempts.count; i++)
        if (job->posted.attempts.list[i].verdict == OWED_ANSWER_GONE)
            return true;
    return job->has_key;
}

/* job_finish hands what came of it to the relay, and the job with it. */
static void
job_finish(struct job *job)
{
    owed_delivery *delivery = job->delivery;
    bool is_put_off = job->wait_until_us > 0;
    if (!is_put_off && job->result.len == 0)
        posted_write(&job->posted, &job->result);
    const struct delivery_left left = {
        .result = is_put_off || job->result.failed ? NULL : buf_text(&job->result),
        .heard_from = posted_channel(&job->posted),
        .over = job_free,
        .state = job,
    };
    if (job->posted.receipt != NULL && job->posted.receipt->reference != NULL)
        owed_delivery_note(delivery, "reference", job->posted.receipt->reference);
    bool has_more = writes_more(job);
    owed_outcome outcome = is_put_off
        ? owed_not_yet(delivery, job->wait_until_us, "dedup key \"%.100s\" is being sent just now",
              job->told.ticket.options.dedup_key)
        : posted_outcome(&job->posted, delivery);
    if (!delivery_leave(delivery, &left)) {
        job_free(job); // nobody waits for it any more
    } else {
        // From here on the job may be gone at any moment. What is too late is nobody's concern.
        owed_status status = has_more ? owed_finish_with(delivery, settle, job, NULL)
                                      : owed_finish(delivery, outcome, NULL);
        (void)status;
    }
    owed_delivery_release(delivery);
}

static void
job_send(struct job *job)
{
    const struct post post = {
        .dispatcher = job->notifier->dispatcher,
        .tmpl = job->told.tmpl,
        .recipient = &job->told.ticket.recipient,
        .context = job->told.ticket.context,
        .options = &job->told.ticket.options,
        .but = job->but,
    };
    post_once(&post, &job->posted);
    job->posted.before = job->before;
    job_finish(job);
}

/* --- threads --- */

static void *
work(void *state)
{
    owed_notifier *notifier = state;
    pthread_mutex_lock(&notifier->lock);
    for (;;) {
        struct job *job = STAILQ_FIRST(&notifier->jobs);
        if (job == NULL && notifier->is_ending)
            break;
        if (job == NULL) {
            pthread_cond_wait(&notifier->wanted, &notifier->lock);
            continue;
        }
        STAILQ_REMOVE_HEAD(&notifier->jobs, next);
        bool is_ending = notifier->is_ending;
        pthread_mutex_unlock(&notifier->lock);
        if (is_ending) {
            owed_delivery_release(job->delivery);
            job_free(job);
        } else {
            job_send(job);
        }
        pthread_mutex_lock(&notifier->lock);
    }
    pthread_mutex_unlock(&notifier->lock);
    return NULL;
}

/* post_job hands a job to a thread; false: there is none, and none can be had. */
static bool
post_job(owed_notifier *notifier, struct job *job)
{
    pthread_mutex_lock(&notifier->lock);
    if (notifier->thread_count < notifier->options.threads &&
        pthread_create(&notifier->threads[notifier->thread_count], NULL, work, notifier) == 0)
        notifier->thread_count++;
    bool has_threads = notifier->thread_count > 0;
    if (has_threads) {
        STAILQ_INSERT_TAIL(&notifier->jobs, job, next);
        pthread_cond_signal(&notifier->wanted);
    }
    pthread_mutex_unlock(&notifier->lock);
    return has_threads;
}

/* --- starting --- */

static void
prune_keys(owed_notifier *notifier, const owed_delivery *delivery)
{
    int64_t now_us = now_of(delivery);
    if (now_us < notifier->next_prune_us)
        return;
    notifier->next_prune_us = now_us + PRUNE_US;
    // What stays is for the next time.
    owed_status status =
        store_once_prune(delivery->owed->db, now_us, PRUNE_ROWS, &(int64_t){0}, NULL);
    (void)status;
}

/* claim_key tells whether the ticket is to be sent; where not, the job says what it came to. */
static bool
claim_key(struct job *job)
{
    owed_delivery *delivery = job->delivery;
    const struct sent_once once = key_of(job, delivery);
    enum once_claim claim = ONCE_PENDING;
    const char *receipt = NULL;
    owed_error err = {0};
    if (once.key == NULL)
        return true;
    prune_keys(job->notifier, delivery);
    owed_status status =
        store_once_claim(delivery->owed->db, &once, &job->arena, &claim, &receipt, &err);
    if (status == OWED_OK && claim == ONCE_CLAIMED)
        return job->has_key = true;
    if (status == OWED_OK && claim == ONCE_SENT) {
        job->posted = (struct posted){.end = POSTED_SENT};
        buf_puts(&job->result, "{\"duplicate\":true,");
        buf_puts(&job->result, receipt[0] == '{' ? receipt + 1 : "}");
        return false;
    }
    job->wait_until_us = once.now_us + KEY_WAIT_US;
    return false;
}

/* look_back: where one channel follows on another, none is asked again that has said no for good. */
static owed_status
look_back(struct job *job, owed_error *err)
{
    struct delivery_row row;
    if (!job->told.ticket.options.fall_through)
        return OWED_OK;
    owed_status status = store_delivery(
        job->delivery->owed->db, owed_delivery_id(job->delivery), &job->arena, &row, err);
    if (status == OWED_OK)
        job->before = posted_before(row.result, &job->arena, job->but);
    return status;
}

static owed_status
job_read(struct job *job, told_reader read, owed_error *err)
{
    owed_delivery *delivery = job->delivery;
    // One that was fired without an id has one all the same: that of its delivery.
    const char *own = strchr(owed_delivery_idempotency_key(delivery), '_') + 1;
    owed_status status = read(delivery, &job->arena, &job->told, err);
    job->told.ticket.options.id =
        job->told.ticket.id != NULL ? job->told.ticket.id : arena_strdup(&job->arena, own);
    if (status == OWED_OK && job->told.ticket.options.id == NULL)
        status = fail_memory(err);
    return status;
}

void
notifier_start(owed_notifier *notifier, owed_delivery *delivery, told_reader read)
{
    owed_error err = {0};
    struct job *job = calloc(1, sizeof *job);
    if (job == NULL) {
        owed_delivery_release(delivery); // it has failed, and is tried again
        return;
    }
    job->notifier = notifier;
    job->delivery = delivery;
    arena_init(&job->arena, 0);
    buf_init(&job->result, RESULT_BYTES);
    owed_status status = job_read(job, read, &err);
    if (status == OWED_OK)
        status = look_back(job, &err);
    else if (status != OWED_NOMEM)
        posted_refuse(&job->posted, &err);
    if (status != OWED_OK && job->posted.end != POSTED_REFUSED)
        job->posted = (struct posted){.end = POSTED_FAILED, .status = status, .error = err};
    struct draining *draining = delivery->owed->draining;
    if (draining != NULL && job->told.ticket.options.id != NULL)
        draining_note(draining, job->told.ticket.options.id, owed_delivery_event_id(delivery));
    if (status != OWED_OK || !claim_key(job))
        job_finish(job);
    else if (draining != NULL || !post_job(job->notifier, job))
        job_send(job); // who drains sends on his own thread
}

void
notifier_turn_away(owed_delivery *delivery)
{
    owed_status status =
        owed_finish(delivery, owed_failed(delivery, "only a relay can notify"), NULL);
    (void)status;
    owed_delivery_release(delivery);
}
