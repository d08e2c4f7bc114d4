/* SPDX-License-Identifier: MIT
 *
 * mask.h - what of a payload is secret, and texts without it.
 *
 * What is secret is said by descriptions of fields, as codec_describe writes them and the catalogue
 * keeps them: so a process that knows the type, and one that only reads the catalogue, hide the same.
 */
#ifndef DECLARE_MASK_H
#define DECLARE_MASK_H

#include "base/arena.h"
#include "base/buf.h"

#define MASK_SHOWN "***"
#define MASK_SOURCES 8 // of one event name; several applications may publish one
#define MASK_LEAST_BYTES \
    4 // a shorter value is not looked for in texts: it would be found everywhere

struct mask {
    struct str fields[MASK_SOURCES];
    size_t count; // 0: nothing is secret
    bool is_full; // there were more: nothing is shown
};

/* mask_add takes a description over, if anything in it is secret; NULL is none. It is not copied. */
void mask_add(struct mask *mask, const char *fields);

/* mask_payload appends the payload with "***" in the place of each secret value; of a text that is no
 * JSON nothing is shown. */
void mask_payload(const struct mask *mask, struct str payload, struct buf *out);

/* mask_text returns the text with *** wherever a secret value of the payload stands in it, also one
 * that is cut at either end; the text itself where none does. */
const char *mask_text(
    const struct mask *mask, struct str payload, const char *text, struct arena *arena);

/* pointers_are_good tells whether a text is a list of JSON pointers (RFC 6901), parted by blanks; in one
 * "*" stands for every element of an array. */
bool pointers_are_good(const char *pointers);

#endif
