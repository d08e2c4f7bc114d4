/* SPDX-License-Identifier: MIT
 *
 * codec_encode.c - a struct of the application, written as JSON.
 */
#include "declare/codec.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/json.h"
#include "base/limits.h"
#include "declare/kinds.h"

#define LIMIT_FOUND_BYTES 512

struct encoding {
    const owed_event_type *type;
    struct buf *json;
    owed_error *err;
};

static owed_status encode_fields(struct encoding *encoding, const owed_field *fields,
    const char *base, const struct path *parent);

/* misfit names the place, what the kind wants, and what the member holds. */
static owed_status
misfit(struct encoding *encoding, const owed_field *field, owed_kind kind, const void *member,
    const struct path *path)
{
    CLEANUP(buf_done) struct buf expected;
    CLEANUP(buf_done) struct buf found;
    buf_init(&expected, LIMIT_FOUND_BYTES);
    buf_init(&found, LIMIT_FOUND_BYTES);
    expected_write(field, kind, &expected);
    if (path_is_secret(path))
        buf_puts(&found, SECRET_FOUND);
    else
        kind_of(kind)->found(member, &found);
    return path_fail(encoding->type, encoding->type->version, path, OWED_CONFIG,
        buf_text(&expected), buf_text(&found), encoding->err);
}

static owed_status
encode_item(struct encoding *encoding, const owed_field *field, owed_kind kind, const void *member,
    const struct path *path)
{
    if (kind == OWED_KIND_STRUCT)
        return encode_fields(encoding, field->fields, member, path);
    if (kind_of(kind)->write(field, member, encoding->json))
        return OWED_OK;
    return misfit(encoding, field, kind, member, path);
}

static owed_status
encode_array(struct encoding *encoding, const owed_field *field, const owed_array *array,
    const struct path *parent)
{
    if (array->items == NULL && array->count > 0)
        return path_fail(encoding->type, encoding->type->version, parent, OWED_CONFIG, "an array",
            "NULL with a count above 0", encoding->err);
    size_t size = item_size(field, field->element);
    buf_putc(encoding->json, '[');
    for (size_t i = 0; i < array->count && !encoding->json->failed; i++) {
        struct path path = {.parent = parent, .index = i};
        if (i > 0)
            buf_putc(encoding->json, ',');
        owed_status status = encode_item(
            encoding, field, field->element, (const char *)array->items + i * size, &path);
        if (status != OWED_OK)
            return status;
    }
    buf_putc(encoding->json, ']');
    return OWED_OK;
}

static owed_status
encode_fields(struct encoding *encoding, const owed_field *fields, const char *base,
    const struct path *parent)
{
    buf_putc(encoding->json, '{');
    for (const owed_field *field = fields; field->kind != OWED_KIND_END; field++) {
        struct path path = {.parent = parent, .name = field_key(field), .secret = field->secret};
        const void *member = base + field->offset;
        if (field != fields)
            buf_putc(encoding->json, ',');
        json_write_string(encoding->json, str_of(field_key(field)));
        buf_putc(encoding->json, ':');
        owed_status status = field->kind == OWED_KIND_ARRAY
            ? encode_array(encoding, field, member, &path)
            : encode_item(encoding, field, field->kind, member, &path);
        if (status != OWED_OK)
            return status;
    }
    buf_putc(encoding->json, '}');
    return OWED_OK;
}

/* encode_opaque passes JSON text on as it stands. */
static owed_status
encode_opaque(
    const owed_event_type *type, const owed_bytes *bytes, struct buf *json, owed_error *err)
{
    struct str text = {
        bytes->data == NULL ? "" : bytes->data, bytes->data == NULL ? 0 : bytes->len};
    owed_error why;
    if (text.len > LIMIT_PAYLOAD_BYTES)
        return fail(err, OWED_LIMIT, "%s: the payload has %zu bytes; at most %zu are right",
            type->name, text.len, LIMIT_PAYLOAD_BYTES);
    if (json_check(text, LIMIT_PAYLOAD_DEPTH, &why) != OWED_OK)
        return fail(err, OWED_CONFIG, "%s: the payload is not JSON: %s", type->name, why.text);
    buf_str(json, text);
    return OWED_OK;
}

owed_status
codec_encode(const owed_event_type *type, const void *value, struct buf *json, owed_error *err)
{
    if (value == NULL)
        return fail(err, OWED_CONFIG, "%s: the payload is NULL; a pointer to %s is right",
            type->name, type->fields == NULL ? "an owed_bytes" : "its struct");
    struct encoding encoding = {.type = type, .json = json, .err = err};
    owed_status status = type->fields == NULL ? encode_opaque(type, value, json, err)
                                              : encode_fields(&encoding, type->fields, value, NULL);
    if (status == OWED_OK && json->failed)
        return fail(
            err, OWED_LIMIT, "%s: the payload is longer than %zu bytes", type->name, json->max);
    return status;
}
