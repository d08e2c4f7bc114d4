/* SPDX-License-Identifier: MIT
 *
 * mariadb.h - owed inside your own MariaDB connection. Link with libowed-mariadb.
 *
 * MariaDB 10.11 or later. The connection speaks utf8mb4 (MYSQL_SET_CHARSET_NAME); nothing else of it
 * is changed, and nothing of ours stays on it.
 */
#ifndef OWED_MARIADB_H
#define OWED_MARIADB_H

#include <mysql.h>

#include <owed/owed.h>

OWED_BEGIN_DECLS

/* The connection of a transaction of ours, to write with. Never end the transaction on it: COMMIT and
 * ROLLBACK do, and so does every CREATE, ALTER, DROP and TRUNCATE. */
OWED_API MYSQL *owed_tx_mariadb(owed_tx *tx);

/* The connection in the transaction that carries the acknowledgement; the first call begins it.
 * NULL as owed_delivery_tx says. Results that are still unread when the receiver returns are read to
 * their end; they, and prepared statements, are still yours to free. A statement that fails with 1213
 * (deadlock) has undone everything: return owed_failed, which is then not counted. */
OWED_API MYSQL *owed_delivery_mariadb(owed_delivery *delivery);

/*
 * owed_delivery_mariadb_send sends a statement in that transaction and waits for no answer: for a receiver that
 * writes and needs none. One INSERT, UPDATE, DELETE or REPLACE, that word first; INVALID: any other. Rows that it
 * gives are thrown away. Values stand in the text: numbers, and what mysql_hex_string writes as x'...', for which no
 * connection is needed. What came of it is read later, with that of the receiver's neighbours. Where one was
 * refused, the attempt has failed and last_error has the server's words: the receiver was then called once more,
 * as one that is database_only may be.
 * Where nothing can be sent ahead (an inline receiver; owed_drain inside a transaction of the caller's) it is run
 * at once. owed_delivery_mariadb waits for all that was sent.
 */
OWED_API OWED_MUSTUSE owed_status owed_delivery_mariadb_send(
    owed_delivery *delivery, const char *sql, size_t len, owed_error *err);

/*
 * owed_join_mariadb fires inside a transaction that the caller opened on db, which must be a
 * connection to the store's database. INVALID: no transaction is open on db, it does not speak
 * utf8mb4, or another database is its own.
 * An inline veto rolls the transaction back and begins one in which nothing can be written: what
 * follows fails with 1792, and COMMIT commits nothing. A second BEGIN, or DDL, ends that.
 */
OWED_API OWED_MUSTUSE owed_status owed_join_mariadb(
    owed *owed, MYSQL *db, owed_tx **ret_tx, owed_error *err);

OWED_END_DECLS

#endif
