/* SPDX-License-Identifier: MIT
 *
 * fit_url.c - finding URLs.
 */
#include "notify/fit_url.h"

#include <strings.h>

#include "base/utf8.h"

/* Beyond ASCII: what follows a URL without a space, since its script has none or it is no letter. */
static const struct range {
    uint32_t first, last;
} no_letters[] = {
    {0x0080, 0x00bf},   // signs and spaces
    {0x0e00, 0x0eff},   // Thai, Lao
    {0x1000, 0x109f},   // Myanmar
    {0x1680, 0x1680},   // a space
    {0x1780, 0x17ff},   // Khmer
    {0x2000, 0x2bff},   // spaces, punctuation, symbols
    {0x2e00, 0x9fff},   // punctuation, Chinese and Japanese
    {0xf900, 0xfaff},   // Chinese
    {0xfe00, 0xfe6f},   // variation selectors, punctuation
    {0xff00, 0xffff},   // full width
    {0x1f000, 0x10ffff} // emoji, Chinese
};

static bool
is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool
is_scheme_char(char c)
{
    return is_letter(c) || is_digit(c) || c == '+' || c == '-' || c == '.';
}

static bool
is_url_point(uint32_t point)
{
    if (point <= ' ' || point == 0x7f)
        return false;
    if (point < 0x80)
        return strchr("<>\"`", (int)point) == NULL;
    for (size_t i = 0; i < sizeof no_letters / sizeof no_letters[0]; i++)
        if (point >= no_letters[i].first && point <= no_letters[i].last)
            return false;
    return true;
}

/* begins tells whether a URL begins with the word that goes from start to end. */
static bool
begins(struct str text, size_t start, size_t end)
{
    struct str word = {text.p + start, end - start};
    struct str rest = {text.p + end, text.len - end};
    if (word.len > 4 && strncasecmp(word.p, "www.", 4) == 0)
        return true;
    if (rest.len > 3 && strncmp(rest.p, "://", 3) == 0)
        return word.len > 0;
    bool is_bare = (word.len == 6 && strncasecmp(word.p, "mailto", 6) == 0) ||
        (word.len == 3 && strncasecmp(word.p, "tel", 3) == 0);
    return is_bare && rest.len > 1 && rest.p[0] == ':';
}

static size_t
url_end(struct str text, size_t start)
{
    const char *end = text.p + text.len;
    const char *p = text.p + start;
    bool has_bracket = false;
    while (p < end) {
        uint32_t point;
        size_t len = utf8_decode(p, end, &point);
        if (!is_url_point(point))
            break;
        has_bracket |= point == '(';
        p += len;
    }
    while (strchr(has_bracket ? ".,;:!?'" : ".,;:!?')", p[-1]) != NULL)
        p--;
    return (size_t)(p - text.p);
}

bool
fit_url_next(struct str text, size_t from, size_t *ret_start, size_t *ret_end)
{
    for (size_t at = from; at < text.len; at++) {
        if (!is_letter(text.p[at]))
            continue;
        size_t end = at;
        while (end < text.len && is_scheme_char(text.p[end]))
            end++;
        if (begins(text, at, end)) {
            *ret_start = at;
            *ret_end = url_end(text, at);
            return true;
        }
        at = end - 1;
    }
    return false;
}
