/* SPDX-License-Identifier: MIT
 *
 * parcel.c - envelopes around a payload, which itself goes as it was fired, to the byte.
 */
#include "receive/parcel.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/moment.h"
#include "declare/registry.h"

#define FILTER_POINTERS 32

static const struct format {
    const char *word;
    const char *type;
} formats[] = {
    [OWED_FORMAT_ENVELOPE] = {"envelope", "application/json"},
    [OWED_FORMAT_RAW] = {"raw", "application/json"},
    [OWED_FORMAT_CLOUDEVENTS] = {"cloudevents", "application/cloudevents+json; charset=UTF-8"},
};
#define FORMATS (sizeof formats / sizeof formats[0])

bool
format_of(const char *word, owed_format *ret_format)
{
    for (size_t i = 0; i < FORMATS; i++) {
        *ret_format = (owed_format)i;
        if (strcmp(word, formats[i].word) == 0)
            return true;
    }
    return false;
}

const char *
format_name(owed_format format)
{
    return (size_t)format < FORMATS ? formats[format].word : NULL;
}

const char *
parcel_type(owed_format format)
{
    return formats[format].type;
}

static void
put(struct buf *body, const char *before, const char *text)
{
    buf_puts(body, before);
    json_write_string(body, str_of(text));
}

void
parcel_write(owed_format format, const struct claimed *row, const char *id, const char *source,
    struct buf *body)
{
    char at[MOMENT_BYTES];
    if (format == OWED_FORMAT_RAW) {
        buf_str(body, row->payload);
        return;
    }
    bool is_cloud = format == OWED_FORMAT_CLOUDEVENTS;
    buf_puts(body, "{\"data\":");
    buf_str(body, row->payload);
    if (is_cloud)
        buf_puts(body, ",\"datacontenttype\":\"application/json\"");
    put(body, ",\"id\":", id);
    if (is_cloud) {
        put(body, ",\"source\":", source);
        buf_puts(body, ",\"specversion\":\"1.0\"");
    }
    put(body, is_cloud ? ",\"time\":" : ",\"timestamp\":", moment_write(row->occurred_at_us, at));
    put(body, ",\"type\":", or_empty(row->event_name));
    buf_putc(body, '}');
}

/* --- filters --- */

/* is_empty_list: nothing could be any of these. */
static bool
is_empty_list(struct json value)
{
    struct json first;
    struct json_walk walk = json_walk(value);
    return value.type == JSON_ARRAY && !json_next(&walk, NULL, &first);
}

static owed_status
check_member(struct str key, struct json value, struct arena *arena, owed_error *err)
{
    struct str pointer;
    struct json string = {JSON_STRING, key};
    if (json_read_string(string, arena, &pointer, err) != OWED_OK || pointer.p == NULL ||
        !json_pointer_is_good(pointer.p))
        return fail(err, OWED_INVALID,
            "the filter's %.100s is no JSON pointer; {\"/type\":\"new\"} would be a filter",
            pointer.p == NULL ? "key" : pointer.p);
    if (value.type == JSON_OBJECT)
        return fail(err, OWED_INVALID,
            "the filter wants an object at %.100s; a value is right, or an array of some",
            pointer.p);
    if (is_empty_list(value))
        return fail(err, OWED_INVALID,
            "the filter wants one of none at %.100s; a value is right, or an array of some",
            pointer.p);
    return OWED_OK;
}

owed_status
filter_check(const char *filter, owed_error *err)
{
    owed_error why = {0};
    struct str text = str_of(filter);
    if (text.len > LIMIT_SCOPE_BYTES)
        return fail(err, OWED_INVALID, "the filter is longer than %d bytes", LIMIT_SCOPE_BYTES);
    if (json_check(text, LIMIT_FIELD_DEPTH, &why) != OWED_OK)
        return fail(err, OWED_INVALID, "the filter is not JSON: %s", why.text);
    struct json root = json_root(text);
    if (root.type != JSON_OBJECT)
        return fail(err, OWED_INVALID, "the filter is no object; {\"/type\":\"new\"} would be one");
    CLEANUP(arena_done) struct arena arena;
    arena_init(&arena, 0);
    struct json_walk walk = json_walk(root);
    struct str key;
    struct json value;
    owed_status status = OWED_OK;
    for (size_t count = 0; status == OWED_OK && json_next(&walk, &key, &value); count++)
        status = count < FILTER_POINTERS
            ? check_member(key, value, &arena, err)
            : fail(err, OWED_INVALID, "the filter has more than %d pointers", FILTER_POINTERS);
    return status;
}

/* is_equal compares texts by what they say, numbers by their value, and all else by its bytes. */
static bool
is_equal(struct json a, struct json b, struct arena *arena)
{
    if (a.type != b.type)
        return false;
    if (a.type == JSON_STRING) {
        struct str left, right;
        return json_read_string(a, arena, &left, NULL) == OWED_OK &&
            json_read_string(b, arena, &right, NULL) == OWED_OK && left.len == right.len &&
            memcmp(left.p, right.p, left.len) == 0;
    }
    int64_t left = 0, right = 0;
    if (a.type == JSON_NUMBER && json_int64(a, &left) && json_int64(b, &right))
        return left == right;
    return a.text.len == b.text.len && memcmp(a.text.p, b.text.p, a.text.len) == 0;
}

static bool
is_among(struct json found, struct json wanted, struct arena *arena)
{
    if (wanted.type != JSON_ARRAY)
        return is_equal(found, wanted, arena);
    struct json_walk walk = json_walk(wanted);
    struct str key;
    struct json value;
    while (json_next(&walk, &key, &value))
        if (is_equal(found, value, arena))
            return true;
    return false;
}

bool
filter_wants(const char *filter, struct str payload, struct arena *arena, const char **ret_pointer)
{
    *ret_pointer = "";
    if (is_empty(filter))
        return true;
    if (filter_check(filter, NULL) != OWED_OK)
        return false;
    struct json root = json_root(payload);
    struct json_walk walk = json_walk(json_root(str_of(filter)));
    struct str key, pointer;
    struct json wanted, found;
    while (json_next(&walk, &key, &wanted)) {
        if (json_read_string((struct json){JSON_STRING, key}, arena, &pointer, NULL) != OWED_OK)
            return false;
        *ret_pointer = pointer.p;
        if (!json_pointer_find(root, pointer.p, arena, &found) || !is_among(found, wanted, arena))
            return false;
    }
    return true;
}

owed_status
event_pattern_check(const char *name, owed_error *err)
{
    char stem[LIMIT_KEY_BYTES + 1];
    size_t len = strlen(name);
    owed_error why = {0};
    if (strcmp(name, "*") == 0)
        return OWED_OK;
    if (strncmp(name, "owed.", 5) == 0)
        return fail(
            err, OWED_INVALID, "event %.100s is one of owed itself, which go to no endpoint", name);
    if (len > 2 && len < sizeof stem && strcmp(name + len - 2, ".*") == 0) {
        memcpy(stem, name, len - 2);
        stem[len - 2] = '\0';
        name = stem;
    }
    if (check_name("event", name, &why) != OWED_OK)
        return fail(
            err, OWED_INVALID, "%s; \"shop.*\" stands for all names that begin so", why.text);
    return OWED_OK;
}
