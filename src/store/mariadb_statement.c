/* SPDX-License-Identifier: MIT
 *
 * mariadb_statement.c - running statements on MariaDB.
 *
 * Each is prepared at its first use and kept with the connection; on an adopted connection it is
 * closed again at once, since that belongs to the application. A result is fetched whole: the protocol
 * has one answer at a time, and the caller may run other statements between two rows.
 */
#include <inttypes.h>
#include <mysqld_error.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "store/mariadb.h"

#define PACKET_SLACK 4096      // what a statement has besides the bytes of its parameters
#define PACKET_LEAST (1 << 20) // below it no server is asked what it takes

static const char *const files[STMT_MAX] = {
#define STATEMENT(name, file, parameters, columns) [STMT_##name] = file,
#include "store/statements.def"
#undef STATEMENT
};

const char *
mariadb_file(enum stmt stmt)
{
    return files[stmt];
}

static enum stmt
stmt_of(const struct rows *rows)
{
    return (enum stmt)(rows - rows->conn->rows);
}

static owed_status
fail_rows(const struct rows *rows, owed_error *err)
{
    return mariadb_fail(rows->conn, mysql_stmt_errno(rows->stmt), mysql_stmt_error(rows->stmt),
        files[stmt_of(rows)], err);
}

static void
forget_statement(struct rows *rows)
{
    if (rows->stmt != NULL)
        mysql_stmt_close(rows->stmt);
    rows->stmt = NULL;
    mariadb_rows_done(rows);
}

void
mariadb_forget_statements(struct mariadb_db *conn)
{
    for (int i = 0; i < STMT_MAX; i++)
        forget_statement(&conn->rows[i]);
}

static owed_status
prepare(struct rows *rows, owed_error *err)
{
    // Whoever resets the connection takes all that was prepared on it along.
    if (rows->stmt != NULL && rows->stmt->mysql == NULL)
        forget_statement(rows);
    if (rows->stmt != NULL)
        return OWED_OK;
    const char *text = rows->conn->base.driver->sql->statements[stmt_of(rows)];
    if (text == NULL)
        return fail(err, OWED_BUG, "%s: this store has no such statement", files[stmt_of(rows)]);
    rows->stmt = mysql_stmt_init(rows->conn->handle);
    if (rows->stmt == NULL)
        return fail_memory(err);
    if (mysql_stmt_prepare(rows->stmt, text, strlen(text)) == 0)
        return OWED_OK;
    owed_status status = fail_rows(rows, err);
    forget_statement(rows);
    return status;
}

bool
mariadb_is_prepared(struct mariadb_db *conn, enum stmt stmt)
{
    conn->rows[stmt].conn = conn;
    return prepare(&conn->rows[stmt], NULL) == OWED_OK;
}

/* changed counts as all stores do: an update that writes what stood there has changed its row too, and
 * a row that was inserted or updated counts once. The flag of the connection that does the first of
 * these is the application's to set. */
static int64_t
changed(const struct rows *rows)
{
    MYSQL *handle = rows->conn->handle;
    const char *info = mysql_info(handle);
    int64_t matched = 0;
    if (info != NULL && sscanf(info, "Rows matched: %" SCNd64, &matched) == 1)
        return matched;
    int64_t count = (int64_t)mysql_stmt_affected_rows(rows->stmt);
    const char *text = rows->conn->base.driver->sql->statements[stmt_of(rows)];
    bool is_one_row = info == NULL && strncasecmp(text, "insert", 6) == 0;
    return is_one_row && count == 2 ? 1 : count;
}

/* take_result fetches all rows. What a procedure answers with is known only now. */
static owed_status
take_result(struct rows *rows, owed_error *err)
{
    unsigned count = mysql_stmt_field_count(rows->stmt);
    owed_status status = OWED_OK;
    if (count != rows->column_count) {
        mariadb_rows_done(rows);
        status = mariadb_rows_describe(rows, err);
    }
    if (status != OWED_OK || count == 0)
        return status;
    bool ok = mysql_stmt_store_result(rows->stmt) == 0 &&
        mysql_stmt_bind_result(rows->stmt, rows->binds) == 0;
    return ok ? OWED_OK : fail_rows(rows, err);
}

