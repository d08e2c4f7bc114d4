/* SPDX-License-Identifier: MIT
 *
 * json_fields.c - see json_fields.h.
 */
#include "notify/json_fields.h"

#include <string.h>

#include "base/error.h"

owed_status
fields_check(struct fields *fields, struct json object, const char *const *keys)
{
    struct str key;
    struct json value;
    if (object.type != JSON_OBJECT)
        return fail(fields->err, OWED_INVALID, "%s has %s, where an object is wanted", fields->what,
            json_type_name(object.type));
    for (struct json_walk walk = json_walk(object); json_next(&walk, &key, &value);) {
        size_t i = 0;
        while (keys[i] != NULL && !json_key_is(key, keys[i]))
            i++;
        if (keys[i] == NULL)
            return fail(fields->err, OWED_INVALID, "%s has no key %.*s", fields->what,
                (int)(key.len < 64 ? key.len : 64), key.p);
    }
    return OWED_OK;
}

bool
fields_find(struct json object, const char *key, struct json *ret_value)
{
    return json_member(object, key, ret_value) && ret_value->type != JSON_NULL;
}

owed_status
fields_read_text(struct fields *fields, const char *key, struct json value, const char **ret_text)
{
    struct str text;
    if (value.type != JSON_STRING)
        return fail(fields->err, OWED_INVALID, "%s: %s is %s, where a text is wanted", fields->what,
            key, json_type_name(value.type));
    owed_status status = json_read_string(value, fields->arena, &text, fields->err);
    if (status != OWED_OK)
        return status;
    if (strlen(text.p) != text.len)
        return fail(fields->err, OWED_INVALID, "%s: %s has a NUL in it", fields->what, key);
    *ret_text = text.p;
    return OWED_OK;
}

owed_status
fields_text(struct fields *fields, struct json object, const char *key, const char **ret_text)
{
    struct json value;
    return fields_find(object, key, &value) ? fields_read_text(fields, key, value, ret_text)
                                            : OWED_OK;
}

owed_status
fields_texts(
    struct fields *fields, struct json object, const char *key, const char *const **ret_texts)
{
    struct json list, item;
    size_t count = 0;
    if (!fields_find(object, key, &list))
        return OWED_OK;
    if (list.type != JSON_ARRAY)
        return fail(fields->err, OWED_INVALID, "%s: %s is %s, where a list is wanted", fields->what,
            key, json_type_name(list.type));
    for (struct json_walk walk = json_walk(list); json_next(&walk, NULL, &item);)
        count++;
    const char **texts = arena_alloc(fields->arena, (count + 1) * sizeof *texts);
    if (texts == NULL)
        return fail_memory(fields->err);
    count = 0;
    for (struct json_walk walk = json_walk(list); json_next(&walk, NULL, &item); count++) {
        owed_status status = fields_read_text(fields, key, item, &texts[count]);
        if (status != OWED_OK)
            return status;
    }
    *ret_texts = texts;
    return OWED_OK;
}

owed_status
fields_int(struct fields *fields, struct json object, const char *key, int64_t *ret_number)
{
    struct json value;
    if (!fields_find(object, key, &value))
        return OWED_OK;
    if (value.type != JSON_NUMBER || !json_int64(value, ret_number))
        return fail(
            fields->err, OWED_INVALID, "%s: %s is not a whole number in range", fields->what, key);
    return OWED_OK;
}

owed_status
fields_bool(struct fields *fields, struct json object, const char *key, bool *ret_flag)
{
    struct json value;
    if (!fields_find(object, key, &value))
        return OWED_OK;
    if (value.type != JSON_TRUE && value.type != JSON_FALSE)
        return fail(fields->err, OWED_INVALID, "%s: %s is %s, where true or false is wanted",
            fields->what, key, json_type_name(value.type));
    *ret_flag = value.type == JSON_TRUE;
    return OWED_OK;
}

/* --- writing --- */

void
field_key(struct buf *buf, const char *key)
{
    if (buf->len > 0 && buf->p[buf->len - 1] != '{')
        buf_putc(buf, ',');
    json_write_string(buf, str_of(key));
    buf_putc(buf, ':');
}

void
field_write_text(struct buf *buf, const char *key, const char *text)
{
    if (text == NULL)
        return;
    field_key(buf, key);
    json_write_string(buf, str_of(text));
}

void
field_write_texts(struct buf *buf, const char *key, const char *const *texts)
{
    if (texts == NULL)
        return;
    field_key(buf, key);
    buf_putc(buf, '[');
    for (size_t i = 0; texts[i] != NULL; i++) {
        if (i > 0)
            buf_putc(buf, ',');
        json_write_string(buf, str_of(texts[i]));
    }
    buf_putc(buf, ']');
}

void
field_write_int(struct buf *buf, const char *key, int64_t number)
{
    if (number == 0)
        return;
    field_key(buf, key);
    buf_int(buf, number);
}

void
field_write_bool(struct buf *buf, const char *key, bool flag)
{
    if (!flag)
        return;
    field_key(buf, key);
    buf_puts(buf, "true");
}
