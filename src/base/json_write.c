/* SPDX-License-Identifier: MIT
 *
 * json_write.c - strings and numbers as JSON.
 */
#include "base/json.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Characters with an escape of their own; all others below 0x20 are written \u00xx. */
static const char *
short_escape(char c)
{
    static const char *const escapes[] = {
        ['"'] = "\\\"",
        ['\\'] = "\\\\",
        ['\b'] = "\\b",
        ['\f'] = "\\f",
        ['\n'] = "\\n",
        ['\r'] = "\\r",
        ['\t'] = "\\t",
    };
    size_t i = (unsigned char)c;
    return i < sizeof escapes / sizeof escapes[0] ? escapes[i] : NULL;
}

static bool
is_plain(char c)
{
    return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

/* add_special writes the character at p, which is not plain, and returns its length. */
static size_t
add_special(struct buf *buf, const char *p, const char *end)
{
    const char *escape = short_escape(*p);
    size_t len = utf8_length(p, end);
    if (escape != NULL)
        buf_puts(buf, escape);
    else if (len == 0)
        buf_puts(buf, "\xef\xbf\xbd");
    else if (len == 1)
        buf_printf(buf, "\\u%04x", (unsigned)*p);
    else
        buf_add(buf, p, len);
    return len == 0 ? 1 : len;
}

void
json_write_string(struct buf *buf, struct str text)
{
    const char *p = text.p;
    const char *end = text.p + text.len;
    buf_putc(buf, '"');
    while (p < end) {
        const char *plain = p;
        while (p < end && is_plain(*p))
            p++;
        buf_add(buf, plain, (size_t)(p - plain));
        if (p < end)
            p += add_special(buf, p, end);
    }
    buf_putc(buf, '"');
}

void
json_write_double(struct buf *buf, double number)
{
    // The application's locale may write another decimal point; "C" costs no allocation.
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    locale_t old = uselocale(plain);
    char digits[32];
    // Fifteen digits are exact for all that fifteen can say, but below DBL_MIN fewer will do.
    for (int precision = fabs(number) < DBL_MIN ? 1 : 15; precision <= 17; precision++) {
        snprintf(digits, sizeof digits, "%.*g", precision, number);
        if (strtod(digits, NULL) == number)
            break;
    }
    uselocale(old);
    buf_puts(buf, digits);
}
