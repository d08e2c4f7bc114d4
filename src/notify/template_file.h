/* SPDX-License-Identifier: MIT
 *
 * template_file.h - a file of a folder of templates: its name, its header, its text.
 */
#ifndef NOTIFY_TEMPLATE_FILE_H
#define NOTIFY_TEMPLATE_FILE_H

#include <owed/template.h>

#include "base/arena.h"

#define LIMIT_TEMPLATE_FILE_BYTES ((size_t)1024 * 1024)
#define LIMIT_TEMPLATE_NAME_BYTES 64

/* order_confirmed.en.txt, cut; all in the arena. */
struct template_file {
    const char *path; // as it is called in sentences
    const char *file; // in its folder
    const char *name;
    const char *locale; // normalised; NULL: none
    bool is_html;
};

/* template_file_name cuts a path. TEMPLATE, MALFORMED_LOCALE, NOMEM. */
owed_status template_file_name(const char *path, const char *file, struct arena *arena,
    struct template_file *ret_file, owed_error *err);

/* What a .txt holds; all in the arena. Lines are 0 where there is none. */
struct template_head {
    owed_variable *variables; // ends with a NULL name
    size_t variable_count;
    const char *subject;
    const char *fallback; // normalised
    const char *body;
    int subject_line, variables_line, fallback_line, body_line;
};

/* template_file_check refuses bytes that are no text: no UTF-8, a NUL, a byte order mark. TEMPLATE. */
owed_status template_file_check(const char *path, struct str text, owed_error *err);

/* template_file_body copies a text without the line end that ends it; NULL: no memory. */
const char *template_file_body(struct str text, struct arena *arena);

/* template_file_parse reads a checked .txt. TEMPLATE, MALFORMED_LOCALE, LIMIT, NOMEM. */
owed_status template_file_parse(const char *path, struct str text, struct arena *arena,
    struct template_head *ret_head, owed_error *err);

#endif