static owed_status
execute(struct rows *rows, struct parameters *parameters, owed_error *err)
{
    bool ok = mysql_stmt_attr_set(rows->stmt, STMT_ATTR_ARRAY_SIZE, &parameters->rows) == 0 &&
        (parameters->count == 0 || mysql_stmt_bind_param(rows->stmt, parameters->binds) == 0);
    if (!ok || mysql_stmt_execute(rows->stmt) != 0)
        return fail_rows(rows, err);
    rows->changed = changed(rows);
    return take_result(rows, err);
}

/* is_stale tells whether a statement only has to be prepared anew: it did not run. */
static bool
is_stale(const struct rows *rows)
{
    unsigned code = rows->stmt == NULL ? 0 : mysql_stmt_errno(rows->stmt);
    return code == ER_UNKNOWN_STMT_HANDLER || code == ER_NEED_REPREPARE;
}

static owed_status
prepare_and_execute(struct rows *rows, struct parameters *parameters, owed_error *err)
{
    owed_status status = prepare(rows, err);
    if (status == OWED_OK)
        status = execute(rows, parameters, err);
    if (status == OWED_OK || !is_stale(rows))
        return status;
    forget_statement(rows);
    status = prepare(rows, err);
    return status == OWED_OK ? execute(rows, parameters, err) : status;
}

/* check_size refuses what the server would answer by hanging up. */
static owed_status
check_size(struct mariadb_db *conn, enum stmt stmt, size_t bytes, owed_error *err)
{
    if (bytes < PACKET_LEAST)
        return OWED_OK;
    owed_status status = conn->max_packet == 0 ? mariadb_meet(conn, err) : OWED_OK;
    if (status != OWED_OK || bytes + PACKET_SLACK < conn->max_packet)
        return status;
    return fail(err, OWED_LIMIT,
        "%s: %zu bytes are more than the server takes at once (max_allowed_packet is %" PRIu64
        " on %s): raise that to %zu or more",
        files[stmt], bytes, conn->max_packet, conn->place, bytes + 2 * (size_t)PACKET_SLACK);
}

/* end_rows lets go of what was fetched. A procedure has one more answer after its rows: how it ended. */
static owed_status
end_rows(struct rows *rows, owed_error *err)
{
    rows->running = false;
    if (rows->stmt == NULL)
        return OWED_OK;
    int code = 0;
    while (code == 0 && mysql_stmt_more_results(rows->stmt))
        code = mysql_stmt_next_result(rows->stmt);
    owed_status status = code > 0 ? fail_rows(rows, err) : OWED_OK;
    if (rows->conn->base.adopted) {
        forget_statement(rows);
        return status;
    }
    if (rows->column_count > 0)
        mysql_stmt_free_result(rows->stmt);
    mariadb_rows_trim(rows);
    return status;
}

static owed_status
start(struct mariadb_db *conn, enum stmt stmt, const struct value *args, size_t count,
    owed_error *err)
{
    struct rows *rows = &conn->rows[stmt];
    struct parameters parameters;
    owed_status status =
        mariadb_parameters(conn->base.driver->sql, stmt, args, count, &parameters, err);
    if (status != OWED_OK)
        return status;
    rows->status = OWED_OK;
    rows->changed = 0;
    status = check_size(conn, stmt, parameters.bytes, err);
    bool was_run = status == OWED_OK;
    if (was_run)
        status = prepare_and_execute(rows, &parameters, err);
    mariadb_parameters_done(&parameters);
    // Where an error came amid the rows, the library would wait for the rest of them before it ran the
    // statement again.
    if (status != OWED_OK && was_run)
        forget_statement(rows);
    return status;
}

