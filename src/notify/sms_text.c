/* SPDX-License-Identifier: MIT
 *
 * sms_text.c - a text's segments, counted character by character in both alphabets at once.
 */
#include "notify/sms_text.h"

#include "base/utf8.h"

#define SEPTETS_ALONE 160
#define SEPTETS_JOINED 153
#define UNITS_ALONE 70
#define UNITS_JOINED 67

/* Beyond ASCII; of ASCII, all printable ones but the backquote are in it, and LF and CR. */
static const uint16_t gsm_others[] = {
    0x00a1,
    0x00a3,
    0x00a4,
    0x00a5,
    0x00a7,
    0x00bf,
    0x00c4,
    0x00c5,
    0x00c6,
    0x00c7,
    0x00c9,
    0x00d1,
    0x00d6,
    0x00d8,
    0x00dc,
    0x00df,
    0x00e0,
    0x00e4,
    0x00e5,
    0x00e6,
    0x00e8,
    0x00e9,
    0x00ec,
    0x00f1,
    0x00f2,
    0x00f6,
    0x00f8,
    0x00f9,
    0x00fc,
    0x0393,
    0x0394,
    0x0398,
    0x039b,
    0x039e,
    0x03a0,
    0x03a3,
    0x03a6,
    0x03a8,
    0x03a9,
};

/* septets of a character: 2 by way of the extension table, 0 where it has none. */
static size_t
septets(uint32_t point)
{
    static const char extended[] = "\f^{}\\[~]|";
    if (point == 0x20ac)
        return 2;
    if (point > 0 && point < 0x80 && strchr(extended, (int)point) != NULL)
        return 2;
    if (point == '\n' || point == '\r' || (point >= ' ' && point < 0x7f && point != '`'))
        return 1;
    for (size_t i = 0; i < sizeof gsm_others / sizeof gsm_others[0]; i++)
        if (gsm_others[i] == point)
            return 1;
    return 0;
}

/* pack puts a character into the segment that is being filled, or into the next. */
static void
pack(size_t size, size_t capacity, size_t *segments, size_t *used)
{
    if (*used + size > capacity) {
        (*segments)++;
        *used = 0;
    }
    *used += size;
}

void
sms_count_add(struct sms_count *count, uint32_t point)
{
    size_t units = point > 0xffff ? 2 : 1;
    size_t size = septets(point);
    count->is_utf16 |= size == 0;
    count->septets += size;
    count->units += units;
    pack(size, SEPTETS_JOINED, &count->gsm_segments, &count->gsm_used);
    pack(units, UNITS_JOINED, &count->utf16_segments, &count->utf16_used);
}

size_t
sms_count_segments(const struct sms_count *count)
{
    if (count->units == 0)
        return 0;
    if (count->is_utf16)
        return count->units <= UNITS_ALONE ? 1 : count->utf16_segments + 1;
    return count->septets <= SEPTETS_ALONE ? 1 : count->gsm_segments + 1;
}

struct sms_count
sms_count_of(struct str text)
{
    struct sms_count count = {0};
    const char *end = text.p + text.len;
    uint32_t point;
    for (const char *p = text.p; p < end; sms_count_add(&count, point))
        p += utf8_decode(p, end, &point);
    return count;
}
