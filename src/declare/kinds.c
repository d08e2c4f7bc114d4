/* SPDX-License-Identifier: MIT
 *
 * kinds.c - how each plain kind stands in C and in JSON.
 */
#include "declare/kinds.h"

#include <inttypes.h>
#include <math.h>

#include "base/cleanup.h"
#include "base/digest.h"
#include "base/moment.h"

#define UUID_TEXT_BYTES 36
#define TIMESTAMP_MIN INT64_C(-62135596800000000) // 0001-01-01T00:00:00Z
#define TIMESTAMP_MAX INT64_C(253402300799999999) // 9999-12-31T23:59:59.999999Z

/* --- bool --- */

static bool
bool_write(const owed_field *field, const void *member, struct buf *json)
{
    (void)field;
    buf_puts(json, *(const bool *)member ? "true" : "false");
    return true;
}

static enum fit
bool_read(const owed_field *field, struct str text, struct arena *arena, void *member)
{
    (void)field;
    (void)arena;
    *(bool *)member = str_is(text, "true");
    return FITS;
}

/* --- whole numbers --- */

static bool
int32_write(const owed_field *field, const void *member, struct buf *json)
{
    (void)field;
    buf_int(json, *(const int32_t *)member);
    return true;
}

static void
int32_found(const void *member, struct buf *text)
{
    buf_int(text, *(const int32_t *)member);
}

static enum fit
int32_read(const owed_field *field, struct str text, struct arena *arena, void *member)
{
    (void)field;
    (void)arena;
    int64_t number;
    if (!json_int64((struct json){JSON_NUMBER, text}, &number) || number < INT32_MIN ||
        number > INT32_MAX)
        return MISFIT;
    *(int32_t *)member = (int32_t)number;
    return FITS;
}

static bool
int64_write(const owed_field *field, const void *member, struct buf *json)
{
    (void)field;
    buf_int(json, *(const int64_t *)member);
    return true;
}

static void
int64_found(const void *member, struct buf *text)
{
    buf_int(text, *(const int64_t *)member);
}

static enum fit
int64_read(const owed_field *field, struct str text, struct arena *arena, void *member)
{
    (void)field;
    (void)arena;
    return json_int64((struct json){JSON_NUMBER, text}, member) ? FITS : MISFIT;
}

/* --- double --- */

static bool
double_write(const owed_field *field, const void *member, struct buf *json)
{
    (void)field;
    if (!isfinite(*(const double *)member))
        return false;
    json_write_double(json, *(const double *)member);
    return true;
}

static void
double_found(const void *member, struct buf *text)
{
    buf_printf(text, "%g", *(const double *)member);
}

static enum fit
double_read(const owed_field *field, struct str text, struct arena *arena, void *member)
{
    (void)field;
    (void)arena;
    return json_double((struct json){JSON_NUMBER, text}, member) ? FITS : MISFIT;
}

/* --- text and decimal --- */

static bool
text_write(const owed_field *field, const void *member, struct buf *json)
{
    (void)field;
    const char *text = *(const char *const *)member;
    if (text == NULL)
        buf_puts(json, "null");
    else if (utf8_is_valid(str_of(text)))
        json_write_string(json, str_of(text));
    else
        return false;
    return true;
}

static void
text_found(const void *member, struct buf *text)
{
    const char *value = *(const char *const *)member;
    if (utf8_is_valid(str_of(value)))
        json_write_string(text, excerpt(str_of(value)));
    else
        buf_puts(text, "bytes that are not UTF-8");
}

static enum fit
text_read(const owed_field *field, struct str text, struct arena *arena, void *member)
{
    (void)field;
    (void)arena;
    if (memchr(text.p, '\0', text.len) != NULL || !utf8_is_valid(text))
        return MISFIT;
    *(const char **)member = text.p;
    return FITS;
}

static size_t
count_digits(struct str text)
{
    size_t n = 0;
    while (n < text.len && is_digit(text.p[n]))
        n++;
    return n;
}

