/* SPDX-License-Identifier: MIT
 *
 * mariadb_bulk.c - parameters of many rows, which MariaDB takes at once: a column of them for each question mark.
 *
 * The server runs the statement for each as one statement, so that it is undone whole. It says when one connects
 * whether it can: MySQL cannot, nor can some of what stands between a server and its clients.
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "store/mariadb.h"

#define HEAD_BYTES 10 // before a value, at most: whether it is null, and its length

/* What the library wants of a row: a number lies there itself, of anything else a pointer to it. */
union cell {
    int64_t integer;
    const void *pointer;
};

/* The values of all columns, one column behind the other; and of one. */
struct cells {
    union cell *values;
    MYSQL_TIME *times;
    unsigned long *lengths; // of texts
    char *indicators;
};
#define CELL_BYTES (sizeof(union cell) + sizeof(MYSQL_TIME) + sizeof(unsigned long) + sizeof(char))

bool
mariadb_takes_rows(struct db *db)
{
    MYSQL *handle = mariadb_of(db)->handle;
    unsigned long extended = 0;
    return mariadb_get_infov(handle, MARIADB_CONNECTION_EXTENDED_SERVER_CAPABILITIES, &extended) ==
        0 &&
        (extended & (MARIADB_CLIENT_STMT_BULK_OPERATIONS >> 32)) != 0;
}

static enum enum_field_types
type_of(enum value_type type)
{
    switch (type) {
    case VALUE_INT:
        return MYSQL_TYPE_LONGLONG;
    case VALUE_TIME:
        return MYSQL_TYPE_DATETIME;
    case VALUE_BLOB:
        return MYSQL_TYPE_BLOB;
    case VALUE_NULL:
    case VALUE_TEXT:
    case VALUE_ARRAY:
        break;
    }
    return MYSQL_TYPE_STRING;
}

static void
put(struct cells *cells, size_t at, const struct value *value, size_t *bytes)
{
    switch (value->type) {
    case VALUE_NULL:
        cells->indicators[at] = STMT_INDICATOR_NULL;
        return;
    case VALUE_INT:
        cells->values[at].integer = value->integer;
        *bytes += sizeof value->integer;
        return;
    case VALUE_TIME:
        cells->times[at] = mariadb_time(value->integer);
        cells->values[at].pointer = &cells->times[at];
        *bytes += sizeof cells->times[at];
        return;
    case VALUE_TEXT:
    case VALUE_BLOB:
    case VALUE_ARRAY:
        cells->values[at].pointer = value->bytes.p == NULL ? "" : value->bytes.p;
        cells->lengths[at] = value->bytes.len;
        *bytes += value->bytes.len;
        return;
    }
}

/* bind_column: all that is not null in a column is of one type. */
static void
bind_column(struct parameters *parameters, size_t place, struct cells *cells,
    const struct value *first, size_t each)
{
    size_t rows = parameters->rows, from = place * rows;
    enum value_type type = VALUE_NULL;
    for (size_t row = 0; row < rows; row++) {
        const struct value *value = &first[row * each];
        type = type == VALUE_NULL ? value->type : type;
        put(cells, from + row, value, &parameters->bytes);
    }
    parameters->binds[place] = (MYSQL_BIND){.buffer_type = type_of(type),
        .buffer = &cells->values[from],
        .length = &cells->lengths[from],
        .u.indicator = &cells->indicators[from]};
}

owed_status
mariadb_columns(const uint8_t *order, const struct value *args, size_t each, size_t rows,
    struct parameters *ret_parameters, owed_error *err)
{
    size_t places = ret_parameters->count, total = places * rows;
    void *memory = calloc(total, CELL_BYTES);
    if (memory == NULL)
        return fail_memory(err);
    struct cells cells = {.values = memory};
    cells.times = (MYSQL_TIME *)(cells.values + total);
    cells.lengths = (unsigned long *)(cells.times + total);
    cells.indicators = (char *)(cells.lengths + total);
    ret_parameters->columns = memory;
    ret_parameters->rows = (unsigned)rows;
    ret_parameters->bytes = total * HEAD_BYTES;
    for (size_t i = 0; i < places; i++)
        bind_column(ret_parameters, i, &cells, &args[order[i] - 1], each);
    return OWED_OK;
}
