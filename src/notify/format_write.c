/* SPDX-License-Identifier: MIT
 *
 * format_write.c - a value as its format says.
 *
 * A number is written in three pieces, sign, digits before the point and what follows, since grouping
 * concerns the second alone and an alignment by = comes after the first.
 */
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/json.h"
#include "notify/format.h"

#define NUMBER_BYTES 1024 // %.100f of the largest double has 411

struct pieces {
    bool is_negative;
    struct buf whole; // digits before the point
    struct buf rest;  // from the point or exponent on
};

static void
pieces_done(struct pieces *pieces)
{
    buf_done(&pieces->whole);
    buf_done(&pieces->rest);
}

static size_t
count_characters(struct str text)
{
    size_t count = 0;
    for (size_t i = 0; i < text.len; i++)
        count += ((unsigned char)text.p[i] & 0xc0) != 0x80;
    return count;
}

static void
add_fill(const struct format *format, size_t count, struct buf *out)
{
    for (size_t i = 0; i < count; i++)
        buf_str(out, format->fill.len == 0 ? STR(" ") : format->fill);
}

/* add_aligned writes sign and body in the width; align: where the format names none. */
static void
add_aligned(
    const struct format *format, char align, struct str sign, struct str body, struct buf *out)
{
    size_t used = sign.len + count_characters(body);
    size_t missing = (size_t)format->width > used ? (size_t)format->width - used : 0;
    if (format->align != 0)
        align = format->align;
    size_t before = align == '>' ? missing : align == '^' ? missing / 2 : 0;
    add_fill(format, before, out);
    buf_str(out, sign);
    if (align == '=')
        add_fill(format, missing, out);
    buf_str(out, body);
    if (align != '=')
        add_fill(format, missing - before, out);
}

static struct str
first_characters(struct str text, int count)
{
    size_t end = 0;
    for (int i = 0; i < count && end < text.len; i++) {
        size_t len = utf8_length(text.p + end, text.p + text.len);
        end += len == 0 ? 1 : len;
    }
    return (struct str){text.p, end};
}

static void
write_text(const struct format *format, const char *text, struct buf *out)
{
    struct str body = str_of(text);
    if (format->precision >= 0)
        body = first_characters(body, format->precision);
    add_aligned(format, '<', (struct str){0}, body, out);
}

/* --- numbers --- */

/* split cuts digits without a sign at the first byte that is none. */
static void
split(const char *digits, struct pieces *pieces)
{
    size_t whole = strspn(digits, "0123456789");
    buf_add(&pieces->whole, digits, whole);
    buf_puts(&pieces->rest, digits + whole);
}

static void
write_whole_digits(uint64_t number, char type, struct pieces *pieces)
{
    unsigned base = type == 'x' || type == 'X' ? 16 : type == 'o' ? 8 : type == 'b' ? 2 : 10;
    const char *all = type == 'X' ? "0123456789ABCDEF" : "0123456789abcdef";
    char digits[65];
    size_t at = sizeof digits;
    do {
        digits[--at] = all[number % base];
        number /= base;
    } while (number != 0);
    buf_add(&pieces->whole, digits + at, sizeof digits - at);
}

static void
write_double_digits(const struct format *format, double number, struct pieces *pieces)
{
    char digits[NUMBER_BYTES];
    char shape[] = {'%', '.', '*', format->type == '%' ? 'f' : format->type, '\0'};
    int precision = format->precision < 0 ? 6 : format->precision;
    // The application's locale may write another decimal point; "C" costs no allocation.
    locale_t old = uselocale(newlocale(LC_ALL_MASK, "C", (locale_t)0));
    snprintf(digits, sizeof digits, shape, precision, format->type == '%' ? number * 100 : number);
    uselocale(old);
    split(digits + (digits[0] == '-'), pieces);
    if (format->type == '%')
        buf_putc(&pieces->rest, '%');
}

static void
write_shortest(double number, struct pieces *pieces)
{
    struct buf digits CLEANUP(buf_done);
    buf_init(&digits, NUMBER_BYTES);
    json_write_double(&digits, fabs(number));
    split(buf_text(&digits), pieces);
    if (pieces->rest.len == 0)
        buf_puts(&pieces->rest, ".0");
}

