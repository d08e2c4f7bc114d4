/* SPDX-License-Identifier: MIT
 *
 * load_row_sqlite.c - a row on SQLite.
 */
#include "load_module.h"

#include <owed/sqlite.h>

owed_outcome
load_write_row(owed_delivery *delivery, const void *payload)
{
    static sqlite3 *prepared_on;
    static sqlite3_stmt *stmt;
    (void)payload;
    sqlite3 *db = owed_delivery_sqlite(delivery);
    int code = db == NULL ? SQLITE_MISUSE : SQLITE_OK;
    if (code == SQLITE_OK && db != prepared_on) {
        code =
            sqlite3_prepare_v2(db, "insert into load_row (delivery) values (?1)", -1, &stmt, NULL);
        prepared_on = db;
    }
    if (code == SQLITE_OK)
        code = sqlite3_bind_int64(stmt, 1, owed_delivery_id(delivery));
    if (code == SQLITE_OK)
        code = sqlite3_step(stmt);
    sqlite3_reset(stmt);
    return code == SQLITE_DONE ? owed_done() : owed_failed(delivery, "%s", sqlite3_errstr(code));
}
