/* SPDX-License-Identifier: MIT
 *
 * postgres.h - owed inside your own PostgreSQL connection. Link with libowed-postgres.
 *
 * PostgreSQL 14 or later. The store's URL is one of libpq's (postgres://user@host/database); what it
 * leaves out comes from the environment, a service file and .pgpass, as libpq has it. owed_error's
 * native is the server's SQLSTATE: OWED_SQLSTATE('4', '0', 'P', '0', '1') is a deadlock.
 */
#ifndef OWED_POSTGRES_H
#define OWED_POSTGRES_H

#include <libpq-fe.h>

#include <owed/owed.h>

OWED_BEGIN_DECLS

/* Five signs, six bits each, as the server packs them. */
#define OWED_SQLSTATE_SIGN(sign) (((sign) - '0') & 0x3f)
#define OWED_SQLSTATE(a, b, c, d, e) \
    (OWED_SQLSTATE_SIGN(a) + OWED_SQLSTATE_SIGN(b) * 64 + OWED_SQLSTATE_SIGN(c) * 4096 + \
        OWED_SQLSTATE_SIGN(d) * 262144 + OWED_SQLSTATE_SIGN(e) * 16777216)

/* The connection of a transaction of ours, to write with. Never end the transaction on it: COMMIT
 * fails there, and what was written is rolled back. NULL: the store is no PostgreSQL. */
OWED_API PGconn *owed_tx_postgres(owed_tx *tx);

/* The connection in the transaction that carries the acknowledgement; the first call begins it.
 * NULL as owed_delivery_tx says. What is still running on it when the receiver returns (a COPY, a
 * pipeline, rows that nobody read) is ended; settings of the session, LISTEN and advisory locks of
 * the session last no longer than the transaction. */
OWED_API PGconn *owed_delivery_postgres(owed_delivery *delivery);

/*
 * owed_delivery_postgres_pipeline returns that connection in libpq's pipeline mode, for a receiver that writes
 * and needs no answer: it sends its statements (PQsendQueryParams, PQsendQueryPrepared), reads nothing,
 * and returns owed_done. What came of them is read later, with that of its neighbours. Where one was refused, the
 * attempt has failed and last_error has the server's words: the receiver was then called once more, as one that
 * is database_only may be. PQprepare needs owed_delivery_postgres, which ends the mode and waits for all.
 * NULL also for an inline receiver, and for one that is delivered inside a transaction of the
 * caller's (owed_drain): use owed_delivery_postgres there.
 */
OWED_API PGconn *owed_delivery_postgres_pipeline(owed_delivery *delivery);

/*
 * owed_join_postgres fires inside the transaction that the caller opened on conn, which must be
 * connected to the store. INVALID: no transaction is open on conn, it is in pipeline mode or in the
 * middle of a query, its client_encoding is not UTF8, or it is not the store's tables that its
 * search_path finds.
 * Nothing is prepared on conn. An inline veto makes the transaction fail, so that COMMIT rolls it
 * back; ROLLBACK TO a savepoint that was set before the fire lifts the veto and undoes the fire.
 */
OWED_API OWED_MUSTUSE owed_status owed_join_postgres(
    owed *owed, PGconn *conn, owed_tx **ret_tx, owed_error *err);

OWED_END_DECLS

#endif
