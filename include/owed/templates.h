/* SPDX-License-Identifier: MIT
 *
 * templates.h - templates by their names.
 */
#ifndef OWED_TEMPLATES_H
#define OWED_TEMPLATES_H

#include <owed/template.h>

OWED_BEGIN_DECLS

/* A set. Once nobody adds to it, any number of threads may look things up in it. */
typedef struct owed_templates owed_templates;

/* owed_templates_new makes an empty set. NOMEM. */
OWED_API owed_status owed_templates_new(owed_templates **ret_set, owed_error *err) OWED_MUSTUSE;

/* owed_templates_free frees the set and all that is in it; NULL is fine. */
OWED_API void owed_templates_free(owed_templates *set);

/* owed_templates_add puts a template into the set, whose it is from then on; where it fails, it stays the
 * caller's. TEMPLATE: there is one of that name; LIMIT: over 4096; NOMEM. */
OWED_API owed_status owed_templates_add(owed_templates *set, owed_template *tmpl, owed_error *err)
    OWED_MUSTUSE;

/* owed_templates_find gives the template of a name. NOT_FOUND, with the nearest name that there is. */
OWED_API owed_status owed_templates_find(const owed_templates *set, const char *name,
    const owed_template **ret_template, owed_error *err) OWED_MUSTUSE;

/* owed_templates_count is how many there are; owed_templates_at gives one of them, in the order of their
 * names, from 0; NULL: there are not so many. */
OWED_API size_t owed_templates_count(const owed_templates *set);
OWED_API const owed_template *owed_templates_at(const owed_templates *set, size_t index);

OWED_END_DECLS

#endif
