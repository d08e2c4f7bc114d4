/* SPDX-License-Identifier: MIT
 *
 * claim.c - a batch of rows, taken for a while.
 */
#include <stdlib.h>

#include "base/error.h"
#include "base/failpoint.h"
#include "deliver/worker.h"

/* --- what --limit leaves --- */

static int64_t
spend_shared(atomic_llong *left, int64_t wanted)
{
    long long before = atomic_load(left);
    for (;;) {
        int64_t taken = before < wanted ? before : wanted;
        if (taken <= 0)
            return 0;
        if (atomic_compare_exchange_weak(left, &before, before - taken))
            return taken;
    }
}

/* spend takes rows off the limit, before they are claimed. */
static int64_t
spend(struct worker *w, int64_t wanted)
{
    if (!worker_has_limit(w))
        return wanted;
    if (w->seat.shared != NULL)
        return spend_shared(&w->seat.shared->limit_left, wanted);
    int64_t taken = wanted < w->limit_left ? wanted : w->limit_left;
    w->limit_left -= taken;
    return taken;
}

void
claim_unspend(struct worker *w, int64_t count)
{
    if (!worker_has_limit(w))
        return;
    if (w->seat.shared != NULL)
        atomic_fetch_add(&w->seat.shared->limit_left, count);
    else
        w->limit_left += count;
}

/* --- claiming --- */

void
claim_fill(struct worker *w, enum share share, struct claim *ret_claim)
{
    int64_t now_us = worker_now_us(w);
    int64_t seen_us = w->frozen_now_us != 0 ? w->frozen_now_us : now_us;
    *ret_claim = (struct claim){
        .claimed_by = share == SHARE_TASK ? w->hand_off.claimed_by : w->claimed_by,
        .now_us = seen_us,
        .lease_us = w->settings.lease_us + (now_us - seen_us),
        .kind = share_kind(share),
        .lanes = w->lanes,
        .app = w->owed->registry->app,
        .receivers = w->filters[share].on ? w->filters[share].keys : NULL,
        .event_ids = w->only_events,
        .event_count = w->only_count,
        .limit = w->settings.batch_size,
        .max_losses = w->settings.max_losses > 0 ? w->settings.max_losses : 0,
        .max_bytes = share == SHARE_LOOP ? outside_bytes_left(w) : LIMIT_BATCH_BYTES,
        .most_lost = share == SHARE_LOOP ? outside_most_lost(w) : 1,
    };
    if (w->visit != NULL)
        visit_claim(w, share, ret_claim);
    hold_leave_out(w, ret_claim);
}

const char *
claim_name(const struct worker *w, const struct claimed *row)
{
    const char *handed_on = w->hand_off.claimed_by;
    return strcmp(row->fence.claimed_by, handed_on) == 0 ? handed_on : w->claimed_by;
}

struct batch *
batch_new(void)
{
    struct batch *batch = calloc(1, sizeof *batch);
    if (batch != NULL)
        arena_init(&batch->arena, 0);
    return batch;
}

void
batch_free(struct batch *batch)
{
    if (batch == NULL)
        return;
    unread_done(&batch->unread);
    arena_done(&batch->arena);
    free(batch);
}

owed_status
claim_came(struct worker *w, struct batch *batch, struct claimed *rows, owed_error *err)
{
    if (batch->count == 0)
        return OWED_OK;
    failpoint("claim-committed");
    worker_wrote(w);
    if (w->wake != NULL)
        wake_busy(w->wake);
    batch->tasks = arena_alloc(&batch->arena, batch->count * sizeof *batch->tasks);
    if (batch->tasks == NULL)
        return fail_memory(err);
    for (size_t i = 0; i < batch->count; i++)
        batch->tasks[i] =
            (struct task){.row = &rows[i], .lease_expires_at_us = rows[i].lease_expires_at_us};
    worker_yield(w);
    return OWED_OK;
}

bool
batch_read(struct worker *w, struct batch *batch)
{
    if (batch->unread.rows == NULL)
        return true;
    struct claimed *rows = NULL;
    owed_error err = {0};
    owed_status status =
        store_read_claimed(w->owed->db, &batch->unread, &batch->arena, &rows, &batch->count, &err);
    if (status == OWED_OK)
        status = claim_came(w, batch, rows, &err);
    if (status != OWED_OK)
        trouble(w, "claim", &err);
    return status == OWED_OK;
}

/* Since when a claim keeps others from writing. */
struct kept_since {
    const struct worker *worker;
    int64_t mono_us; // 0: it did not
};

static void
note_locked(void *state)
{
    struct kept_since *since = state;
    since->mono_us = worker_mono_us(since->worker);
}

/* claim_rows lets what is gathered go along. */
static owed_status
claim_rows(struct worker *w, struct claim *claim, struct batch *batch, struct claimed **ret_rows,
    owed_error *err)
{
    struct ledger *gathered = &w->gathered;
    struct along along = {gathered->settlements, gathered->count, gathered->landed, false};
    struct kept_since kept = {.worker = w};
    claim->along = gathered->count > 0 && store_claims_along(w->owed->db) ? &along : NULL;
    claim->locked = note_locked;
    claim->locked_state = &kept;
    owed_status status =
        store_claim(w->owed->db, claim, &batch->arena, ret_rows, &batch->count, err);
    if (kept.mono_us != 0)
        w->kept_us += worker_mono_us(w) - kept.mono_us;
    if (claim->along != NULL && status == OWED_UNSURE)
        gathered->is_unsure = true;
    claim->along = NULL;
    claim->locked = NULL;
    if (along.is_written) {
        failpoint("ack-sent");
        ledger_written(w, gathered);
    }
    return status;
}