/* round_decimal keeps `places` digits after the point, half to even; digits holds the number without
 * point and sign, with one 0 in front, and point is where the point stands in it. */
static void
round_decimal(char *digits, size_t point, size_t places)
{
    size_t len = strlen(digits);
    size_t end = point + places;
    if (len <= end)
        return;
    bool is_above =
        digits[end] > '5' || (digits[end] == '5' && strspn(digits + end + 1, "0") != len - end - 1);
    bool is_half = digits[end] == '5' && !is_above;
    if (is_above || (is_half && (digits[end - 1] - '0') % 2 == 1)) {
        size_t at = end - 1;
        for (; digits[at] == '9'; at--)
            digits[at] = '0';
        digits[at]++;
    }
    digits[end] = '\0';
}

static void
write_decimal_digits(const struct format *format, const char *text, struct pieces *pieces)
{
    text += *text == '-';
    if (format->precision < 0) {
        split(text, pieces);
        return;
    }
    size_t places = (size_t)format->precision;
    char *digits CLEANUP(free_ptr) = calloc(1, strlen(text) + places + 3);
    if (digits == NULL) {
        pieces->whole.failed = true;
        return;
    }
    size_t whole = strspn(text, "0123456789"), point = whole + 1;
    digits[0] = '0';
    memcpy(digits + 1, text, whole);
    if (text[whole] == '.')
        memcpy(digits + point, text + whole + 1, strlen(text + whole + 1));
    while (strlen(digits) < point + places)
        digits[strlen(digits)] = '0';
    round_decimal(digits, point, places);
    size_t first = digits[0] == '0' ? 1 : 0;
    buf_add(&pieces->whole, digits + first, point - first);
    if (places > 0)
        buf_printf(&pieces->rest, ".%s", digits + point);
}

static void
add_grouped(const struct format *format, struct str digits, struct buf *out)
{
    size_t step = format->type != 0 && strchr("xXob", format->type) != NULL ? 4 : 3;
    for (size_t i = 0; i < digits.len; i++) {
        if (i > 0 && (digits.len - i) % step == 0)
            buf_putc(out, format->group);
        buf_putc(out, digits.p[i]);
    }
}

static bool
read_number(const struct format *format, const owed_value *value, struct pieces *pieces)
{
    bool is_whole = format->type == 0 || strchr("dxXob", format->type) != NULL;
    if (value->kind == OWED_KIND_DECIMAL) {
        write_decimal_digits(format, value->is.text, pieces);
        return value->is.text[0] == '-';
    }
    if (value->kind == OWED_KIND_INT64 && is_whole) {
        int64_t number = value->is.integer;
        write_whole_digits(
            number < 0 ? 0 - (uint64_t)number : (uint64_t)number, format->type, pieces);
        return number < 0;
    }
    double number = value->kind == OWED_KIND_INT64 ? (double)value->is.integer : value->is.real;
    if (format->type == 0)
        write_shortest(number, pieces);
    else
        write_double_digits(format, number, pieces);
    return signbit(number) != 0;
}

static void
write_number(const struct format *format, const owed_value *value, struct buf *out)
{
    struct pieces pieces CLEANUP(pieces_done) = {0};
    buf_init(&pieces.whole, out->max);
    buf_init(&pieces.rest, out->max);
    struct buf body CLEANUP(buf_done);
    buf_init(&body, out->max);
    pieces.is_negative = read_number(format, value, &pieces);
    if (format->group != 0)
        add_grouped(format, buf_view(&pieces.whole), &body);
    else
        buf_str(&body, buf_view(&pieces.whole));
    buf_str(&body, buf_view(&pieces.rest));
    char sign = pieces.is_negative ? '-' : format->sign;
    struct str sign_text = {&sign, pieces.is_negative || sign == '+' || sign == ' ' ? 1 : 0};
    add_aligned(format, '>', sign_text, buf_view(&body), out);
    out->failed |= pieces.whole.failed || pieces.rest.failed || body.failed;
}

void
format_write(const struct format *format, const owed_value *value, struct buf *out)
{
    if (value->kind == OWED_KIND_BOOL)
        write_text(format, value->is.flag ? "true" : "false", out);
    else if (value->kind == OWED_KIND_TEXT || value->kind == OWED_KIND_END)
        write_text(format, value->is.text, out);
    else
        write_number(format, value, out);
}
