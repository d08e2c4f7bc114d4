/* SPDX-License-Identifier: MIT
 *
 * json.c - whatever the scanner accepts can be walked, read, and written again.
 */
#include "base/json.h"

#include "base/limits.h"
#include "fuzz.h"

#define WALKED_BYTES 4096 // each value is checked by itself, which is quadratic in depth

static bool
is_within(struct str part, struct str whole)
{
    return part.p >= whole.p && part.p + part.len <= whole.p + whole.len;
}

static void
read_string(struct json value, struct arena *arena)
{
    struct str text, back;
    if (json_read_string(value, arena, &text, NULL) != OWED_OK)
        return;
    must(utf8_is_valid(text) && text.len <= value.text.len && text.p[text.len] == '\0');
    struct buf json;
    buf_init(&json, LIMIT_PAYLOAD_BYTES);
    json_write_string(&json, text);
    must(json_check(buf_view(&json), 0, NULL) == OWED_OK);
    must(json_read_string(json_root(buf_view(&json)), arena, &back, NULL) == OWED_OK);
    must(str_eq(text, back));
    buf_done(&json);
}

static void
read_number(struct json value)
{
    int64_t whole;
    double number, back;
    bool is_whole = json_int64(value, &whole);
    bool is_finite = json_double(value, &number);
    must(!is_whole || is_finite);
    if (is_whole)
        must(number == (double)whole);
    if (!is_finite)
        return;
    struct buf json;
    buf_init(&json, 1000);
    json_write_double(&json, number);
    must(json_check(buf_view(&json), 0, NULL) == OWED_OK);
    must(json_double(json_root(buf_view(&json)), &back) && back == number);
    buf_done(&json);
}

static void
read_value(struct json value, struct arena *arena)
{
    must(json_check(value.text, LIMIT_PAYLOAD_DEPTH, NULL) == OWED_OK);
    struct json same = json_root(value.text);
    must(same.type == value.type && same.text.len == value.text.len);
    if (value.type == JSON_STRING)
        read_string(value, arena);
    if (value.type == JSON_NUMBER)
        read_number(value);
    if (value.type != JSON_ARRAY && value.type != JSON_OBJECT)
        return;
    struct json_walk walk = json_walk(value);
    struct str key;
    struct json member;
    while (json_next(&walk, &key, &member)) {
        must(member.text.len > 0 && is_within(member.text, value.text));
        if (value.type == JSON_OBJECT)
            read_value((struct json){JSON_STRING, key}, arena);
        read_value(member, arena);
    }
}

/* walk_anyway walks a text that is not JSON: the way is wrong, and still never leaves it. */
static void
walk_anyway(struct json value, struct str whole, struct arena *arena)
{
    must(is_within(value.text, whole));
    int64_t number;
    struct str text;
    if (value.type == JSON_STRING)
        (void)json_read_string(value, arena, &text, NULL);
    if (value.type == JSON_NUMBER)
        (void)json_int64(value, &number);
    if (value.type != JSON_ARRAY && value.type != JSON_OBJECT)
        return;
    struct json_walk walk = json_walk(value);
    struct str key = whole;
    struct json member;
    while (json_next(&walk, &key, &member)) {
        must(is_within(key, whole));
        (void)json_key_is(key, "a");
        walk_anyway(member, whole, arena);
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str text = {(const char *)data, size};
    owed_error err;
    bool is_json = json_check(text, LIMIT_PAYLOAD_DEPTH, &err) == OWED_OK;
    must(is_json || (err.status == OWED_INVALID && memcmp(err.text, "byte ", 5) == 0));
    must(!is_json || utf8_is_valid(text));
    if (size > WALKED_BYTES)
        return 0;
    struct arena arena;
    arena_init(&arena, 0);
    if (is_json)
        read_value(json_root(text), &arena);
    else
        walk_anyway(json_root(text), text, &arena);
    arena_done(&arena);
    return 0;
}
