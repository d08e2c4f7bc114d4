/* SPDX-License-Identifier: MIT
 *
 * template.c - making templates: what they are made of is copied, checked whole, and cut into pieces.
 */
#include "notify/template.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "declare/kinds.h"
#include "notify/locale.h"

const char *const part_names[PART_COUNT] = {"subject", "text", "html"};

static bool
is_identifier(const char *name)
{
    size_t len = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
    return len > 0 && name[len] == '\0' && !is_digit(name[0]) && len <= LIMIT_VARIABLE_BYTES;
}

static bool
is_value_kind(owed_kind kind)
{
    return kind == OWED_KIND_TEXT || kind == OWED_KIND_BOOL || kind == OWED_KIND_INT64 ||
        kind == OWED_KIND_DOUBLE || kind == OWED_KIND_DECIMAL;
}

static int
compare_variables(const void *a, const void *b)
{
    return strcmp(((const owed_variable *)a)->name, ((const owed_variable *)b)->name);
}

int
variable_find(const struct variant *variant, struct str name)
{
    for (size_t i = 0; i < variant->variable_count; i++)
        if (str_is(name, variant->variables[i].name))
            return (int)i;
    return -1;
}

static owed_status
check_variable(const char *tmpl, const owed_variable *variable, owed_error *err)
{
    if (!is_identifier(variable->name))
        return fail(err, OWED_TEMPLATE,
            "%s: a variable is called \"%s\", where ASCII letters, digits and _, no digit first, up to %d characters, would be right",
            tmpl, variable->name, LIMIT_VARIABLE_BYTES);
    if (variable->kind != OWED_KIND_END && !is_value_kind(variable->kind))
        return fail(err, OWED_TEMPLATE,
            "%s: variable \"%s\" has kind %d, where TEXT, BOOL, INT64, DOUBLE or DECIMAL would be right",
            tmpl, variable->name, (int)variable->kind);
    return OWED_OK;
}

static owed_status
copy_variables(const owed_template_source *source, struct variant *variant, struct arena *arena,
    owed_error *err)
{
    size_t count = 0;
    while (source->variables != NULL && source->variables[count].name != NULL)
        count++;
    if (count > LIMIT_VARIABLES)
        return fail(err, OWED_LIMIT, "%s: %zu variables, of %d at most", variant_said(variant),
            count, LIMIT_VARIABLES);
    variant->variables = arena_alloc(arena, (count + 1) * sizeof *variant->variables);
    if (variant->variables == NULL)
        return fail_memory(err);
    for (size_t i = 0; i < count; i++) {
        const owed_variable *from = &source->variables[i];
        owed_status status = check_variable(variant_said(variant), from, err);
        if (status != OWED_OK)
            return status;
        if (variable_find(variant, str_of(from->name)) >= 0)
            return fail(err, OWED_TEMPLATE, "%s: variable \"%s\" is declared twice",
                variant_said(variant), from->name);
        owed_variable *to = &variant->variables[variant->variable_count++];
        to->kind = from->kind == OWED_KIND_END ? OWED_KIND_TEXT : from->kind;
        to->name = arena_strdup(arena, from->name);
        if (to->name == NULL)
            return fail_memory(err);
    }
    qsort(variant->variables, count, sizeof *variant->variables, compare_variables);
    return OWED_OK;
}

static owed_status
copy_part(const char *source, enum part_kind kind, struct variant *variant, struct arena *arena,
    bool *used, owed_error *err)
{
    if (source == NULL)
        return OWED_OK;
    struct str text = str_of(source);
    if (text.len > LIMIT_PART_BYTES)
        return fail(err, OWED_LIMIT, "%s, %s: %zu bytes, of %zu at most", variant->name,
            part_names[kind], text.len, LIMIT_PART_BYTES);
    if (!utf8_is_valid(text))
        return fail(err, OWED_TEMPLATE, "%s, %s: it is not UTF-8", variant->name, part_names[kind]);
    if (kind == PART_SUBJECT && strpbrk(source, "\r\n") != NULL)
        return fail(err, OWED_TEMPLATE, "%s, subject: a subject is one line", variant->name);
    text.p = arena_copy(arena, text);
    if (text.p == NULL)
        return fail_memory(err);
    return part_parse(variant, kind, text, arena, used, err);
}

static owed_status
check_used(const struct variant *variant, const bool *used, owed_error *err)
{
    for (size_t i = 0; i < variant->variable_count; i++)
        if (!used[i])
            return fail(err, OWED_TEMPLATE,
                "%s: variable \"%s\" is declared and stands in no part of the template",
                variant_said(variant), variant->variables[i].name);
    return OWED_OK;
}

static owed_status
fill_variant(const owed_template_source *source, struct variant *variant, struct arena *arena,
    owed_error *err)
{
    bool used[LIMIT_VARIABLES] = {0};
    const char *const texts[PART_COUNT] = {source->subject, source->text, source->html};
    if (is_empty(source->name) || strlen(source->name) > LIMIT_KEY_BYTES)
        return fail(err, OWED_TEMPLATE, "a template's name is 1 to %d bytes", LIMIT_KEY_BYTES);
    variant->name = arena_strdup(arena, source->name);
    if (variant->name == NULL)
        return fail_memory(err);
    if (source->text == NULL)
        return fail(err, OWED_TEMPLATE, "%s: it has no text", variant->name);
    owed_status status = copy_variables(source, variant, arena, err);
    for (int kind = 0; kind < PART_COUNT && status == OWED_OK; kind++)
        status = copy_part(texts[kind], (enum part_kind)kind, variant, arena, used, err);
    return status == OWED_OK ? check_used(variant, used, err) : status;
}

