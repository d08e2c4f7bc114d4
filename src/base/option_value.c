/* SPDX-License-Identifier: MIT
 *
 * option_value.c - texts of each type, and the sentence when they are refused.
 */
#include "base/option_value.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/moment.h"

/* scan_int reads a whole number; *ret_fits is false where it has more than 64 bits. */
static bool
scan_int(const char *text, int64_t *ret_number, bool *ret_fits)
{
    char *end;
    errno = 0;
    long long number = strtoll(text, &end, 10);
    bool starts_well = is_digit(text[0]) || text[0] == '-';
    *ret_number = number;
    *ret_fits = errno == 0;
    return starts_well && end != text && *end == '\0';
}

static bool
read_int(const char *text, int64_t now_us, int64_t *ret_number)
{
    (void)now_us;
    bool fits;
    return scan_int(text, ret_number, &fits) && fits;
}

static bool
read_duration(const char *text, int64_t now_us, int64_t *ret_number)
{
    (void)now_us;
    return duration_read(text, ret_number);
}

static bool
read_time(const char *text, int64_t now_us, int64_t *ret_number)
{
    int64_t wait;
    if (text[0] != '+')
        return moment_read(text, ret_number);
    return duration_read(text + 1, &wait) && !__builtin_add_overflow(now_us, wait, ret_number);
}

static bool
read_bool(const char *text, int64_t now_us, int64_t *ret_number)
{
    static const char *const words[] = {"false", "true", "no", "yes", "off", "on", "0", "1"};
    (void)now_us;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcmp(text, words[i]) == 0) {
            *ret_number = i % 2;
            return true;
        }
    return false;
}

static bool
read_text(const char *text, int64_t now_us, int64_t *ret_number)
{
    (void)text;
    (void)now_us;
    *ret_number = 0;
    return true;
}

static const char *
write_int(int64_t number, char text[static MOMENT_BYTES])
{
    snprintf(text, MOMENT_BYTES, "%" PRId64, number);
    return text;
}

static const struct option_kind {
    bool (*read)(const char *text, int64_t now_us, int64_t *ret_number);
    const char *expected;
    const char *(*write)(int64_t number, char text[static MOMENT_BYTES]); // NULL: has no range
    int64_t greatest; // where the option sets no maximum
} kinds[] = {
    [OPTION_TEXT] = {read_text, "text", NULL, 0},
    [OPTION_INT] = {read_int, "a whole number", write_int, INT64_MAX},
    [OPTION_DURATION] = {read_duration, "a duration such as 90s, 5m, 1h30m or 250ms, 3660d at most",
        duration_write, LIMIT_DURATION_US},
    [OPTION_TIME] = {read_time, "a time such as 2026-11-29T15:04:05Z, or +90s from now", NULL, 0},
    [OPTION_BOOL] = {read_bool, "true or false", NULL, 0},
    [OPTION_LIST] = {read_text, "words", NULL, 0},
};

static owed_status
refuse_range(
    const struct option *option, const struct option_text *value, bool fits, owed_error *err)
{
    const struct option_kind *kind = &kinds[option->type];
    int64_t max = option->max != 0 ? option->max : kind->greatest;
    char least[MOMENT_BYTES], greatest[MOMENT_BYTES];
    kind->write(option->min, least);
    kind->write(max, greatest);
    if (max == INT64_MAX && fits)
        return fail(err, value->refusal, "%s: expected at least %s, found \"%s\"", value->where,
            least, value->text);
    return fail(err, value->refusal, "%s: expected %s to %s, found \"%s\"", value->where, least,
        greatest, value->text);
}

static bool
is_in_range(const struct option *option, int64_t number)
{
    const struct option_kind *kind = &kinds[option->type];
    int64_t max = option->max != 0 ? option->max : kind->greatest;
    return kind->write == NULL || (number >= option->min && number <= max);
}

owed_status
option_read(const struct option *option, const struct option_text *value, int64_t *ret_number,
    owed_error *err)
{
    const struct option_kind *kind = &kinds[option->type];
    int64_t number;
    bool fits;
    bool is_read = kind->read(value->text, value->now_us, &number);
    if (!is_read && option->type == OPTION_INT && scan_int(value->text, &number, &fits))
        return refuse_range(option, value, fits, err);
    if (!is_read)
        return fail(err, value->refusal, "%s: expected %s, found \"%s\"", value->where,
            kind->expected, value->text);
    if (!is_in_range(option, number))
        return refuse_range(option, value, true, err);
    *ret_number = number;
    return OWED_OK;
}

char *
option_next_word(char **rest, bool split)
{
    while (**rest == ',' || is_space(**rest))
        (*rest)++;
    if (**rest == '\0')
        return NULL;
    char *word = *rest;
    size_t len = split ? strcspn(word, ",") : strlen(word);
    *rest = word + len + (word[len] != '\0');
    while (is_space(word[len - 1]))
        len--;
    word[len] = '\0';
    return word;
}

const char *
option_key(const struct option *option)
{
    return option->key != NULL ? option->key : option->name;
}

const char *
option_environment(const struct option *option, char name[static OPTION_ENVIRONMENT_BYTES])
{
    snprintf(name, OPTION_ENVIRONMENT_BYTES, "OWED_%s", option->name);
    for (char *p = name; *p != '\0'; p++)
        *p = *p == '-' ? '_' : (char)toupper((unsigned char)*p);
    return name;
}
