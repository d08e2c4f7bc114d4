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

static bool
is_over_bounds(struct worker *w)
{
    int64_t open_us = worker_mono_us(w) - w->group.opened_mono_us;
    int64_t bound_us = others_write(w) ? GROUP_SHORT_US : GROUP_US;
    return w->group.count >= GROUP_ROWS || open_us >= bound_us || ledger_is_old(w, &w->gathered);
}

/* break_up undoes the group, with this attempt to blame. */
static bool
break_up(struct attempt *a, const char *text)
{
    struct worker *w = a->worker;
    group_undo(w, TASK_ALONE);
    w->group.count = 0;
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
    owed_error err = {0};
    owed_status status = driver_of(w)->rollback_to(w->owed->db, &err);
    if (status == OWED_OK)
        status = driver_of(w)->release(w->owed->db, &err);
    if (status == OWED_ABORTED)
        return break_up_ended(a);
    if (status != OWED_OK)
        return stumble_over(a, "undo what a receiver wrote", &err);
    tx_forget(&w->group.tx, a->mark);
    w->group.tx.vetoed = false;
    join(a);
    return group_close(w);
}

static bool
settle_done(struct attempt *a)
{
    struct worker *w = a->worker;
    owed_error err = {0};
    owed_status status = driver_of(w)->release(w->owed->db, &err);
    if (status == OWED_ABORTED)
        return break_up_ended(a);
    if (status != OWED_OK)
        return stumble_over(a, "release a savepoint", &err);
    join(a);
    return a->may_share && !is_over_bounds(w) ? true : group_close(w);
}

/* settle_vetoed: something that it fired was refused, and it said done all the same. */
static void
settle_vetoed(struct attempt *a)
{
    if (a->outcome.verdict != OWED_VERDICT_DONE)
        return;
    delivery_say(&a->delivery, "%s", a->worker->group.tx.veto);
    a->outcome = (owed_outcome){.verdict = OWED_VERDICT_FAILED};
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

bool
group_settle(struct attempt *a)
{
    struct worker *w = a->worker;
    if (w->alone_left > 0)
        w->alone_left--;
    if (a->delivery.begin_error.status != OWED_OK)
        return settle_unbegun(a);
    if (!a->asked)
        return settle_untouched(a);
    if (!store_in_transaction(w->owed->db))
        return break_up_ended(a);
    if (w->group.tx.vetoed)
        settle_vetoed(a);
    return a->outcome.verdict == OWED_VERDICT_DONE ? settle_done(a) : settle_failed(a);
}
