/* SPDX-License-Identifier: MIT
 *
 * options.c - the values of a table, from the weakest source to the strongest.
 */
#include "base/options.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/option_value.h"

struct value {
    const struct option *option;
    enum option_source source;
    const char *text; // NULL: not set
    int64_t number;
    const char **list; // OPTION_LIST, NULL-ended
    const char *where; // NULL: not set
};

struct options {
    struct arena arena;
    int64_t now_us;
    struct value *values;
    size_t count;
};

static struct value *
find(const struct options *options, const char *name)
{
    for (size_t i = 0; i < options->count; i++)
        if (strcmp(options->values[i].option->name, name) == 0)
            return &options->values[i];
    return NULL;
}

const struct option *
option_find(const struct options *options, const char *name)
{
    const struct value *value = find(options, name);
    return value == NULL ? NULL : value->option;
}

const struct option *
option_find_letter(const struct options *options, char letter)
{
    for (size_t i = 0; i < options->count; i++)
        if (options->values[i].option->letter == letter)
            return options->values[i].option;
    return NULL;
}

const struct option *
option_at(const struct options *options, size_t i)
{
    return i < options->count ? options->values[i].option : NULL;
}

static struct value *
find_in_section(const struct options *options, const char *section, const char *key)
{
    for (size_t i = 0; i < options->count; i++) {
        const struct option *option = options->values[i].option;
        if (option->section != NULL && strcmp(option->section, section) == 0 &&
            strcmp(option_key(option), key) == 0)
            return &options->values[i];
    }
    return NULL;
}

/* add_words appends the words at text to the value's list: one for a flag, else split at commas. */
static owed_status
add_words(struct options *options, struct value *value, const char *text, bool split)
{
    size_t old = 0;
    while (value->list != NULL && value->list[old] != NULL)
        old++;
    size_t room = old + 2;
    for (const char *p = text; split && *p != '\0'; p++)
        room += *p == ',';
    const char **list = arena_alloc(&options->arena, room * sizeof *list);
    char *copy = arena_strdup(&options->arena, text);
    if (list == NULL || copy == NULL)
        return OWED_NOMEM;
    for (size_t i = 0; i < old; i++)
        list[i] = value->list[i];
    for (char *word; (word = option_next_word(&copy, split)) != NULL;)
        list[old++] = word;
    value->list = list;
    return OWED_OK;
}

/* keep takes the text, which was checked, as the option's value. */
static owed_status
keep(struct options *options, struct value *value, const struct option_text *given, int64_t number,
    enum option_source source)
{
    if (value->option->type == OPTION_LIST) {
        // Flags add up; whatever else came before is replaced.
        if (source != SOURCE_FLAG || value->source != SOURCE_FLAG)
            value->list = NULL;
        owed_status status = add_words(options, value, given->text, source != SOURCE_FLAG);
        if (status != OWED_OK)
            return status;
    }
    const char *copy = arena_strdup(&options->arena, given->text);
    const char *where = arena_strdup(&options->arena, given->where);
    if (copy == NULL || where == NULL)
        return OWED_NOMEM;
    value->text = copy;
    value->where = where;
    value->number = number;
    value->source = source;
    return OWED_OK;
}

/* set reads the text by the option's type, and keeps it unless a stronger source has spoken. */
static owed_status
set(struct options *options, struct value *value, const struct option_text *text,
    enum option_source source, owed_error *err)
{
    int64_t number;
    owed_status status = option_read(value->option, text, &number, err);
    if (status != OWED_OK || source < value->source)
        return status;
    status = keep(options, value, text, number, source);
    return status == OWED_NOMEM ? fail_memory(err) : status;
}

static size_t
count_options(const struct option *const *tables)
{
    size_t count = 0;
    for (; *tables != NULL; tables++)
        for (const struct option *option = *tables; option->name != NULL; option++)
            count++;
    return count;
}

static owed_status
add_option(struct options *options, const struct option *option, owed_error *err)
{
    if (find(options, option->name) != NULL)
        return fail(err, OWED_BUG, "the option %s stands in the tables twice", option->name);
    struct value *value = &options->values[options->count++];
    value->option = option;
    if (option->fallback == NULL)
        return OWED_OK;
    struct option_text text = {option->fallback, "fallback", OWED_BUG, options->now_us};
    return set(options, value, &text, SOURCE_FALLBACK, err);
}

