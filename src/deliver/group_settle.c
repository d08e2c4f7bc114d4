/* SPDX-License-Identifier: MIT
 *
 * group_settle.c - what a receiver's return means for the transaction that it has, or shares.
 */
#include "base/error.h"
#include "deliver/worker.h"

static const struct driver *
driver_of(const struct worker *w)
{
    return w->owed->db->driver;
}

static void
join(struct attempt *a)
{
    struct group *group = &a->worker->group;
    struct member *member = &group->members[group->count++];
    member->task = a->task;
    member->is_saved = a->is_saved;
    attempt_ended(a, &member->ended);
    a->task->state = TASK_OPEN;
    ledger_add(a->worker, &group->ledger, &member->ended);
}

/* note notes an outcome that no transaction carries. */
static void
note(struct attempt *a)
{
    struct ended ended;
    attempt_ended(a, &ended);
    ledger_add(a->worker, &a->worker->gathered, &ended);
    a->task->state = TASK_DONE;
}

/* most_rows: on a single writer each commit waits for the disk, and nobody for a row. */
static size_t
most_rows(const struct worker *w)
{
    return driver_of(w)->single_writer ? GROUP_ROWS : GROUP_SHARED_ROWS;
}

static bool
is_over_bounds(struct worker *w)
{
    int64_t open_us = worker_mono_us(w) - w->group.opened_mono_us;
    int64_t bound_us = others_write(w) ? GROUP_SHORT_US : GROUP_US;
    bool is_full = w->group.count >= most_rows(w) || w->group.saved >= GROUP_SAVEPOINTS;
    return is_full || open_us >= bound_us || ledger_is_old(w, &w->gathered);
}

/* is_noted tells whether a ledger has a task's outcome. */
static bool
is_noted(const struct ledger *ledger, const struct task *task)
{
    for (size_t i = 0; i < ledger->count; i++)
        if (ledger->settlements[i].fence.delivery_id == task->row->fence.delivery_id)
            return true;
    return false;
}

bool
group_undo_rest(struct worker *w)
{
    struct group *group = &w->group;
    owed_error err = {0};
    group->is_in_doubt = group->is_laid_open && group->count > 0;
    group_undo(w, TASK_ALONE);
    owed_status status = group->is_in_doubt ? ledger_ask(w, &group->ledger, &err) : OWED_OK;
    for (size_t i = 0; i < group->count && status == OWED_OK; i++)
        if (is_noted(&group->ledger, group->members[i].task))
            group->members[i].task->state = TASK_DONE;
    group->count = 0;
    if (status == OWED_OK)
        status = group_find_out(w, &err);
    if (status != OWED_OK)
        trouble(w, "see what a receiver has committed", &err);
    return status == OWED_OK;
}

/* break_up undoes the group, with this attempt to blame. */
static bool
break_up(struct attempt *a, const char *text)
{
    struct worker *w = a->worker;
    if (!group_undo_rest(w))
        return false;
    delivery_say(&a->delivery, "%s", text);
    a->outcome = (owed_outcome){.verdict = OWED_VERDICT_FAILED};
    note(a);
    return record_now(w);
}

static bool
break_up_ended(struct attempt *a)
{
    owed_error sentence;
    fail(&sentence, OWED_ABORTED,
        "receiver %s ended the transaction it was handed: it must neither commit it nor roll it back",
        a->task->row->receiver_key);
    return break_up(a, sentence.text);
}

static bool
stumble_over(struct attempt *a, const char *doing, const owed_error *err)
{
    struct member who = {.task = a->task};
    attempt_ended(a, &who.ended);
    return group_stumble(a->worker, &who, doing, err);
}

/* undo_one takes back what one receiver wrote and fired. */
static owed_status
undo_one(struct attempt *a, owed_error *err)
{
    struct worker *w = a->worker;
    owed_status status = driver_of(w)->rollback_to(w->owed->db, err);
    if (status == OWED_OK)
        status = driver_of(w)->release(w->owed->db, err);
    if (status != OWED_OK)
        return status;
    // What was written of its neighbours is undone as well: it is written at the end.
    w->group.is_laid_open = w->group.is_laid_open && !a->laid_open;
    tx_forget(&w->group.tx, a->mark);
    w->group.tx.vetoed = false;
    return OWED_OK;
}

bool
group_search(struct worker *w)
{
    struct group *group = &w->group;
    for (size_t i = 0; i < group->count; i++)
        group->members[i].task->has_failed = true;
    group_undo(w, TASK_TODO);
    group->count = 0;
    group->broke_up = true;
    return true;
}

