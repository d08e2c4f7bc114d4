/* SPDX-License-Identifier: MIT
 *
 * mariadb_rows.c - the columns of a row in our form: integers, texts and bytes; times as microseconds.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/error.h"
#include "store/mariadb.h"

#define BINARY_CHARSET 63
#define FIRST_BYTES 256
#define KEPT_BYTES ((size_t)64 * 1024)

/* Types of columns that are read as integers; DECIMAL is what sums come as. */
static bool
is_number(enum enum_field_types type)
{
    static const enum enum_field_types numbers[] = {
        MYSQL_TYPE_TINY,
        MYSQL_TYPE_SHORT,
        MYSQL_TYPE_INT24,
        MYSQL_TYPE_LONG,
        MYSQL_TYPE_LONGLONG,
        MYSQL_TYPE_YEAR,
        MYSQL_TYPE_FLOAT,
        MYSQL_TYPE_DOUBLE,
        MYSQL_TYPE_DECIMAL,
        MYSQL_TYPE_NEWDECIMAL,
    };
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        if (numbers[i] == type)
            return true;
    return false;
}

static bool
is_time(enum enum_field_types type)
{
    return type == MYSQL_TYPE_DATETIME || type == MYSQL_TYPE_TIMESTAMP;
}

static void
point_at_bytes(struct rows *rows, unsigned place)
{
    rows->binds[place].buffer = rows->columns[place].bytes;
    rows->binds[place].buffer_length = rows->columns[place].capacity;
}

static bool
describe(struct rows *rows, unsigned place, const MYSQL_FIELD *field)
{
    struct column *column = &rows->columns[place];
    MYSQL_BIND *bind = &rows->binds[place];
    bind->is_null = &column->is_null;
    bind->length = &column->len;
    if (is_number(field->type)) {
        column->type = VALUE_INT;
        bind->buffer_type = MYSQL_TYPE_LONGLONG;
        bind->buffer = &column->integer;
        return true;
    }
    if (is_time(field->type)) {
        column->type = VALUE_INT;
        column->is_time = true;
        bind->buffer_type = MYSQL_TYPE_DATETIME;
        bind->buffer = &column->time;
        return true;
    }
    column->type = field->charsetnr == BINARY_CHARSET ? VALUE_BLOB : VALUE_TEXT;
    bind->buffer_type = MYSQL_TYPE_STRING;
    column->bytes = malloc(FIRST_BYTES);
    column->capacity = FIRST_BYTES;
    point_at_bytes(rows, place);
    return column->bytes != NULL;
}

owed_status
mariadb_rows_describe(struct rows *rows, owed_error *err)
{
    MYSQL_RES *fields = mysql_stmt_result_metadata(rows->stmt);
    if (fields == NULL)
        return mysql_stmt_field_count(rows->stmt) == 0 ? OWED_OK : fail_memory(err);
    unsigned count = mysql_num_fields(fields);
    rows->columns = calloc(count, sizeof *rows->columns);
    rows->binds = calloc(count, sizeof *rows->binds);
    bool ok = rows->columns != NULL && rows->binds != NULL;
    rows->column_count = ok ? count : 0;
    for (unsigned i = 0; ok && i < count; i++)
        ok = describe(rows, i, mysql_fetch_field_direct(fields, i));
    mysql_free_result(fields);
    return ok ? OWED_OK : fail_memory(err);
}

void
mariadb_rows_done(struct rows *rows)
{
    for (unsigned i = 0; i < rows->column_count; i++)
        free(rows->columns[i].bytes);
    free(rows->columns);
    free(rows->binds);
    rows->columns = NULL;
    rows->binds = NULL;
    rows->column_count = 0;
}

void
mariadb_rows_trim(struct rows *rows)
{
    for (unsigned i = 0; i < rows->column_count; i++) {
        struct column *column = &rows->columns[i];
        if (column->capacity <= KEPT_BYTES)
            continue;
        char *less = realloc(column->bytes, FIRST_BYTES);
        if (less == NULL)
            continue;
        column->bytes = less;
        column->capacity = FIRST_BYTES;
        point_at_bytes(rows, i);
    }
}

/* fetch_whole reads a value anew that is longer than its column's memory. */
static owed_status
fetch_whole(struct rows *rows, unsigned place, owed_error *err)
{
    struct column *column = &rows->columns[place];
    size_t capacity = column->len + column->len / 4;
    free(column->bytes);
    column->bytes = malloc(capacity);
    column->capacity = column->bytes == NULL ? 0 : capacity;
    point_at_bytes(rows, place);
    if (column->bytes == NULL)
        return fail_memory(err);
    MYSQL_BIND whole = rows->binds[place];
    if (mysql_stmt_fetch_column(rows->stmt, &whole, place, 0) == 0)
        return OWED_OK;
    return mariadb_fail(
        rows->conn, mysql_stmt_errno(rows->stmt), mysql_stmt_error(rows->stmt), "fetch", err);
}

static bool
is_cut(const struct column *column)
{
    return column->type != VALUE_INT && !column->is_null && column->len > column->capacity;
}

static owed_status
fetch_long_ones(struct rows *rows, owed_error *err)
{
    bool moved = false;
    for (unsigned i = 0; i < rows->column_count; i++) {
        if (!is_cut(&rows->columns[i]))
            continue;
        owed_status status = fetch_whole(rows, i, err);
        if (status != OWED_OK)
            return status;
        moved = true;
    }
    if (moved && mysql_stmt_bind_result(rows->stmt, rows->binds) != 0)
        return fail_memory(err);
    return OWED_OK;
}

bool
mariadb_next(struct rows *rows)
{
    if (!rows->running || rows->column_count == 0 || rows->status != OWED_OK)
        return false;
    int code = mysql_stmt_fetch(rows->stmt);
    if (code == MYSQL_NO_DATA)
        return false;
    owed_error *err = &rows->conn->step_error;
    if (code != 0 && code != MYSQL_DATA_TRUNCATED)
        rows->status = mariadb_fail(
            rows->conn, mysql_stmt_errno(rows->stmt), mysql_stmt_error(rows->stmt), "fetch", err);
    else
        rows->status = fetch_long_ones(rows, err);
    return rows->status == OWED_OK;
}

static int64_t
microseconds(const MYSQL_TIME *time)
{
    struct tm parts = {
        .tm_year = (int)time->year - 1900,
        .tm_mon = (int)time->month - 1,
        .tm_mday = (int)time->day,
        .tm_hour = (int)time->hour,
        .tm_min = (int)time->minute,
        .tm_sec = (int)time->second,
    };
    return (int64_t)timegm(&parts) * US_PER_SECOND + (int64_t)time->second_part;
}

struct value
mariadb_column(const struct rows *rows, unsigned place)
{
    const struct column *column = place < rows->column_count ? &rows->columns[place] : NULL;
    if (column == NULL || column->is_null)
        return (struct value){.type = VALUE_NULL};
    if (column->is_time)
        return (struct value){.type = VALUE_INT, .integer = microseconds(&column->time)};
    if (column->type == VALUE_INT)
        return (struct value){.type = VALUE_INT, .integer = column->integer};
    return (struct value){.type = column->type, .bytes = {column->bytes, column->len}};
}
