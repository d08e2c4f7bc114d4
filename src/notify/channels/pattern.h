/* SPDX-License-Identifier: MIT
 *
 * pattern.h - a piece of a request with places for what differs from message to message: "To={to}&Body={text}".
 *
 * A word in braces that is no place is refused; all other braces stand for themselves, so that JSON can be written as it
 * is. Each value is escaped for where it stands.
 */
#ifndef NOTIFY_CHANNELS_PATTERN_H
#define NOTIFY_CHANNELS_PATTERN_H

#include <owed/error.h>

#include "base/buf.h"

enum place {
    PLACE_TO,     // the address
    PLACE_DIGITS, // the address without a + before it
    PLACE_TEXT,
    PLACE_SUBJECT,  // "": none
    PLACE_HTML,     // "": none
    PLACE_ID,       // the message's, the same over all attempts
    PLACE_NONCE,    // the same, of 25 characters at most
    PLACE_LOCALE,   // "": of a plain template
    PLACE_TEMPLATE, // its name
    PLACE_ALPHABET, // of an SMS: text, or unicode where GSM's does not do
    PLACE_FROM,     // what follows is of the channel's settings
    PLACE_USER,
    PLACE_PASSWORD,
    PLACE_TOKEN,
    PLACE_COUNT
};

enum pattern_form {
    PATTERN_JSON, // in a string escaped, elsewhere a string of its own
    PATTERN_FORM, // percent-encoded
    PATTERN_URL,  // percent-encoded, and in the path no way out of its segment
    PATTERN_LINE  // a header: as it is
};

#define PATTERN_PARTS 48

struct pattern {
    enum pattern_form form;
    size_t count;
    struct pattern_part {
        struct str literal; // before the place
        int place;          // enum place; -1: none
        bool is_inside;     // of a string (JSON), of the path (a URL)
    } parts[PATTERN_PARTS];
};

/* pattern_read takes a text apart, which outlives the pattern. INVALID: a place that there is not, with the nearest
 * one; more places than fit; one before a URL's path; what would be no JSON. */
owed_status pattern_read(
    enum pattern_form form, const char *text, struct pattern *ret_pattern, owed_error *err);

/* pattern_has tells whether it has the place. */
bool pattern_has(const struct pattern *pattern, enum place place);

/* pattern_write appends it with the values, of which NULL reads as "". INVALID: one that cannot stand there. */
owed_status pattern_write(const struct pattern *pattern, const char *const values[PLACE_COUNT],
    struct buf *out, owed_error *err);

#endif
