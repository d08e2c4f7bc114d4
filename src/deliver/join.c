/* SPDX-License-Identifier: MIT
 *
 * join.c - a transaction that the application opened on its own connection.
 */
#include "deliver/join.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "base/error.h"
#include "deliver/delivery.h"

/* is_store tells whether a connection is one of a driver. Its wrappers keep the scheme. */
static bool
is_store(const struct db *db, const struct driver *driver)
{
    return strcmp(db->driver->scheme, driver->scheme) == 0;
}

void *
owed_driver_native(owed_tx *tx, const struct driver *driver)
{
    if (tx == NULL || !is_store(tx->db, driver))
        return NULL;
    if (tx->lay_open != NULL && !tx->lay_open(tx->lay_open_state))
        return NULL;
    return tx->db->driver->native(tx->db);
}

void *
owed_driver_pipeline(owed_tx *tx, const struct driver *driver)
{
    if (tx == NULL || tx->kind != TX_DELIVERY || !is_store(tx->db, driver) ||
        tx->db->driver->pipeline == NULL)
        return NULL;
    return tx->db->driver->pipeline(tx->db);
}

bool
owed_driver_sends(const owed_tx *tx, const struct driver *driver)
{
    return tx != NULL && tx->kind == TX_DELIVERY && is_store(tx->db, driver) &&
        tx->db->driver->send != NULL;
}

owed_status
owed_driver_send(owed_tx *tx, struct str text, owed_error *err)
{
    return tx->db->driver->send(tx->db, text, err);
}

/* is_same_file compares what two connections have open, whatever each calls it. */
static bool
is_same_file(const char *a, const char *b)
{
    struct stat stat_a;
    struct stat stat_b;
    if (strcmp(a, b) == 0)
        return true;
    return stat(a, &stat_a) == 0 && stat(b, &stat_b) == 0 && stat_a.st_dev == stat_b.st_dev &&
        stat_a.st_ino == stat_b.st_ino;
}

/* A server's URL may hold a password, so only its scheme is shown. */
static owed_status
check_handle(const owed *handle, const struct driver *driver, owed_error *err)
{
    if (!is_store(handle->db, driver))
        return fail(err, OWED_INVALID, "this handle's store is of scheme %s, not %s",
            handle->db->driver->scheme, driver->scheme);
    if (handle->tx != NULL)
        return fail(err, OWED_INVALID,
            "a transaction is open on this handle: end it before another is joined");
    return OWED_OK;
}

/* place_of names the store that a connection is open on. */
static const char *
place_of(struct db *db)
{
    const struct driver *driver = db->driver;
    return or_empty(driver->where == NULL ? driver->path(db) : driver->where(db));
}

static owed_status
check_adopted(const owed *handle, struct db *adopted, owed_error *err)
{
    if (!store_in_transaction(adopted))
        return fail(err, OWED_INVALID,
            "no transaction is open on that connection: BEGIN one before owed_join_%s",
            adopted->driver->scheme);
    const char *ours = place_of(handle->db);
    const char *theirs = place_of(adopted);
    if (!is_same_file(ours, theirs))
        return fail(err, OWED_INVALID, "that connection is open on \"%s\", but the store is \"%s\"",
            theirs, ours);
    // A server names the tables that are reached: what they are was seen when the handle was opened.
    return adopted->driver->where == NULL ? store_check(adopted, err) : OWED_OK;
}

owed_status
owed_driver_join(
    owed *handle, const struct driver *driver, void *native, owed_tx **ret_tx, owed_error *err)
{
    owed_status status = check_handle(handle, driver, err);
    if (status != OWED_OK)
        return status;
    if (native == NULL)
        return fail(err, OWED_INVALID, "no connection was given");
    struct db *adopted = NULL;
    status = driver->adopt(native, &adopted, err);
    if (status != OWED_OK)
        return status;
    handle_keep_clock(handle);
    owed_tx *tx = NULL;
    status = check_adopted(handle, adopted, err);
    if (status == OWED_OK) {
        tx = malloc(sizeof *tx);
        status = tx != NULL ? OWED_OK : fail_memory(err);
    }
    if (status != OWED_OK) {
        driver->close(adopted);
        return status;
    }
    tx_init(tx, handle, adopted, TX_JOINED);
    handle->tx = tx;
    *ret_tx = tx;
    return OWED_OK;
}
