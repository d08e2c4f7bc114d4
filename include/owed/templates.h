/* SPDX-License-Identifier: MIT
 *
 * templates.h - templates by their names, and how they are read from the files of a folder.
 *
 * A template is a file NAME.txt, or one for each language, NAME.en.txt; what the mail looks like in HTML
 * stands beside it in NAME.html or NAME.en.html. A .txt begins with a header, which an empty line ends;
 * the rest is the text, placeholders as in template.h. This is order_confirmed.en.txt:
 *
 *     subject: Your order {order_id}
 *     variables: order_id text, items int64, total decimal
 *     default: en
 *
 *     Thank you for {items} items, {total:,.2f} EUR in all.
 *
 *   subject     of a mail; may be left out
 *   variables   name and kind: text, bool, int64, double or decimal; may come several times
 *   default     the language for everybody whose own there is not; needed where there are several
 *   # ...       a comment
 *
 * A file without any of them begins with the empty line. A .html has no header, and no file ends in its
 * last line end. All languages declare the same variables, each of which stands in the subject, the text
 * or the HTML. Names are ASCII letters, digits, _ and -, up to 64; a file of another name is refused, but
 * not one that begins with a dot or ends in ~, which is passed over.
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

/* owed_templates_load adds what the files of a folder hold, all or nothing. The first that cannot be is
 * refused by its file and line: TEMPLATE, LOCALE, MALFORMED_LOCALE, MISSING_LOCALE, LOCALE_MISMATCH as in
 * template.h; TEMPLATE: a header or a name that cannot be, an HTML without its text, what is
 * no plain file (links to one are followed), bytes that are no UTF-8, a name that the set has; LIMIT: a file over
 * 1 MiB, over 20000 files, over 64 languages; NOT_FOUND: no such folder; CONFIG: it cannot be read. */
OWED_API owed_status owed_templates_load(owed_templates *set, const char *folder, owed_error *err)
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