/* template_start makes one with room for its variants. */
static owed_status
template_start(const char *name, size_t count, owed_template **ret_template, owed_error *err)
{
    owed_template *tmpl = calloc(1, sizeof *tmpl);
    if (tmpl == NULL)
        return fail_memory(err);
    arena_init(&tmpl->arena, 0);
    tmpl->name = arena_strdup(&tmpl->arena, or_empty(name));
    tmpl->variants = arena_alloc(&tmpl->arena, count * sizeof *tmpl->variants);
    tmpl->count = count;
    if (tmpl->name == NULL || tmpl->variants == NULL) {
        owed_template_free(tmpl);
        return fail_memory(err);
    }
    *ret_template = tmpl;
    return OWED_OK;
}

/* --- several languages --- */

static int
variant_find(const owed_template *tmpl, size_t count, const char *locale)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(tmpl->variants[i].locale, locale) == 0)
            return (int)i;
    return -1;
}

static owed_status
check_same_variables(
    const struct variant *a, const struct variant *b, const char *said, owed_error *err)
{
    for (size_t i = 0; i < a->variable_count; i++) {
        int at = variable_find(b, str_of(a->variables[i].name));
        if (at < 0)
            return fail(err, OWED_LOCALE_MISMATCH,
                "%s: %s declares variable \"%s\", and %s does not; all languages declare the same",
                said, a->locale, a->variables[i].name, b->locale);
        if (a->variables[i].kind != b->variables[at].kind)
            return fail(err, OWED_LOCALE_MISMATCH,
                "%s: variable \"%s\" is of kind %s in %s and %s in %s; all languages declare the same",
                said, a->variables[i].name, kind_of(a->variables[i].kind)->name, a->locale,
                kind_of(b->variables[at].kind)->name, b->locale);
    }
    return OWED_OK;
}

static owed_status
add_variant(owed_template *tmpl, size_t at, const owed_template_variant *from, owed_error *err)
{
    struct variant *variant = &tmpl->variants[at];
    char tag[LOCALE_BYTES];
    if (from->locale == NULL)
        return fill_variant(&from->source, variant, &tmpl->arena, err);
    owed_status status = owed_locale_normalize(from->locale, tag, err);
    if (status != OWED_OK)
        return status;
    if (variant_find(tmpl, at, tag) >= 0)
        return fail(err, OWED_LOCALE, "%s: two variants for %s",
            variant->places != NULL ? variant->places->said : tmpl->name, tag);
    variant->locale = arena_strdup(&tmpl->arena, tag);
    if (variant->locale == NULL)
        return fail_memory(err);
    status = fill_variant(&from->source, variant, &tmpl->arena, err);
    if (status == OWED_OK && at > 0)
        status = check_same_variables(&tmpl->variants[0], variant, variant_said(variant), err);
    if (status == OWED_OK && at > 0)
        status = check_same_variables(variant, &tmpl->variants[0], variant_said(variant), err);
    return status;
}

static owed_status
find_default(owed_template *tmpl, const char *locale, owed_error *err)
{
    char tag[LOCALE_BYTES];
    if (locale == NULL)
        return OWED_OK;
    owed_status status = owed_locale_normalize(locale, tag, err);
    if (status != OWED_OK)
        return status;
    int found = variant_find(tmpl, tmpl->count, tag);
    if (found < 0)
        return fail(err, OWED_MISSING_LOCALE, "%s: the default is %s, and there is no such variant",
            tmpl->name, tag);
    tmpl->fallback = (size_t)found;
    return OWED_OK;
}

owed_status
template_make(const struct template_list *list, const char *default_locale,
    owed_template **ret_template, owed_error *err)
{
    owed_template *tmpl = NULL;
    owed_status status = template_start(list->name, list->count, &tmpl, err);
    if (status != OWED_OK)
        return status;
    for (size_t i = 0; i < list->count && status == OWED_OK; i++) {
        tmpl->variants[i].places = list->places == NULL ? NULL : &list->places[i];
        status = add_variant(tmpl, i, &list->variants[i], err);
    }
    if (status == OWED_OK)
        status = find_default(tmpl, default_locale, err);
    if (status != OWED_OK) {
        owed_template_free(tmpl);
        return status;
    }
    for (size_t i = 0; i < list->count; i++)
        tmpl->variants[i].places = NULL; // the caller's
    *ret_template = tmpl;
    return OWED_OK;
}

owed_status
owed_template_new(const owed_template_source *source, owed_template **ret_template, owed_error *err)
{
    const owed_template_variant only = {.source = *source};
    const struct template_list list = {.name = source->name, .variants = &only, .count = 1};
    return template_make(&list, NULL, ret_template, err);
}

owed_status
owed_template_localized_new(const char *name, const owed_template_variant *variants,
    const char *default_locale, owed_template **ret_template, owed_error *err)
{
    struct template_list list = {.name = name, .variants = variants};
    while (variants != NULL && variants[list.count].locale != NULL)
        list.count++;
    if (is_empty(name) || strlen(name) > LIMIT_KEY_BYTES)
        return fail(err, OWED_TEMPLATE, "a template's name is 1 to %d bytes", LIMIT_KEY_BYTES);
    if (list.count == 0)
        return fail(err, OWED_LOCALE, "%s: it has no variants", name);
    if (list.count > LIMIT_VARIANTS)
        return fail(
            err, OWED_LIMIT, "%s: %zu variants, of %d at most", name, list.count, LIMIT_VARIANTS);
    return template_make(&list, default_locale, ret_template, err);
}

void
owed_template_free(owed_template *tmpl)
{
    if (tmpl == NULL)
        return;
    arena_done(&tmpl->arena);
    free(tmpl);
}

const char *
owed_template_name(const owed_template *tmpl)
{
    return tmpl->name;
}
