/* SPDX-License-Identifier: MIT
 *
 * group.c - the transaction that carries receivers' writes and their acknowledgements.
 *
 * It begins when a receiver first asks for it. A plain receiver has it for itself. Receivers that
 * touch this database alone share it with their neighbours, and all outcomes are written in one
 * statement before the one commit. Nearly all of them succeed, so none has a savepoint: one that fails
 * undoes the rest, which is repeated, and has a savepoint the next time. Whatever breaks it otherwise (a
 * receiver that ended it, a lost fence, a commit that fails) undoes it whole as well; the rows that are
 * innocent are then repeated one by one. Nothing is counted for what is repeated.
 *
 * A savepoint and the guard also tell when a receiver ended the transaction and began another.
 */
#include "base/clock.h"
#include "base/error.h"
#include "base/failpoint.h"
#include "deliver/worker.h"

static const struct driver *
driver_of(const struct worker *w)
{
    return w->owed->db->driver;
}

void
group_set_open(struct worker *w, bool is_open)
{
    if (w->group.open && !is_open)
        w->kept_us += worker_mono_us(w) - w->group.opened_mono_us;
    w->group.open = is_open;
    if (w->slot != NULL)
        atomic_store(&w->slot->holds_store, is_open);
}

void
group_undo(struct worker *w, enum task_state state)
{
    struct group *group = &w->group;
    if (group->open)
        store_rollback(w->owed->db);
    driver_of(w)->guard(w->owed->db, false);
    tx_done(&group->tx);
    if (!group->is_in_doubt)
        ledger_clear(&group->ledger);
    for (size_t i = 0; i < group->count; i++)
        group->members[i].task->state = state;
    group->broke_up = group->broke_up || group->count > 0;
    group_set_open(w, false);
}

bool
group_undo_in_trouble(struct worker *w, const char *doing, const owed_error *err)
{
    group_undo(w, TASK_TODO);
    w->group.count = 0;
    trouble(w, doing, err);
    return false;
}

bool
group_is_tired(struct worker *w, int64_t delivery_id)
{
    if (w->stumble.delivery_id != delivery_id)
        w->stumble = (struct stumble){.delivery_id = delivery_id};
    return ++w->stumble.times >= STUMBLES;
}

bool
group_stumble(struct worker *w, struct member *who, const char *doing, const owed_error *err)
{
    bool is_to_blame = group_is_tired(w, who->ended.row->fence.delivery_id);
    group_undo(w, TASK_TODO);
    w->group.count = 0;
    if (is_to_blame) {
        owed_error sentence;
        fail(&sentence, err->status, "what receiver %s left could not be acknowledged: %s",
            who->ended.row->receiver_key, err->text);
        who->ended.ending = ENDING_FAILED;
        who->ended.text = sentence.text;
        who->task->state = TASK_DONE;
        ledger_add(w, &w->gathered, &who->ended);
        w->stumble = (struct stumble){0};
    }
    trouble(w, doing, err);
    return false;
}

bool
group_repeat(struct worker *w, const owed_error *err)
{
    struct group *group = &w->group;
    struct member only = group->members[0];
    if (group->count == 1 && group_is_tired(w, only.ended.row->fence.delivery_id))
        return group_stumble(w, &only, "acknowledge", err);
    group_undo(w, group->count > 1 && ++group->repeats < STUMBLES ? TASK_TODO : TASK_ALONE);
    group->count = 0;
    return true;
}

owed_status
group_find_out(struct worker *w, owed_error *err)
{
    struct group *group = &w->group;
    if (!group->is_in_doubt)
        return OWED_OK;
    owed_status status = ledger_ask(w, &group->ledger, err);
    if (status != OWED_OK)
        return status;
    group->is_in_doubt = false;
    ledger_report(w, &group->ledger);
    ledger_clear(&group->ledger);
    return OWED_OK;
}

bool
group_stumble_together(struct worker *w, const char *doing, const owed_error *err)
{
    struct group *group = &w->group;
    group->is_in_doubt = err->status == OWED_UNSURE;
    if (group->is_in_doubt)
        return group_undo_in_trouble(w, doing, err);
    if (err->status == OWED_BUSY && !driver_of(w)->single_writer)
        return group_repeat(w, err);
    if (group->count == 1) {
        struct member only = group->members[0];
        return group_stumble(w, &only, doing, err);
    }
    w->alone_left = (int)group->count;
    return group_undo_in_trouble(w, doing, err);
}

