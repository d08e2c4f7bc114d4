/* SPDX-License-Identifier: MIT
 *
 * option_value.h - between the files of options.h: one option's text and what it means.
 */
#ifndef BASE_OPTION_VALUE_H
#define BASE_OPTION_VALUE_H

#include "base/options.h"

/* A value as it was written, and where. */
struct option_text {
    const char *text;
    const char *where;   // "owed.conf:12: limit", "--limit"
    owed_status refusal; // the status of a refusal: CONFIG for a file, else INVALID
    int64_t now_us;      // that "+90s" is counted from
};

/* option_read checks the text by the option's type and range; TEXT and LIST leave the number 0. */
owed_status option_read(const struct option *option, const struct option_text *value,
    int64_t *ret_number, owed_error *err);

/* option_next_word cuts the next word off a list, at commas if split, blanks around it dropped and
 * empty ones left out; NULL: no more. */
char *option_next_word(char **rest, bool split);

/* option_key is how it is spelt in the file. */
const char *option_key(const struct option *option);

/* option_find finds by name over all tables, option_find_letter by the short flag; NULL: none. */
const struct option *option_find(const struct options *options, const char *name);
const struct option *option_find_letter(const struct options *options, char letter);

/* option_at walks over all options; NULL after the last. */
const struct option *option_at(const struct options *options, size_t i);

#define OPTION_NAME_BYTES 64 // of a name, with its end
#define OPTION_ENVIRONMENT_BYTES (OPTION_NAME_BYTES + 8)

/* option_environment writes OWED_BATCH_SIZE for batch-size. */
const char *option_environment(
    const struct option *option, char name[static OPTION_ENVIRONMENT_BYTES]);

#endif
