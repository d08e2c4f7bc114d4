/* SPDX-License-Identifier: MIT
 *
 * codec_describe.c - the fields of a type as JSON, for whoever reads the catalogue.
 *
 * [{"name":"lines","kind":"array","element":"struct","fields":[...]}, ...]; "optional", "fallback"
 * (as declared), "secret" and "words" stand only where they are declared.
 */
#include "declare/codec.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/limits.h"
#include "declare/kinds.h"

static void describe_fields(const owed_field *fields, struct buf *json);

static void
describe_words(const owed_enum_value *words, struct buf *json)
{
    buf_puts(json, ",\"words\":[");
    for (const owed_enum_value *word = words; word->name != NULL; word++) {
        if (word != words)
            buf_putc(json, ',');
        json_write_string(json, str_of(word->name));
    }
    buf_putc(json, ']');
}

static void
describe_field(const owed_field *field, struct buf *json)
{
    owed_kind inner = field->kind == OWED_KIND_ARRAY ? field->element : field->kind;
    buf_puts(json, "{\"name\":");
    json_write_string(json, str_of(field_key(field)));
    buf_printf(json, ",\"kind\":\"%s\"", kind_of(field->kind)->name);
    if (field->kind == OWED_KIND_ARRAY)
        buf_printf(json, ",\"element\":\"%s\"", kind_of(inner)->name);
    if (field->optional || field->fallback != NULL)
        buf_puts(json, ",\"optional\":true");
    if (field->fallback != NULL) {
        buf_puts(json, ",\"fallback\":");
        json_write_string(json, str_of(field->fallback));
    }
    if (field->secret)
        buf_puts(json, ",\"secret\":true");
    if (inner == OWED_KIND_ENUM)
        describe_words(field->words, json);
    if (inner == OWED_KIND_STRUCT) {
        buf_puts(json, ",\"fields\":");
        describe_fields(field->fields, json);
    }
    buf_putc(json, '}');
}

/* describe_all appends fields, parted by commas; it may go on behind others. */
static void
describe_all(const owed_field *fields, struct buf *json, size_t *count)
{
    for (const owed_field *field = fields; field->kind != OWED_KIND_END; field++) {
        if ((*count)++ > 0)
            buf_putc(json, ',');
        describe_field(field, json);
    }
}

static void
describe_fields(const owed_field *fields, struct buf *json)
{
    size_t count = 0;
    buf_putc(json, '[');
    describe_all(fields, json, &count);
    buf_putc(json, ']');
}

/* --- what is secret and no field of today --- */

static void
describe_pointer(struct str pointer, struct buf *json, size_t *count)
{
    if ((*count)++ > 0)
        buf_putc(json, ',');
    buf_puts(json, "{\"name\":");
    json_write_string(json, pointer);
    buf_puts(json, ",\"kind\":\"pointer\",\"secret\":true}");
}

static void
describe_pointers(const char *pointers, struct buf *json, size_t *count)
{
    static const char blanks[] = " \t";
    const char *p = pointers + strspn(pointers, blanks);
    while (*p != '\0') {
        size_t len = strcspn(p, blanks);
        describe_pointer((struct str){p, len}, json, count);
        p += len + strspn(p + len, blanks);
    }
}

static const owed_field *
find_key(const owed_field *fields, const char *key)
{
    for (; fields != NULL && fields->kind != OWED_KIND_END; fields++)
        if (strcmp(field_key(fields), key) == 0)
            return fields;
    return NULL;
}

/* add_step writes a key as a step of a JSON pointer. */
static void
add_step(struct buf *pointer, const owed_field *field)
{
    buf_putc(pointer, '/');
    for (const char *p = field_key(field); *p != '\0'; p++) {
        if (*p == '~' || *p == '/')
            buf_puts(pointer, *p == '~' ? "~0" : "~1");
        else
            buf_putc(pointer, *p);
    }
}

/* describe_old looks for what an older version hides and the newer one does not; pointer leads there. */
static void
describe_old(const owed_field *old, const owed_field *new, const char *pointer, struct buf *json,
    size_t *count)
{
    for (; old != NULL && old->kind != OWED_KIND_END; old++) {
        const owed_field *same = find_key(new, field_key(old));
        if (same != NULL && same->secret)
            continue;
        CLEANUP(buf_done) struct buf step;
        buf_init(&step, LIMIT_PAYLOAD_BYTES);
        buf_puts(&step, pointer);
        add_step(&step, old);
        if (old->secret) {
            describe_pointer(buf_view(&step), json, count);
            continue;
        }
        if (old->kind == OWED_KIND_ARRAY)
            buf_puts(&step, "/*");
        describe_old(old->fields, same == NULL ? NULL : same->fields, buf_text(&step), json, count);
    }
}

void
codec_describe(const owed_event_type *type, const char *pointers, struct buf *json)
{
    size_t count = 0;
    buf_putc(json, '[');
    if (type->fields != NULL)
        describe_all(type->fields, json, &count);
    for (const owed_event_type *old = type->before; old != NULL; old = old->before)
        describe_old(old->fields, type->fields, "", json, &count);
    if (pointers != NULL)
        describe_pointers(pointers, json, &count);
    buf_putc(json, ']');
}