/* undo_all takes back what all of a group wrote, one of which has no savepoint: they come again. */
static bool
undo_all(struct attempt *a, enum task_state state)
{
    struct worker *w = a->worker;
    group_undo(w, TASK_TODO);
    w->group.count = 0;
    w->group.broke_up = true;
    a->task->state = state;
    return true;
}

/* give_way: others hold a lock that it needs, and waiting for it would keep others waiting for what its
 * neighbours hold. They are committed; it comes next, alone, and this was no attempt. */
static bool
give_way(struct attempt *a)
{
    a->worker->wary_left = WARY_ATTEMPTS;
    if (!a->is_saved)
        return undo_all(a, TASK_ALONE);
    owed_error err = {0};
    owed_status status = undo_one(a, &err);
    if (status == OWED_ABORTED)
        return break_up_ended(a);
    if (status != OWED_OK)
        return stumble_over(a, "undo what a receiver wrote", &err);
    a->task->state = TASK_ALONE;
    return group_close(a->worker);
}

/* repeat: the server undid everything over a lock. This was no attempt, unless it happens again and
 * again to one that is alone. */
static bool
repeat(struct attempt *a)
{
    struct worker *w = a->worker;
    if (w->group.count == 0 && group_is_tired(w, a->task->row->fence.delivery_id)) {
        if (a->outcome.verdict == OWED_VERDICT_DONE)
            delivery_say(&a->delivery, "others' locks undid its work again and again");
        a->outcome = (owed_outcome){.verdict = OWED_VERDICT_FAILED};
        group_undo(w, TASK_ALONE);
        note(a);
        return record_now(w);
    }
    group_undo(w, TASK_ALONE);
    w->group.count = 0;
    a->task->state = TASK_ALONE;
    return true;
}

/* settle_cut: the connection was lost while it ran, and whatever it says is said of that. */
static bool
settle_cut(struct attempt *a)
{
    owed_error err;
    fail(&err, OWED_UNAVAILABLE, "the connection to the store was lost while receiver %s ran",
        a->task->row->receiver_key);
    return stumble_over(a, "run a receiver", &err);
}

/* is_kept tells whether what it wrote goes with its outcome. */
static bool
is_kept(const struct attempt *a)
{
    return a->outcome.verdict == OWED_VERDICT_DONE || a->delivery.keeps;
}

/* settle_spoilt: a statement of its failed, nothing more can be done in the transaction, and it said
 * done all the same. */
static void
settle_spoilt(struct attempt *a)
{
    if (!is_kept(a))
        return;
    delivery_say(&a->delivery,
        "receiver %s was done, but a statement of its had failed, which undoes all it wrote: it must "
        "report the failure, or go back to a savepoint of its own",
        a->task->row->receiver_key);
    a->outcome = (owed_outcome){.verdict = OWED_VERDICT_FAILED};
    a->delivery.keeps = false;
}

/* settle_failed undoes what one receiver wrote and fired; its neighbours' work stays. */
static bool
settle_failed(struct attempt *a)
{
    struct worker *w = a->worker;
    if (w->group.count == 0) {
        group_undo(w, TASK_ALONE);
        note(a);
        return record_now(w);
    }
    if (!a->is_saved) {
        a->task->has_failed = true;
        return undo_all(a, TASK_TODO);
    }
    owed_error err = {0};
    owed_status status = undo_one(a, &err);
    if (status == OWED_ABORTED)
        return break_up_ended(a);
    if (status != OWED_OK)
        return stumble_over(a, "undo what a receiver wrote", &err);
    join(a);
    if (w->group.is_laid_open)
        status = ledger_write_last(w, &w->group.ledger, &err);
    return status == OWED_OK ? group_close(w) : group_stumble_together(w, "acknowledge", &err);
}

static bool
settle_done(struct attempt *a)
{
    struct worker *w = a->worker;
    const struct ledger *ledger = &w->group.ledger;
    bool is_early = w->group.is_laid_open;
    owed_error err = {0};
    if (is_early)
        join(a);
    owed_status status = is_early ? ledger_write_last(w, &w->group.ledger, &err) : OWED_OK;
    if (status != OWED_OK)
        return group_stumble_together(w, "acknowledge", &err);
    status = a->is_saved ? driver_of(w)->release(w->owed->db, &err) : OWED_OK;
    if (status == OWED_ABORTED)
        return break_up_ended(a);
    if (status != OWED_OK)
        return stumble_over(a, "release a savepoint", &err);
    if (!is_early)
        join(a);
    bool is_lost = is_early && !ledger->landed[ledger->count - 1];
    if (!a->may_share || is_lost || is_over_bounds(w))
        return group_close(w);
    // The attempt ends here, and the group goes on.
    w->group.members[w->group.count - 1].ended.delivery = NULL;
    return true;
}

