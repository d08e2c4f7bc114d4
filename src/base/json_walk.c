/* SPDX-License-Identifier: MIT
 *
 * json_walk.c - finds its way in a text that was checked.
 *
 * It trusts the text's form; without it a walk goes astray, but comes to an end within the text.
 */
#include "base/json_scan.h"

#include "base/json.h"

static enum json_type
type_of(char c)
{
    switch (c) {
    case '{':
        return JSON_OBJECT;
    case '[':
        return JSON_ARRAY;
    case '"':
        return JSON_STRING;
    case 't':
        return JSON_TRUE;
    case 'f':
        return JSON_FALSE;
    case 'n':
        return JSON_NULL;
    default:
        return JSON_NUMBER;
    }
}

const char *
json_type_name(enum json_type type)
{
    static const char *const names[] = {
        [JSON_NULL] = "null",
        [JSON_FALSE] = "false",
        [JSON_TRUE] = "true",
        [JSON_NUMBER] = "a number",
        [JSON_STRING] = "a string",
        [JSON_ARRAY] = "an array",
        [JSON_OBJECT] = "an object",
    };
    return names[type];
}

static const char *
skip_string(const char *p, const char *end)
{
    for (p++; p < end; p++) {
        p = json_skip_plain(p, end);
        if (p < end && *p == '"')
            return p + 1;
        p += p < end && *p == '\\';
    }
    return end;
}

static const char *
skip_container(const char *p, const char *end)
{
    int depth = 0;
    while (p < end) {
        char c = *p;
        if (c == '"') {
            p = skip_string(p, end);
            continue;
        }
        p++;
        depth += (c == '{' || c == '[') - (c == '}' || c == ']');
        if (depth == 0)
            break;
    }
    return p;
}

static const char *
skip_value(const char *p, const char *end)
{
    if (*p == '"')
        return skip_string(p, end);
    if (*p == '{' || *p == '[')
        return skip_container(p, end);
    while (p < end && !is_space(*p) && *p != ',' && *p != '}' && *p != ']')
        p++;
    return p;
}

static struct json
value_at(const char *p, const char *end)
{
    if (p == end)
        return (struct json){JSON_NULL, {p, 0}};
    return (struct json){type_of(*p), {p, (size_t)(skip_value(p, end) - p)}};
}

struct json
json_root(struct str text)
{
    const char *end = text.p + text.len;
    return value_at(json_skip_blanks(text.p, end), end);
}

struct json_walk
json_walk(struct json container)
{
    // end stands on the closing bracket, which tells json_next what it walks over.
    if (container.text.len < 2)
        return (struct json_walk){container.text.p, container.text.p};
    return (struct json_walk){container.text.p + 1, container.text.p + container.text.len - 1};
}

/* next_token skips blanks and the separator in front of the next key or value. */
static const char *
next_token(const char *p, const char *end)
{
    p = json_skip_blanks(p, end);
    if (p < end && (*p == ',' || *p == ':'))
        p = json_skip_blanks(p + 1, end);
    return p;
}

bool
json_next(struct json_walk *walk, struct str *key, struct json *value)
{
    const char *p = next_token(walk->p, walk->end);
    if (p == walk->end)
        return false;
    if (*walk->end == '}') {
        const char *key_end = skip_value(p, walk->end);
        if (key != NULL)
            *key = (struct str){p, (size_t)(key_end - p)};
        p = next_token(key_end, walk->end);
    }
    *value = value_at(p, walk->end);
    walk->p = value->text.p + value->text.len;
    return value->text.len > 0; // nothing stands there in a text that is not JSON
}

bool
json_member(struct json object, const char *name, struct json *ret_value)
{
    bool found = false;
    struct str key;
    struct json value;
    struct json_walk walk = json_walk(object);
    while (json_next(&walk, &key, &value))
        if (json_key_is(key, name)) {
            *ret_value = value;
            found = true;
        }
    return found;
}
