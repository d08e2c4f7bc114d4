/* SPDX-License-Identifier: MIT
 *
 * option_flags.c - options from the command line and from the environment.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/option_value.h"

struct command_line {
    struct options *options;
    char **argv;     // of what was not read yet
    char **operands; // end of the operands, which are moved to the front of argv
    owed_error *err;
};

static owed_status
set_flag(const struct command_line *line, const struct option *option, const char *text)
{
    char where[OPTION_NAME_BYTES + 2];
    snprintf(where, sizeof where, "--%s", option->name);
    return options_set(line->options, NULL, option->name, text, SOURCE_FLAG, where, line->err);
}

/* take_value gives the text behind = or the letter, or else the next word of the command line. */
static owed_status
take_value(struct command_line *line, const struct option *option, const char *attached)
{
    if (attached != NULL)
        return set_flag(line, option, attached);
    if (*line->argv == NULL)
        return fail(line->err, OWED_INVALID, "--%s needs a value: --%s %s", option->name,
            option->name, or_empty(option->argument));
    return set_flag(line, option, *line->argv++);
}

/* read_negation reads --no-name for a bool; NOT_FOUND: no such option. */
static owed_status
read_negation(const struct command_line *line, const char *name)
{
    const struct option *option =
        strncmp(name, "no-", 3) == 0 ? option_find(line->options, name + 3) : NULL;
    if (option == NULL || option->type != OPTION_BOOL)
        return OWED_NOT_FOUND;
    return set_flag(line, option, "false");
}

static owed_status
read_long(struct command_line *line, const char *text)
{
    char name[OPTION_NAME_BYTES];
    size_t len = strcspn(text, "=");
    const char *attached = text[len] == '=' ? text + len + 1 : NULL;
    snprintf(name, sizeof name, "%.*s", (int)len, text);
    const struct option *option = option_find(line->options, name);
    if (option == NULL) {
        owed_status status = attached == NULL ? read_negation(line, name) : OWED_NOT_FOUND;
        return status != OWED_NOT_FOUND
            ? status
            : options_set(line->options, NULL, name, "", SOURCE_FLAG, text, line->err);
    }
    if (option->type != OPTION_BOOL)
        return take_value(line, option, attached);
    if (attached != NULL)
        return fail(line->err, OWED_INVALID, "--%s takes no value, found \"%s\"", name, attached);
    return set_flag(line, option, "true");
}

/* read_letters reads -c FILE, -cFILE, and several letters of bools: -qv. */
static owed_status
read_letters(struct command_line *line, const char *letters)
{
    owed_status status = OWED_OK;
    for (; *letters != '\0' && status == OWED_OK; letters++) {
        const struct option *option = option_find_letter(line->options, *letters);
        if (option == NULL)
            return fail(line->err, OWED_INVALID, "there is no option -%c", *letters);
        if (option->type != OPTION_BOOL)
            return take_value(line, option, letters[1] == '\0' ? NULL : letters + 1);
        status = set_flag(line, option, "true");
    }
    return status;
}

owed_status
options_read_flags(
    struct options *options, int argc, char **argv, char ***ret_operands, owed_error *err)
{
    char **first = argv + (argc > 0);
    struct command_line line = {options, first, first, err};
    owed_status status = OWED_OK;
    bool only_operands = false;
    while (status == OWED_OK && *line.argv != NULL) {
        char *word = *line.argv++;
        if (only_operands || word[0] != '-' || word[1] == '\0')
            *line.operands++ = word;
        else if (strcmp(word, "--") == 0)
            only_operands = true;
        else if (word[1] == '-')
            status = read_long(&line, word + 2);
        else
            status = read_letters(&line, word + 1);
    }
    if (status != OWED_OK)
        return status;
    *line.operands = NULL;
    *ret_operands = first;
    return OWED_OK;
}

static bool
has_value(const struct option *option)
{
    return option != NULL && option->type != OPTION_BOOL;
}

/* option_of finds the option with a value that a word gives, or NULL; *ret_next: the next word is its
 * value. */
static const struct option *
option_of(const struct options *options, const char *word, bool *ret_next)
{
    char name[OPTION_NAME_BYTES];
    const char *end = word + 2 + strcspn(word + 2, "=");
    const struct option *option = NULL;
    snprintf(name, sizeof name, "%.*s", (int)(end - word - 2), word + 2);
    if (word[1] == '-')
        option = option_find(options, name);
    // Letters of bools may stand before the one with a value.
    for (const char *p = word + 1; word[1] != '-' && *p != '\0' && !has_value(option); p++) {
        option = option_find_letter(options, *p);
        end = p + 1;
    }
    if (!has_value(option))
        return NULL;
    *ret_next = *end == '\0';
    return option;
}

void
options_without(const struct options *options, char *const *argv, const char *name, char **list)
{
    bool only_operands = false;
    while (*argv != NULL) {
        char *word = *argv++;
        bool is_next = false;
        only_operands = only_operands || strcmp(word, "--") == 0;
        bool is_operand = only_operands || word[0] != '-' || word[1] == '\0';
        const struct option *option = is_operand ? NULL : option_of(options, word, &is_next);
        bool is_kept = option == NULL || strcmp(option->name, name) != 0;
        if (is_kept)
            *list++ = word;
        if (is_next && is_kept)
            *list++ = *argv;
        argv += is_next;
    }
    *list = NULL;
}

owed_status
options_read_environment(struct options *options, owed_error *err)
{
    const struct option *option;
    for (size_t i = 0; (option = option_at(options, i)) != NULL; i++) {
        char name[OPTION_ENVIRONMENT_BYTES];
        const char *text =
            option->section == NULL ? NULL : getenv(option_environment(option, name));
        if (is_empty(text))
            continue;
        owed_status status =
            options_set(options, NULL, option->name, text, SOURCE_ENVIRONMENT, name, err);
        if (status != OWED_OK)
            return status;
    }
    return OWED_OK;
}
