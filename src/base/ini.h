/* SPDX-License-Identifier: MIT
 *
 * ini.h - files in the style of git and systemd: [section "name"], key = value, # and ; comments.
 *
 * A value runs to the end of its line, surrounding blanks dropped; "..." keeps them, with \" and \\;
 * a # or ; after a blank starts a comment outside quotes. A key may come once in a section.
 */
#ifndef BASE_INI_H
#define BASE_INI_H

#include <owed/error.h>

/* Called for each section's head (key NULL) and each key. subsection is "" where there is none. */
typedef owed_status (*ini_entry)(void *state, int line, const char *section, const char *subsection,
    const char *key, const char *value, owed_error *err);

/* ini_read parses a file; name is how the file is called in errors. NOT_FOUND: no such file.
 * CONFIG: "owed.conf:12: ...". The entry's own refusal is returned as it is. */
owed_status ini_read(const char *path, ini_entry entry, void *state, owed_error *err);

#endif
