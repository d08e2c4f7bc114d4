/* SPDX-License-Identifier: MIT
 *
 * sqlite_statement.c - running statements on SQLite and reading their rows.
 *
 * Each statement is prepared once for a connection, at its first use; SQLite prepares it anew by
 * itself when the schema changed. Parameters are bound where they lie, not copied.
 */
#include <string.h>

#include "base/error.h"
#include "store/sqlite.h"

static const char *const files[STMT_MAX] = {
#define STATEMENT(name, file, parameters, columns) [STMT_##name] = file,
#include "store/statements.def"
#undef STATEMENT
};

static owed_status
prepare(struct sqlite_db *conn, enum stmt stmt, owed_error *err)
{
    if (conn->stmts[stmt] != NULL)
        return OWED_OK;
    int code = sqlite3_prepare_v3(conn->handle, conn->base.driver->sql->statements[stmt], -1,
        SQLITE_PREPARE_PERSISTENT, &conn->stmts[stmt], NULL);
    return code == SQLITE_OK ? OWED_OK : sqlite_fail(conn, code, files[stmt], err);
}

/* writes_by_itself tells whether a statement is a transaction of its own, with a commit. */
static bool
writes_by_itself(struct sqlite_db *conn, enum stmt stmt)
{
    return sqlite3_get_autocommit(conn->handle) != 0 && stmt != STMT_BEGIN_WRITE &&
        sqlite3_stmt_readonly(conn->stmts[stmt]) == 0;
}

/* may_run keeps an adopted connection from committing, and a light commit from being one that nobody
 * asked for. */
static owed_status
may_run(struct sqlite_db *conn, enum stmt stmt, owed_error *err)
{
    if (!writes_by_itself(conn, stmt))
        return OWED_OK;
    if (!conn->base.adopted)
        return conn->is_light ? sqlite_sync_commits(conn, true, err) : OWED_OK;
    return fail(err, OWED_ABORTED,
        "%s: the transaction that was joined on %s is over: nothing more can be written in it",
        files[stmt], conn->path);
}

static int
bind(sqlite3_stmt *stmt, int place, const struct value *value)
{
    static const char nothing[] = "";
    const char *bytes = value->bytes.p != NULL ? value->bytes.p : nothing;
    switch (value->type) {
    case VALUE_NULL:
        return sqlite3_bind_null(stmt, place);
    case VALUE_INT:
    case VALUE_TIME:
        return sqlite3_bind_int64(stmt, place, value->integer);
    case VALUE_TEXT:
        return sqlite3_bind_text64(
            stmt, place, bytes, value->bytes.len, SQLITE_STATIC, SQLITE_UTF8);
    case VALUE_BLOB:
        return sqlite3_bind_blob64(stmt, place, bytes, value->bytes.len, SQLITE_STATIC);
    case VALUE_ARRAY:
        break;
    }
    return SQLITE_MISUSE;
}

static void
end_rows(struct rows *rows)
{
    sqlite3_reset(rows->stmt);
    sqlite3_clear_bindings(rows->stmt);
    rows->stmt = NULL;
}

/* step reads on; what it comes to is kept in rows. */
static void
step(struct rows *rows)
{
    struct sqlite_db *conn = rows->conn;
    int code = sqlite3_step(rows->stmt);
    rows->fetched = code == SQLITE_ROW;
    if (rows->fetched)
        return;
    rows->done = true;
    if (code == SQLITE_DONE && sqlite3_stmt_readonly(rows->stmt) == 0)
        rows->changed = sqlite3_changes64(conn->handle);
    if (code != SQLITE_DONE)
        rows->status = sqlite_fail(conn, code, files[rows - conn->rows], &conn->step_error);
}

owed_status
sqlite_run(struct db *db, enum stmt stmt, const struct value *args, size_t count,
    struct rows **ret_rows, owed_error *err)
{
    struct sqlite_db *conn = sqlite_of(db);
    struct rows *rows = &conn->rows[stmt];
    if (rows->stmt != NULL)
        return fail(err, OWED_BUG, "%s: is still being read", files[stmt]);
    owed_status status = sqlite_still_ours(conn, err);
    if (status == OWED_OK)
        status = prepare(conn, stmt, err);
    if (status == OWED_OK)
        status = may_run(conn, stmt, err);
    if (status != OWED_OK)
        return status;

