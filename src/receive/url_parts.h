/* SPDX-License-Identifier: MIT
 *
 * url_parts.h - what libcurl's reader of URLs hands out, freed at the end of a block: CLEANUP(url_part_free),
 * CLEANUP(url_parts_free).
 */
#ifndef RECEIVE_URL_PARTS_H
#define RECEIVE_URL_PARTS_H

#include <curl/curl.h>

static inline void
url_part_free(char **text)
{
    curl_free(*text);
}

static inline void
url_parts_free(CURLU **parts)
{
    curl_url_cleanup(*parts);
}

#endif
