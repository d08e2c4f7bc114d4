/* SPDX-License-Identifier: MIT
 *
 * codec_check.c - a descriptor is refused when it is declared, not when it is used.
 */
#include "declare/codec.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "declare/check.h"
#include "declare/kinds.h"

#define LIMIT_WHERE_BYTES 1024

struct checking {
    const owed_event_type *type;
    struct arena scratch; // for fallbacks
    owed_error *err;
};

static owed_status check_fields(struct checking *checking, const owed_field *fields, size_t size,
    const struct path *parent, int depth);

static owed_status refuse_field(
    struct checking *checking, const struct path *path, const char *format, ...) OWED_PRINTF(3, 4);

static owed_status
refuse_field(struct checking *checking, const struct path *path, const char *format, ...)
{
    CLEANUP(buf_done) struct buf where;
    char text[256];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    buf_init(&where, LIMIT_WHERE_BYTES);
    path_write(path, &where);
    return fail(checking->err, OWED_CONFIG, "event \"%s\": field %s %s", checking->type->name,
        buf_text(&where), text);
}

static bool
is_key(const char *name)
{
    return !is_empty(name) && strlen(name) <= LIMIT_KEY_BYTES && utf8_is_valid(str_of(name));
}

static owed_status
check_field_name(struct checking *checking, const owed_field *fields, const owed_field *field,
    const struct path *path)
{
    if (!is_key(field->name) || !is_key(field_key(field)))
        return refuse_field(checking, &(struct path){.parent = path->parent, .name = "?"},
            "(number %td) has no proper name; 1 to %d bytes of UTF-8 are right", field - fields + 1,
            LIMIT_KEY_BYTES);
    for (const owed_field *other = fields; other != field; other++)
        if (strcmp(field_key(other), field_key(field)) == 0)
            return refuse_field(checking, path, "is there twice; once is right");
    return OWED_OK;
}

static owed_status
check_place(struct checking *checking, const owed_field *fields, const owed_field *field,
    size_t size, const struct path *path)
{
    size_t len = member_size(field);
    if (len > size || field->offset > size - len)
        return refuse_field(checking, path,
            "ends after the %zu bytes of its struct; the size must be sizeof the struct", size);
    for (const owed_field *other = fields; other != field; other++)
        if (field->offset < other->offset + member_size(other) &&
            other->offset < field->offset + len)
            return refuse_field(checking, path,
                "stands in the same place as %s; a member for each field is right",
                field_key(other));
    return OWED_OK;
}

static owed_status
check_words(struct checking *checking, const owed_enum_value *words, const struct path *path)
{
    if (words == NULL || words[0].name == NULL)
        return refuse_field(checking, path, "has no words; an enum needs one at least");
    for (const owed_enum_value *word = words; word->name != NULL; word++) {
        if (!is_key(word->name))
            return refuse_field(checking, path, "has a bad word; 1 to %d bytes of UTF-8 are right",
                LIMIT_KEY_BYTES);
        for (const owed_enum_value *other = words; other != word; other++)
            if (strcmp(other->name, word->name) == 0)
                return refuse_field(
                    checking, path, "has the word \"%s\" twice; once is right", word->name);
    }
    return OWED_OK;
}

static owed_status
check_array(struct checking *checking, const owed_field *field, const struct path *path)
{
    const struct kind *element = kind_of(field->element);
    if (element == NULL || field->element == OWED_KIND_ARRAY)
        return refuse_field(checking, path,
            "is an array of nothing that an array can hold; any kind but END and ARRAY is right");
    if (element->size != 0 && element->size != field->size)
        return refuse_field(checking, path,
            "has elements of %zu bytes; %zu are right for an array of %s", field->size,
            element->size, element->name);
    return OWED_OK;
}

/* check_inner checks what the field's elements or the field itself consist of. */
static owed_status
check_inner(struct checking *checking, const owed_field *field, const struct path *path, int depth)
{
    owed_kind kind = field->kind == OWED_KIND_ARRAY ? field->element : field->kind;
    if (kind == OWED_KIND_ENUM)
        return check_words(checking, field->words, path);
    if (kind != OWED_KIND_STRUCT)
        return OWED_OK;
    if (field->fields == NULL || field->size == 0)
        return refuse_field(
            checking, path, "has no fields or no size; both are needed for a struct");
    return check_fields(checking, field->fields, field->size, path, depth + 1);
}

static owed_status
check_fallback(struct checking *checking, const owed_field *field, const struct path *path)
{
    if (field->fallback == NULL)
        return OWED_OK;
    owed_error why;
    void *member = arena_alloc(&checking->scratch, member_size(field));
    if (member == NULL)
        return fail_memory(checking->err);
    owed_status status =
        fallback_read(checking->type, field, path, &checking->scratch, member, &why);
    if (status == OWED_INVALID)
        return fail(checking->err, OWED_CONFIG, "%s as its fallback", why.text);
    return status == OWED_OK ? OWED_OK : fail(checking->err, status, "%s", why.text);
}

static owed_status
check_field(struct checking *checking, const owed_field *fields, const owed_field *field,
    size_t size, const struct path *path, int depth)
{
    owed_status status = check_field_name(checking, fields, field, path);
    if (status == OWED_OK && kind_of(field->kind) == NULL)
        return refuse_field(checking, path, "has no kind that there is; one of owed_kind is right");
    if (status == OWED_OK && field->kind == OWED_KIND_ARRAY)
        status = check_array(checking, field, path);
    if (status == OWED_OK)
        status = check_inner(checking, field, path, depth);
    if (status == OWED_OK)
        status = check_place(checking, fields, field, size, path);
    if (status == OWED_OK)
        status = check_fallback(checking, field, path);
    return status;
}