bool
group_discard_lost(struct worker *w)
{
    struct group *group = &w->group;
    for (size_t i = 0; i < group->count; i++)
        if (!group->ledger.landed[i])
            report_discarded(w, &group->ledger.settlements[i], &group->ledger.notes[i]);
    // undo clears the ledger, but not what it says of each row.
    group_undo(w, TASK_ALONE);
    for (size_t i = 0; i < group->count; i++)
        if (!group->ledger.landed[i])
            group->members[i].task->state = TASK_DONE;
    group->count = 0;
    return true;
}

/* repeat_singly undoes a group whose commit was refused. One that stood alone is to blame: with a savepoint,
 * which tells whether it was still the same transaction. */
static bool
repeat_singly(struct worker *w, const owed_error *why)
{
    struct group *group = &w->group;
    bool is_alone = group->count == 1 && group->members[0].is_saved;
    struct member only = group->members[0];
    group_undo(w, TASK_ALONE);
    group->count = 0;
    if (!is_alone)
        return true;
    owed_error sentence;
    fail(&sentence, why->status, "the commit of what receiver %s wrote was refused: %s",
        only.ended.row->receiver_key, why->text);
    only.ended.ending = ENDING_FAILED;
    only.ended.text = sentence.text;
    only.task->state = TASK_DONE;
    ledger_add(w, &w->gathered, &only.ended);
    return record_now(w);
}

static bool
is_refusal(owed_status status)
{
    return status == OWED_STORE || status == OWED_ABORTED || status == OWED_VETOED;
}

static void
end_well(struct worker *w)
{
    struct group *group = &w->group;
    failpoint("ack-sent");
    driver_of(w)->guard(w->owed->db, false);
    group_set_open(w, false);
    for (size_t i = 0; i < group->count; i++)
        group->members[i].task->state = TASK_DONE;
    group->count = 0;
    group->repeats = 0;
    worker_wrote(w);
    ledger_report(w, &group->ledger);
    ledger_clear(&group->ledger);
    ledger_report(w, &w->gathered);
    ledger_clear(&w->gathered);
    tx_after_commit(&group->tx);
    tx_done(&group->tx);
    worker_yield(w);
}

static owed_status
release_mark(struct worker *w, owed_error *err)
{
    struct group *group = &w->group;
    if (!group->is_marked)
        return OWED_OK;
    group->is_marked = false;
    return driver_of(w)->release(w->owed->db, err);
}

/* sent_is_done waits for what receivers sent and did not wait for. */
static owed_status
sent_is_done(struct worker *w, owed_error *err)
{
    const struct driver *driver = driver_of(w);
    return driver->collect == NULL ? OWED_OK : driver->collect(w->owed->db, true, err);
}

static bool
commit_group(struct worker *w)
{
    struct group *group = &w->group;
    owed_error err = {0};
    owed_status status = sent_is_done(w, &err);
    if (status != OWED_OK && status != OWED_UNAVAILABLE)
        return group_search(w);
    if (status == OWED_OK)
        status = release_mark(w, &err);
    if (status == OWED_ABORTED)
        return group_undo_rest(w);
    if (status == OWED_OK && !group->is_laid_open)
        status = ledger_write(w, &group->ledger, &err);
    if (status != OWED_OK)
        return group_stumble_together(w, "acknowledge", &err);
    if (!ledger_has_landed(&group->ledger))
        return group_discard_lost(w);
    status = ledger_write(w, &w->gathered, &err);
    if (status == OWED_OK)
        status = tx_before_commit(&group->tx, &err);
    if (status == OWED_OK)
        status = store_commit(w->owed->db, &err);
    w->gathered.is_unsure = status == OWED_UNSURE && w->gathered.count > 0;
    if (is_refusal(status))
        return repeat_singly(w, &err);
    if (status != OWED_OK)
        return group_stumble_together(w, "commit", &err);
    end_well(w);
    return true;
}

bool
group_close(struct worker *w)
{
    if (!w->group.open)
        return true;
    worker_phase(w, PHASE_ACKNOWLEDGING);
    bool ok = commit_group(w);
    worker_phase(w, PHASE_IDLE);
    return ok;
}

bool
record_now(struct worker *w)
{
    if (!group_close(w))
        return false;
    owed_error err = {0};
    bool any = w->gathered.count > 0;
    if (ledger_flush(w, &w->gathered, &err) != OWED_OK) {
        trouble(w, "acknowledge", &err);
        return false;
    }
    if (any)
        failpoint("ack-sent");
    return true;
}
