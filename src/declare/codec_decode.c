/* SPDX-License-Identifier: MIT
 *
 * codec_decode.c - JSON, read into a struct of the application.
 *
 * The keys of an object are looked for from where the last one was found, so that a text in the
 * descriptor's order is read in one pass. A key that comes again wins over the one before, even over
 * one that did not fit.
 */
#include "declare/codec.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/json.h"
#include "base/limits.h"
#include "declare/kinds.h"

#define LIMIT_EXPECTED_BYTES 512

struct decoding {
    const owed_event_type *type;
    int32_t version; // of the text
    struct arena *arena;
    size_t array_bytes; // taken by arrays so far
    owed_error *err;
};

static owed_status decode_object(struct decoding *decoding, const owed_field *fields,
    struct json object, char *base, const struct path *parent);

/* found_write says what came, as it stands in the text. */
static void
found_write(struct json value, struct buf *text)
{
    if (value.type == JSON_ARRAY || value.type == JSON_OBJECT) {
        buf_puts(text, json_type_name(value.type));
        return;
    }
    buf_str(text, excerpt(value.text));
    if (value.text.len > LIMIT_EXCERPT_BYTES)
        buf_puts(text, "...");
}

static owed_status
misfit(struct decoding *decoding, const owed_field *field, owed_kind kind, struct json value,
    const struct path *path)
{
    CLEANUP(buf_done) struct buf expected;
    CLEANUP(buf_done) struct buf found;
    buf_init(&expected, LIMIT_EXPECTED_BYTES);
    buf_init(&found, LIMIT_EXPECTED_BYTES);
    expected_write(field, kind, &expected);
    if (path_is_secret(path))
        buf_puts(&found, SECRET_FOUND);
    else
        found_write(value, &found);
    return path_fail(decoding->type, decoding->version, path, OWED_INVALID, buf_text(&expected),
        buf_text(&found), decoding->err);
}

/* plain_text finds the text that a plain kind's read takes: of a string what it decodes to. */
static enum fit
plain_text(struct json value, struct arena *arena, struct str *ret_text)
{
    if (value.type != JSON_STRING) {
        *ret_text = value.text;
        return FITS;
    }
    owed_status status = json_read_string(value, arena, ret_text, NULL);
    if (status == OWED_NOMEM)
        return NO_MEMORY;
    return status == OWED_OK ? FITS : MISFIT;
}

static owed_status
decode_plain(struct decoding *decoding, const owed_field *field, owed_kind kind, struct json value,
    void *member, const struct path *path)
{
    const struct kind *row = kind_of(kind);
    struct str text;
    if (!kind_takes(row, value.type))
        return misfit(decoding, field, kind, value, path);
    if (value.type == JSON_NULL) {
        *(const char **)member = NULL;
        return OWED_OK;
    }
    enum fit fit = plain_text(value, decoding->arena, &text);
    if (fit == FITS)
        fit = row->read(field, text, decoding->arena, member);
    if (fit == NO_MEMORY)
        return fail_memory(decoding->err);
    return fit == FITS ? OWED_OK : misfit(decoding, field, kind, value, path);
}

static owed_status
decode_item(struct decoding *decoding, const owed_field *field, owed_kind kind, struct json value,
    void *member, const struct path *path)
{
    if (kind != OWED_KIND_STRUCT)
        return decode_plain(decoding, field, kind, value, member, path);
    if (value.type != JSON_OBJECT)
        return misfit(decoding, field, kind, value, path);
    return decode_object(decoding, field->fields, value, member, path);
}

static size_t
count_elements(struct json array)
{
    struct json_walk walk = json_walk(array);
    struct json element;
    size_t count = 0;
    while (json_next(&walk, NULL, &element))
        count++;
    return count;
}