static owed_status
claim_tasks(struct worker *w, struct claim *claim, struct batch *batch, owed_error *err)
{
    struct claimed *rows = NULL;
    batch->claimed_by = claim->claimed_by;
    bool is_handed = w->visit != NULL && w->visit->handed != NULL;
    int64_t start_us = w->seat.claimed == NULL ? 0 : worker_mono_us(w);
    owed_status status = is_handed ? visit_take(w, &batch->arena, &rows, &batch->count, err)
                                   : claim_rows(w, claim, batch, &rows, err);
    if (w->seat.claimed != NULL && status == OWED_OK)
        w->seat.claimed(w->seat.claimed_state, worker_mono_us(w) - start_us, batch->count);
    return status == OWED_OK ? claim_came(w, batch, rows, err) : status;
}

/* --- from where --- */

#define HASH_BASIS UINT64_C(14695981039346656037)
#define HASH_PRIME UINT64_C(1099511628211)

static void
hash_bytes(uint64_t *hash, const void *bytes, size_t len)
{
    for (const unsigned char *p = bytes; len > 0; p++, len--)
        *hash = (*hash ^ *p) * HASH_PRIME;
}

static void
hash_text(uint64_t *hash, const char *text)
{
    hash_bytes(hash, text, strlen(text) + 1);
}

static void
hash_texts(uint64_t *hash, const char *const *texts)
{
    for (; texts != NULL && *texts != NULL; texts++)
        hash_text(hash, *texts);
    hash_text(hash, "");
}

/* claim_about is a number for what a claim asks for; another one has another, but by a rare chance, which
 * the next full look makes good. */
static uint64_t
claim_about(const struct claim *claim)
{
    uint64_t hash = HASH_BASIS;
    hash_texts(&hash, claim->lanes);
    hash_texts(&hash, claim->but_lanes);
    hash_texts(&hash, claim->receivers);
    for (size_t i = 0; i < claim->but_target_count; i++) {
        hash_text(&hash, claim->but_targets[i].receiver_key);
        hash_bytes(&hash, claim->but_targets[i].digest, SHA256_BYTES);
    }
    return hash;
}

void
claim_from(struct worker *w, enum share share, struct claim *claim, struct looked *ret_looked)
{
    *ret_looked = (struct looked){.about = claim_about(claim), .mono_us = worker_mono_us(w)};
    if (w->visit == NULL)
        ret_looked->from_us = mark_from(&w->marks[share], ret_looked->about, ret_looked->mono_us);
    claim->mark_us = ret_looked->from_us;
    claim->found = &w->found_lanes[share];
}

void
claim_where_found(struct worker *w, enum share share, struct claim *claim)
{
    claim->found = &w->found_lanes[share];
    claim->mark_us = 1;
}

void
claim_learn(struct worker *w, enum share share, const struct batch *batch, int32_t limit,
    struct looked *looked)
{
    looked->is_filled = batch->count > 0 && batch->count == (size_t)limit;
    bool is_read = batch->unread.rows == NULL;
    if (!is_read)
        looked->last_us = unread_last_us(&batch->unread);
    for (size_t i = 0; is_read && i < batch->count; i++)
        if (batch->tasks[i].row->available_at_us > looked->last_us)
            looked->last_us = batch->tasks[i].row->available_at_us;
    mark_move(&w->marks[share], looked);
}

/* claim_marked claims from the mark on; where nothing is, it looks at everything. */
static owed_status
claim_marked(
    struct worker *w, enum share share, struct claim *claim, struct batch *batch, owed_error *err)
{
    struct looked looked;
    claim_from(w, share, claim, &looked);
    owed_status status = claim_tasks(w, claim, batch, err);
    if (status == OWED_OK && batch->count == 0 && looked.from_us != 0) {
        claim->mark_us = looked.from_us = 0;
        status = claim_tasks(w, claim, batch, err);
    }
    if (status == OWED_OK)
        claim_learn(w, share, batch, claim->limit, &looked);
    return status;
}

bool
worker_claim(struct worker *w, enum share share, const char *const *receivers, int32_t limit,
    struct batch **ret_batch)
{
    *ret_batch = NULL;
    int64_t allowed = spend(w, limit);
    if (allowed <= 0)
        return true;
    struct claim claim;
    claim_fill(w, share, &claim);
    claim.limit = (int32_t)allowed;
    if (receivers != NULL)
        claim.receivers = receivers;
    owed_error err = {0};
    struct batch *batch = batch_new();
    owed_status status =
        batch == NULL ? fail_memory(&err) : claim_marked(w, share, &claim, batch, &err);
    size_t count = batch == NULL ? 0 : batch->count;
    claim_unspend(w, allowed - (int64_t)count);
    if (status == OWED_OK)
        trouble_over(w);
    else
        trouble(w, "claim", &err);
    if (status != OWED_OK || count == 0) {
        batch_free(batch);
        return status == OWED_OK;
    }
    *ret_batch = batch;
    return true;
}
