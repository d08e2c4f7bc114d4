/* SPDX-License-Identifier: MIT
 *
 * sqlite_url.c - the path in sqlite:shop.db, sqlite:/srv/shop.db and sqlite:///srv/shop.db.
 */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/digest.h"
#include "base/error.h"
#include "store/sqlite.h"

#define PATH_BYTES 4096

static owed_status
bad_url(const char *url, const char *what, owed_error *err)
{
    return fail(err, OWED_CONFIG,
        "store URL '%.200s' %s; write sqlite:shop.db or sqlite:///srv/shop.db", url, what);
}

/* decode reads %41 as A; false: a sign that wants two hex digits has none, or spells NUL. */
static bool
decode(const char *text, char *path)
{
    for (; *text != '\0'; text++) {
        uint8_t byte = (uint8_t)*text;
        if (byte == '%') {
            char digits[3] = {text[1], text[1] == '\0' ? '\0' : text[2], '\0'};
            if (!hex_read(digits, &byte, 1) || byte == 0)
                return false;
            text += 2;
        }
        *path++ = (char)byte;
    }
    *path = '\0';
    return true;
}

owed_status
sqlite_path(const char *url, char **ret_path, owed_error *err)
{
    const char *text = url + strlen("sqlite:");
    if (strncmp(text, "//", 2) == 0) {
        text += 2;
        if (*text != '/')
            return bad_url(url, "names a host, and SQLite is a file", err);
    }
    if (*text == '\0' || strcmp(text, ":memory:") == 0)
        return bad_url(url, "names no file", err);
    if (strlen(text) > PATH_BYTES)
        return bad_url(url, "is longer than a path can be", err);
    if (strpbrk(text, "?#") != NULL)
        return bad_url(url, "has options, and there are none (in a name: %3F and %23)", err);

    // "./" keeps SQLite from reading a name such as file:x as a URI of its own.
    CLEANUP(free_ptr) char *path = malloc(strlen(text) + sizeof "./");
    if (path == NULL)
        return fail_memory(err);
    size_t lead = *text == '/' ? 0 : 2;
    memcpy(path, "./", lead);
    if (!decode(text, path + lead))
        return bad_url(url, "has a % that no two hex digits of a sign follow", err);
    *ret_path = steal(&path);
    return OWED_OK;
}
