/* SPDX-License-Identifier: MIT
 *
 * effects_sqlite.c - an effect on SQLite.
 */
#include "effects.h"

#include <owed/sqlite.h>
#include <stdio.h>

bool
effect_insert(owed_delivery *delivery, char why[static 200])
{
    sqlite3 *db = owed_delivery_sqlite(delivery);
    sqlite3_stmt *stmt = NULL;
    if (db == NULL)
        return false;
    const char *sql = "insert into effect (delivery, receiver) values (?1, ?2)";
    bool done = sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) == SQLITE_OK &&
        sqlite3_bind_int64(stmt, 1, owed_delivery_id(delivery)) == SQLITE_OK &&
        sqlite3_bind_text(stmt, 2, owed_delivery_receiver_key(delivery), -1, SQLITE_STATIC) ==
            SQLITE_OK &&
        sqlite3_step(stmt) == SQLITE_DONE;
    sqlite3_finalize(stmt);
    if (!done)
        snprintf(why, 200, "%s", sqlite3_errmsg(db));
    return done;
}
