/* SPDX-License-Identifier: MIT
 *
 * fire_line.c - a table of keys over the JSON scanner: no byte of a payload is touched.
 */
#include "cli/fire_line.h"

#include <inttypes.h>
#include <stddef.h>

#include "base/error.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/moment.h"
#include "base/options.h"

struct line_key;

struct reading {
    struct arena *arena;
    int64_t now_us;
    char *line; // the struct fire_line, for members by offset
    owed_error *err;
};

typedef owed_status (*read_value)(
    const struct reading *reading, const struct line_key *key, struct json value);

struct line_key {
    const char *name;
    read_value read;
    size_t offset;
    int64_t max; // of a number
};

static owed_status
refuse_type(const struct reading *reading, const struct line_key *key, const char *wanted,
    enum json_type found)
{
    return fail(reading->err, OWED_INVALID, "\"%s\" has to be %s, found %s", key->name, wanted,
        json_type_name(found));
}

static owed_status
read_text(const struct reading *reading, const struct line_key *key, struct json value)
{
    if (value.type != JSON_STRING)
        return refuse_type(reading, key, "a string", value.type);
    struct str text;
    owed_error why;
    owed_status status = json_read_string(value, reading->arena, &text, &why);
    if (status != OWED_OK)
        return fail(reading->err, status, "\"%s\": %s", key->name, why.text);
    if (memchr(text.p, '\0', text.len) != NULL)
        return fail(reading->err, OWED_INVALID, "\"%s\" holds a NUL character", key->name);
    memcpy(reading->line + key->offset, &text.p, sizeof text.p);
    return OWED_OK;
}

static owed_status
read_number(const struct reading *reading, const struct line_key *key, struct json value)
{
    int64_t number = 0;
    if (value.type != JSON_NUMBER)
        return refuse_type(reading, key, "a whole number", value.type);
    if (!json_int64(value, &number) || number < 1 || number > key->max)
        return fail(reading->err, OWED_INVALID,
            "\"%s\" has to be a whole number from 1 to %" PRId64, key->name, key->max);
    memcpy(reading->line + key->offset, &number, sizeof number);
    return OWED_OK;
}

static bool
read_moment(const struct reading *reading, const char *text, int64_t *ret_us)
{
    int64_t wait = 0;
    if (text[0] != '+')
        return moment_read(text, ret_us);
    if (!duration_read(text + 1, &wait))
        return false;
    *ret_us = reading->now_us + wait;
    return true;
}

static owed_status
read_time(const struct reading *reading, const struct line_key *key, struct json value)
{
    struct str text;
    int64_t at = 0;
    if (value.type != JSON_STRING)
        return refuse_type(reading, key, "a time such as \"2026-11-29T15:04:05Z\"", value.type);
    if (json_read_string(value, reading->arena, &text, NULL) != OWED_OK ||
        !read_moment(reading, text.p, &at) || at <= 0)
        return fail(reading->err, OWED_INVALID,
            "\"%s\" has to be a time after 1970 such as \"2026-11-29T15:04:05Z\" or \"+90s\", found "
            "%.*s",
            key->name, (int)(value.text.len < 60 ? value.text.len : 60), value.text.p);
    memcpy(reading->line + key->offset, &at, sizeof at);
    return OWED_OK;
}

static owed_status
read_object(const struct reading *reading, const struct line_key *key, struct json value)
{
    if (value.type != JSON_OBJECT)
        return refuse_type(reading, key, "an object", value.type);
    const char *text = arena_copy(reading->arena, value.text);
    if (text == NULL)
        return fail_memory(reading->err);
    memcpy(reading->line + key->offset, &text, sizeof text);
    return OWED_OK;
}

static owed_status
read_payload(const struct reading *reading, const struct line_key *key, struct json value)
{
    memcpy(reading->line + key->offset, &value.text, sizeof value.text);
    return OWED_OK;
}

#define OPTION_AT(member_) offsetof(struct fire_line, options.member_)

static const struct line_key keys[] = {
    {"name", read_text, offsetof(struct fire_line, name), 0},
    {"payload", read_payload, offsetof(struct fire_line, payload), 0},
    {"version", read_number, offsetof(struct fire_line, version), LIMIT_VERSION},
    {"dedupe_key", read_text, OPTION_AT(dedupe_key), 0},
    {"due_at", read_time, OPTION_AT(due_at_us), 0},
    {"occurred_at", read_time, OPTION_AT(occurred_at_us), 0},
    {"actor_key", read_text, OPTION_AT(actor_key), 0},
    {"actor_label", read_text, OPTION_AT(actor_label), 0},
    {"correlation_id", read_text, OPTION_AT(correlation_id), 0},
    {"causation_id", read_number, OPTION_AT(causation_id), INT64_MAX},
    {"traceparent", read_text, OPTION_AT(traceparent), 0},
    {"scope", read_object, OPTION_AT(scope), 0},
};
#define KEY_COUNT (sizeof keys / sizeof keys[0])

static owed_status
refuse_key(const struct reading *reading, struct str name)
{
    const char *words[KEY_COUNT + 1] = {NULL};
    for (size_t i = 0; i < KEY_COUNT; i++)
        words[i] = keys[i].name;
    char text[64];
    size_t len = name.len - 2 < sizeof text - 1 ? name.len - 2 : sizeof text - 1;
    memcpy(text, name.p + 1, len);
    text[len] = '\0';
    const char *near = nearest(text, words);
    if (near != NULL)
        return fail(reading->err, OWED_INVALID, "there is no key \"%s\"; the nearest is \"%s\"",
            text, near);
    return fail(reading->err, OWED_INVALID, "there is no key \"%s\"", text);
}

static owed_status
read_member(const struct reading *reading, struct str name, struct json value, unsigned *seen)
{
    size_t i = 0;
    while (i < KEY_COUNT && !json_key_is(name, keys[i].name))
        i++;
    if (i == KEY_COUNT)
        return refuse_key(reading, name);
    if ((*seen & 1u << i) != 0)
        return fail(reading->err, OWED_INVALID, "\"%s\" stands there twice", keys[i].name);
    *seen |= 1u << i;
    // null says "none" of anything but a payload, where it is one.
    if (value.type == JSON_NULL && keys[i].read != read_payload)
        return OWED_OK;
    return keys[i].read(reading, &keys[i], value);
}

owed_status
fire_line_read(struct str text, int64_t now_us, struct arena *arena, struct fire_line *ret_line,
    owed_error *err)
{
    struct fire_line line = {.payload = STR("{}")};
    owed_status status = json_check(text, LIMIT_PAYLOAD_DEPTH + 1, err);
    if (status != OWED_OK)
        return status;
    struct json root = json_root(text);
    if (root.type != JSON_OBJECT)
        return fail(
            err, OWED_INVALID, "a line has to be an object, found %s", json_type_name(root.type));
    struct reading reading = {arena, now_us, (char *)&line, err};
    struct json_walk walk = json_walk(root);
    struct str name;
    struct json value;
    unsigned seen = 0;
    while (json_next(&walk, &name, &value)) {
        status = read_member(&reading, name, value, &seen);
        if (status != OWED_OK)
            return status;
    }
    if (is_empty(line.name))
        return fail(err, OWED_INVALID, "no \"name\" of an event");
    *ret_line = line;
    return OWED_OK;
}
