/* SPDX-License-Identifier: MIT
 *
 * ini.h - files in the style of git and systemd: [section "name"], key = value, # and ; comments.
 *
 * A value runs to the end of its line, surrounding blanks dropped, or stands in "...", with \" and
 * \\ for these two. A # or ; after a blank starts a comment outside quotes. Quotes further on in a
 * value are part of it: exec = sh -c "a # b". A key may come once in a section.
 */
#ifndef BASE_INI_H
#define BASE_INI_H

#include <owed/error.h>

#include "base/str.h"

/* Called for each section's head (key NULL) and each key. subsection is "" where there is none. */
typedef owed_status (*ini_entry)(void *state, int line, const char *section, const char *subsection,
    const char *key, const char *value, owed_error *err);

/* ini_read parses a file; in errors it is called by its path. NOT_FOUND: no such file.
 * CONFIG: "owed.conf:12: ...". The entry's own refusal is returned as it is, and ends the reading. */
owed_status ini_read(const char *path, ini_entry entry, void *state, owed_error *err);

/* ini_parse is ini_read for a text; name is how it is called in errors. */
owed_status ini_parse(
    struct str text, const char *name, ini_entry entry, void *state, owed_error *err);

#endif
