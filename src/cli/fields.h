/* SPDX-License-Identifier: MIT
 *
 * fields.h - rows of the store as aligned columns, or as JSON with the columns' own names.
 */
#ifndef CLI_FIELDS_H
#define CLI_FIELDS_H

#include <stddef.h>
#include <stdint.h>

#include "cli/out.h"

/* What a member is, and so how it is shown. Where there is none: "-" in text, null in JSON. */
enum shape {
    SHAPE_INT,     // int64_t
    SHAPE_INT32,   // int32_t
    SHAPE_ID,      // int64_t; 0: none
    SHAPE_CODE,    // int32_t; 0: none
    SHAPE_TEXT,    // const char *
    SHAPE_KEY,     // const char *; NULL or "": none
    SHAPE_TIME,    // int64_t, microseconds since 1970; 0: none
    SHAPE_WAIT,    // int64_t, microseconds
    SHAPE_AGE,     // int64_t, microseconds, in JSON whole seconds; -1: none
    SHAPE_BOOL,    // bool
    SHAPE_UID,     // uint8_t[16]
    SHAPE_JSON,    // const char * that holds JSON
    SHAPE_WORDS,   // const char * that holds a JSON array of strings; in text they stand bare
    SHAPE_PAYLOAD, // struct str that holds JSON
    SHAPE_COUNT
};

struct field {
    const char *name; // in JSON
    const char *head; // above its column; NULL: JSON alone
    enum shape shape;
    size_t offset;
    size_t width; // a longer text is cut in its column; 0: never
};
#define FIELD(type_, member_, name_, head_, shape_, ...) \
    { \
        .name = (name_), .head = (head_), .shape = (shape_), .offset = offsetof(type_, member_), \
        __VA_ARGS__ \
    }
#define FIELDS_END \
    { \
        .name = NULL \
    }

/* fields_json appends the row as one JSON object, without a line end. */
void fields_json(const struct field *fields, const void *row, struct buf *json);

/* fields_members appends its members without the braces. */
void fields_members(const struct field *fields, const void *row, struct buf *json);

/* fields_lines writes one JSON object a line. */
void fields_lines(
    const struct field *fields, const void *rows, size_t count, size_t size, struct out *out);

/* fields_table writes a head and aligned columns. Control characters become blanks. */
void fields_table(
    const struct field *fields, const void *rows, size_t count, size_t size, struct out *out);

/* fields_page writes one member a line, with its name, those that are none left out. */
void fields_page(const struct field *fields, const void *row, struct out *out);

/* json_raw appends JSON text as it stands, or as a string where it is none. */
void json_raw(struct buf *json, struct str text);

#endif