    *rows = (struct rows){.conn = conn, .stmt = conn->stmts[stmt]};
    for (size_t i = 0; i < count; i++) {
        int code = bind(rows->stmt, (int)i + 1, &args[i]);
        if (code == SQLITE_OK)
            continue;
        status = sqlite_fail(conn, code, files[stmt], err);
        end_rows(rows);
        return status;
    }
    step(rows);
    if (rows->status != OWED_OK)
        return sqlite_finish(rows, NULL, err);
    *ret_rows = rows;
    return OWED_OK;
}

bool
sqlite_next(struct rows *rows)
{
    if (rows->fetched) {
        rows->fetched = false;
        return true;
    }
    if (rows->done)
        return false;
    step(rows);
    bool found = rows->fetched;
    rows->fetched = false;
    return found;
}

struct value
sqlite_column(const struct rows *rows, unsigned column)
{
    int place = (int)column;
    switch (sqlite3_column_type(rows->stmt, place)) {
    case SQLITE_NULL:
        return (struct value){.type = VALUE_NULL};
    case SQLITE_INTEGER:
        return (struct value){
            .type = VALUE_INT, .integer = sqlite3_column_int64(rows->stmt, place)};
    case SQLITE_BLOB: {
        const char *bytes = sqlite3_column_blob(rows->stmt, place);
        size_t len = (size_t)sqlite3_column_bytes(rows->stmt, place);
        return (struct value){.type = VALUE_BLOB, .bytes = {bytes, len}};
    }
    default: {
        const char *bytes = (const char *)sqlite3_column_text(rows->stmt, place);
        size_t len = (size_t)sqlite3_column_bytes(rows->stmt, place);
        return (struct value){.type = VALUE_TEXT, .bytes = {bytes, len}};
    }
    }
}

owed_status
sqlite_finish(struct rows *rows, int64_t *ret_changed, owed_error *err)
{
    // A statement that writes holds its lock, and counts nothing, until it was stepped to the end.
    while (!rows->done && sqlite3_stmt_readonly(rows->stmt) == 0)
        step(rows);
    owed_status status = rows->status;
    if (status != OWED_OK && err != NULL)
        *err = rows->conn->step_error;
    if (status == OWED_OK && ret_changed != NULL)
        *ret_changed = rows->changed;
    end_rows(rows);
    return status;
}

owed_status
sqlite_do(struct sqlite_db *conn, enum stmt stmt, owed_error *err)
{
    struct rows *rows = NULL;
    owed_status status = sqlite_run(&conn->base, stmt, NULL, 0, &rows, err);
    return status == OWED_OK ? sqlite_finish(rows, NULL, err) : status;
}

owed_status
sqlite_script(struct db *db, const char *text, owed_error *err)
{
    struct sqlite_db *conn = sqlite_of(db);
    owed_status status = sqlite_still_ours(conn, err);
    if (status != OWED_OK)
        return status;
    int code = sqlite3_exec(conn->handle, text, NULL, NULL, NULL);
    return code == SQLITE_OK ? OWED_OK : sqlite_fail(conn, code, "script", err);
}

/* sqlite_sweep: a query that was never read to its end keeps its connection at what it saw then, and a
 * statement that was not run to its end keeps a savepoint from being released. */
void
sqlite_sweep(struct db *db)
{
    sqlite3 *handle = sqlite_of(db)->handle;
    for (sqlite3_stmt *s = sqlite3_next_stmt(handle, NULL); s != NULL;
         s = sqlite3_next_stmt(handle, s))
        if (sqlite3_stmt_busy(s) != 0)
            sqlite3_reset(s);
}

void
sqlite_finalize_all(struct sqlite_db *conn)
{
    for (int i = 0; i < STMT_MAX; i++)
        sqlite3_finalize(conn->stmts[i]);
    memset(conn->stmts, 0, sizeof conn->stmts);
}
