/* SPDX-License-Identifier: MIT
 *
 * http_pool.c - what a channel's requests have in common: settings, secrets, and handles with their connections.
 */
#include "notify/channels/http_pool.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/digest.h"
#include "base/error.h"
#include "base/plain_file.h"
#include "base/secret_file.h"
#include "notify/recipient.h"

#define SECRET_MIN 4 // shorter ones stand in any text

static owed_status
copy_text(const struct options *values, const char *key, char **ret_text, owed_error *err)
{
    const char *text = options_text(values, key);
    *ret_text = text == NULL ? NULL : strdup(text);
    return text != NULL && *ret_text == NULL ? fail_memory(err) : OWED_OK;
}

static owed_status
read_keys(struct http *http, const struct options *values, owed_error *err)
{
    owed_error why;
    http->timeout_ms = (long)(options_number(values, "timeout") / US_PER_MS);
    http->connect_timeout_ms = (long)(options_number(values, "connect-timeout") / US_PER_MS);
    owed_status status = copy_text(values, "ca-file", &http->ca_file, err);
    if (status == OWED_OK)
        status = plain_file_check("ca-file", http->ca_file, err);
    if (status == OWED_OK)
        status = copy_text(values, "proxy", &http->proxy, err);
    if (status != OWED_OK || http->proxy == NULL)
        return status;
    if (http_url_check(http->proxy, &why) != OWED_OK)
        return fail(err, OWED_CONFIG, "proxy: %s", why.text);
    return OWED_OK;
}

owed_status
http_new(const struct options *values, struct http **ret_http, owed_error *err)
{
    struct http *http = calloc(1, sizeof *http);
    if (http == NULL)
        return fail_memory(err);
    handles_init(&http->handles, HTTP_KEPT);
    owed_status status = curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK
        ? read_keys(http, values, err)
        : fail_memory(err);
    if (status == OWED_OK)
        *ret_http = http;
    else
        http_free(http);
    return status;
}

void
http_free(struct http *http)
{
    if (http == NULL)
        return;
    for (size_t i = 0; i < http->secret_count; i++)
        secret_free(http->secrets[i]);
    handles_done(&http->handles);
    free(http->ca_file);
    free(http->proxy);
    free(http);
}

/* --- secrets --- */

owed_status
http_hide(struct http *http, const char *secret, owed_error *err)
{
    if (secret == NULL || strlen(secret) < SECRET_MIN)
        return OWED_OK;
    if (http->secret_count == HTTP_SECRETS)
        return fail(err, OWED_LIMIT, "a channel has at most %d secrets", HTTP_SECRETS);
    char *copy = strdup(secret);
    if (copy == NULL)
        return fail_memory(err);
    http->secrets[http->secret_count++] = copy;
    return OWED_OK;
}

void
http_blot(const struct http *http, char *text)
{
    for (size_t i = 0; i < http->secret_count; i++) {
        const char *secret = http->secrets[i];
        size_t len = strlen(secret);
        for (char *found = text; (found = strstr(found, secret)) != NULL; found += len)
            memset(found, '*', len);
    }
}

/* --- what requests are made of --- */

static owed_status
refuse_url(CURLU *parts, const char *what, owed_error *err)
{
    char *host = NULL;
    bool has_host = curl_url_get(parts, CURLUPART_HOST, &host, 0) == CURLUE_OK;
    fail(err, OWED_INVALID, "the URL%s%s %s: https://host/path would be right",
        has_host ? " at " : "", has_host ? host : "", what);
    curl_free(host);
    return OWED_INVALID;
}

static bool
has_part(CURLU *parts, CURLUPart part)
{
    char *text = NULL;
    bool found = curl_url_get(parts, part, &text, 0) == CURLUE_OK;
    curl_free(text);
    return found;
}

static void
free_url(CURLU **url)
{
    curl_url_cleanup(*url);
}

/* is_http looks at the text: libcurl reads "host" and "HTTP:/host" as URLs, too. */
static bool
is_http(const char *url)
{
    size_t scheme = strncmp(url, "http://", 7) == 0 ? 7 : strncmp(url, "https://", 8) == 0 ? 8 : 0;
    return scheme > 0 && url[scheme] != '/' && url[scheme] != '\0';
}

owed_status
http_url_check(const char *url, owed_error *err)
{
    CLEANUP(free_url) CURLU *parts = curl_url();
    if (parts == NULL)
        return fail_memory(err);
    if (!is_http(url) || strlen(url) > HTTP_URL_BYTES)
        return refuse_url(parts, "is not http or https, or too long", err);
    if (strchr(url, ' ') != NULL || text_has_control(url))
        return refuse_url(parts, "holds a blank or a control character", err);
    if (curl_url_set(parts, CURLUPART_URL, url, CURLU_PATH_AS_IS) != CURLUE_OK)
        return refuse_url(parts, "cannot be read", err);
    if (has_part(parts, CURLUPART_USER) || has_part(parts, CURLUPART_PASSWORD))
        return refuse_url(parts, "names a user, which has keys of its own", err);
    if (strchr(url, '#') != NULL)
        return refuse_url(parts, "has a fragment", err);
    return OWED_OK;
}

void
http_encode(struct buf *out, struct str text)
{
    static const char hex[] = "0123456789ABCDEF";
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.p[i];
        bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit((char)c) ||
            (c != '\0' && strchr("-._~", c) != NULL);
        const char triple[] = {'%', hex[c >> 4], hex[c & 15]};
        buf_add(out, is_plain ? text.p + i : triple, is_plain ? 1 : sizeof triple);
    }
}

void
http_basic(struct buf *out, const char *user, const char *password)
{
    CLEANUP(buf_done) struct buf pair;
    buf_init(&pair, HTTP_HEADER_BYTES);
    buf_printf(&pair, "%s:%s", user, password);
    buf_puts(out, "authorization: Basic ");
    base64_write(out, (const uint8_t *)buf_text(&pair), pair.len);
    out->failed |= pair.failed;
    if (pair.len > 0)
        explicit_bzero(pair.p, pair.len);
}
