/* SPDX-License-Identifier: MIT
 *
 * mariadb_url.c - mariadb://user:password@host:port/database?option=value, and mysql:// the same.
 *
 * Whatever is left out the client's option files may say (my.cnf, groups [client] and [owed]). Any part
 * may be percent-encoded. A URL may hold a password, so no sentence of here repeats it.
 */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/digest.h"
#include "base/error.h"
#include "base/options.h"
#include "store/mariadb.h"

#define URL_BYTES 4096
#define NAME_BYTES 32

static const char *const names[MARIADB_OPTIONS + 1] = {
    [MARIADB_SOCKET] = "socket",
    [MARIADB_DEFAULTS_FILE] = "defaults-file",
    [MARIADB_DEFAULTS_GROUP] = "defaults-group",
    [MARIADB_SSL_MODE] = "ssl-mode",
    [MARIADB_SSL_CA] = "ssl-ca",
    [MARIADB_SSL_CAPATH] = "ssl-capath",
    [MARIADB_SSL_CERT] = "ssl-cert",
    [MARIADB_SSL_KEY] = "ssl-key",
    [MARIADB_SSL_CIPHER] = "ssl-cipher",
    [MARIADB_SSL_FINGERPRINT] = "ssl-fingerprint",
    [MARIADB_TLS_VERSION] = "tls-version",
    [MARIADB_CONNECT_TIMEOUT] = "connect-timeout",
    [MARIADB_READ_TIMEOUT] = "read-timeout",
    [MARIADB_WRITE_TIMEOUT] = "write-timeout",
};

static owed_status
bad_url(const char *what, owed_error *err)
{
    return fail(err, OWED_CONFIG,
        "the store URL %s; write mariadb://user:password@host:3306/database, or "
        "mariadb://user@/database?socket=/run/mysqld/mysqld.sock",
        what);
}

/* decode reads %41 as A; false: a sign that wants two hex digits has none, or spells NUL. */
static bool
decode(struct str text, char *out)
{
    for (size_t i = 0; i < text.len; i++) {
        uint8_t byte = (uint8_t)text.p[i];
        if (byte == '%') {
            if (text.len - i < 3)
                return false;
            char digits[3] = {text.p[i + 1], text.p[i + 2], '\0'};
            if (!hex_read(digits, &byte, 1) || byte == 0)
                return false;
            i += 2;
        }
        *out++ = (char)byte;
    }
    *out = '\0';
    return true;
}

/* take decodes a part of the URL; an empty one stays NULL. */
static owed_status
take(struct str part, const char *name, char **ret_text, owed_error *err)
{
    if (part.len == 0)
        return OWED_OK;
    free(*ret_text);
    *ret_text = calloc(1, part.len + 1); // ended, also where it is decoded in part
    if (*ret_text == NULL)
        return fail_memory(err);
    if (decode(part, *ret_text))
        return OWED_OK;
    return fail(err, OWED_CONFIG,
        "the store URL has a %% in its %s that no two hex digits of a sign follow: a %% itself is "
        "written %%25",
        name);
}

/* cut splits text at the first mark: before it, and what follows (empty where there is none). */
static struct str
cut(struct str *text, char mark)
{
    const char *at = text->len == 0 ? NULL : memchr(text->p, mark, text->len);
    struct str before = {text->p, at == NULL ? text->len : (size_t)(at - text->p)};
    *text = str_skip(*text, at == NULL ? text->len : before.len + 1);
    return before;
}

static owed_status
take_port(struct str digits, unsigned *ret_port, owed_error *err)
{
    unsigned port = 0;
    for (size_t i = 0; i < digits.len; i++) {
        if (!is_digit(digits.p[i]) || port > 65535)
            return bad_url("has a port that is no number of 1 to 65535", err);
        port = port * 10 + (unsigned)(digits.p[i] - '0');
    }
    if (digits.len > 0 && (port == 0 || port > 65535))
        return bad_url("has a port that is no number of 1 to 65535", err);
    *ret_port = port;
    return OWED_OK;
}

