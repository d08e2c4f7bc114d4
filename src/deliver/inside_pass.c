/* SPDX-License-Identifier: MIT
 *
 * inside_pass.c - a batch of receivers in C, one after another.
 */
#include "base/clock.h"
#include "base/error.h"
#include "deliver/worker.h"

/* next_task finds the first that is still to do: a group that broke up gives its rows back. */
static struct task *
next_task(struct worker *w, struct batch *batch)
{
    if (w->group.broke_up)
        batch->cursor = 0;
    w->group.broke_up = false;
    for (; batch->cursor < batch->count; batch->cursor++) {
        struct task *task = &batch->tasks[batch->cursor];
        if (task->state == TASK_TODO || task->state == TASK_ALONE)
            return task;
    }
    return NULL;
}

static void
leave(struct worker *w, enum share share, struct task *task, const struct known *known)
{
    struct claim_filter *filter = &w->filters[share];
    task->state = TASK_LEFT;
    visit_leave(w, task->row->fence.delivery_id);
    if (known != NULL) {
        report_left(w, task->row, "event not declared here: left for a relay that knows it");
        return;
    }
    if (!filter->met_stranger)
        report_left(w, task->row, "receiver not declared here: left for a relay that knows it");
    filter->met_stranger = true;
    filter->on = true;
}

static bool
gathered_is_due(const struct worker *w, const struct known *known)
{
    if (w->gathered.count == 0 || w->group.open)
        return false;
    return known == NULL || known_is_slow(known) || ledger_is_old(w, &w->gathered);
}

static bool
take_turn(
    struct worker *w, enum share share, struct task *task, struct known *known, struct arena *arena)
{
    struct attempt attempt;
    bool may_share = share == SHARE_INSIDE && known->receiver->declared.database_only &&
        group_takes(w, task, known);
    switch (share == SHARE_TASK ? row_check(w, task, known)
                                : attempt_prepare(w, task, known, arena, &attempt)) {
    case NOT_OURS:
        leave(w, share, task, known);
        return true;
    case NOT_HELD:
        task->state = TASK_DONE;
        return true;
    case NOT_TO_RUN:
        task->state = TASK_DONE;
        return record_now(w);
    case NO_STORE:
        return false;
    case READY:
        break;
    }
    if (share == SHARE_TASK)
        return hand_off_row(w, task, known);
    attempt.may_share = may_share;
    attempt.expands = share == SHARE_EXPAND;
    if (share != SHARE_FUNCTION) {
        attempt.delivery.begin = group_begin;
        attempt.delivery.begin_state = &attempt;
    }
    attempt_run(&attempt);
    bool ok = group_settle(&attempt);
    attempt_over(&attempt);
    worker_phase(w, PHASE_IDLE);
    return ok;
}

/* try_turn runs a row unless what it goes to is paused: then it and its like go back. */
static bool
try_turn(
    struct worker *w, enum share share, struct batch *batch, struct task *task, struct known *known)
{
    bool ok;
    switch (hold_ask(w, task->row, known->receiver)) {
    case HOLD_HELD:
        return w->group.open ? group_close(w) : hold_back(w, batch);
    case HOLD_TRIAL:
        // What comes of it is heard before the next one starts.
        ok = take_turn(w, share, task, known, &batch->arena) && hand_off_all(w, batch) &&
            record_now(w);
        hold_release(w, task->row, known->receiver);
        return ok;
    default:
        ok = take_turn(w, share, task, known, &batch->arena);
        return ok && share == SHARE_TASK && hand_off_waits(w) ? hold_back(w, batch) : ok;
    }
}

static bool
run_task(struct worker *w, enum share share, struct batch *batch, struct task *task)
{
    struct known *known = known_find(w, task->row->receiver_key);
    if (known != NULL && !known_is_of(w, known, share))
        known = NULL;
    // What the group holds is committed first; should that break it up, its rows come before this.
    // A plain receiver that is quick may run meanwhile: if it asks, the group makes way.
    if (w->group.open && (known == NULL || !group_takes(w, task, known)))
        return group_close(w);
    if (gathered_is_due(w, known) && !record_now(w))
        return false;
    if (known == NULL) {
        leave(w, share, task, NULL);
        return true;
    }
    return try_turn(w, share, batch, task, known);
}

