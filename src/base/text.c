/* SPDX-License-Identifier: MIT
 *
 * text.c - cleaning bytes of unknown origin.
 */
#include "base/text.h"

#include "base/utf8.h"

static char
plain(unsigned char c, bool lines)
{
    if (lines && (c == '\n' || c == '\t'))
        return (char)c;
    return c < 0x20 || c == 0x7f ? ' ' : (char)c;
}

size_t
text_clean(char *ret, size_t size, struct str bytes, bool lines)
{
    size_t used = 0;
    while (bytes.len > 0) {
        size_t len = utf8_length(bytes.p, bytes.p + bytes.len);
        size_t step = len == 0 ? 1 : len;
        if (used + step >= size)
            break;
        if (len == 0)
            ret[used] = '?';
        else if (len == 1)
            ret[used] = plain((unsigned char)bytes.p[0], lines);
        else
            memcpy(ret + used, bytes.p, len);
        used += step;
        bytes.p += step;
        bytes.len -= step;
    }
    ret[used] = '\0';
    return used;
}

struct str
text_last_line(struct str text)
{
    text = str_trim(text);
    const char *end = text.p + text.len;
    const char *start = end;
    while (start > text.p && start[-1] != '\n')
        start--;
    return str_trim((struct str){start, (size_t)(end - start)});
}

struct str
text_tail(struct str bytes, size_t max)
{
    if (bytes.len <= max)
        return bytes;
    struct str tail = {bytes.p + (bytes.len - max), max};
    for (int i = 0; i < 3 && tail.len > 0 && (tail.p[0] & 0xc0) == 0x80; i++) {
        tail.p++;
        tail.len--;
    }
    return tail;
}
