/* SPDX-License-Identifier: MIT
 *
 * kinds.h - the one table of what a field can be; for the codec's own files.
 *
 * A plain kind is written and read by functions of its own. STRUCT and ARRAY are walked by the codec
 * and have none.
 */
#ifndef DECLARE_KINDS_H
#define DECLARE_KINDS_H

#include <owed/event.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/json.h"

enum fit { FITS, MISFIT, NO_MEMORY };

struct kind {
    const char *name;     // in the catalogue
    const char *expected; // "a whole number from ... to ..."; NULL: the words of an enum
    size_t size;          // of the C type; 0: the field says
    unsigned types;       // what may stand in JSON: bits of 1 << enum json_type

    /* write appends the value's JSON; false: it has none. */
    bool (*write)(const owed_field *field, const void *member, struct buf *json);
    /* found appends what the member holds, for a message: of values that write refused. */
    void (*found)(const void *member, struct buf *text);
    /* read takes the decoded text of a string (NUL-ended), or the bytes of another value. */
    enum fit (*read)(const owed_field *field, struct str text, struct arena *arena, void *member);
};

/* kind_of returns the kind's row, or NULL for a number that is none, the end mark's included. */
const struct kind *kind_of(owed_kind kind);

static inline bool
kind_takes(const struct kind *kind, enum json_type type)
{
    return (kind->types >> type & 1U) != 0;
}

/* field_key is the field's key in JSON. */
static inline const char *
field_key(const owed_field *field)
{
    return field->key != NULL ? field->key : field->name;
}

/* item_size is the size of what a field holds: of one element, for an array. */
size_t item_size(const owed_field *field, owed_kind kind);

/* member_size is the size of the field's member in its struct. */
size_t member_size(const owed_field *field);

/* Where in a value the codec is: the innermost step first. */
struct path {
    const struct path *parent; // NULL: the outermost
    const char *name;          // NULL: an index
    size_t index;
    bool secret; // the step leads into a field that is secret
};

/* path_is_secret tells whether what stands there is never shown. */
bool path_is_secret(const struct path *path);
#define SECRET_FOUND "something else, which is secret"

/* path_write appends "lines[2].sku"; path_fail says what is wrong with a value there:
 * "shop.OrderPlaced version 2: field lines[2].sku: expected ..., found ...". */
void path_write(const struct path *path, struct buf *text);
owed_status path_fail(const owed_event_type *type, int32_t version, const struct path *path,
    owed_status status, const char *expected, const char *found, owed_error *err);

/* excerpt cuts a UTF-8 text for a message, between two characters. */
#define LIMIT_EXCERPT_BYTES ((size_t)60)
struct str excerpt(struct str text);

/* expected_write appends what a kind wants: "a string", "one of \"new\", \"paid\"". */
void expected_write(const owed_field *field, owed_kind kind, struct buf *text);

/* version_of is the version of a type: 0 reads as 1. */
static inline int32_t
version_of(const owed_event_type *type)
{
    return type->version == 0 ? 1 : type->version;
}

/* payload_read is codec_decode of a checked text by this descriptor alone; fallbacks_read fills in what
 * an object without keys would get. */
owed_status payload_read(const owed_event_type *type, int32_t version, struct str json,
    struct arena *arena, const void **ret_value, owed_error *err);
owed_status fallbacks_read(
    const owed_event_type *type, struct arena *arena, void *value, owed_error *err);

/* fallback_read sets the member at path from the field's fallback: INVALID where it does not fit. */
owed_status fallback_read(const owed_event_type *type, const owed_field *field,
    const struct path *path, struct arena *arena, void *member, owed_error *err);

#endif
