/* SPDX-License-Identifier: MIT
 *
 * array.c - one dimension: a head of five numbers, then of each element its length and its bytes. All
 * numbers have their highest byte first; a length of -1 stands for null.
 */
#include "store/array.h"

#include <endian.h>
#include <string.h>

#include "base/clock.h"
#include "store/verbs.h"

#define EPOCH_2000_US (INT64_C(946684800) * US_PER_SECOND)
#define NO_ELEMENTS_BYTES 12 // of the head, where nothing follows

/* The server's types of elements, by their numbers in its catalogue. */
static const uint32_t oids[] = {
    [VALUE_INT] = 20, [VALUE_TIME] = 1184, [VALUE_TEXT] = 25, [VALUE_BLOB] = 17};

struct head {
    uint32_t dimensions;
    uint32_t has_nulls; // a hint that nobody relies on
    uint32_t oid;
    uint32_t count;
    uint32_t first;
};

void
array_init(struct array *array, enum value_type element, size_t max_bytes)
{
    const struct head room = {0};
    array->element = element;
    array->count = 0;
    buf_init(&array->bytes, max_bytes);
    buf_add(&array->bytes, &room, sizeof room);
}

void
array_done(struct array *array)
{
    buf_done(&array->bytes);
}

static void
add_bytes(struct array *array, const void *bytes, size_t len)
{
    uint32_t big = htobe32((uint32_t)len);
    buf_add(&array->bytes, &big, sizeof big);
    buf_add(&array->bytes, bytes, len);
}

static void
add_number(struct array *array, int64_t number)
{
    uint64_t big = htobe64((uint64_t)number);
    add_bytes(array, &big, sizeof big);
}

void
array_add(struct array *array, struct value value)
{
    static const uint32_t null = UINT32_MAX;
    array->count++;
    if (value.type == VALUE_NULL)
        buf_add(&array->bytes, &null, sizeof null);
    else if (value.type == VALUE_INT)
        add_number(array, value.integer);
    else if (value.type == VALUE_TIME)
        add_number(array, value.integer - EPOCH_2000_US);
    else
        add_bytes(array, or_empty(value.bytes.p), value.bytes.len);
}

struct value
array_value(struct array *array)
{
    const struct head head = {
        .dimensions = htobe32(array->count == 0 ? 0 : 1),
        .oid = htobe32(oids[array->element]),
        .count = htobe32(array->count),
        .first = htobe32(1),
    };
    struct str bytes = buf_view(&array->bytes);
    if (!array->bytes.failed)
        memcpy(array->bytes.p, &head, sizeof head);
    if (array->count == 0)
        bytes.len = NO_ELEMENTS_BYTES;
    return (struct value){.type = VALUE_ARRAY, .bytes = bytes};
}

void
arrays_init(struct array *arrays, const enum value_type *types, size_t count)
{
    for (size_t i = 0; i < count; i++)
        array_init(&arrays[i], types[i], JSON_ARGUMENT_BYTES);
}

bool
arrays_end(struct array *arrays, size_t count, struct value *ret_values)
{
    bool failed = false;
    for (size_t i = 0; i < count; i++) {
        ret_values[i] = array_value(&arrays[i]);
        failed = failed || arrays[i].bytes.failed;
    }
    return !failed;
}

void
arrays_done(struct array *arrays, size_t count)
{
    for (size_t i = 0; i < count; i++)
        array_done(&arrays[i]);
}
