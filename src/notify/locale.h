/* SPDX-License-Identifier: MIT
 *
 * locale.h - language tags (RFC 5646) and what to take where one is not there (RFC 4647, lookup).
 */
#ifndef NOTIFY_LOCALE_H
#define NOTIFY_LOCALE_H

#include <stdbool.h>

#define LOCALE_BYTES 64

/* locale_shorten drops the last subtag of a normalised tag; false: it has but one. */
bool locale_shorten(char *tag);

#endif