/* settle_vetoed: something that it fired was refused, and it said done all the same. */
static void
settle_vetoed(struct attempt *a)
{
    if (!is_kept(a))
        return;
    delivery_say(&a->delivery, "%s", a->worker->group.tx.veto);
    a->outcome = (owed_outcome){.verdict = OWED_VERDICT_FAILED};
    a->delivery.keeps = false;
}

/* settle_untouched: it never asked for the transaction. Its acknowledgement goes with the next ones, be
 * it with those of a group; but a group that breaks up does not undo it. */
static bool
settle_untouched(struct attempt *a)
{
    struct worker *w = a->worker;
    note(a);
    // A hook is left once the outcome is recorded, and before the next one is entered.
    bool is_now = a->outcome.verdict != OWED_VERDICT_DONE || w->gathered.count == LEDGER_ROWS ||
        around_is_entered(&a->delivery);
    if (is_now)
        return record_now(w);
    return w->group.open && is_over_bounds(w) ? group_close(w) : true;
}

static bool
settle_unbegun(struct attempt *a)
{
    const owed_error *why = &a->delivery.begin_error;
    if (why->status != OWED_INVALID) {
        group_undo_in_trouble(a->worker, "begin a transaction", why);
        return false;
    }
    delivery_say(&a->delivery, "%s", why->text);
    a->outcome = (owed_outcome){.verdict = OWED_VERDICT_FAILED};
    return settle_untouched(a);
}

static owed_status
contention(struct attempt *a)
{
    struct db *db = a->worker->owed->db;
    bool failed = !is_kept(a);
    return db->driver->contention == NULL ? OWED_OK : db->driver->contention(db, failed);
}

/* was_refused tells what came of what was sent: of a receiver with a savepoint, or whose outcome is written at
 * once, its own, of others what is known already. A connection that is lost is another matter. */
static bool
was_refused(struct attempt *a, owed_error *err)
{
    struct worker *w = a->worker;
    if (driver_of(w)->collect == NULL)
        return false;
    bool waits = a->asked && (a->is_saved || w->group.is_laid_open);
    owed_status status = driver_of(w)->collect(w->owed->db, waits, err);
    return status != OWED_OK && status != OWED_UNAVAILABLE;
}

static void
settle_refused(struct attempt *a, const owed_error *refused)
{
    if (!is_kept(a))
        return;
    delivery_say(&a->delivery, "%s", refused->text);
    a->outcome = (owed_outcome){.verdict = OWED_VERDICT_FAILED};
    a->delivery.keeps = false;
}

/* is_spoilt tells whether it was found that a neighbour's row was taken when it was given the connection, with
 * which it could do nothing any more. */
static bool
is_spoilt(const struct attempt *a)
{
    const struct group *group = &a->worker->group;
    return a->asked && group->is_laid_open && !ledger_has_landed(&group->ledger);
}

bool
group_settle(struct attempt *a)
{
    struct worker *w = a->worker;
    if (is_spoilt(a)) {
        a->task->state = TASK_ALONE;
        return group_discard_lost(w);
    }
    owed_error refused = {0};
    bool is_refused = was_refused(a, &refused);
    if (w->alone_left > 0)
        w->alone_left--;
    if (w->wary_left > 0)
        w->wary_left--;
    if (is_refused && !(a->asked && a->is_saved)) {
        a->task->has_failed = true;
        return group_search(w);
    }
    const owed_error *unbegun = &a->delivery.begin_error;
    if (unbegun->status != OWED_OK)
        return a->asked && !a->expands ? group_stumble_together(w, "acknowledge", unbegun)
                                       : settle_unbegun(a);
    if (!a->asked)
        return settle_untouched(a);
    owed_status met = contention(a);
    if (met == OWED_UNAVAILABLE)
        return settle_cut(a);
    if (met == OWED_ABORTED)
        return repeat(a);
    if (!store_in_transaction(w->owed->db))
        return break_up_ended(a);
    // Of what failed otherwise nobody can tell whether it was a lock.
    bool is_locked = is_refused ? refused.status == OWED_BUSY : met != OWED_OK;
    if (is_locked && w->group.hurries)
        return give_way(a);
    if (is_locked && is_refused)
        return repeat(a);
    if (is_refused)
        settle_refused(a, &refused);
    if (met == OWED_UNSURE)
        settle_spoilt(a);
    if (w->group.tx.vetoed)
        settle_vetoed(a);
    return is_kept(a) ? settle_done(a) : settle_failed(a);
}
