/* SPDX-License-Identifier: MIT
 *
 * fit.h - a text that is too long for its channel is refused, cut, or split: never inside of what a reader sees as
 * one character (a grapheme cluster), nor inside of a URL.
 *
 * Kinds of channels put FIT_OPTION into their keys, read it in make with fit_read, and call fit_text for each
 * message.
 */
#ifndef NOTIFY_FIT_H
#define NOTIFY_FIT_H

#include <owed/error.h>

#include "base/options.h"
#include "base/str.h"

enum fit_unit {
    FIT_BYTES,      // of UTF-8
    FIT_CHARACTERS, // Unicode's code points
    FIT_UTF16,      // units of UTF-16
    FIT_SEGMENTS    // of an SMS: sms_text.h
};

enum fit_policy { FIT_REFUSE, FIT_CUT, FIT_SPLIT };

#define FIT_PIECES 10 // at most: each is a message that somebody pays for, and reads

/* How long a text may be, and what becomes of a longer one. */
struct fit {
    enum fit_unit unit;
    size_t most; // of the unit, in each piece
    enum fit_policy policy;
};

#define FIT_OPTION(section_) \
    { \
        .name = "too-long", .type = OPTION_TEXT, .argument = "WORD", .section = (section_), \
        .fallback = "refuse", \
        .help = \
            "a text that the channel does not take in one: refuse, cut (with an ellipsis), or " \
            "split into several messages" \
    }

/* fit_read takes the policy from the key too-long. CONFIG: no such word. */
owed_status fit_read(const struct options *values, struct fit *fit, owed_error *err);

/* What a text came to; zeroed: nothing. Texts are NUL-ended, in memory of its own. */
struct fit_pieces {
    const char *texts[FIT_PIECES];
    size_t count; // at least 1
    char *memory;
};

/* fit_text fits a text, which is UTF-8. Pieces that are split off are the text again when they are joined, but for
 * those of nothing but white space, which are left out; they end after a word where one ends near.
 * LIMIT: too long for the policy; with FIT_CUT and FIT_SPLIT also where a URL or a character alone is, or where it
 * makes more than FIT_PIECES. CONFIG: ICU, which knows characters, cannot be loaded; it is asked only for a text that
 * is too long and not of ASCII alone. NOMEM. After a failure there is nothing to give back. */
owed_status fit_text(
    const struct fit *fit, const char *text, struct fit_pieces *ret_pieces, owed_error *err);

/* fit_pieces_done frees them; fit for CLEANUP. */
void fit_pieces_done(struct fit_pieces *pieces);

#endif