/* ends_with_next tells whether what is gathered can go along with the claim of the next batch. */
static bool
ends_with_next(const struct worker *w, const struct batch *batch)
{
    return batch->is_full && w->passes_left != 0 && !worker_is_stopping(w) && !hold_any(w) &&
        store_claims_along(w->owed->db) && ledger_may_wait(w, &w->gathered);
}

static bool
run_batch(struct worker *w, enum share share, struct batch *batch)
{
    for (;;) {
        struct task *task = worker_is_stopping(w) ? NULL : next_task(w, batch);
        if (task == NULL && !w->group.open)
            break;
        bool ok = task == NULL ? group_close(w) : run_task(w, share, batch, task);
        if (!ok)
            return false;
        outside_attend(w);
    }
    if (!hand_off_all(w, batch))
        return false;
    return ends_with_next(w, batch) || record_now(w);
}

void
batch_run(struct worker *w, enum share share, struct batch *batch)
{
    if (run_batch(w, share, batch))
        batch_hand_back(w, batch);
    if (w->trouble.now)
        batch_drop(w, batch);
    w->hand_off.ready_count = 0; // what was ready in a batch that trouble ended is dropped with it
}

/* has_run tells whether anything of the batch was for us. */
static bool
has_run(const struct batch *batch)
{
    for (size_t i = 0; i < batch->count; i++)
        if (batch->tasks[i].state == TASK_DONE || batch->tasks[i].state == TASK_BACK)
            return true;
    return false;
}

/* batch_limit keeps slow outside receivers from holding rows that another worker could run. */
static int32_t
batch_limit(struct worker *w, enum share share)
{
    const struct claim_filter *filter = &w->filters[share];
    bool is_slow = false;
    for (size_t i = 0; filter->keys[i] != NULL; i++)
        is_slow = is_slow || known_is_slow(filter->members[i]);
    bool one_by_one = share == SHARE_FUNCTION && is_slow && w->visit == NULL;
    if (one_by_one)
        return 1;
    if (share == SHARE_TASK && hand_off_rows(w) > 0)
        return hand_off_rows(w);
    return share == SHARE_INSIDE ? pace_limit(w) : w->settings.batch_size;
}

/* wants_more: a batch that was filled suggests that there is more; what takes long could be run by somebody
 * else meanwhile. */
static bool
wants_more(const struct worker *w, const struct batch *batch, int32_t limit)
{
    bool is_quick =
        w->row_us > 0 && w->row_us < US_PER_MS && w->row_us * limit < w->settings.lease_us / 4;
    return is_quick && batch->count == (size_t)limit;
}

static void
run_timed(struct worker *w, enum share share, struct batch *batch, int32_t limit)
{
    int64_t begun_us = worker_mono_us(w);
    batch_run(w, share, batch);
    int64_t took_us = worker_mono_us(w) - begun_us;
    w->row_us = took_us / (int64_t)batch->count + 1;
    if (share == SHARE_INSIDE)
        pace_note(w, batch->count, limit, took_us);
}

bool
inside_pass(struct worker *w, enum share share)
{
    if (!share_is_served(w, share))
        return false;
    struct batch *batch = NULL;
    bool was_filtered = w->filters[share].on;
    int32_t limit = batch_limit(w, share);
    if (ahead_has(w, share) && !ahead_take(w, &batch, &limit))
        return false;
    if (batch == NULL && !worker_claim(w, share, NULL, limit, &batch))
        return false;
    // What waited for a next batch waits no longer.
    if (batch == NULL)
        return share == SHARE_INSIDE && w->gathered.count > 0 && record_now(w);
    // First, so that the store claims while what came is read.
    if (wants_more(w, batch, limit))
        ahead_begin(w, share, NULL, limit);
    batch->is_full = share == SHARE_INSIDE && w->visit == NULL && (int64_t)batch->count >= limit;
    bool is_read = batch_read(w, batch);
    if (is_read && batch->count > 0)
        run_timed(w, share, batch, limit);
    // Behind rows of strangers, or of events that are gone, there may be ours.
    bool has = is_read &&
        (batch->count == 0 || has_run(batch) || w->filters[share].on != was_filtered ||
            ahead_has(w, share));
    batch_free(batch);
    return has;
}
