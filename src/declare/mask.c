/* SPDX-License-Identifier: MIT
 *
 * mask.c - finds secret values in a payload, and hides them there and in what others say.
 *
 * What is hidden is marked byte by byte and written once, so that values that hold one another come to
 * the same.
 */
#include "declare/mask.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "base/json.h"
#include "base/limits.h"

#define LIMIT_VALUES 10000 // that are looked for in a text

/* A walk over a payload that reports what is secret. */
struct search {
    struct json root;
    struct arena arena;
    void (*found)(struct search *search, struct json value);
    char *hidden;    // a byte for each of text
    struct str text; // that it is about
    size_t values;
};

void
mask_add(struct mask *mask, const char *fields)
{
    struct str text = str_of(fields);
    if (strstr(text.p, "\"secret\":true") == NULL ||
        json_check(text, LIMIT_PAYLOAD_DEPTH, NULL) != OWED_OK)
        return;
    for (size_t i = 0; i < mask->count; i++)
        if (str_eq(mask->fields[i], text))
            return;
    if (mask->count < MASK_SOURCES)
        mask->fields[mask->count++] = text;
    else
        mask->is_full = true;
}

/* --- finding --- */

static void search_fields(struct search *search, struct json fields, struct json object);

static void
search_pointer(struct search *search, const char *pointer, struct json value)
{
    if (*pointer != '/') {
        search->found(search, value);
        return;
    }
    if (value.type != JSON_OBJECT && value.type != JSON_ARRAY)
        return;
    const char *step = json_pointer_step(&search->arena, &pointer);
    struct json_walk walk = json_walk(value);
    struct str key = {"", 0};
    struct json member;
    for (size_t i = 0; step != NULL && json_next(&walk, &key, &member); i++)
        if ((value.type == JSON_ARRAY && strcmp(step, "*") == 0) ||
            json_pointer_leads(step, value.type == JSON_OBJECT, key, i))
            search_pointer(search, pointer, member);
}

/* search_below goes on into a field that is not secret itself. */
static void
search_below(struct search *search, struct json fields, struct json value)
{
    struct json_walk walk = json_walk(value);
    struct json element;
    if (value.type == JSON_OBJECT)
        search_fields(search, fields, value);
    while (value.type == JSON_ARRAY && json_next(&walk, NULL, &element))
        if (element.type == JSON_OBJECT)
            search_fields(search, fields, element);
}

static void
search_field(struct search *search, struct json field, struct json object)
{
    struct json part;
    struct str name;
    if (!json_member(field, "name", &part) ||
        json_read_string(part, &search->arena, &name, NULL) != OWED_OK)
        return;
    bool is_secret = json_member(field, "secret", &part) && part.type == JSON_TRUE;
    if (json_member(field, "kind", &part) && str_eq(part.text, STR("\"pointer\""))) {
        if (is_secret)
            search_pointer(search, name.p, search->root);
        return;
    }
    if (object.type != JSON_OBJECT) // a payload may be any JSON
        return;
    struct json fields = {JSON_NULL, {"", 0}};
    bool is_deep = json_member(field, "fields", &fields);
    struct json_walk walk = json_walk(object);
    struct str key;
    struct json value;
    while (json_next(&walk, &key, &value)) {
        if (!json_key_is(key, name.p))
            continue;
        if (is_secret)
            search->found(search, value);
        else if (is_deep)
            search_below(search, fields, value);
    }
}

/* search_fields goes as deep as descriptors do. */
static void
search_fields(struct search *search, struct json fields, struct json object)
{
    struct json_walk walk = json_walk(fields);
    struct json field;
    while (fields.type == JSON_ARRAY && json_next(&walk, NULL, &field))
        if (field.type == JSON_OBJECT)
            search_field(search, field, object);
}

static void
search_all(struct search *search, const struct mask *mask, struct str payload)
{
    search->root = json_root(payload);
    arena_init(&search->arena, 0);
    for (size_t i = 0; i < mask->count; i++)
        search_fields(search, json_root(mask->fields[i]), search->root);
    arena_done(&search->arena);
}

/* --- hiding --- */

/* write_shown writes what is not hidden, and the same once for each stretch that is. */
static void
write_shown(const struct search *search, const char *instead, struct buf *out)
{
    for (size_t i = 0; i < search->text.len; i++) {
        if (search->hidden[i] == 0)
            buf_putc(out, search->text.p[i]);
        else if (i == 0 || search->hidden[i - 1] == 0)
            buf_puts(out, instead);
    }
}

