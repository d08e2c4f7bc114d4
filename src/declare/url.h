/* SPDX-License-Identifier: MIT
 *
 * url.h - where a webhook goes: http or https, a host, no user.
 */
#ifndef DECLARE_URL_H
#define DECLARE_URL_H

#include "base/str.h"

/* url_problem says what is wrong with a webhook's URL, as the end of a sentence; NULL: nothing. */
const char *url_problem(const char *url);

/* url_without_query cuts a URL before its "?" or "#": what may be shown to anybody. */
struct str url_without_query(const char *url);

#endif
