/* SPDX-License-Identifier: MIT
 *
 * format.h - how one value is written: the part of Python's format language that owed/template.h lists.
 */
#ifndef NOTIFY_FORMAT_H
#define NOTIFY_FORMAT_H

#include <owed/template.h>

#include "base/buf.h"

#define FORMAT_WIDTH_MAX 1000
#define FORMAT_PRECISION_MAX 100

struct format {
    struct str fill; // one character; empty: a space
    char align;      // one of < > ^ =; 0: text to the left, numbers to the right
    char sign;       // one of + - and a space; 0 is -
    char group;      // , or _ between thousands; 0: none
    char type;       // 0: the kind's own
    int width;       // in characters
    int precision;   // -1: none said
};

/* format_read reads a format for values of a kind, whose bytes must outlive it; where it cannot be,
 * the answer is why ("a text has no sign"), else NULL. */
const char *format_read(struct str text, owed_kind kind, struct format *ret_format);

/* format_write appends a value of the kind that the format was read for. */
void format_write(const struct format *format, const owed_value *value, struct buf *out);

/* format_is_decimal: an optional minus, digits, and optionally a point and digits. */
bool format_is_decimal(const char *text);

#endif
