/* SPDX-License-Identifier: MIT
 *
 * postgres_statement.c - running statements on PostgreSQL and reading their rows, all of it binary.
 */
#include <stdlib.h>

#include "base/error.h"
#include "store/postgres.h"

static const struct {
    const char *file;
    int columns;
} about[STMT_MAX] = {
#define STATEMENT(name, file, parameters, columns) [STMT_##name] = {file, columns},
#include "store/statements.def"
#undef STATEMENT
};

const char *
postgres_file(enum stmt stmt)
{
    return about[stmt].file;
}

bool
postgres_has(const struct postgres_db *conn, enum stmt stmt)
{
    return conn->base.driver->sql->statements[stmt] != NULL;
}

/* check_columns refuses a type that nothing here reads: it would look like a null. */
static owed_status
check_columns(enum stmt stmt, const PGresult *result, owed_error *err)
{
    for (int i = 0; i < PQnfields(result); i++)
        if (!postgres_reads(result, i))
            return fail(err, OWED_BUG, "%s: column %s is of type %u, which no statement gives",
                postgres_file(stmt), PQfname(result, i), (unsigned)PQftype(result, i));
    return OWED_OK;
}

/* --- running --- */

/* writes: what gives no rows is there to write; these do both. */
static bool
writes(enum stmt stmt)
{
    static const enum stmt both[] = {STMT_EVENT_INSERT, STMT_EVENT_INSERT_OWN,
        STMT_EVENT_INSERT_ALONE, STMT_EVENTS_INSERT, STMT_SETTLE_ALL, STMT_CLAIM_LANES,
        STMT_CLAIM_LANE, STMT_CLAIM_RECEIVERS, STMT_CLAIM_EARLY, STMT_CLAIM_ONE, STMT_CLAIM_EVENTS,
        STMT_CLAIM_BUT};
    for (size_t i = 0; i < sizeof both / sizeof both[0]; i++)
        if (both[i] == stmt)
            return true;
    return about[stmt].columns == 0;
}

void
postgres_note_number(struct postgres_db *conn, enum stmt stmt, const PGresult *result)
{
    bool says_number = stmt == STMT_EVENT_INSERT_OWN || stmt == STMT_EVENT_INSERT_ALONE;
    if (!says_number || !conn->begun || conn->is_pooled || PQntuples(result) != 1)
        return;
    struct value number = postgres_value(result, 0, 1);
    if (number.type == VALUE_INT)
        conn->number = number.integer;
}

/* may_run keeps an adopted connection from committing by itself. */
static owed_status
may_run(const struct postgres_db *conn, enum stmt stmt, owed_error *err)
{
    if (!conn->base.adopted || !writes(stmt) || PQtransactionStatus(conn->handle) != PQTRANS_IDLE)
        return OWED_OK;
    return fail(err, OWED_ABORTED,
        "%s: the transaction that was joined on %s is over: nothing more can be written in it",
        postgres_file(stmt), conn->place);
}

/* run_once: outside a transaction a plan that is of no use any more is made anew at once. */
static owed_status
run_once(
    struct postgres_db *conn, const struct command *command, PGresult **ret_result, owed_error *err)
{
    conn->repeat = false;
    owed_status status = postgres_talk(conn, command, 1, ret_result, err);
    if (!conn->repeat || conn->begun || conn->base.adopted)
        return status;
    PQclear(*ret_result);
    return postgres_talk(conn, command, 1, ret_result, err);
}

owed_status
postgres_run(struct db *db, enum stmt stmt, const struct value *args, size_t count,
    struct rows **ret_rows, owed_error *err)
{
    struct postgres_db *conn = postgres_of(db);
    struct rows *rows = &conn->rows[stmt];
    if (rows->result != NULL)
        return fail(err, OWED_BUG, "%s: is still being read", postgres_file(stmt));
    if (!postgres_has(conn, stmt))
        return fail(err, OWED_BUG, "%s: is no statement of PostgreSQL's", postgres_file(stmt));
    owed_status status = postgres_still_ours(conn, err);
    if (status == OWED_OK)
        status = may_run(conn, stmt, err);
    if (status != OWED_OK)
        return status;

    // A statement outside of a transaction is one by itself.
    if (conn->light_next && !conn->begun) {
        postgres_queue(conn, STMT_LIGHT_COMMITS);
        conn->light_next = false;
    }
    CLEANUP(clear_result) PGresult *result = NULL;
    struct command command = {.stmt = stmt, .args = args, .count = count};
    status = run_once(conn, &command, &result, err);
    if (status == OWED_OK)
        status = check_columns(stmt, result, err);
    if (status != OWED_OK)
        return status;
    conn->writes = conn->writes || writes(stmt);
    postgres_note_number(conn, stmt, result);
    *rows = (struct rows){.conn = conn, .result = steal(&result), .row = -1};
    *ret_rows = rows;
    return OWED_OK;
}

bool
postgres_next(struct rows *rows)
{
    return ++rows->row < PQntuples(rows->result);
}

struct value
postgres_column(const struct rows *rows, unsigned column)
{
    return postgres_value(rows->result, rows->row, (int)column);
}

/* changed counts the rows that were written; of a function that writes, those that it gave. */
static int64_t
changed(const struct rows *rows)
{
    const char *count = PQcmdTuples(rows->result);
    return count[0] == '\0' ? 0 : strtoll(count, NULL, 10);
}

owed_status
postgres_finish(struct rows *rows, int64_t *ret_changed, owed_error *err)
{
    (void)err; // all rows were there when run returned
    if (ret_changed != NULL)
        *ret_changed = changed(rows);
    PQclear(steal(&rows->result));
    if (rows->conn == NULL)
        free(rows);
    return OWED_OK;
}

struct rows *
postgres_keep(struct rows *rows, size_t *ret_count)
{
    struct rows *kept = PQntuples(rows->result) == 0 ? NULL : malloc(sizeof *kept);
    if (kept == NULL)
        return NULL;
    *kept = (struct rows){.result = steal(&rows->result), .row = -1};
    *ret_count = (size_t)PQntuples(kept->result);
    return kept;
}

struct value
postgres_peek(const struct rows *kept, size_t row, unsigned column)
{
    return postgres_value(kept->result, (int)row, (int)column);
}

owed_status
postgres_do(struct postgres_db *conn, enum stmt stmt, owed_error *err)
{
    struct command command = {.stmt = stmt};
    PGresult *result = NULL;
    owed_status status = postgres_talk(conn, &command, 1, &result, err);
    PQclear(result);
    return status;
}

void
postgres_end_rows(struct postgres_db *conn)
{
    for (int i = 0; i < STMT_MAX; i++)
        PQclear(steal(&conn->rows[i].result));
}

owed_status
postgres_script(struct db *db, const char *text, owed_error *err)
{
    struct postgres_db *conn = postgres_of(db);
    owed_status status = postgres_still_ours(conn, err);
    if (status == OWED_OK)
        status = postgres_flush(conn, err);
    if (status != OWED_OK)
        return status;
    if (PQsendQuery(conn->handle, text) != 1)
        return postgres_fail_lost(conn, conn->handle, "script", err);
    PGresult *result;
    while ((result = postgres_get(conn->handle, postgres_deadline_us(conn))) != NULL) {
        ExecStatusType said = PQresultStatus(result);
        bool is_good =
            said == PGRES_COMMAND_OK || said == PGRES_TUPLES_OK || said == PGRES_EMPTY_QUERY;
        if (!is_good && status == OWED_OK)
            status = postgres_fail(conn, result, "script", err);
        PQclear(result);
    }
    conn->writes = true;
    return status;
}