/* is_decimal: an optional minus, digits, and optionally a point and digits. */
static bool
is_decimal(struct str text)
{
    if (text.len > 0 && text.p[0] == '-')
        text = str_skip(text, 1);
    size_t whole = count_digits(text);
    if (whole == 0 || whole == text.len)
        return whole > 0;
    text = str_skip(text, whole);
    return text.p[0] == '.' && text.len > 1 && count_digits(str_skip(text, 1)) == text.len - 1;
}

static bool
decimal_write(const owed_field *field, const void *member, struct buf *json)
{
    const char *text = *(const char *const *)member;
    return (text == NULL || is_decimal(str_of(text))) && text_write(field, member, json);
}

static enum fit
decimal_read(const owed_field *field, struct str text, struct arena *arena, void *member)
{
    (void)field;
    if (!is_decimal(text))
        return MISFIT;
    char *copy = arena_copy(arena, text);
    *(const char **)member = copy;
    return copy == NULL ? NO_MEMORY : FITS;
}

/* --- timestamp --- */

static bool
timestamp_write(const owed_field *field, const void *member, struct buf *json)
{
    (void)field;
    int64_t at_us = *(const int64_t *)member;
    char text[MOMENT_BYTES];
    if (at_us < TIMESTAMP_MIN || at_us > TIMESTAMP_MAX)
        return false;
    buf_printf(json, "\"%s\"", moment_write(at_us, text));
    return true;
}

static void
timestamp_found(const void *member, struct buf *text)
{
    buf_printf(text, "%" PRId64 " microseconds since 1970", *(const int64_t *)member);
}

static enum fit
timestamp_read(const owed_field *field, struct str text, struct arena *arena, void *member)
{
    (void)field;
    (void)arena;
    if (memchr(text.p, '\0', text.len) != NULL)
        return MISFIT;
    return moment_read(text.p, member) ? FITS : MISFIT;
}

/* --- uuid --- */

static bool
is_dash_place(size_t i)
{
    return i == 8 || i == 13 || i == 18 || i == 23;
}

static bool
uuid_write(const owed_field *field, const void *member, struct buf *json)
{
    (void)field;
    const owed_uuid *uuid = member;
    static const size_t ends[] = {4, 6, 8, 10, 16};
    size_t from = 0;
    buf_putc(json, '"');
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        if (i > 0)
            buf_putc(json, '-');
        hex_write(json, uuid->bytes + from, ends[i] - from);
        from = ends[i];
    }
    buf_putc(json, '"');
    return true;
}

static enum fit
uuid_read(const owed_field *field, struct str text, struct arena *arena, void *member)
{
    (void)field;
    (void)arena;
    owed_uuid *uuid = member;
    char digits[2 * sizeof uuid->bytes + 1] = "";
    size_t count = 0;
    if (text.len != UUID_TEXT_BYTES)
        return MISFIT;
    for (size_t i = 0; i < text.len; i++) {
        if (is_dash_place(i) != (text.p[i] == '-'))
            return MISFIT;
        if (!is_dash_place(i))
            digits[count++] = text.p[i];
    }
    return hex_read(digits, uuid->bytes, sizeof uuid->bytes) ? FITS : MISFIT;
}

/* --- bytes --- */

static bool
bytes_write(const owed_field *field, const void *member, struct buf *json)
{
    (void)field;
    const owed_bytes *bytes = member;
    if (bytes->data == NULL && bytes->len > 0)
        return false;
    buf_putc(json, '"');
    base64_write(json, bytes->data, bytes->len);
    buf_putc(json, '"');
    return true;
}

static void
bytes_found(const void *member, struct buf *text)
{
    buf_printf(text, "NULL with a length of %zu", ((const owed_bytes *)member)->len);
}

