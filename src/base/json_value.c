/* SPDX-License-Identifier: MIT
 *
 * json_value.c - what the strings and numbers of a checked text stand for.
 */
#include <locale.h>
#include <math.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/json.h"
#include "base/json_scan.h"

/* A piece of a string: bytes as they stand, or one escape decoded. */
struct piece {
    const char *p;
    size_t len; // 0: a lone surrogate
    char decoded[4];
};

static bool
is_high_surrogate(int32_t unit)
{
    return unit >= 0xd800 && unit <= 0xdbff;
}

static bool
is_low_surrogate(int32_t unit)
{
    return unit >= 0xdc00 && unit <= 0xdfff;
}

/* read_unicode decodes \uXXXX, or a pair of them; *p stands behind the u. */
static void
read_unicode(const char **p, const char *end, struct piece *piece)
{
    int32_t unit = json_hex4(*p, end);
    *p += end - *p < 4 ? end - *p : 4;
    if (is_high_surrogate(unit) && end - *p >= 6 && (*p)[0] == '\\' && (*p)[1] == 'u') {
        int32_t low = json_hex4(*p + 2, end);
        if (is_low_surrogate(low)) {
            *p += 6;
            unit = 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
        }
    }
    bool is_lone = unit < 0 || (unit >= 0xd800 && unit <= 0xdfff);
    piece->len = is_lone ? 0 : utf8_encode((uint32_t)unit, piece->decoded);
}

/* read_escape decodes the escape at *p, which stands on the backslash. */
static void
read_escape(const char **p, const char *end, struct piece *piece)
{
    static const char from[] = "bfnrt";
    static const char to[] = "\b\f\n\r\t";
    piece->p = piece->decoded;
    piece->len = 0;
    (*p)++;
    if (*p == end)
        return;
    char c = *(*p)++;
    if (c == 'u') {
        read_unicode(p, end, piece);
        return;
    }
    const char *found = memchr(from, c, sizeof from - 1);
    piece->decoded[0] = found == NULL ? c : to[found - from];
    piece->len = 1;
}

/* next_piece reads the piece at *p and steps over it; false: the string has ended. */
static bool
next_piece(const char **p, const char *end, struct piece *piece)
{
    if (*p >= end)
        return false;
    if (**p == '\\') {
        read_escape(p, end, piece);
        return true;
    }
    const char *start = *p;
    const char *escape = memchr(start, '\\', (size_t)(end - start));
    *p = escape == NULL ? end : escape;
    piece->p = start;
    piece->len = (size_t)(*p - start);
    return true;
}

/* inside drops the quotes. */
static struct str
inside(struct str quoted)
{
    return quoted.len < 2 ? (struct str){quoted.p, 0} : (struct str){quoted.p + 1, quoted.len - 2};
}

bool
json_key_is(struct str key, const char *name)
{
    struct str text = inside(key);
    struct str left = str_of(name);
    struct piece piece;
    const char *p = text.p;
    while (next_piece(&p, text.p + text.len, &piece)) {
        if (piece.len == 0 || piece.len > left.len || memcmp(piece.p, left.p, piece.len) != 0)
            return false;
        left = (struct str){left.p + piece.len, left.len - piece.len};
    }
    return left.len == 0;
}

owed_status
json_read_string(struct json string, struct arena *arena, struct str *ret_text, owed_error *err)
{
    struct str text = inside(string.text);
    // No escape is shorter than what it stands for.
    char *copy = arena_alloc(arena, text.len + 1);
    if (copy == NULL)
        return fail_memory(err);
    size_t len = 0;
    struct piece piece;
    const char *p = text.p;
    while (next_piece(&p, text.p + text.len, &piece)) {
        if (piece.len == 0)
            return fail(err, OWED_INVALID,
                "expected text, found half of a surrogate pair (%.6s), which is no character",
                p - text.p >= 6 ? p - 6 : "?");
        memcpy(copy + len, piece.p, piece.len);
        len += piece.len;
    }
    *ret_text = (struct str){copy, len};
    return OWED_OK;
}

/* The digits of a number without its exponent, as a whole number, and how far its point is off. */
struct whole {
    int64_t value; // not above 0, since the negative range is the larger one
    int64_t shift; // value times ten to the power of shift
};

static bool
times_ten(int64_t *value, int64_t digit)
{
    return !__builtin_mul_overflow(*value, 10, value) &&
        !__builtin_sub_overflow(*value, digit, value);
}

/* add_digit takes the next digit; zeros wait, in shift, for a digit behind them. */
static bool
add_digit(struct whole *whole, int64_t digit)
{
    if (digit == 0) {
        whole->shift++;
        return true;
    }
    for (; whole->shift > 0; whole->shift--)
        if (!times_ten(&whole->value, 0))
            return false;
    return times_ten(&whole->value, digit);
}

/* read_digits reads the digits and the point, and stands on the exponent after. */
static bool
read_digits(const char **p, const char *end, struct whole *whole)
{
    int64_t decimals = 0;
    bool behind_point = false;
    for (; *p < end && **p != 'e' && **p != 'E'; (*p)++) {
        if (**p == '.')
            behind_point = true;
        else if (!add_digit(whole, **p - '0'))
            return false;
        else
            decimals += behind_point;
    }
    whole->shift -= decimals;
    return true;
}

/* read_exponent reads "e-12" or nothing; beyond any use it stays where it is. */
static int64_t
read_exponent(const char *p, const char *end)
{
    int64_t exponent = 0;
    if (p == end)
        return 0;
    bool is_negative = ++p < end && *p == '-';
    p += p < end && (*p == '-' || *p == '+');
    for (; p < end && is_digit(*p) && exponent < INT64_C(1000000000); p++)
        exponent = exponent * 10 + (*p - '0');
    return is_negative ? -exponent : exponent;
}

bool
json_int64(struct json number, int64_t *ret_number)
{
    const char *p = number.text.p;
    const char *end = p + number.text.len;
    struct whole whole = {0};
    bool is_negative = p < end && *p == '-';
    p += is_negative;
    if (!read_digits(&p, end, &whole))
        return false;
    whole.shift += read_exponent(p, end);
    if (whole.value != 0 && whole.shift < 0)
        return false;
    for (; whole.value != 0 && whole.shift > 0; whole.shift--)
        if (!times_ten(&whole.value, 0))
            return false;
    if (!is_negative && whole.value == INT64_MIN)
        return false;
    *ret_number = is_negative ? whole.value : -whole.value;
    return true;
}

bool
json_double(struct json number, double *ret_number)
{
    char small[64];
    CLEANUP(free_ptr) char *large = NULL;
    size_t len = number.text.len;
    char *copy = small;
    if (len >= sizeof small)
        copy = large = malloc(len + 1);
    if (copy == NULL)
        return false;
    memcpy(copy, number.text.p, len);
    copy[len] = '\0';
    // The application's locale may call for another decimal point; "C" costs no allocation.
    double value = strtod_l(copy, NULL, newlocale(LC_ALL_MASK, "C", (locale_t)0));
    if (!isfinite(value))
        return false;
    *ret_number = value;
    return true;
}
