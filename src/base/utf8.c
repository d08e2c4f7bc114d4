/* SPDX-License-Identifier: MIT
 *
 * utf8.c - one table of the sequences that are well formed.
 */
#include "base/utf8.h"

/* Which first bytes start a sequence of that length, and what its second byte may be; all further
 * ones are 0x80 to 0xbf. */
static const struct form {
    uint8_t first_min, first_max;
    uint8_t second_min, second_max;
    uint8_t length;
} forms[] = {
    {0xc2, 0xdf, 0x80, 0xbf, 2},
    {0xe0, 0xe0, 0xa0, 0xbf, 3},
    {0xe1, 0xec, 0x80, 0xbf, 3},
    {0xed, 0xed, 0x80, 0x9f, 3},
    {0xee, 0xef, 0x80, 0xbf, 3},
    {0xf0, 0xf0, 0x90, 0xbf, 4},
    {0xf1, 0xf3, 0x80, 0xbf, 4},
    {0xf4, 0xf4, 0x80, 0x8f, 4},
};

static size_t
match(const struct form *form, const uint8_t *p, size_t left)
{
    if (left < form->length || p[1] < form->second_min || p[1] > form->second_max)
        return 0;
    for (size_t i = 2; i < form->length; i++)
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    return form->length;
}

size_t
utf8_length(const char *text, const char *end)
{
    const uint8_t *p = (const uint8_t *)text;
    if (p[0] < 0x80)
        return 1;
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++)
        if (p[0] >= forms[i].first_min && p[0] <= forms[i].first_max)
            return match(&forms[i], p, (size_t)(end - text));
    return 0;
}

bool
utf8_is_valid(struct str text)
{
    const char *p = text.p;
    const char *end = text.p + text.len;
    while (p < end) {
        size_t len = utf8_length(p, end);
        if (len == 0)
            return false;
        p += len;
    }
    return true;
}

size_t
utf8_decode(const char *p, const char *end, uint32_t *ret_point)
{
    static const uint8_t firsts[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    size_t len = utf8_length(p, end);
    if (len == 0) {
        *ret_point = 0xfffd;
        return 1;
    }
    uint32_t point = (uint8_t)p[0] & firsts[len];
    for (size_t i = 1; i < len; i++)
        point = point << 6 | ((uint8_t)p[i] & 0x3f);
    *ret_point = point;
    return len;
}

size_t
utf8_encode(uint32_t point, char bytes[static 4])
{
    static const uint8_t marks[] = {0, 0, 0xc0, 0xe0, 0xf0};
    if (point < 0x80) {
        bytes[0] = (char)point;
        return 1;
    }
    size_t len = point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
    for (size_t i = len - 1; i > 0; i--) {
        bytes[i] = (char)(0x80 | (point & 0x3f));
        point >>= 6;
    }
    bytes[0] = (char)(marks[len] | point);
    return len;
}
