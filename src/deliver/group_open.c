/* SPDX-License-Identifier: MIT
 *
 * group_open.c - how the transaction that carries receivers' writes begins, and who is let into it.
 *
 * Where nothing keeps a receiver from committing what its neighbours wrote (settles_early), the outcomes are
 * written with the first of them that is given the connection itself: from then on each is written before
 * the next receiver runs, and a savepoint tells whether it is still the same transaction.
 */
#include "base/clock.h"
#include "base/error.h"
#include "deliver/worker.h"

static const struct driver *
driver_of(const struct worker *w)
{
    return w->owed->db->driver;
}

/* set_mark sets the savepoint of all that have none of their own. */
static owed_status
set_mark(struct worker *w, owed_error *err)
{
    struct group *group = &w->group;
    if (group->is_marked)
        return OWED_OK;
    owed_status status = driver_of(w)->savepoint(w->owed->db, err);
    group->is_marked = status == OWED_OK;
    return status;
}

/* settle_so_far writes the outcomes that wait for the end of the transaction. */
static owed_status
settle_so_far(struct worker *w, owed_error *err)
{
    struct group *group = &w->group;
    owed_status status = ledger_write(w, &group->ledger, err);
    if (status != OWED_OK)
        return status;
    group->is_laid_open = w->in_hand->laid_open = true;
    if (!ledger_has_landed(&group->ledger)) {
        driver_of(w)->veto(w->owed->db); // group_settle repeats all
        return OWED_OK;
    }
    return w->in_hand->is_saved ? OWED_OK : set_mark(w, err);
}

/* lay_open is asked before a receiver is given the connection, on which it could commit. */
static bool
lay_open(void *state)
{
    struct worker *w = state;
    const struct driver *driver = driver_of(w);
    if (!driver->settles_early || w->group.is_laid_open || w->in_hand == NULL)
        return true;
    // Where something was refused, whoever has the connection can write nothing any more.
    if (driver->collect != NULL && driver->collect(w->owed->db, true, NULL) != OWED_OK)
        return true;
    return settle_so_far(w, &w->in_hand->delivery.begin_error) == OWED_OK;
}

static owed_status
open_transaction(struct worker *w, owed_error *err)
{
    struct group *group = &w->group;
    owed_status status = store_begin(w->owed->db, true, err);
    if (status != OWED_OK)
        return status;
    driver_of(w)->guard(w->owed->db, true);
    tx_init(&group->tx, w->owed, w->owed->db, TX_DELIVERY);
    group->tx.lay_open = lay_open;
    group->tx.lay_open_state = w;
    group_set_open(w, true);
    group->hurries = group->is_marked = group->is_laid_open = false;
    group->saved = 0;
    group->opened_mono_us = worker_mono_us(w);
    return OWED_OK;
}

/* hurry: who shares a transaction must not wait for others with what its neighbours hold locked. */
static owed_status
hurry(struct worker *w, owed_error *err)
{
    struct group *group = &w->group;
    if (group->count == 0 || group->hurries || driver_of(w)->hurry == NULL)
        return OWED_OK;
    owed_status status = driver_of(w)->hurry(w->owed->db, err);
    group->hurries = status == OWED_OK;
    return status;
}

/* commit_neighbours lets go of the connection before a receiver that does not share it. */
static owed_status
commit_neighbours(struct worker *w, owed_error *err)
{
    bool ok = group_close(w);
    worker_phase(w, PHASE_RUNNING);
    if (ok)
        return OWED_OK;
    return fail_native(
        err, w->trouble.error.status, w->trouble.error.native, "%s", w->trouble.error.text);
}

owed_status
group_make_way(void *state, owed_error *err)
{
    struct worker *w = state;
    if (!w->group.open)
        return OWED_OK;
    if (w->in_hand != NULL && w->in_hand->asked)
        return fail(err, OWED_INVALID,
            "receiver %s has the transaction of its acknowledgement: write and fire in that one",
            w->in_hand->task->row->receiver_key);
    return commit_neighbours(w, err);
}

/*
 * put_savepoint: of those that share a transaction only one that is likely to be undone by itself has a
 * savepoint. What else undoes one undoes all, and they are repeated. Where one could commit, one savepoint for
 * all of them tells whether that was done.
 */
static owed_status
put_savepoint(struct attempt *a, owed_error *err)
{
    struct worker *w = a->worker;
    struct group *group = &w->group;
    const struct task *task = a->task;
    a->is_saved = !a->may_share || task->state != TASK_TODO || task->has_failed || w->wary_left > 0;
    if (!a->is_saved)
        return group->is_laid_open ? set_mark(w, err) : OWED_OK;
    group->saved++;
    return driver_of(w)->savepoint(w->owed->db, err);
}

owed_status
group_begin(owed_delivery *delivery, owed_error *err)
{
    struct attempt *a = delivery->begin_state;
    struct worker *w = a->worker;
    if (w->group.open && !a->may_share && commit_neighbours(w, err) != OWED_OK)
        return w->trouble.error.status;
    if (!w->group.open && (w->owed->tx != NULL || store_in_transaction(w->owed->db)))
        return fail(err, OWED_INVALID,
            "receiver %s asked for the transaction of its acknowledgement while one of its own was "
            "open: end that one first",
            a->task->row->receiver_key);
    owed_status status = w->group.open ? hurry(w, err) : open_transaction(w, err);
    if (status == OWED_OK)
        status = put_savepoint(a, err);
    if (status != OWED_OK)
        return status;
    a->asked = true;
    a->mark = tx_mark(&w->group.tx);
    delivery->tx = &w->group.tx;
    return OWED_OK;
}

bool
group_takes(const struct worker *w, const struct task *task, const struct known *known)
{
    if (known_is_slow(known) || task->state != TASK_TODO || w->alone_left > 0 ||
        around_of(w->owed) != NULL)
        return false;
    // Renewing its lease is a commit of its own.
    int64_t left_us = task->lease_expires_at_us - worker_now_us(w);
    return left_us >= lease_us(w, known->receiver) / 2;
}
