/* SPDX-License-Identifier: MIT
 *
 * json_scan.h - between the files of json.h: steps over bytes that mean nothing.
 */
#ifndef BASE_JSON_SCAN_H
#define BASE_JSON_SCAN_H

#include <endian.h>
#include <stdint.h>

#include "base/str.h"

#define EACH_BYTE(byte_) (UINT64_C(0x0101010101010101) * (byte_))

static inline const char *
json_skip_blanks(const char *p, const char *end)
{
    while (p < end && is_space(*p))
        p++;
    return p;
}

/* json_is_special: ends a run of plain ASCII inside a string. */
static inline bool
json_is_special(char c)
{
    return c == '"' || c == '\\' || (unsigned char)c < 0x20 || (unsigned char)c >= 0x80;
}

/* json_skip_plain finds the first special byte, eight at a time. */
static inline const char *
json_skip_plain(const char *p, const char *end)
{
    while (end - p >= 8) {
        uint64_t bytes;
        memcpy(&bytes, p, sizeof bytes);
        bytes = le64toh(bytes);
        // Each term sets the top bit of a byte it is about: below 0x20, a quote, a backslash, not
        // ASCII. A borrow can set it wrongly only above a byte that is truly special, and the
        // lowest one is what counts.
        uint64_t special = (bytes - EACH_BYTE(0x20)) | ((bytes ^ EACH_BYTE('"')) - EACH_BYTE(1)) |
            ((bytes ^ EACH_BYTE('\\')) - EACH_BYTE(1)) | bytes;
        special &= EACH_BYTE(0x80);
        if (special != 0)
            return p + __builtin_ctzll(special) / 8;
        p += 8;
    }
    while (p < end && !json_is_special(*p))
        p++;
    return p;
}

/* json_hex4 reads four hex digits; -1: they are not. */
int32_t json_hex4(const char *p, const char *end);

#endif
