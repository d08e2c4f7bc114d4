/* SPDX-License-Identifier: MIT
 *
 * recipient_json.c - one table of keys, read and written.
 */
#include "notify/recipient_json.h"

#include "base/error.h"
#include "notify/json_fields.h"
#include "notify/recipient.h"

static const char *const weekdays[] = {"sun", "mon", "tue", "wed", "thu", "fri", "sat"};
#define WEEKDAYS (sizeof weekdays / sizeof weekdays[0])

/* --- reading --- */

static owed_status
read_weekdays(struct json value, unsigned *ret_days, owed_error *err)
{
    struct str key;
    struct json day;
    *ret_days = 0;
    if (value.type != JSON_ARRAY)
        return fail(err, OWED_INVALID, "weekdays is %s, where a list such as [\"mon\"] is wanted",
            json_type_name(value.type));
    for (struct json_walk walk = json_walk(value); json_next(&walk, &key, &day);) {
        size_t i = 0;
        while (i < WEEKDAYS && !(day.type == JSON_STRING && json_key_is(day.text, weekdays[i])))
            i++;
        if (i == WEEKDAYS)
            return fail(err, OWED_INVALID,
                "weekdays has what is no day: sun, mon, tue, wed, thu, fri and sat would be right");
        *ret_days |= 1u << i;
    }
    return OWED_OK;
}

static owed_status
read_window(struct fields *fields, struct json object, owed_quiet_hours *window)
{
    struct json value;
    owed_status status = fields_check(
        fields, object, (const char *const[]){"start", "end", "channels", "weekdays", NULL});
    if (status == OWED_OK)
        status = fields_text(fields, object, "start", &window->start);
    if (status == OWED_OK)
        status = fields_text(fields, object, "end", &window->end);
    if (status == OWED_OK)
        status = fields_texts(fields, object, "channels", &window->channels);
    if (status == OWED_OK && fields_find(object, "weekdays", &value))
        status = read_weekdays(value, &window->weekdays, fields->err);
    if (status != OWED_OK)
        return status;
    if (window->start == NULL || window->end == NULL)
        return fail(fields->err, OWED_INVALID, "quiet_hours has a window without start and end");
    return OWED_OK;
}

static owed_status
read_windows(struct fields *fields, struct json object, owed_recipient *recipient)
{
    struct json list, item;
    size_t count = 0;
    if (!fields_find(object, "quiet_hours", &list))
        return OWED_OK;
    if (list.type != JSON_ARRAY)
        return fail(fields->err, OWED_INVALID, "quiet_hours is %s, where a list is wanted",
            json_type_name(list.type));
    owed_quiet_hours *windows =
        arena_alloc(fields->arena, (LIMIT_QUIET_WINDOWS + 1) * sizeof *windows);
    if (windows == NULL)
        return fail_memory(fields->err);
    recipient->quiet_hours = windows;
    for (struct json_walk walk = json_walk(list); json_next(&walk, NULL, &item); count++) {
        if (count == LIMIT_QUIET_WINDOWS)
            return fail(fields->err, OWED_INVALID, "quiet_hours has more than %d windows",
                LIMIT_QUIET_WINDOWS);
        owed_status status = read_window(fields, item, &windows[count]);
        if (status != OWED_OK)
            return status;
    }
    return OWED_OK;
}

/* read_address takes a text, or an object as it is written, in one line: what a browser calls its subscription. */
static owed_status
read_address(struct fields *fields, struct json value, const char **ret_address)
{
    if (value.type != JSON_OBJECT)
        return fields_read_text(fields, "others", value, ret_address);
    char *line = arena_copy(fields->arena, value.text);
    if (line == NULL)
        return fail_memory(fields->err);
    for (char *p = line; *p != '\0'; p++) // line ends and tabs stand between members alone
        *p = is_space(*p) ? ' ' : *p;
    *ret_address = line;
    return OWED_OK;
}