/* take_host reads host, host:port, [::1] and [::1]:port. */
static owed_status
take_host(struct str text, struct mariadb_url *url, owed_error *err)
{
    struct str host;
    if (text.len > 0 && text.p[0] == '[') {
        text = str_skip(text, 1);
        bool is_whole = text.len > 0 && memchr(text.p, ']', text.len) != NULL;
        host = cut(&text, ']');
        if (!is_whole || host.len == 0 || (text.len > 0 && text.p[0] != ':'))
            return bad_url("has an address in [] that is not whole", err);
        if (text.len > 0)
            text = str_skip(text, 1);
    } else {
        host = cut(&text, ':');
    }
    owed_status status = take_port(text, &url->port, err);
    return status == OWED_OK ? take(host, "host", &url->host, err) : status;
}

static owed_status
take_authority(struct str text, struct mariadb_url *url, owed_error *err)
{
    // The last @ ends the user: a password may hold one that was not encoded.
    const char *at = text.len == 0 ? NULL : memrchr(text.p, '@', text.len);
    if (at == NULL)
        return take_host(text, url, err);
    struct str user = {text.p, (size_t)(at - text.p)};
    text = str_skip(text, user.len + 1);
    struct str password = user;
    user = cut(&password, ':');
    owed_status status = take(user, "user", &url->user, err);
    if (status == OWED_OK)
        status = take(password, "password", &url->password, err);
    return status == OWED_OK ? take_host(text, url, err) : status;
}

/* find_option reads ssl_ca as ssl-ca, as option files do. */
static int
find_option(struct str name, char text[static NAME_BYTES])
{
    size_t len = name.len < NAME_BYTES ? name.len : NAME_BYTES - 1;
    for (size_t i = 0; i < len; i++)
        text[i] = name.p[i] == '_' ? '-' : name.p[i];
    text[len] = '\0';
    for (int i = 0; i < MARIADB_OPTIONS; i++)
        if (strcmp(names[i], text) == 0)
            return i;
    return -1;
}

/* unknown_option shows no word that resembles none: behind a ? that a password holds stands its rest. */
static owed_status
unknown_option(const char *spelt, owed_error *err)
{
    const char *meant = nearest(spelt, names);
    if (meant != NULL)
        return fail(err, OWED_CONFIG,
            "the store URL has an option '%s' that is not known: did you mean %s", spelt, meant);
    return bad_url(
        "has an option that is not known, or a ? in a part where it is written %3F", err);
}

static owed_status
take_options(struct str text, struct mariadb_url *url, owed_error *err)
{
    owed_status status = OWED_OK;
    while (status == OWED_OK && text.len > 0) {
        struct str value = cut(&text, '&');
        struct str name = cut(&value, '=');
        char spelt[NAME_BYTES];
        int option = find_option(name, spelt);
        if (option < 0)
            return unknown_option(spelt, err);
        status = take(value, names[option], &url->options[option], err);
    }
    return status;
}

static owed_status
take_all(struct str text, struct mariadb_url *url, owed_error *err)
{
    struct str options = text;
    text = cut(&options, '?');
    struct str database = text;
    struct str authority = cut(&database, '/');
    // What the last @ ends may be the rest of a password.
    if (database.len > 0 && memchr(database.p, '@', database.len) != NULL)
        return bad_url(
            "has an @ in its database (write it %40), or a / before it (write it %2F)", err);
    owed_status status = take_authority(authority, url, err);
    if (status == OWED_OK)
        status = take(database, "database", &url->database, err);
    return status == OWED_OK ? take_options(options, url, err) : status;
}

owed_status
mariadb_url_read(const char *text, struct mariadb_url *ret_url, owed_error *err)
{
    if (strlen(text) > URL_BYTES)
        return bad_url("is longer than 4096 bytes", err);
    const char *rest = strchr(text, ':');
    if (rest == NULL || strncmp(rest, "://", 3) != 0)
        return bad_url("lacks the // after its scheme", err);
    if (strchr(rest, '#') != NULL)
        return bad_url("has a # (write it %23)", err);
    CLEANUP(mariadb_url_done) struct mariadb_url url = {0};
    owed_status status = take_all(str_of(rest + 3), &url, err);
    if (status != OWED_OK)
        return status;
    *ret_url = url;
    url = (struct mariadb_url){0};
    return OWED_OK;
}

void
mariadb_url_done(struct mariadb_url *url)
{
    if (url->password != NULL)
        explicit_bzero(url->password, strlen(url->password));
    free(url->user);
    free(url->password);
    free(url->host);
    free(url->database);
    for (int i = 0; i < MARIADB_OPTIONS; i++)
        free(url->options[i]);
}
