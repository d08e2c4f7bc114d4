/* SPDX-License-Identifier: MIT
 *
 * sqlite.h - owed inside your own SQLite connection.
 *
 * SQLite 3.40 or later. A database that several processes write in WAL mode wants
 * PRAGMA wal_autocheckpoint=0 on connections of versions before 3.51.3 (doc/SQLITE.md).
 */
#ifndef OWED_SQLITE_H
#define OWED_SQLITE_H

#include <sqlite3.h>

#include <owed/owed.h>

OWED_BEGIN_DECLS

/* The connection of a transaction of ours, to write with. Never end the transaction on it. */
OWED_API sqlite3 *owed_tx_sqlite(owed_tx *tx);

/* The connection in the transaction that carries the acknowledgement; the first call begins it.
 * NULL as owed_delivery_tx says. Statements that are still running when the receiver returns are
 * reset; they are still yours to finalize. */
OWED_API sqlite3 *owed_delivery_sqlite(owed_delivery *delivery);

/*
 * owed_join_sqlite fires inside a transaction that the caller opened on db, which must be the
 * store's file. INVALID: no transaction is open on db. SCHEMA: no tables there.
 * An inline veto takes db's commit and rollback hooks until the transaction is rolled back: COMMIT
 * and the outermost RELEASE fail until then. Automatic checkpoints of db are switched off.
 */
OWED_API OWED_MUSTUSE owed_status owed_join_sqlite(
    owed *owed, sqlite3 *db, owed_tx **ret_tx, owed_error *err);

OWED_END_DECLS

#endif