owed_status
mariadb_run(struct db *db, enum stmt stmt, const struct value *args, size_t count,
    struct rows **ret_rows, owed_error *err)
{
    struct mariadb_db *conn = mariadb_of(db);
    owed_status status = mariadb_let_go(conn, err);
    if (status != OWED_OK)
        return status;
    stmt = mariadb_beginning(conn, stmt);
    struct rows *rows = &conn->rows[stmt];
    if (rows->running)
        return fail(err, OWED_BUG, "%s: is still being read", files[stmt]);
    rows->conn = conn;
    status = mariadb_may_run(conn, stmt, err);
    if (status != OWED_OK)
        return status;
    status = start(conn, stmt, args, count, err);
    mariadb_has_begun(conn, status);
    if (status != OWED_OK)
        return status;
    rows->running = true;
    *ret_rows = rows;
    return OWED_OK;
}

owed_status
mariadb_finish(struct rows *rows, int64_t *ret_changed, owed_error *err)
{
    owed_status status = rows->status;
    if (status != OWED_OK && err != NULL)
        *err = rows->conn->step_error;
    owed_status ended = end_rows(rows, status == OWED_OK ? err : NULL);
    if (status == OWED_OK)
        status = ended;
    if (status == OWED_OK && ret_changed != NULL)
        *ret_changed = rows->changed;
    return status;
}

owed_status
mariadb_do(struct mariadb_db *conn, enum stmt stmt, owed_error *err)
{
    const char *text = conn->base.driver->sql->statements[stmt];
    mariadb_hear(conn);
    if (mysql_real_query(conn->handle, text, strlen(text)) == 0)
        return OWED_OK;
    return mariadb_fail_last(conn, files[stmt], err);
}

/* drain reads every answer of a script to its end. */
static int
drain(MYSQL *handle)
{
    int code;
    do {
        MYSQL_RES *result = mysql_use_result(handle);
        if (result != NULL)
            mysql_free_result(result);
        code = mysql_next_result(handle);
    } while (code == 0);
    return code > 0;
}

static owed_status
run_script(struct mariadb_db *conn, const char *text, owed_error *err)
{
    MYSQL *handle = conn->handle;
    if (mysql_set_server_option(handle, MYSQL_OPTION_MULTI_STATEMENTS_ON) != 0)
        return mariadb_fail_last(conn, "script", err);
    owed_status status = OWED_OK;
    if (mysql_real_query(handle, text, strlen(text)) != 0 || drain(handle) != 0)
        status = mariadb_fail_last(conn, "script", err);
    // An adopted connection may have been opened with it on, but who joins a transaction runs no script.
    bool off =
        conn->broken || mysql_set_server_option(handle, MYSQL_OPTION_MULTI_STATEMENTS_OFF) == 0;
    return status == OWED_OK && !off ? mariadb_fail_last(conn, "script", err) : status;
}

owed_status
mariadb_script(struct db *db, const char *text, owed_error *err)
{
    struct mariadb_db *conn = mariadb_of(db);
    owed_status status = mariadb_may_run(conn, STMT_BEGIN_WRITE, err);
    if (status == OWED_OK)
        status = run_script(conn, text, err);
    return status == OWED_OK ? mariadb_goes_on(conn, err) : status;
}

/* mariadb_sweep ends what a receiver left unread: nothing else can be asked on the connection before. */
void
mariadb_sweep(struct db *db)
{
    MYSQL *handle = mariadb_of(db)->handle;
    for (LIST *item = handle->stmts; item != NULL; item = item->next) {
        MYSQL_STMT *stmt = item->data;
        if (stmt->state >= MYSQL_STMT_WAITING_USE_OR_STORE && stmt->state < MYSQL_STMT_FETCH_DONE)
            mysql_stmt_free_result(stmt);
    }
    if (handle->status == MYSQL_STATUS_USE_RESULT) {
        handle->methods->db_skip_result(handle);
        handle->status = MYSQL_STATUS_READY;
    }
    if (handle->status == MYSQL_STATUS_GET_RESULT || mysql_more_results(handle))
        drain(handle);
}
