/* SPDX-License-Identifier: MIT
 *
 * visit.c - a worker that delivers what is owed now, for one call, and goes home.
 *
 * It runs a relay's own passes; what differs is which rows it claims, and that it waits for nothing
 * but what it has in flight. Rows that it must not meet again during the call it leaves out by their id.
 */
#include <inttypes.h>

#include "base/clock.h"
#include "base/error.h"
#include "deliver/sortie.h"
#include "deliver/worker.h"
#include "store/look.h"
#include "store/take.h"

#define GIVE_UP_FAILURES 5

static void
pass_no_time(void *state, int64_t timeout_us)
{
    (void)state;
    (void)timeout_us;
}

/* --- claims --- */

void
visit_leave(struct worker *w, int64_t delivery_id)
{
    if (w->visit == NULL)
        return;
    struct buf *ids = &w->left_ids;
    if (ids->len > 0)
        ids->len--; // the closing bracket
    buf_printf(ids, "%c%" PRId64 "]", ids->len == 0 ? '[' : ',', delivery_id);
}

void
visit_claim(struct worker *w, enum share share, struct claim *claim)
{
    const struct visit *visit = w->visit;
    claim->delivery_id = visit->delivery_id;
    if (visit->delivery_id != 0)
        return;
    w->early = (struct early){
        .due_us = visit->now_us != 0 ? visit->now_us : worker_now_us(w),
        .ignore_backoff = visit->ignore_backoff,
        .but_ids = w->left_ids.len > 0 ? buf_view(&w->left_ids) : STR("[]"),
    };
    claim->early = &w->early;
    claim->receivers = w->filters[share].keys;
}

void
visit_heard(struct worker *w, const struct settlement *settlement, const struct note *note)
{
    w->has_heard = true;
    w->recorded = note->expanded ? NULL : state_name(note->state);
    if (!ending_is_attempt(note->ending) || note->ending == ENDING_DEFERRED)
        visit_leave(w, settlement->fence.delivery_id);
}

/* --- everything that is owed --- */

/* is_left tells whether rows of that share are due and were left. */
static bool
is_left(struct worker *w, enum share share)
{
    struct claim claim;
    claim_fill(w, share, &claim);
    claim.receivers = NULL;
    int64_t at_us = INT64_MAX;
    return store_next_due(w->owed->db, &claim, &at_us, NULL) == OWED_OK && at_us <= w->early.due_us;
}

/* tell_left says that something outside was owed, which a transaction of the caller's cannot have. */
static void
tell_left(struct worker *w)
{
    if (is_left(w, SHARE_LOOP))
        log_say(&w->owed->log, OWED_LOG_WARNING,
            "receivers that run outside any transaction were left: deliver once this one is committed");
    if (is_left(w, SHARE_TASK))
        log_say(&w->owed->log, OWED_LOG_WARNING,
            "receivers at a task site were left: hand them on once this transaction is committed");
}

/* is_over: in trouble the store is tried again as often as a relay would that is to run once; at a stop once more, for
 * what was in hand. */
static bool
is_over(struct worker *w)
{
    if (!w->trouble.now)
        return worker_is_stopping(w);
    if (w->trouble.failures >= GIVE_UP_FAILURES)
        return true;
    if (worker_is_stopping(w)) {
        (void)trouble_retry(w, &(owed_error){0});
        return true;
    }
    trouble_mend(w);
    return false;
}

static void
deliver_all(struct worker *w)
{
    errands_limit(w); // nobody waits for ever for what a receiver only started
    while (!is_over(w)) {
        if (w->trouble.now)
            continue;
        bool busy = worker_pass(w);
        if (w->trouble.now)
            continue;
        if (worker_has_limit(w) || (!busy && worker_is_at_rest(w)))
            break;
        if (!busy && w->flight_count > 0)
            outside_wait(w, US_PER_SECOND);
    }
}

static void
finish(struct worker *w)
{
    outside_stop(w);
    outside_finish(w);
    if (!w->trouble.now)
        outside_settle(w);
}

/* --- one row --- */

/* runs tells whether a share runs a row. One for a task site says nothing of how it runs. */
static bool
runs(const struct worker *w, enum share share, const struct delivery_row *row,
    const struct known *known)
{
    bool is_task = strcmp(row->kind, share_kind(SHARE_TASK)) == 0 && share != SHARE_EXPAND;
    return (is_task || strcmp(share_kind(share), row->kind) == 0) && known_is_of(w, known, share);
}

/* share_of tells what runs a row; SHARE_COUNT: nothing here. */
static enum share
share_of(const struct worker *w, const struct delivery_row *row, const struct known *known)
{
    enum share share = 0;
    while (share < SHARE_COUNT && !runs(w, share, row, known))
        share++;
    return share;
}

/* why_left says why a row is not to run; NULL: it is. */
static const char *
why_left(const struct worker *w, const struct delivery_row *row, const struct known *known)
{
    enum state state = STATE_NONE;
    state_parse(row->status, &state);
    int64_t now_us = worker_now_us(w);
    if (state_is_terminal(state))
        return "it has ended";
    if (state == STATE_PENDING && row->due_at_us > now_us)
        return "it is not due yet";
    if (state == STATE_FAILED && row->available_at_us > now_us)
        return "it waits for its retry";
    if (state == STATE_CLAIMED && row->lease_expires_at_us >= now_us)
        return "somebody else holds it";
    if (known == NULL || share_of(w, row, known) == SHARE_COUNT)
        return "its receiver is not declared here as the row has it";
    if (!w->filters[share_of(w, row, known)].serves)
        return "its receiver runs outside any transaction: deliver once this one is committed";
    return NULL;
}

