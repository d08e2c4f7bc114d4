/* SPDX-License-Identifier: MIT
 *
 * effect.c - see effect.h. Each store has its own function for the connection; those of others answer
 * NULL.
 */
#include "effect.h"

#include <owed/sqlite.h>
#ifdef TEST_WITH_POSTGRES
#include <owed/postgres.h>
#endif
#ifdef TEST_WITH_MARIADB
#include <owed/mariadb.h>
#endif

static bool
on_sqlite(owed_tx *tx, const char *statement, bool *ret_worked)
{
    sqlite3 *db = owed_tx_sqlite(tx);
    if (db != NULL)
        *ret_worked = sqlite3_exec(db, statement, NULL, NULL, NULL) == SQLITE_OK;
    return db != NULL;
}

static bool
on_postgres(owed_tx *tx, const char *statement, bool *ret_worked)
{
#ifdef TEST_WITH_POSTGRES
    PGconn *conn = owed_tx_postgres(tx);
    if (conn == NULL)
        return false;
    PGresult *result = PQexec(conn, statement);
    *ret_worked = PQresultStatus(result) == PGRES_COMMAND_OK;
    PQclear(result);
    return true;
#else
    (void)tx;
    (void)statement;
    (void)ret_worked;
    return false;
#endif
}

static bool
on_mariadb(owed_tx *tx, const char *statement, bool *ret_worked)
{
#ifdef TEST_WITH_MARIADB
    MYSQL *conn = owed_tx_mariadb(tx);
    if (conn == NULL)
        return false;
    *ret_worked = mysql_query(conn, statement) == 0;
    return true;
#else
    (void)tx;
    (void)statement;
    (void)ret_worked;
    return false;
#endif
}

bool
effect(owed_tx *tx, const char *statement)
{
    bool worked = false;
    if (tx == NULL)
        return false;
    if (!on_sqlite(tx, statement, &worked) && !on_postgres(tx, statement, &worked))
        on_mariadb(tx, statement, &worked);
    return worked;
}

bool
effect_of(owed_delivery *delivery, const char *statement)
{
    return effect(owed_delivery_tx(delivery), statement);
}
