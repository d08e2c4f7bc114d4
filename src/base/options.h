/* SPDX-License-Identifier: MIT
 *
 * options.h - one table for a word, wherever it is spelt: flag, environment, file, --help, man page.
 *
 * An option named "batch-size" is --batch-size, OWED_BATCH_SIZE, and batch-size in owed.conf. A flag
 * wins over the environment, the environment over the file, the file over the fallback.
 */
#ifndef BASE_OPTIONS_H
#define BASE_OPTIONS_H

#include <owed/error.h>

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"

enum option_type {
    OPTION_TEXT,
    OPTION_INT,
    OPTION_DURATION, // "90s", "5m", "1h30m", "250ms": microseconds
    OPTION_TIME,     // RFC 3339, or "+90s" from now: microseconds since 1970
    OPTION_BOOL,     // --name and --no-name; elsewhere true or false, yes or no, on or off, 1 or 0
    OPTION_LIST      // a flag may come several times; a file's value is split at commas
};

struct option {
    const char *name; // NULL ends a table
    char letter;      // of the short flag, or 0
    enum option_type type;
    const char *argument; // "URL", "N"; NULL for OPTION_BOOL
    const char *fallback; // as it would be written; NULL: none
    const char *section;  // of owed.conf it may stand in; NULL: a flag alone, no environment
    int64_t min, max;     // INT and DURATION; max 0: no other than LIMIT_DURATION_US
    const char *help;     // one line, in lower case, without a full stop
    const char *key;      // in owed.conf, where it is not the name: url of --store
};

enum option_source { SOURCE_FALLBACK, SOURCE_FILE, SOURCE_ENVIRONMENT, SOURCE_FLAG };

struct options; // the values

/* options_new holds the values of several tables (NULL-ended list), all at their fallbacks. The
 * tables must outlive it. now_us is the moment that "+90s" is counted from. */
owed_status options_new(const struct option *const *tables, int64_t now_us,
    struct options **ret_options, owed_error *err);
void options_free(struct options *options);

/* options_set reads one value. It is kept only where its source is not weaker than the present one,
 * and refused where it is wrong even then. section: the file's, and name is the key in it; or NULL.
 * where names its place in an error ("owed.conf:12", "--limit"). CONFIG for a file's, else INVALID:
 * unknown, with the nearest known word; out of range; unreadable. */
owed_status options_set(struct options *options, const char *section, const char *name,
    const char *text, enum option_source source, const char *where, owed_error *err);

/* options_read_flags parses argv[1] and on, argv[argc] being NULL: --name value, --name=value,
 * --no-name, -c FILE, -cFILE, --. Abbreviations are refused. What is no option, "-" included, goes
 * to ret_operands, a NULL-ended list in argv's memory. */
owed_status options_read_flags(
    struct options *options, int argc, char **argv, char ***ret_operands, owed_error *err);

/* options_without copies the words of argv, which were read without an error, to list, but those that
 * give the option of this name. list has as many places, with the NULL at the end. */
void options_without(
    const struct options *options, char *const *argv, const char *name, char **list);

/* options_read_environment takes what is set and not empty. */
owed_status options_read_environment(struct options *options, owed_error *err);

/* Values by the option's name, which must stand in a table. */
const char *options_text(const struct options *options, const char *name); // NULL: not set
int64_t options_number(
    const struct options *options, const char *name); // INT, DURATION, TIME, BOOL
const char *const *options_list(const struct options *options, const char *name); // NULL-ended
/* options_where is its place as an error names it: "owed.conf:12: limit", "--limit"; "": a fallback. */
const char *options_where(const struct options *options, const char *name);
bool options_is_set(const struct options *options, const char *name); // by anything but a fallback

/* options_help appends the table for --help, options_mdoc the list in a manual page's OPTIONS. */
void options_help(const struct option *table, struct buf *text);
void options_mdoc(const struct option *table, struct buf *text);

/* nearest returns the word of the NULL-ended list that is closest to word (edit distance at most a
 * third of the longer one's length, or word is how it begins), or NULL. */
const char *nearest(const char *word, const char *const *words);

#endif
