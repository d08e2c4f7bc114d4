/* SPDX-License-Identifier: MIT
 *
 * utf8.h - RFC 3629: no surrogates, nothing overlong, nothing above U+10FFFF.
 */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include <stdint.h>

#include "base/str.h"

/* utf8_is_valid tells whether all the bytes are UTF-8. */
bool utf8_is_valid(struct str text);

/* utf8_length gives the length of the character that p starts with (p < end): 1 to 4, or 0 where no
 * whole one stands there. */
size_t utf8_length(const char *p, const char *end);

/* utf8_decode reads the character that p starts with (p < end) and returns its length. A byte that starts none is
 * one of U+FFFD. */
size_t utf8_decode(const char *p, const char *end, uint32_t *ret_point);

/* utf8_encode writes a code point (no surrogate, at most 0x10ffff) and returns its length. */
size_t utf8_encode(uint32_t point, char bytes[static 4]);

#endif
