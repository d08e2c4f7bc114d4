/* SPDX-License-Identifier: MIT
 *
 * array.h - a column of many rows as one argument, in the binary form that PostgreSQL has for arrays.
 */
#ifndef STORE_ARRAY_H
#define STORE_ARRAY_H

#include "base/buf.h"
#include "store/driver.h"

struct array {
    struct buf bytes;
    enum value_type element;
    uint32_t count;
};

void array_init(struct array *array, enum value_type element, size_t max_bytes);
void array_done(struct array *array);

/* array_add takes what the element type says, or a null. */
void array_add(struct array *array, struct value value);

/* array_value ends it; the value points into the array. */
struct value array_value(struct array *array);

/* Many columns, of the types that are told. arrays_end ends them all; false: there was no memory. */
void arrays_init(struct array *arrays, const enum value_type *types, size_t count);
bool arrays_end(struct array *arrays, size_t count, struct value *ret_values);
void arrays_done(struct array *arrays, size_t count);

#endif