/* make_items takes room for all elements of an array; a small text can ask for a lot of it. */
static owed_status
make_items(struct decoding *decoding, size_t size, size_t count, char **ret_items)
{
    if (count > (LIMIT_DECODED_BYTES - decoding->array_bytes) / size)
        return fail(decoding->err, OWED_LIMIT, "%s: its arrays take more than %zu bytes in memory",
            decoding->type->name, LIMIT_DECODED_BYTES);
    decoding->array_bytes += size * count;
    *ret_items = arena_alloc(decoding->arena, size * count);
    return *ret_items == NULL ? fail_memory(decoding->err) : OWED_OK;
}

static owed_status
decode_array(struct decoding *decoding, const owed_field *field, struct json array,
    owed_array *member, const struct path *parent)
{
    if (array.type != JSON_ARRAY)
        return misfit(decoding, field, OWED_KIND_ARRAY, array, parent);
    *member = (owed_array){.count = count_elements(array)};
    if (member->count == 0)
        return OWED_OK;
    size_t size = item_size(field, field->element);
    char *items;
    owed_status status = make_items(decoding, size, member->count, &items);
    struct json_walk walk = json_walk(array);
    struct json element;
    for (size_t i = 0; status == OWED_OK && json_next(&walk, NULL, &element); i++) {
        struct path path = {.parent = parent, .index = i};
        status = decode_item(decoding, field, field->element, element, items + i * size, &path);
    }
    member->items = items;
    return status;
}

static owed_status
decode_value(struct decoding *decoding, const owed_field *field, struct json value, void *member,
    const struct path *path)
{
    // A key that came before may have left something.
    memset(member, 0, member_size(field));
    if (field->kind == OWED_KIND_ARRAY)
        return decode_array(decoding, field, value, member, path);
    return decode_item(decoding, field, field->kind, value, member, path);
}

/* decode_fallback reads a fallback as if it had come in the text. */
static owed_status
decode_fallback(
    struct decoding *decoding, const owed_field *field, void *member, const struct path *path)
{
    struct str text = str_of(field->fallback);
    const struct kind *row = kind_of(field->kind);
    if (kind_takes(row, JSON_STRING)) {
        enum fit fit = row->read(field, text, decoding->arena, member);
        if (fit == NO_MEMORY)
            return fail_memory(decoding->err);
        return fit == FITS
            ? OWED_OK
            : misfit(decoding, field, field->kind, (struct json){JSON_STRING, text}, path);
    }
    if (json_check(text, LIMIT_PAYLOAD_DEPTH, NULL) != OWED_OK)
        return misfit(decoding, field, field->kind, (struct json){JSON_STRING, text}, path);
    return decode_value(decoding, field, json_root(text), member, path);
}

/* decode_absent leaves what an absent key leaves: the fallback, or zero where that is fine. */
static owed_status
decode_absent(
    struct decoding *decoding, const owed_field *field, void *member, const struct path *path)
{
    if (field->fallback != NULL)
        return decode_fallback(decoding, field, member, path);
    if (field->optional)
        return OWED_OK;
    CLEANUP(buf_done) struct buf expected;
    buf_init(&expected, LIMIT_EXPECTED_BYTES);
    expected_write(field, field->kind, &expected);
    return path_fail(decoding->type, decoding->version, path, OWED_INVALID, buf_text(&expected),
        "no such key", decoding->err);
}

/* find_field looks from a guess on, and then from the front; -1: nobody declared the key. */
static int
find_field(const owed_field *fields, int count, struct str key, int guess)
{
    for (int i = 0; i < count; i++) {
        int at = (guess + i) % count;
        if (json_key_is(key, field_key(&fields[at])))
            return at;
    }
    return -1;
}

/* comes_again tells whether the rest of an object has the key once more. */
static bool
comes_again(struct json_walk rest, const char *name)
{
    struct str key;
    struct json value;
    while (json_next(&rest, &key, &value))
        if (json_key_is(key, name))
            return true;
    return false;
}

static int
count_fields(const owed_field *fields)
{
    int count = 0;
    while (fields[count].kind != OWED_KIND_END)
        count++;
    return count;
}

/* Which fields of an object have come. */
struct seen {
    uint64_t bits[LIMIT_FIELDS / 64];
};