static owed_status
check_fields(struct checking *checking, const owed_field *fields, size_t size,
    const struct path *parent, int depth)
{
    if (depth > LIMIT_FIELD_DEPTH)
        return refuse_field(checking, parent,
            "is more than %d structs deep; fewer are right (a struct cannot hold itself)",
            LIMIT_FIELD_DEPTH);
    // An end mark has no name: one with a name is a field whose kind was forgotten.
    for (const owed_field *field = fields; field->kind != OWED_KIND_END || field->name != NULL;
         field++) {
        struct path path = {.parent = parent, .name = field_key(field)};
        if (field - fields >= LIMIT_FIELDS)
            return refuse_field(checking, &path,
                "is one too many; at most %d and OWED_FIELDS_END are right", LIMIT_FIELDS);
        owed_status status = check_field(checking, fields, field, size, &path, depth);
        if (status != OWED_OK)
            return status;
    }
    return OWED_OK;
}

static owed_status
check_head(const owed_event_type *type, owed_error *err)
{
    owed_status status = check_name("event", type->name, err);
    if (status != OWED_OK)
        return status;
    if (type->version < 0 || type->version > LIMIT_VERSION)
        return fail(err, OWED_CONFIG, "event \"%s\": version is %d; 1 to %d is right", type->name,
            (int)type->version, LIMIT_VERSION);
    if (type->fields == NULL && type->size != 0)
        return fail(err, OWED_CONFIG,
            "event \"%s\": a size without fields; an opaque type has neither", type->name);
    const struct keeping keeping = {type->retention_us, type->delete_when};
    return check_keeping(type->name, &keeping, err);
}

/* check_alone looks at one version of a type. */
static owed_status
check_alone(const owed_event_type *type, owed_error *err)
{
    owed_status status = check_head(type, err);
    if (status != OWED_OK || type->fields == NULL)
        return status;
    struct checking checking = {.type = type, .err = err};
    arena_init(&checking.scratch, LIMIT_PAYLOAD_BYTES);
    status = check_fields(&checking, type->fields, type->size, NULL, 1);
    arena_done(&checking.scratch);
    return status;
}

/* check_step looks at what leads from the version before to this one. */
static owed_status
check_step(const owed_event_type *type, owed_error *err)
{
    const owed_event_type *before = type->before;
    if (before == NULL || type->upgrade == NULL)
        return before == NULL && type->upgrade == NULL
            ? OWED_OK
            : fail(err, OWED_CONFIG, "event \"%s\": version %d has %s; both are right, or neither",
                  type->name, (int)version_of(type),
                  before == NULL ? "an upgrade, but no type before it"
                                 : "a type before it, but no upgrade");
    if (is_empty(before->name) || strcmp(before->name, type->name) != 0)
        return fail(err, OWED_CONFIG,
            "event \"%s\": the type before version %d has another name; the same one is right",
            type->name, (int)version_of(type));
    if (version_of(before) >= version_of(type))
        return fail(err, OWED_CONFIG,
            "event \"%s\": the type before version %d has version %d; a lower one is right",
            type->name, (int)version_of(type), (int)version_of(before));
    return OWED_OK;
}

owed_status
codec_check(const owed_event_type *type, owed_error *err)
{
    int count = 0;
    for (const owed_event_type *at = type; at != NULL; at = at->before) {
        owed_status status = check_alone(at, err);
        if (status == OWED_OK)
            status = check_step(at, err);
        if (status != OWED_OK)
            return status;
        if (count++ > LIMIT_OLDER_TYPES)
            return fail(err, OWED_CONFIG,
                "event \"%s\": is upgraded from more than %d older types; fewer are right",
                type->name, LIMIT_OLDER_TYPES);
    }
    return OWED_OK;
}

/* --- sameness --- */

static bool
same_text(const char *a, const char *b)
{
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

static bool
same_words(const owed_enum_value *a, const owed_enum_value *b)
{
    if (a == b || a == NULL || b == NULL)
        return a == b;
    while (a->name != NULL && same_text(a->name, b->name) && a->value == b->value) {
        a++;
        b++;
    }
    return a->name == NULL && b->name == NULL;
}

static bool
same_fields(const owed_field *a, const owed_field *b)
{
    if (a == b || a == NULL || b == NULL)
        return a == b;
    for (; a->kind != OWED_KIND_END && a->kind == b->kind; a++, b++)
        if (!same_text(field_key(a), field_key(b)) || a->offset != b->offset ||
            a->optional != b->optional || a->secret != b->secret ||
            !same_text(a->fallback, b->fallback) || !same_words(a->words, b->words) ||
            !same_fields(a->fields, b->fields) || a->size != b->size || a->element != b->element)
            return false;
    return a->kind == b->kind;
}

/* same_version compares two descriptors, without what is before them. */
static bool
same_version(const owed_event_type *a, const owed_event_type *b)
{
    return same_text(a->name, b->name) && version_of(a) == version_of(b) && a->size == b->size &&
        same_fields(a->fields, b->fields) && a->retention_us == b->retention_us &&
        a->delete_when == b->delete_when;
}

bool
codec_same(const owed_event_type *a, const owed_event_type *b)
{
    // Functions of two files may differ in their address alone.
    while (a != b && a != NULL && b != NULL && same_version(a, b)) {
        a = a->before;
        b = b->before;
    }
    return a == b;
}