static void
hide_value(struct search *search, struct json value)
{
    memset(search->hidden + (value.text.p - search->text.p), 1, value.text.len);
}

void
mask_payload(const struct mask *mask, struct str payload, struct buf *out)
{
    if (mask->count == 0) {
        buf_str(out, payload);
        return;
    }
    CLEANUP(free_ptr) char *hidden = calloc(payload.len + 1, 1);
    if (hidden == NULL || mask->is_full ||
        json_check(payload, LIMIT_PAYLOAD_DEPTH, NULL) != OWED_OK) {
        buf_puts(out, "\"" MASK_SHOWN "\"");
        return;
    }
    struct search search = {.found = hide_value, .hidden = hidden, .text = payload};
    search_all(&search, mask, payload);
    write_shown(&search, "\"" MASK_SHOWN "\"", out);
}

/* hide_text marks wherever the word stands in the text, and a part of it at either end. */
static void
hide_text(struct search *search, struct str word)
{
    struct str text = search->text;
    if (word.len < MASK_LEAST_BYTES)
        return;
    const char *p = text.p;
    const char *end = text.p + text.len;
    while ((p = memmem(p, (size_t)(end - p), word.p, word.len)) != NULL) {
        memset(search->hidden + (p - text.p), 1, word.len);
        p += word.len;
    }
    size_t most = word.len - 1 < text.len ? word.len - 1 : text.len;
    for (size_t len = most; len >= MASK_LEAST_BYTES; len--) {
        if (memcmp(text.p, word.p + word.len - len, len) == 0)
            memset(search->hidden, 1, len);
        if (memcmp(end - len, word.p, len) == 0)
            memset(search->hidden + text.len - len, 1, len);
    }
}

/* hide_words looks for a value, or for all that it holds, in the text. Payloads are of bounded depth. */
static void
hide_words(struct search *search, struct json value)
{
    struct json_walk walk = json_walk(value);
    struct json inner;
    struct str decoded;
    if (search->values++ >= LIMIT_VALUES) { // too many to be looked for: nothing is shown
        memset(search->hidden, 1, search->text.len);
        return;
    }
    if (value.type == JSON_OBJECT || value.type == JSON_ARRAY) {
        while (json_next(&walk, NULL, &inner))
            hide_words(search, inner);
        return;
    }
    if (value.type == JSON_NUMBER)
        hide_text(search, value.text);
    if (value.type != JSON_STRING || value.text.len < 2)
        return;
    hide_text(search, (struct str){value.text.p + 1, value.text.len - 2});
    if (memchr(value.text.p, '\\', value.text.len) != NULL &&
        json_read_string(value, &search->arena, &decoded, NULL) == OWED_OK)
        hide_text(search, decoded);
}

const char *
mask_text(const struct mask *mask, struct str payload, const char *text, struct arena *arena)
{
    struct str view = str_of(text);
    if (mask->count == 0 || view.len < MASK_LEAST_BYTES ||
        json_check(payload, LIMIT_PAYLOAD_DEPTH, NULL) != OWED_OK)
        return text;
    CLEANUP(free_ptr) char *hidden = calloc(view.len + 1, 1);
    if (hidden == NULL || mask->is_full)
        return MASK_SHOWN;
    struct search search = {.found = hide_words, .hidden = hidden, .text = view};
    search_all(&search, mask, payload);
    if (memchr(hidden, 1, view.len) == NULL)
        return text;
    CLEANUP(buf_done) struct buf shown;
    buf_init(&shown, view.len * sizeof MASK_SHOWN);
    write_shown(&search, MASK_SHOWN, &shown);
    const char *copy = shown.failed ? NULL : arena_copy(arena, buf_view(&shown));
    return copy == NULL ? MASK_SHOWN : copy;
}

bool
pointers_are_good(const char *pointers)
{
    size_t count = 0;
    for (const char *p = pointers + strspn(pointers, " \t"); *p != '\0'; p += strspn(p, " \t")) {
        if (*p != '/')
            return false;
        p += strcspn(p, " \t");
        count++;
    }
    return count > 0 && utf8_is_valid(str_of(pointers));
}
