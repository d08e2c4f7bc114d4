/* SPDX-License-Identifier: MIT
 *
 * graphemes.h - where what a reader sees as one character ends (UAX 29), as ICU knows it.
 *
 * ICU's data alone are 30 MB of address space, and most processes never meet a text that is too long: libicuuc is
 * loaded at the first one that is not of ASCII alone. It is asked for by the version that owed was built
 * with, since ICU writes that into the names of its functions; so nothing is linked, and a machine without it
 * lacks this alone.
 */
#ifndef NOTIFY_GRAPHEMES_H
#define NOTIFY_GRAPHEMES_H

#include <owed/error.h>

#include "base/str.h"

/* graphemes_mark says of each place i in a text whether a character ends there, after i bytes; ends comes zeroed, for
 * one place more than there are bytes. CONFIG: ICU cannot be loaded. LIMIT: above 2 GiB. */
owed_status graphemes_mark(struct str text, bool *ends, owed_error *err);

#endif