static owed_status
decode_keys(struct decoding *decoding, const owed_field *fields, struct json object, char *base,
    const struct path *parent, struct seen *seen)
{
    struct json_walk walk = json_walk(object);
    struct str key;
    struct json value;
    int count = count_fields(fields);
    int guess = 0;
    while (json_next(&walk, &key, &value)) {
        int at = find_field(fields, count, key, guess);
        if (at < 0)
            continue;
        const owed_field *field = &fields[at];
        struct path path = {.parent = parent, .name = field_key(field), .secret = field->secret};
        owed_status status = decode_value(decoding, field, value, base + field->offset, &path);
        if (status != OWED_OK && (status != OWED_INVALID || !comes_again(walk, field_key(field))))
            return status;
        seen->bits[at / 64] |= UINT64_C(1) << at % 64;
        guess = at + 1;
    }
    return OWED_OK;
}

static owed_status
decode_object(struct decoding *decoding, const owed_field *fields, struct json object, char *base,
    const struct path *parent)
{
    struct seen seen = {0};
    owed_status status = decode_keys(decoding, fields, object, base, parent, &seen);
    for (int i = 0; status == OWED_OK && fields[i].kind != OWED_KIND_END; i++) {
        struct path path = {.parent = parent, .name = field_key(&fields[i])};
        if ((seen.bits[i / 64] >> i % 64 & 1) == 0)
            status = decode_absent(decoding, &fields[i], base + fields[i].offset, &path);
    }
    return status;
}

/* decode_opaque views the text itself. */
static owed_status
decode_opaque(struct str json, struct arena *arena, const void **ret_value, owed_error *err)
{
    owed_bytes *bytes = arena_alloc(arena, sizeof *bytes);
    if (bytes == NULL)
        return fail_memory(err);
    *bytes = (owed_bytes){json.p, json.len};
    *ret_value = bytes;
    return OWED_OK;
}

owed_status
payload_read(const owed_event_type *type, int32_t version, struct str json, struct arena *arena,
    const void **ret_value, owed_error *err)
{
    if (type->fields == NULL)
        return decode_opaque(json, arena, ret_value, err);
    struct decoding decoding = {.type = type, .version = version, .arena = arena, .err = err};
    static const owed_field whole = {.kind = OWED_KIND_STRUCT};
    struct json root = json_root(json);
    char *value = arena_alloc(arena, type->size);
    if (value == NULL)
        return fail_memory(err);
    owed_status status = root.type == JSON_OBJECT
        ? decode_object(&decoding, type->fields, root, value, NULL)
        : misfit(&decoding, &whole, OWED_KIND_STRUCT, root, NULL);
    if (status == OWED_OK)
        *ret_value = value;
    return status;
}

/* read_fallbacks is decode_object of an object that has none of the keys. */
static owed_status
read_fallbacks(
    struct decoding *decoding, const owed_field *fields, char *base, const struct path *parent)
{
    owed_status status = OWED_OK;
    for (; fields->kind != OWED_KIND_END && status == OWED_OK; fields++) {
        struct path path = {.parent = parent, .name = field_key(fields)};
        char *member = base + fields->offset;
        if (fields->fallback != NULL)
            status = decode_fallback(decoding, fields, member, &path);
        else if (fields->kind == OWED_KIND_STRUCT)
            status = read_fallbacks(decoding, fields->fields, member, &path);
    }
    return status;
}

owed_status
fallbacks_read(const owed_event_type *type, struct arena *arena, void *value, owed_error *err)
{
    struct decoding decoding = {
        .type = type, .version = version_of(type), .arena = arena, .err = err};
    return type->fields == NULL ? OWED_OK : read_fallbacks(&decoding, type->fields, value, NULL);
}

owed_status
fallback_read(const owed_event_type *type, const owed_field *field, const struct path *path,
    struct arena *arena, void *member, owed_error *err)
{
    struct decoding decoding = {.type = type, .version = type->version, .arena = arena, .err = err};
    return decode_fallback(&decoding, field, member, path);
}
