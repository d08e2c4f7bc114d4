/* SPDX-License-Identifier: MIT
 *
 * template.h - a template as it is kept: parts cut into pieces, variables in the order of their names.
 */
#ifndef NOTIFY_TEMPLATE_H
#define NOTIFY_TEMPLATE_H

#include <owed/template.h>

#include "base/arena.h"
#include "notify/format.h"

#define LIMIT_PART_BYTES ((size_t)1024 * 1024)
#define LIMIT_VARIABLES 256
#define LIMIT_VARIABLE_BYTES 64
#define LIMIT_VARIANTS 64
#define LIMIT_RENDERED_BYTES ((size_t)4 * 1024 * 1024)

enum part_kind { PART_SUBJECT, PART_TEXT, PART_HTML, PART_COUNT };

/* Text as it stands, or one variable's value. */
struct piece {
    struct str text; // where variable is negative
    int variable;
    struct format format;
};

struct part {
    struct piece *pieces;
    size_t count;
    bool is_there;
};

/* Where in a file a variant's parts begin, for sentences. */
struct part_place {
    const char *path;
    int line;
};
struct template_places {
    struct part_place parts[PART_COUNT];
    const char *said; // "mails/welcome.en.txt:2", where the variables are declared
};

struct variant {
    const char *locale;                   // normalised; NULL in a plain template
    const struct template_places *places; // while it is made; NULL: it came from no file
    const char *name;
    owed_variable *variables; // sorted by name
    size_t variable_count;
    struct part parts[PART_COUNT];
};

struct owed_template {
    struct arena arena; // all that it holds
    const char *name;
    struct variant *variants;
    size_t count;
    size_t fallback; // the default's index
};

extern const char *const part_names[PART_COUNT];

/* template_make makes one of count variants: a plain one where the only locale is NULL. places: one for
 * each, or NULL. */
struct template_list {
    const char *name;
    const owed_template_variant *variants;
    const struct template_places *places;
    size_t count;
};
owed_status template_make(const struct template_list *list, const char *default_locale,
    owed_template **ret_template, owed_error *err);

/* variant_said is how a sentence calls the variant: by its file and line, or by its name. */
static inline const char *
variant_said(const struct variant *variant)
{
    return variant->places != NULL ? variant->places->said : variant->name;
}

/* variable_find returns the index of a name among the variant's variables, or -1. */
int variable_find(const struct variant *variant, struct str name);

/* part_parse cuts a text into pieces and marks each variable that it uses. TEMPLATE, NOMEM. */
owed_status part_parse(struct variant *variant, enum part_kind kind, struct str text,
    struct arena *arena, bool *used, owed_error *err);

/* values_from_json makes a list of the members of a JSON object, each of its variable's kind where it
 * can be, else of a kind that values_match refuses. INVALID, NOMEM. */
owed_status values_from_json(const struct variant *variant, const char *context,
    struct arena *arena, owed_value **ret_values, owed_error *err);

/* values_match finds the value of each variable, in the order of the variables. MISSING_VARIABLE,
 * UNKNOWN_VARIABLE, VARIABLE_TYPE, NOMEM. */
owed_status values_match(const struct variant *variant, const owed_value *values,
    struct arena *arena, const owed_value ***ret_found, owed_error *err);

#endif
