/* SPDX-License-Identifier: MIT
 *
 * join.h - the application's own connection: what the files behind owed/sqlite.h, owed/postgres.h and
 * owed/mariadb.h have in common.
 *
 * Exported for the drivers' libraries alone; no public header has them.
 */
#ifndef DELIVER_JOIN_H
#define DELIVER_JOIN_H

#include <owed/owed.h>

#include "store/driver.h"

/* owed_driver_native is the client library's handle of a transaction on that driver's store; else NULL. */
OWED_API void *owed_driver_native(owed_tx *tx, const struct driver *driver);

/* owed_driver_pipeline is the same of the transaction of a delivery, for who sends and waits for no answer;
 * else NULL. */
OWED_API void *owed_driver_pipeline(owed_tx *tx, const struct driver *driver);

/* owed_driver_sends tells whether a statement can be sent ahead in a transaction, that of a delivery;
 * owed_driver_send does so. */
OWED_API bool owed_driver_sends(const owed_tx *tx, const struct driver *driver);
OWED_API owed_status owed_driver_send(owed_tx *tx, struct str text, owed_error *err);

/* owed_driver_join fires inside the transaction that the caller has open on native. */
OWED_API owed_status owed_driver_join(
    owed *handle, const struct driver *driver, void *native, owed_tx **ret_tx, owed_error *err);

#endif
