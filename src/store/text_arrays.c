/* SPDX-License-Identifier: MIT
 *
 * text_arrays.c - columns of several rows as arguments of one statement: the text of an array each, as PostgreSQL
 * reads it.
 */
#include "store/verbs.h"

#include <string.h>

#include "base/limits.h"

void
arrays_init(struct buf *arrays, size_t count)
{
    for (size_t i = 0; i < count; i++)
        buf_init(&arrays[i], JSON_ARGUMENT_BYTES);
}

void
array_add_number(struct buf *array, int64_t number)
{
    buf_putc(array, array->len == 0 ? '{' : ',');
    buf_int(array, number);
}

void
array_add_text(struct buf *array, const char *text)
{
    buf_putc(array, array->len == 0 ? '{' : ',');
    if (text == NULL) {
        buf_puts(array, "null");
        return;
    }
    buf_putc(array, '"');
    for (size_t plain; *text != '\0'; text += plain) {
        plain = strcspn(text, "\"\\");
        buf_add(array, text, plain);
        if (text[plain] != '\0') {
            buf_putc(array, '\\');
            buf_putc(array, text[plain++]);
        }
    }
    buf_putc(array, '"');
}

bool
arrays_end(struct buf *arrays, size_t count, struct value *ret_values)
{
    bool failed = false;
    for (size_t i = 0; i < count; i++) {
        buf_puts(&arrays[i], arrays[i].len == 0 ? "{}" : "}");
        ret_values[i] = V_STR(buf_view(&arrays[i]));
        failed = failed || arrays[i].failed;
    }
    return !failed;
}

void
arrays_done(struct buf *arrays, size_t count)
{
    for (size_t i = 0; i < count; i++)
        buf_done(&arrays[i]);
}
