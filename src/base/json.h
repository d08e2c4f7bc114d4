/* SPDX-License-Identifier: MIT
 *
 * json.h - RFC 8259: a scanner that checks and walks without changing a byte, and a writer.
 *
 * Payloads are kept as they came: big integers, 1e400, escaped NULs, lone surrogates and duplicate
 * keys pass unharmed in what nobody declared. Bytes must be UTF-8 (RFC 3629). jansson.h has the
 * same enumerators: a file includes one of the two.
 */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include <owed/error.h>

#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/utf8.h"

enum json_type {
    JSON_NULL,
    JSON_FALSE,
    JSON_TRUE,
    JSON_NUMBER,
    JSON_STRING,
    JSON_ARRAY,
    JSON_OBJECT
};

/* json_check accepts exactly one value with blanks around it, at most max_depth deep. INVALID:
 * "byte 17: ...". */
owed_status json_check(struct str text, int max_depth, owed_error *err);

/* A value inside a checked text: its own bytes, no blanks around them. */
struct json {
    enum json_type type;
    struct str text;
};

/* json_root finds the value of a text that json_check accepted. */
struct json json_root(struct str text);

/* A walk over the members of an object or the elements of an array. */
struct json_walk {
    const char *p;
    const char *end;
};
struct json_walk json_walk(struct json container);

/* json_next steps on; key is set for objects (with its quotes, undecoded), and may be NULL. */
bool json_next(struct json_walk *walk, struct str *key, struct json *value);

/* json_member finds a key (the last one of that name); false: absent. */
bool json_member(struct json object, const char *key, struct json *ret_value);

/* json_key_is compares a key as json_next gives it with a plain name, escapes understood. */
bool json_key_is(struct str key, const char *name);

/* json_read_string decodes a string to UTF-8, NUL-ended in the arena; a lone surrogate is INVALID, since
 * no UTF-8 can hold it. The length may exceed strlen where the string holds NULs. */
owed_status json_read_string(
    struct json string, struct arena *arena, struct str *ret_text, owed_error *err);

/* json_int64 reads a number that is a whole one in range: 7, 7.0 and 7e0 alike. */
bool json_int64(struct json number, int64_t *ret_number);

/* json_double reads a number as the nearest double; false where it would be infinite. */
bool json_double(struct json number, double *ret_number);

/* json_pointer_find follows a JSON pointer (RFC 6901), of a key that comes twice to the last one; false: there is
 * nothing, or no memory. "" is the whole. */
bool json_pointer_find(
    struct json root, const char *pointer, struct arena *arena, struct json *ret_value);
bool json_pointer_is_good(const char *pointer);

/* json_pointer_step cuts the first step off, at whose "/" the pointer stands, and understands its escapes; NULL:
 * no memory. json_pointer_leads tells whether a step leads to that member or element. */
char *json_pointer_step(struct arena *arena, const char **pointer);
bool json_pointer_leads(const char *step, bool in_object, struct str key, size_t index);

const char *json_type_name(enum json_type type);

/* json_write_string appends a quoted, escaped string; the text may hold NULs, and each byte that is
 * not part of UTF-8 becomes U+FFFD. */
void json_write_string(struct buf *buf, struct str text);
/* json_pretty appends a checked text with a member a line, indented; nothing of its strings and numbers changes. */
void json_pretty(struct str text, struct buf *buf);
/* json_write_double appends the shortest number that reads back the same; it must be finite. */
void json_write_double(struct buf *buf, double number);

#endif