static owed_status
read_others(struct fields *fields, struct json object, owed_recipient *recipient)
{
    struct json others, value;
    struct str key, text;
    size_t count = 0;
    if (!fields_find(object, "others", &others))
        return OWED_OK;
    if (others.type != JSON_OBJECT)
        return fail(fields->err, OWED_INVALID, "others is %s, where an object is wanted",
            json_type_name(others.type));
    owed_address *list = arena_alloc(fields->arena, (LIMIT_CHANNELS + 1) * sizeof *list);
    if (list == NULL)
        return fail_memory(fields->err);
    recipient->others = list;
    for (struct json_walk walk = json_walk(others); json_next(&walk, &key, &value);) {
        if (value.type == JSON_NULL)
            continue;
        if (count == LIMIT_CHANNELS)
            return fail(
                fields->err, OWED_INVALID, "others has more than %d channels", LIMIT_CHANNELS);
        struct json name = {.type = JSON_STRING, .text = key};
        owed_status status = json_read_string(name, fields->arena, &text, fields->err);
        if (status == OWED_OK)
            status = read_address(fields, value, &list[count].address);
        if (status != OWED_OK)
            return status;
        list[count++].channel = text.p;
    }
    return OWED_OK;
}

owed_status
recipient_read(struct json object, enum unknown_keys unknown, struct arena *arena,
    owed_recipient *ret_recipient, owed_error *err)
{
    static const char *const keys[] = {"phone", "device_token", "email", "others", "preferred",
        "locale", "time_zone", "quiet_hours", NULL};
    struct fields fields = {.what = "the recipient", .arena = arena, .err = err};
    owed_recipient recipient = {0};
    const struct {
        const char *key;
        const char **to;
    } texts[] = {{"phone", &recipient.phone}, {"device_token", &recipient.device_token},
        {"email", &recipient.email}, {"locale", &recipient.locale},
        {"time_zone", &recipient.time_zone}};
    if (object.type != JSON_OBJECT)
        return fail(err, OWED_INVALID, "the recipient is %s, where an object is wanted",
            json_type_name(object.type));
    owed_status status = unknown == UNKNOWN_REFUSED ? fields_check(&fields, object, keys) : OWED_OK;
    for (size_t i = 0; status == OWED_OK && i < sizeof texts / sizeof texts[0]; i++)
        status = fields_text(&fields, object, texts[i].key, texts[i].to);
    if (status == OWED_OK)
        status = read_others(&fields, object, &recipient);
    if (status == OWED_OK)
        status = fields_texts(&fields, object, "preferred", &recipient.preferred);
    if (status == OWED_OK)
        status = read_windows(&fields, object, &recipient);
    if (status == OWED_OK)
        status = owed_recipient_check(&recipient, err);
    if (status == OWED_OK)
        *ret_recipient = recipient;
    return status;
}

/* --- writing --- */

static void
write_windows(struct buf *buf, const owed_quiet_hours *windows)
{
    const char *comma = "";
    field_key(buf, "quiet_hours");
    buf_putc(buf, '[');
    for (size_t i = 0; windows[i].start != NULL; i++) {
        buf_puts(buf, i == 0 ? "{" : ",{");
        field_write_text(buf, "start", windows[i].start);
        field_write_text(buf, "end", windows[i].end);
        field_write_texts(buf, "channels", windows[i].channels);
        if (windows[i].weekdays != 0) {
            field_key(buf, "weekdays");
            comma = "[";
            for (size_t day = 0; day < WEEKDAYS; day++)
                if ((windows[i].weekdays >> day & 1u) != 0) {
                    buf_printf(buf, "%s\"%s\"", comma, weekdays[day]);
                    comma = ",";
                }
            buf_putc(buf, ']');
        }
        buf_putc(buf, '}');
    }
    buf_putc(buf, ']');
}

void
recipient_write(struct buf *buf, const owed_recipient *recipient)
{
    buf_putc(buf, '{');
    field_write_text(buf, "phone", recipient->phone);
    field_write_text(buf, "device_token", recipient->device_token);
    field_write_text(buf, "email", recipient->email);
    if (recipient->others != NULL) {
        field_key(buf, "others");
        buf_putc(buf, '{');
        for (const owed_address *other = recipient->others; other->channel != NULL; other++)
            field_write_text(buf, other->channel, or_empty(other->address));
        buf_putc(buf, '}');
    }
    field_write_texts(buf, "preferred", recipient->preferred);
    field_write_text(buf, "locale", recipient->locale);
    field_write_text(buf, "time_zone", recipient->time_zone);
    if (recipient->quiet_hours != NULL)
        write_windows(buf, recipient->quiet_hours);
    buf_putc(buf, '}');
}
