/* SPDX-License-Identifier: MIT
 *
 * postgres_values.c - parameters and columns in PostgreSQL's binary form.
 */
#include <endian.h>
#include <limits.h>

#include "base/clock.h"
#include "store/postgres.h"

#define BINARY 1
#define EPOCH_2000_US (INT64_C(946684800) * US_PER_SECOND)

/* Types of the server, by their numbers in its catalogue. */
static const Oid types[] = {
    [VALUE_NULL] = 0,
    [VALUE_INT] = 20,
    [VALUE_TIME] = 1184,
    [VALUE_TEXT] = 25,
    [VALUE_BLOB] = 17,
    [VALUE_ARRAY] = 0, // as its cast in the statement says
};

static int64_t
since_2000(int64_t us)
{
    return us < INT64_MIN + EPOCH_2000_US ? INT64_MIN : us - EPOCH_2000_US;
}

bool
postgres_bind(const struct command *command, struct bound *bound)
{
    if (command->count > POSTGRES_PARAMETERS_MAX)
        return false;
    bound->count = (int)command->count;
    for (size_t i = 0; i < command->count; i++) {
        const struct value *value = &command->args[i];
        bound->types[i] = types[value->type];
        bound->formats[i] = BINARY;
        bound->values[i] = NULL;
        bound->lengths[i] = 0;
        if (value->type == VALUE_INT || value->type == VALUE_TIME) {
            bool is_time = value->type == VALUE_TIME;
            bound->numbers[i] =
                htobe64((uint64_t)(is_time ? since_2000(value->integer) : value->integer));
            bound->values[i] = (const char *)&bound->numbers[i];
            bound->lengths[i] = (int)sizeof bound->numbers[i];
        } else if (value->type != VALUE_NULL) {
            if (value->bytes.len > INT_MAX)
                return false;
            bound->values[i] = or_empty(value->bytes.p);
            bound->lengths[i] = (int)value->bytes.len;
        }
    }
    return true;
}

/* --- columns --- */

typedef struct value (*read_column)(const char *bytes, int len);

static struct value
an_int(int64_t number)
{
    return (struct value){.type = VALUE_INT, .integer = number};
}

static struct value
read_int8(const char *bytes, int len)
{
    (void)len;
    uint64_t number;
    memcpy(&number, bytes, sizeof number);
    return an_int((int64_t)be64toh(number));
}

static struct value
read_int4(const char *bytes, int len)
{
    (void)len;
    uint32_t number;
    memcpy(&number, bytes, sizeof number);
    return an_int((int32_t)be32toh(number));
}

static struct value
read_int2(const char *bytes, int len)
{
    (void)len;
    uint16_t number;
    memcpy(&number, bytes, sizeof number);
    return an_int((int16_t)be16toh(number));
}

static struct value
read_bool(const char *bytes, int len)
{
    (void)len;
    return an_int(bytes[0] != 0);
}

/* read_time: infinity stays the end of time. */
static struct value
read_time(const char *bytes, int len)
{
    struct value value = read_int8(bytes, len);
    if (value.integer > INT64_MAX - EPOCH_2000_US)
        return an_int(INT64_MAX);
    return an_int(value.integer == INT64_MIN ? INT64_MIN : value.integer + EPOCH_2000_US);
}

static struct value
read_text(const char *bytes, int len)
{
    return (struct value){.type = VALUE_TEXT, .bytes = {bytes, (size_t)len}};
}

static struct value
read_blob(const char *bytes, int len)
{
    return (struct value){.type = VALUE_BLOB, .bytes = {bytes, (size_t)len}};
}

/* Types that our statements answer with, by their numbers in the server's catalogue. */
static const struct column_type {
    Oid oid;
    int len; // -1: any
    read_column read;
} column_types[] = {
    {20, 8, read_int8}, {1184, 8, read_time}, // timestamptz
    {25, -1, read_text}, {23, 4, read_int4}, {16, 1, read_bool}, {17, -1, read_blob},
    {114, -1, read_text},                      // json
    {21, 2, read_int2}, {1043, -1, read_text}, // varchar
    {2278, -1, read_text},                     // void
};

static const struct column_type *
column_type(const PGresult *result, int column)
{
    Oid oid = PQftype(result, column);
    for (size_t i = 0; i < sizeof column_types / sizeof column_types[0]; i++)
        if (column_types[i].oid == oid)
            return &column_types[i];
    return NULL;
}

struct value
postgres_value(const PGresult *result, int row, int column)
{
    const struct column_type *type = column_type(result, column);
    if (type == NULL || PQgetisnull(result, row, column) != 0)
        return (struct value){.type = VALUE_NULL};
    int len = PQgetlength(result, row, column);
    if (type->len >= 0 && type->len != len)
        return (struct value){.type = VALUE_NULL};
    return type->read(PQgetvalue(result, row, column), len);
}

bool
postgres_reads(const PGresult *result, int column)
{
    return column_type(result, column) != NULL;
}