static enum fit
bytes_read(const owed_field *field, struct str text, struct arena *arena, void *member)
{
    (void)field;
    CLEANUP(buf_done) struct buf decoded;
    buf_init(&decoded, text.len);
    if (!base64_read(text, &decoded))
        return MISFIT;
    char *copy = arena_copy(arena, buf_view(&decoded));
    *(owed_bytes *)member = (owed_bytes){copy, decoded.len};
    return copy == NULL || decoded.failed ? NO_MEMORY : FITS;
}

/* --- enum --- */

static bool
enum_write(const owed_field *field, const void *member, struct buf *json)
{
    for (const owed_enum_value *word = field->words; word->name != NULL; word++) {
        if (word->value != *(const int32_t *)member)
            continue;
        json_write_string(json, str_of(word->name));
        return true;
    }
    return false;
}

static enum fit
enum_read(const owed_field *field, struct str text, struct arena *arena, void *member)
{
    (void)arena;
    for (const owed_enum_value *word = field->words; word->name != NULL; word++) {
        if (!str_is(text, word->name))
            continue;
        *(int32_t *)member = word->value;
        return FITS;
    }
    return MISFIT;
}

/* --- the table --- */

#define BIT(type_) (1U << (type_))

static const struct kind kinds[] = {
    [OWED_KIND_BOOL] = {"bool", "true or false", sizeof(bool), BIT(JSON_TRUE) | BIT(JSON_FALSE),
        bool_write, NULL, bool_read},
    [OWED_KIND_INT32] = {"int32", "a whole number from -2147483648 to 2147483647", sizeof(int32_t),
        BIT(JSON_NUMBER), int32_write, int32_found, int32_read},
    [OWED_KIND_INT64] = {"int64", "a whole number from -9223372036854775808 to 9223372036854775807",
        sizeof(int64_t), BIT(JSON_NUMBER), int64_write, int64_found, int64_read},
    [OWED_KIND_DOUBLE] = {"double", "a finite number", sizeof(double), BIT(JSON_NUMBER),
        double_write, double_found, double_read},
    [OWED_KIND_TEXT] = {"text", "a string of UTF-8 without NUL", sizeof(const char *),
        BIT(JSON_STRING) | BIT(JSON_NULL), text_write, text_found, text_read},
    [OWED_KIND_DECIMAL] = {"decimal", "a decimal number such as \"12.50\"", sizeof(const char *),
        BIT(JSON_STRING) | BIT(JSON_NUMBER) | BIT(JSON_NULL), decimal_write, text_found,
        decimal_read},
    [OWED_KIND_TIMESTAMP] = {"timestamp",
        "a time in RFC 3339, years 1 to 9999, such as \"2026-11-29T15:04:05Z\"", sizeof(int64_t),
        BIT(JSON_STRING), timestamp_write, timestamp_found, timestamp_read},
    [OWED_KIND_UUID] = {"uuid", "a UUID such as \"123e4567-e89b-12d3-a456-426614174000\"",
        sizeof(owed_uuid), BIT(JSON_STRING), uuid_write, NULL, uuid_read},
    [OWED_KIND_BYTES] = {"bytes", "a string in padded base64", sizeof(owed_bytes), BIT(JSON_STRING),
        bytes_write, bytes_found, bytes_read},
    [OWED_KIND_ENUM] = {"enum", NULL, sizeof(int32_t), BIT(JSON_STRING), enum_write, int32_found,
        enum_read},
    [OWED_KIND_STRUCT] = {"struct", "an object", 0, BIT(JSON_OBJECT), NULL, NULL, NULL},
    [OWED_KIND_ARRAY] = {"array", "an array", sizeof(owed_array), BIT(JSON_ARRAY), NULL, NULL,
        NULL},
};

const struct kind *
kind_of(owed_kind kind)
{
    if (kind <= OWED_KIND_END || (size_t)kind >= sizeof kinds / sizeof kinds[0])
        return NULL;
    return &kinds[kind];
}

size_t
item_size(const owed_field *field, owed_kind kind)
{
    return kinds[kind].size != 0 ? kinds[kind].size : field->size;
}

size_t
member_size(const owed_field *field)
{
    return item_size(field, field->kind);
}
