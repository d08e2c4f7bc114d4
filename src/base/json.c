/* SPDX-License-Identifier: MIT
 *
 * json.c - checks a text in one pass, without recursion and without a copy.
 *
 * A value is either a scalar, or an opening bracket and what it holds. So the text is a chain of
 * scalars, each led by brackets that open (and a key in objects) and followed by brackets that close
 * and a comma; what is open stands on a stack of closing brackets.
 */
#include "base/json.h"

#include <assert.h>
#include <stdio.h>

#include "base/error.h"
#include "base/json_scan.h"
#include "base/limits.h"

struct scanner {
    const char *start;
    const char *p;
    const char *end;
    int depth;
    int max_depth;
    owed_error *err;
    char closers[LIMIT_JSON_DEPTH];
};

/* peek gives the byte at hand; at the end a NUL, which no rule expects. */
static char
peek(const struct scanner *s)
{
    return s->p < s->end ? *s->p : '\0';
}

static void
skip_blanks(struct scanner *s)
{
    s->p = json_skip_blanks(s->p, s->end);
}

/* expected is the refusal at p; it returns false. */
static bool
expected(const struct scanner *s, const char *what)
{
    size_t place = (size_t)(s->p - s->start) + 1;
    unsigned char c = (unsigned char)peek(s);
    if (s->p == s->end)
        fail(s->err, OWED_INVALID, "byte %zu: expected %s, found the end", place, what);
    else if (c > 0x20 && c < 0x7f)
        fail(s->err, OWED_INVALID, "byte %zu: expected %s, found %c", place, what, c);
    else
        fail(s->err, OWED_INVALID, "byte %zu: expected %s, found 0x%02x", place, what, c);
    return false;
}

int32_t
json_hex4(const char *p, const char *end)
{
    if (end - p < 4)
        return -1;
    int32_t number = 0;
    for (int i = 0; i < 4; i++) {
        char c = p[i];
        int32_t digit = c >= '0' && c <= '9' ? c - '0'
            : c >= 'a' && c <= 'f'           ? c - 'a' + 10
            : c >= 'A' && c <= 'F'           ? c - 'A' + 10
                                             : -1;
        if (digit < 0)
            return -1;
        number = number * 16 + digit;
    }
    return number;
}

static bool
scan_escape(struct scanner *s)
{
    s->p++;
    char c = peek(s);
    if (c == 'u') {
        s->p++;
        if (json_hex4(s->p, s->end) < 0)
            return expected(s, "four hex digits after \\u");
        s->p += 4;
        return true;
    }
    if (c == '\0' || strchr("\"\\/bfnrt", c) == NULL)
        return expected(s, "one of \"\\/bfnrtu after \\");
    s->p++;
    return true;
}

static bool
scan_string(struct scanner *s)
{
    s->p++;
    for (;;) {
        s->p = json_skip_plain(s->p, s->end);
        char c = peek(s);
        if (c == '"') {
            s->p++;
            return true;
        }
        if (c == '\\') {
            if (!scan_escape(s))
                return false;
            continue;
        }
        if ((unsigned char)c < 0x20)
            return expected(s, s->p == s->end ? "a closing quote" : "an escape");
        size_t len = utf8_length(s->p, s->end);
        if (len == 0)
            return expected(s, "UTF-8");
        s->p += len;
    }
}

static bool
scan_digits(struct scanner *s)
{
    const char *p = s->p;
    while (p < s->end && is_digit(*p))
        p++;
    if (p == s->p)
        return expected(s, "a digit");
    s->p = p;
    return true;
}

static bool
scan_number(struct scanner *s)
{
    s->p += peek(s) == '-';
    if (peek(s) == '0')
        s->p++;
    else if (!scan_digits(s))
        return false;
    if (peek(s) == '.') {
        s->p++;
        if (!scan_digits(s))
            return false;
    }
    if (peek(s) != 'e' && peek(s) != 'E')
        return true;
    s->p++;
    s->p += peek(s) == '+' || peek(s) == '-';
    return scan_digits(s);
}

static bool
scan_word(struct scanner *s, struct str word)
{
    size_t left = (size_t)(s->end - s->p);
    if (left < word.len || memcmp(s->p, word.p, word.len) != 0)
        return expected(s, "a value");
    s->p += word.len;
    return true;
}

static bool
scan_scalar(struct scanner *s)
{
    char c = peek(s);
    if (c == '"')
        return scan_string(s);
    if (c == '-' || is_digit(c))
        return scan_number(s);
    if (c == 't')
        return scan_word(s, STR("true"));
    if (c == 'f')
        return scan_word(s, STR("false"));
    if (c == 'n')
        return scan_word(s, STR("null"));
    return expected(s, "a value");
}

static bool
scan_key(struct scanner *s)
{
    skip_blanks(s);
    if (peek(s) != '"')
        return expected(s, "a key in quotes");
    if (!scan_string(s))
        return false;
    skip_blanks(s);
    if (peek(s) != ':')
        return expected(s, "a colon");
    s->p++;
    return true;
}

/* scan_opening steps over brackets that open, to the scalar or the empty container behind them. */
static bool
scan_opening(struct scanner *s)
{
    for (;;) {
        skip_blanks(s);
        char c = peek(s);
        if (c != '{' && c != '[')
            return scan_scalar(s);
        if (s->depth == s->max_depth) {
            fail(s->err, OWED_INVALID, "byte %zu: nested more than %d deep",
                (size_t)(s->p - s->start) + 1, s->max_depth);
            return false;
        }
        char closer = c == '{' ? '}' : ']';
        s->closers[s->depth++] = closer;
        s->p++;
        skip_blanks(s);
        if (peek(s) == closer)
            return true;
        if (c == '{' && !scan_key(s))
            return false;
    }
}

/* scan_closing steps over brackets that close, and the comma and key that lead to the next value. */
static bool
scan_closing(struct scanner *s)
{
    while (s->depth > 0) {
        skip_blanks(s);
        char closer = s->closers[s->depth - 1];
        char c = peek(s);
        if (c != closer && c != ',')
            return expected(s, closer == '}' ? "a comma or }" : "a comma or ]");
        s->p++;
        if (c == ',')
            return closer == ']' || scan_key(s);
        s->depth--;
    }
    return true;
}

owed_status
json_check(struct str text, int max_depth, owed_error *err)
{
    assert(max_depth <= LIMIT_JSON_DEPTH);
    struct scanner s;
    s.start = s.p = text.p;
    s.end = text.p + text.len;
    s.depth = 0;
    s.max_depth = max_depth;
    s.err = err;
    do {
        if (!scan_opening(&s) || !scan_closing(&s))
            return OWED_INVALID;
    } while (s.depth > 0);
    skip_blanks(&s);
    if (s.p != s.end) {
        expected(&s, "the end");
        return OWED_INVALID;
    }
    return OWED_OK;
}
