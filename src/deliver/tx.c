/* SPDX-License-Identifier: MIT
 *
 * tx.c - transactions: our own, joined ones, and what both have in common with a delivery's.
 *
 * A transaction in which something went half way, or that an inline receiver refused, is marked and
 * can only be rolled back: there is never an event without what is owed for it.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "deliver/handle.h"

void
tx_init(owed_tx *tx, owed *handle, struct db *db, enum tx_kind kind)
{
    *tx = (owed_tx){
        .owed = handle,
        .db = db,
        .kind = kind,
    };
    arena_init(&tx->arena, 0);
    tx->fired_end = &tx->fired;
}

void
tx_done(owed_tx *tx)
{
    arena_done(&tx->arena);
    tx->fired = NULL;
    tx->fired_end = &tx->fired;
}

struct fired **
tx_mark(owed_tx *tx)
{
    return tx->fired_end;
}

void
tx_forget(owed_tx *tx, struct fired **mark)
{
    *mark = NULL;
    tx->fired_end = mark;
}

owed_status
tx_refuse(owed_tx *tx, owed_status status, const char *sentence, owed_error *err)
{
    if (!tx->vetoed) {
        tx->vetoed = true;
        tx->refusal = status;
        // The sentence may be longer than what an error holds.
        snprintf(tx->veto, sizeof tx->veto, "%s", sentence);
    }
    if (tx->kind != TX_DELIVERY && store_in_transaction(tx->db))
        tx->db->driver->veto(tx->db);
    return fail(err, tx->refusal, "%s", tx->veto);
}

owed_status
tx_check(owed_tx *tx, owed_error *err)
{
    if (tx->vetoed)
        return fail(err, tx->refusal, "%s", tx->veto);
    if (store_in_transaction(tx->db))
        return OWED_OK;
    return tx_refuse(tx, OWED_ABORTED,
        "the transaction is over: it was committed or rolled back behind the handle's back", err);
}

owed_status
owed_begin(owed *handle, owed_tx **ret_tx, owed_error *err)
{
    if (handle->tx != NULL)
        return fail(err, OWED_INVALID,
            "a transaction is open on this handle: commit or roll it back before the next one");
    owed_status status =
        handle->make_way == NULL ? OWED_OK : handle->make_way(handle->make_way_state, err);
    if (status != OWED_OK)
        return status;
    handle_keep_clock(handle);
    owed_tx *tx = malloc(sizeof *tx);
    if (tx == NULL)
        return fail_memory(err);
    status = store_begin(handle->db, true, err);
    if (status != OWED_OK) {
        free(tx);
        return status;
    }
    handle->db->driver->guard(handle->db, true);
    tx_init(tx, handle, handle->db, TX_OWN);
    handle->tx = tx;
    *ret_tx = tx;
    return OWED_OK;
}

/* tx_free lets go of a transaction of owed_begin or a join: the handle is free for the next one. */
static void
tx_free(owed_tx *tx)
{
    if (tx->owed->tx == tx)
        tx->owed->tx = NULL;
    if (tx->kind == TX_JOINED)
        tx->db->driver->close(tx->db);
    tx_done(tx);
    free(tx);
}

/* commit_with commits together with the one event that has waited for it. */
static owed_status
commit_with(owed_tx *tx, const char *event_name, owed_error *err)
{
    owed_error why;
    owed_status status = store_commit(tx->db, &why);
    if (status == OWED_OK || status == OWED_UNSURE || status == OWED_UNAVAILABLE)
        return status == OWED_OK ? status : fail_native(err, status, why.native, "%s", why.text);
    return fail_native(err, status == OWED_BUSY ? OWED_BUSY : OWED_ABORTED, why.native,
        "event %s could not be written in full, so the transaction was rolled back: %s", event_name,
        why.text);
}

static owed_status
commit_own(owed_tx *tx, owed_error *err)
{
    owed_status status = tx_check(tx, err);
    if (status == OWED_OK)
        status = tx_before_commit(tx, err);
    if (status != OWED_OK)
        return status;
    const struct driver *driver = tx->db->driver;
    if (driver->holds != NULL && driver->holds(tx->db))
        return commit_with(tx, tx->waiting, err);
    return store_commit(tx->db, err);
}

owed_status
owed_commit(owed_tx *tx, owed_error *err)
{
    if (tx->kind != TX_OWN)
        return fail(err, OWED_INVALID,
            tx->kind == TX_JOINED
                ? "a joined transaction is the caller's: COMMIT it there, then call owed_committed"
                : "a receiver may not end the transaction that carries its acknowledgement");
    owed_status status = commit_own(tx, err);
    if (status != OWED_OK) {
        owed_rollback(tx);
        return status;
    }
    tx->db->driver->guard(tx->db, false);
    // Receivers that run now may begin transactions of their own.
    tx->owed->tx = NULL;
    tx_after_commit(tx);
    tx_free(tx);
    return OWED_OK;
}

void
owed_rollback(owed_tx *tx)
{
    if (tx == NULL || tx->kind == TX_DELIVERY)
        return;
    if (tx->kind == TX_OWN) {
        store_rollback(tx->db);
        tx->db->driver->guard(tx->db, false);
    }
    tx_free(tx);
}

owed_status
owed_committed(owed_tx *tx, owed_error *err)
{
    if (tx->kind != TX_JOINED)
        return fail(err, OWED_INVALID,
            "this transaction was not joined: end it with owed_commit or owed_rollback");
    if (store_in_transaction(tx->db))
        return fail(err, OWED_INVALID,
            "the transaction is still open: COMMIT it, then call owed_committed");
    owed_status status = OWED_OK;
    if (tx->vetoed)
        status = fail(err, tx->refusal, "%s", tx->veto);
    else
        status = tx_before_commit(tx, err);
    tx->owed->tx = NULL;
    if (status == OWED_OK)
        tx_after_commit(tx);
    tx_free(tx);
    return status;
}
