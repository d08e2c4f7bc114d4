/* SPDX-License-Identifier: MIT
 *
 * json_pretty.c - JSON for people: a member a line, two blanks for each level.
 */
#include "base/json.h"

static void
new_line(struct buf *buf, int depth)
{
    buf_putc(buf, '\n');
    for (int i = 0; i < depth; i++)
        buf_puts(buf, "  ");
}

static const char *
skip_blanks(const char *p, const char *end)
{
    while (p < end && strchr(" \t\r\n", *p) != NULL)
        p++;
    return p;
}

/* string_end returns the place behind the string that begins at p. */
static const char *
string_end(const char *p, const char *end)
{
    for (p++; p < end && *p != '"'; p++)
        if (*p == '\\')
            p++;
    return p < end ? p + 1 : end;
}

/* put_sign writes one of {}[],: and the line that it begins or ends; returns the place behind it. */
static const char *
put_sign(struct buf *buf, const char *p, const char *end, int *depth)
{
    char sign = *p;
    p = skip_blanks(p + 1, end);
    if (sign == '}' || sign == ']') {
        new_line(buf, --*depth);
        buf_putc(buf, sign);
    } else if ((sign == '{' || sign == '[') && p < end && (*p == '}' || *p == ']')) {
        buf_putc(buf, sign); // empty
        buf_putc(buf, *p++);
    } else {
        buf_putc(buf, sign);
        if (sign == ':')
            buf_putc(buf, ' ');
        else
            new_line(buf, *depth += sign != ',');
    }
    return p;
}

void
json_pretty(struct str text, struct buf *buf)
{
    const char *p = text.p;
    const char *end = text.p + text.len;
    int depth = 0;
    while ((p = skip_blanks(p, end)) < end) {
        if (strchr("{}[],:", *p) != NULL) {
            p = put_sign(buf, p, end, &depth);
            continue;
        }
        const char *from = p;
        p = *p == '"' ? string_end(p, end) : p + 1;
        buf_add(buf, from, (size_t)(p - from));
    }
}
