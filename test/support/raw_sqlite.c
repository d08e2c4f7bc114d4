/* SPDX-License-Identifier: MIT
 *
 * raw_sqlite.c - raw.h on SQLite.
 */
#include "raw_kind.h"

#include <sqlite3.h>
#include <string.h>

#include "../unit.h"

static void
as_it_is(sqlite3_context *context, int count, sqlite3_value **values)
{
    (void)count;
    sqlite3_result_value(context, values[0]);
}

static void *
sqlite_open(const char *url, struct buf *error)
{
    const char *path = url + strlen("sqlite:");
    sqlite3 *db = NULL;
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
    if (sqlite3_open_v2(path, &db, flags, NULL) != SQLITE_OK) {
        buf_printf(error, "%s", sqlite3_errmsg(db));
        sqlite3_close(db);
        return NULL;
    }
    sqlite3_busy_timeout(db, 10000);
    int each = SQLITE_UTF8 | SQLITE_DETERMINISTIC;
    sqlite3_create_function(db, "micros", 1, each, NULL, as_it_is, NULL, NULL);
    sqlite3_create_function(db, "moment", 1, each, NULL, as_it_is, NULL, NULL);
    // Checkpoints are the relay's.
    sqlite3_exec(db, "pragma wal_autocheckpoint = 0", NULL, NULL, NULL);
    return db;
}

static void
sqlite_close(void *native)
{
    // It is not closed while a statement on it is left open.
    assert_int_equal(sqlite3_close(native), SQLITE_OK);
}

static void
take_row(sqlite3_stmt *stmt, raw_take take, void *state)
{
    struct raw_value values[RAW_COLUMNS];
    int count = sqlite3_column_count(stmt);
    count = count < RAW_COLUMNS ? count : RAW_COLUMNS;
    for (int i = 0; i < count; i++) {
        int type = sqlite3_column_type(stmt, i);
        values[i].is_number = type == SQLITE_INTEGER || type == SQLITE_FLOAT;
        values[i].text = (const char *)sqlite3_column_text(stmt, i);
    }
    take(state, values, (size_t)count);
}

/* step runs one statement to its end; only the last one's rows are wanted, and others have none. */
static int
step(sqlite3_stmt *stmt, raw_take take, void *state)
{
    int rc = sqlite3_step(stmt);
    for (; rc == SQLITE_ROW; rc = sqlite3_step(stmt))
        if (take != NULL)
            take_row(stmt, take, state);
    int ended = sqlite3_finalize(stmt);
    return rc == SQLITE_DONE ? SQLITE_OK : ended;
}

static bool
sqlite_run(void *native, const char *statements, raw_take take, void *state, struct buf *error)
{
    int rc = SQLITE_OK;
    while (rc == SQLITE_OK && *statements != '\0') {
        sqlite3_stmt *stmt = NULL;
        rc = sqlite3_prepare_v2(native, statements, -1, &stmt, &statements);
        if (rc == SQLITE_OK && stmt != NULL)
            rc = step(stmt, take, state);
    }
    if (rc != SQLITE_OK)
        buf_printf(error, "%s", sqlite3_errmsg(native));
    return rc == SQLITE_OK;
}

static bool
sqlite_in_transaction(void *native)
{
    return sqlite3_get_autocommit(native) == 0;
}

const struct raw_kind raw_sqlite = {
    .scheme = "sqlite",
    .open = sqlite_open,
    .close = sqlite_close,
    .run = sqlite_run,
    .in_transaction = sqlite_in_transaction,
    .fire = "insert into owed_fire (name, payload) values ('%s', '%s')",
    .refuse = "create trigger refuse_%s_%s before %s on %s when %s "
              "begin select raise(abort, '%s'); end",
    .allow = "drop trigger refuse_%s_%s -- %s",
};
