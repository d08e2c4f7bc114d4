/* SPDX-License-Identifier: MIT
 *
 * fit_url.h - where URLs stand in a text.
 *
 * One begins with a scheme and "://", with mailto: or tel:, or with "www."; it goes on over what RFC 3986 has in a URL,
 * and over letters of other scripts that put spaces between words. Punctuation after it is none of its.
 */
#ifndef NOTIFY_FIT_URL_H
#define NOTIFY_FIT_URL_H

#include "base/str.h"

/* fit_url_next finds the first URL that begins at from or later; it goes from *ret_start to *ret_end. */
bool fit_url_next(struct str text, size_t from, size_t *ret_start, size_t *ret_end);

#endif