static void
free_options(struct options **options)
{
    options_free(*options);
}

owed_status
options_new(const struct option *const *tables, int64_t now_us, struct options **ret_options,
    owed_error *err)
{
    CLEANUP(free_options) struct options *options = calloc(1, sizeof *options);
    if (options == NULL)
        return fail_memory(err);
    options->now_us = now_us;
    arena_init(&options->arena, 0);
    options->values =
        arena_alloc(&options->arena, count_options(tables) * sizeof options->values[0]);
    if (options->values == NULL)
        return fail_memory(err);
    for (; *tables != NULL; tables++)
        for (const struct option *option = *tables; option->name != NULL; option++) {
            owed_status status = add_option(options, option, err);
            if (status != OWED_OK)
                return status;
        }
    *ret_options = steal(&options);
    return OWED_OK;
}

void
options_free(struct options *options)
{
    if (options == NULL)
        return;
    arena_done(&options->arena);
    free(options);
}

/* known_words lists the keys of a section, or (NULL) the names of all options. */
static const char *const *
known_words(struct options *options, const char *section)
{
    const char **words = arena_alloc(&options->arena, (options->count + 1) * sizeof *words);
    size_t n = 0;
    for (size_t i = 0; words != NULL && i < options->count; i++) {
        const struct option *option = options->values[i].option;
        if (section == NULL)
            words[n++] = option->name;
        else if (option->section != NULL && strcmp(option->section, section) == 0)
            words[n++] = option_key(option);
    }
    return words;
}

static owed_status
refuse_key(struct options *options, const char *section, const char *key, const char *where,
    owed_error *err)
{
    const struct value *elsewhere = find(options, key);
    if (elsewhere != NULL && elsewhere->option->section != NULL)
        return fail(err, OWED_CONFIG, "%s: [%s] has no key %s; in [%s] it is called %s", where,
            section, key, elsewhere->option->section, option_key(elsewhere->option));
    const char *const *words = known_words(options, section);
    const char *near = words == NULL ? NULL : nearest(key, words);
    if (near == NULL)
        return fail(err, OWED_CONFIG, "%s: [%s] has no key %s", where, section, key);
    return fail(
        err, OWED_CONFIG, "%s: [%s] has no key %s; the nearest is %s", where, section, key, near);
}

static owed_status
refuse_flag(struct options *options, const char *flag, owed_error *err)
{
    const char *const *words = known_words(options, NULL);
    const char *near = words == NULL ? NULL : nearest(flag, words);
    if (near == NULL)
        return fail(err, OWED_INVALID, "there is no option --%s", flag);
    return fail(err, OWED_INVALID, "there is no option --%s; the nearest is --%s", flag, near);
}

owed_status
options_set(struct options *options, const char *section, const char *name, const char *text,
    enum option_source source, const char *where, owed_error *err)
{
    struct value *value =
        section == NULL ? find(options, name) : find_in_section(options, section, name);
    if (value == NULL && section != NULL)
        return refuse_key(options, section, name, where, err);
    if (value == NULL)
        return refuse_flag(options, name, err);
    if (source != SOURCE_FILE) {
        struct option_text written = {text, where, OWED_INVALID, options->now_us};
        return set(options, value, &written, source, err);
    }
    char place[sizeof err->text];
    snprintf(place, sizeof place, "%s: %s", where, name);
    struct option_text written = {text, place, OWED_CONFIG, options->now_us};
    return set(options, value, &written, source, err);
}

/* known finds an option that the program itself asks for. */
static const struct value *
known(const struct options *options, const char *name)
{
    const struct value *value = find(options, name);
    assert(value != NULL);
    return value;
}

const char *
options_text(const struct options *options, const char *name)
{
    return known(options, name)->text;
}

int64_t
options_number(const struct options *options, const char *name)
{
    return known(options, name)->number;
}

const char *const *
options_list(const struct options *options, const char *name)
{
    static const char *const none[] = {NULL};
    const struct value *value = known(options, name);
    return value->list == NULL ? none : value->list;
}

const char *
options_where(const struct options *options, const char *name)
{
    const struct value *value = known(options, name);
    return value->source == SOURCE_FALLBACK ? "" : value->where;
}

bool
options_is_set(const struct options *options, const char *name)
{
    return known(options, name)->source != SOURCE_FALLBACK;
}
