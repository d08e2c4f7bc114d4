/* SPDX-License-Identifier: MIT
 *
 * codec_describe.c - the fields of a type as JSON, for whoever reads the catalogue.
 *
 * [{"name":"lines","kind":"array","element":"struct","fields":[...]}, ...]; "optional", "fallback"
 * (as declared), "secret" and "words" stand only where they are declared.
 */
#include "declare/codec.h"

#include "base/json.h"
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

static void
describe_fields(const owed_field *fields, struct buf *json)
{
    buf_putc(json, '[');
    for (const owed_field *field = fields; field->kind != OWED_KIND_END; field++) {
        if (field != fields)
            buf_putc(json, ',');
        describe_field(field, json);
    }
    buf_putc(json, ']');
}

void
codec_describe(const owed_event_type *type, struct buf *json)
{
    if (type->fields == NULL)
        buf_puts(json, "[]");
    else
        describe_fields(type->fields, json);
}
