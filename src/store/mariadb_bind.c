/* SPDX-License-Identifier: MIT
 *
 * mariadb_bind.c - parameters in the client library's form. Texts and blobs are sent from where they
 * lie; times are split into the fields of a DATETIME, in UTC.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/error.h"
#include "store/mariadb.h"

// DATETIME knows the years 1000 to 9999.
#define EARLIEST_US (INT64_C(-30610224000) * US_PER_SECOND)
#define LATEST_US (INT64_C(253402300800) * US_PER_SECOND - 1)

MYSQL_TIME
mariadb_time(int64_t at_us)
{
    if (at_us < EARLIEST_US)
        at_us = EARLIEST_US;
    if (at_us > LATEST_US)
        at_us = LATEST_US;
    int64_t fraction = (at_us % US_PER_SECOND + US_PER_SECOND) % US_PER_SECOND;
    time_t seconds = (time_t)((at_us - fraction) / US_PER_SECOND);
    struct tm parts;
    gmtime_r(&seconds, &parts);
    return (MYSQL_TIME){
        .year = (unsigned)parts.tm_year + 1900,
        .month = (unsigned)parts.tm_mon + 1,
        .day = (unsigned)parts.tm_mday,
        .hour = (unsigned)parts.tm_hour,
        .minute = (unsigned)parts.tm_min,
        .second = (unsigned)parts.tm_sec,
        .second_part = (unsigned long)fraction,
        .time_type = MYSQL_TIMESTAMP_DATETIME,
    };
}

/* The library takes its buffers without const and writes to none of these. */
static void *
unconst(const void *bytes)
{
    return (void *)(uintptr_t)bytes;
}

static void
bind_bytes(struct parameters *parameters, size_t place, const struct value *value)
{
    MYSQL_BIND *bind = &parameters->binds[place];
    bind->buffer_type = value->type == VALUE_BLOB ? MYSQL_TYPE_BLOB : MYSQL_TYPE_STRING;
    bind->buffer = unconst(value->bytes.p == NULL ? "" : value->bytes.p);
    bind->buffer_length = parameters->lengths[place] = value->bytes.len;
    bind->length = &parameters->lengths[place];
    parameters->bytes += value->bytes.len;
}

static void
bind(struct parameters *parameters, size_t place, const struct value *value)
{
    MYSQL_BIND *bind = &parameters->binds[place];
    switch (value->type) {
    case VALUE_NULL:
        bind->buffer_type = MYSQL_TYPE_NULL;
        return;
    case VALUE_INT:
        bind->buffer_type = MYSQL_TYPE_LONGLONG;
        bind->buffer = unconst(&value->integer);
        return;
    case VALUE_TIME:
        parameters->times[place] = mariadb_time(value->integer);
        bind->buffer_type = MYSQL_TYPE_DATETIME;
        bind->buffer = &parameters->times[place];
        return;
    case VALUE_TEXT:
    case VALUE_BLOB:
    case VALUE_ARRAY:
        bind_bytes(parameters, place, value);
        return;
    }
}

static size_t
highest(const uint8_t *order)
{
    size_t most = 0;
    for (; *order != 0; order++)
        most = *order > most ? *order : most;
    return most;
}

void
mariadb_parameters_done(struct parameters *parameters)
{
    free(parameters->columns);
}

owed_status
mariadb_parameters(const struct sql *sql, enum stmt stmt, const struct value *args, size_t count,
    struct parameters *ret_parameters, owed_error *err)
{
    const uint8_t *order = sql->orders[stmt];
    size_t places = strlen((const char *)order);
    if (places > MARIADB_PARAMETERS)
        return fail(err, OWED_BUG, "%s: has %zu parameters, and %d is the most", mariadb_file(stmt),
            places, MARIADB_PARAMETERS);
    memset(ret_parameters->binds, 0, places * sizeof ret_parameters->binds[0]);
    ret_parameters->count = places;
    ret_parameters->bytes = 0;
    ret_parameters->rows = 0;
    ret_parameters->columns = NULL;
    size_t each = highest(order);
    if (count > each && each > 0 && count % each == 0)
        return mariadb_columns(order, args, each, count / each, ret_parameters, err);
    for (size_t i = 0; i < places; i++) {
        if (order[i] > count)
            return fail(err, OWED_BUG, "%s: wants %d parameters and was given %zu",
                mariadb_file(stmt), order[i], count);
        bind(ret_parameters, i, &args[order[i] - 1]);
    }
    return OWED_OK;
}
