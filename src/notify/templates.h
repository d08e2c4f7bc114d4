/* SPDX-License-Identifier: MIT
 *
 * templates.h - a set of templates, and the folder that one is read from.
 */
#ifndef NOTIFY_TEMPLATES_H
#define NOTIFY_TEMPLATES_H

#include <owed/templates.h>

#define LIMIT_TEMPLATES 4096
#define LIMIT_TEMPLATE_FILES 20000

/* templates_take moves all that is in from, or nothing. TEMPLATE, LIMIT, NOMEM. */
owed_status templates_take(owed_templates *set, owed_templates *from, owed_error *err);

/* templates_scan adds each template of a folder that can be, and hands what is wrong with the others to
 * finding; NULL: the first of them ends it. */
typedef void templates_finding(void *state, const char *sentence);
struct templates_visitor {
    templates_finding *finding;
    void *state;
};
owed_status templates_scan(owed_templates *set, const char *folder,
    const struct templates_visitor *visitor, owed_error *err);

#endif