static void
deliver_row(struct worker *w, enum share share)
{
    while (!is_over(w)) {
        if (w->trouble.now)
            continue;
        if (share == SHARE_LOOP) {
            outside_pass(w);
            finish(w);
        } else {
            inside_pass(w, share);
        }
        if (!w->trouble.now)
            return;
    }
}

static owed_status
deliver_one(struct worker *w, owed_error *err)
{
    struct delivery_row row = {0};
    int64_t id = w->visit->delivery_id;
    owed_status status = store_delivery(w->owed->db, id, &w->arena, &row, err);
    if (status != OWED_OK)
        return status;
    const struct known *known = known_find(w, row.receiver_key);
    const char *why = why_left(w, &row, known);
    if (why == NULL)
        deliver_row(w, share_of(w, &row, known));
    if (why == NULL && !w->has_heard && !w->trouble.now)
        why = "somebody else took it, or has it";
    if (why != NULL)
        log_say(&w->owed->log, OWED_LOG_INFO, "delivery left alone", LOG_INT("delivery", id),
            LOG_TEXT("receiver", row.receiver_key), LOG_TEXT("status", row.status),
            LOG_TEXT("why", why));
    return OWED_OK;
}

/* --- a row under a claim that was handed on --- */

owed_status
visit_take(struct worker *w, struct arena *arena, struct claimed **ret_rows, size_t *ret_count,
    owed_error *err)
{
    struct taking_over *over = &w->taking_over;
    *ret_count = 0;
    struct claimed *row = arena_alloc(arena, sizeof *row);
    if (row == NULL)
        return fail_memory(err);
    struct taking taking = {.fence = *w->visit->handed,
        .claimed_by = w->claimed_by,
        .now_us = worker_now_us(w),
        .lease_us = over->lease_us};
    owed_status status = store_take(w->owed->db, &taking, arena, row, err);
    // After trouble with the store it may be ours already.
    if (status == OWED_LOST && over->mine.delivery_id != 0) {
        taking.fence = over->mine;
        status = store_take(w->owed->db, &taking, arena, row, err);
    }
    int64_t claimed_at_us = taking.fence.claimed_at_us;
    over->mine = (struct fence){.delivery_id = taking.fence.delivery_id,
        .claimed_by = w->claimed_by,
        .claimed_at_us = taking.now_us > claimed_at_us ? taking.now_us : claimed_at_us + 1};
    if (status != OWED_OK)
        return status == OWED_LOST ? OWED_OK : status;
    over->is_taken = true;
    keeper_stop(over->keeper);
    over->keeper = over->is_function ? keeper_start(w, row, over->lease_us) : NULL;
    *ret_rows = row;
    *ret_count = 1;
    return OWED_OK;
}

/* runs_here tells whether this process has what a row is for. */
static bool
runs_here(const struct worker *w, const struct delivery_row *row, const struct known *known)
{
    if (known == NULL || share_of(w, row, known) == SHARE_COUNT)
        return false;
    return receiver_wants(known->receiver, row->event_name) ||
        registry_type(w->owed->registry, row->event_name) != NULL;
}

static owed_status
take_and_deliver(struct worker *w, owed_error *err)
{
    struct delivery_row row = {0};
    const struct fence *handed = w->visit->handed;
    owed_status status = store_delivery(w->owed->db, handed->delivery_id, &w->arena, &row, err);
    if (status == OWED_NOT_FOUND) {
        report_stale(w, handed, "there is no such delivery");
        return OWED_OK;
    }
    if (status != OWED_OK)
        return status;
    const struct known *known = known_find(w, row.receiver_key);
    if (!runs_here(w, &row, known)) {
        report_stale(w, handed, "its receiver or its event is not declared here");
        return OWED_OK;
    }
    w->taking_over.lease_us = lease_us(w, known->receiver);
    w->taking_over.is_function = known->receiver->runner == RUN_FUNCTION;
    deliver_row(w, share_of(w, &row, known));
    keeper_stop(w->taking_over.keeper);
    w->taking_over.keeper = NULL;
    if (!w->taking_over.is_taken && !w->trouble.now)
        report_stale(w, handed, "the row is no longer held under that claim");
    return OWED_OK;
}

static owed_status
deliver_single(struct worker *w, owed_error *err)
{
    w->pauses = NULL; // there is nothing else to leave alone
    return w->visit->handed != NULL ? take_and_deliver(w, err) : deliver_one(w, err);
}

owed_status
visit_is_free(const owed *handle, owed_error *err)
{
    if (handle->make_way == NULL && handle->depth == 0)
        return OWED_OK;
    return fail(err, OWED_INVALID,
        "a relay or a receiver is at work on this handle: deliver once it has returned");
}

owed_status
visit_run(owed *handle, const owed_relay_settings *settings, const struct visit *visit,
    struct visit_result *ret_result, owed_error *err)
{
    const struct relay_seat seat = {.role = ROLE_ALL, .wait = pass_no_time, .visit = visit};
    struct worker *w = NULL;
    owed_status status = worker_open(handle, settings, &seat, &w, err);
    if (status != OWED_OK)
        return status;
    if (worker_has_limit(w))
        w->settings.batch_size = (int32_t)w->settings.limit;
    if (visit->delivery_id != 0) {
        status = deliver_single(w, err);
    } else {
        deliver_all(w);
        finish(w);
    }
    if (status == OWED_OK && visit->delivery_id == 0 && visit->is_nested && !w->trouble.now)
        tell_left(w);
    if (status == OWED_OK && w->trouble.now)
        status = fail_native(
            err, w->trouble.error.status, w->trouble.error.native, "%s", w->trouble.error.text);
    *ret_result = (struct visit_result){.counts = w->counts, .recorded = w->recorded};
    worker_close(w);
    return status;
}
