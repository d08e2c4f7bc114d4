/* SPDX-License-Identifier: MIT
 *
 * guard.c - URLs and addresses that no request may be forged to.
 */
#include "receive/guard.h"

#include <idn2.h>
#include <netdb.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/utf8.h"
#include "declare/url.h"
#include "receive/target.h"
#include "receive/url_parts.h"

#define LOW_PORTS 1024 // but for those of the web, they are other services'

static void
free_idn(char **text)
{
    idn2_free(*text);
}

static owed_status
refuse(const char *url, owed_error *err, const char *why)
{
    CLEANUP(free_ptr) char *shown = url_shown(url);
    for (char *p = shown; p != NULL && *p != '\0'; p++)
        if ((unsigned char)*p < 0x20 || *p == 0x7f)
            *p = '?';
    return fail(err, OWED_INVALID, "the URL %.100s %s", shown == NULL ? "" : shown, why);
}

/* host_of finds the host of a URL's text; empty: there is none to be converted. */
static struct str
host_of(const char *url)
{
    const char *scheme = strstr(url, "://");
    if (scheme == NULL)
        return (struct str){0};
    const char *authority = scheme + 3;
    size_t len = strcspn(authority, "/?#");
    if (memchr(authority, '@', len) != NULL || *authority == '[')
        return (struct str){0};
    const char *colon = memchr(authority, ':', len);
    return (struct str){authority, colon == NULL ? len : (size_t)(colon - authority)};
}

/* ascii_host writes the URL with its host in ASCII. */
static owed_status
ascii_host(const char *url, struct buf *ret, owed_error *err)
{
    struct str host = host_of(url);
    bool is_ascii = true;
    for (size_t i = 0; i < host.len; i++)
        is_ascii = is_ascii && (unsigned char)host.p[i] < 0x80;
    if (is_ascii || !utf8_is_valid(host) || host.len >= GUARD_HOST_BYTES) {
        buf_puts(ret, url);
        return OWED_OK;
    }
    char name[GUARD_HOST_BYTES];
    memcpy(name, host.p, host.len);
    name[host.len] = '\0';
    CLEANUP(free_idn) char *ascii = NULL;
    if (idn2_to_ascii_8z(name, &ascii, IDN2_NONTRANSITIONAL | IDN2_USE_STD3_ASCII_RULES) != IDN2_OK)
        return refuse(url, err, "has a host that is no name of the internet");
    buf_str(ret, (struct str){url, (size_t)(host.p - url)});
    buf_puts(ret, ascii);
    buf_puts(ret, host.p + host.len);
    return OWED_OK;
}

static const char *
part(CURLU *parts, CURLUPart wanted, unsigned flags, char **space)
{
    curl_free(*space);
    *space = NULL;
    return curl_url_get(parts, wanted, space, flags) == CURLUE_OK ? *space : NULL;
}

/* host_problem copies the host, without brackets, in small letters: it is one host however it is written. */
static const char *
host_problem(const char *host, char ret_host[static GUARD_HOST_BYTES])
{
    size_t len = host == NULL ? 0 : strlen(host);
    if (len > 1 && host[0] == '[' && host[len - 1] == ']') {
        host++;
        len -= 2;
    }
    if (len > 1 && host[len - 1] == '.')
        len--; // the root's dot
    if (len == 0 || len >= GUARD_HOST_BYTES)
        return "has no host; https://host/path is right";
    if (memchr(host, '%', len) != NULL)
        return "has a host with an escape or a zone in it";
    for (size_t i = 0; i < len; i++)
        ret_host[i] = host[i] >= 'A' && host[i] <= 'Z' ? (char)(host[i] + ('a' - 'A')) : host[i];
    ret_host[len] = '\0';
    return NULL;
}

static const char *
take_apart(const char *url, struct place *place)
{
    CLEANUP(url_parts_free) CURLU *parts = curl_url();
    CLEANUP(url_part_free) char *space = NULL;
    if (parts == NULL || curl_url_set(parts, CURLUPART_URL, url, 0) != CURLUE_OK)
        return "cannot be read; https://host/path is right";
    if (part(parts, CURLUPART_ZONEID, 0, &space) != NULL)
        return "has a host with an escape or a zone in it";
    const char *problem = host_problem(part(parts, CURLUPART_HOST, 0, &space), place->host);
    if (problem != NULL)
        return problem;
    // libcurl would look "h.example." up by itself, past what is pinned to "h.example".
    if (strchr(place->host, ':') == NULL &&
        curl_url_set(parts, CURLUPART_HOST, place->host, 0) != CURLUE_OK)
        return "cannot be read; https://host/path is right";
    const char *scheme = part(parts, CURLUPART_SCHEME, 0, &space);
    place->is_tls = scheme != NULL && strcmp(scheme, "https") == 0;
    const char *port = part(parts, CURLUPART_PORT, CURLU_DEFAULT_PORT, &space);
    place->port = port == NULL ? 0 : (int)strtol(port, NULL, 10);
    if (place->port < LOW_PORTS && place->port != 80 && place->port != 443)
        return "has a port that is another service's; 80, 443 and those from 1024 on are right";
    const char *whole = part(parts, CURLUPART_URL, 0, &space);
    if (whole == NULL || strlen(whole) > GUARD_URL_BYTES)
        return "is longer than 2000 bytes";
    memcpy(place->url, whole, strlen(whole) + 1);
    return NULL;
}

owed_status
guard_read(const char *url, struct place *ret_place, owed_error *err)
{
    if (is_empty(url))
        return fail(err, OWED_INVALID, "there is no URL; https://host/path is right");
    if (strlen(url) > GUARD_URL_BYTES)
        return refuse(url, err, "is longer than 2000 bytes");
    CLEANUP(buf_done) struct buf ascii;
    buf_init(&ascii, (size_t)2 * GUARD_URL_BYTES);
    owed_status status = ascii_host(url, &ascii, err);
    if (status != OWED_OK)
        return status;
    if (ascii.failed)
        return fail_memory(err);
    const char *problem = url_problem(buf_text(&ascii));
    if (problem == NULL)
        problem = take_apart(buf_text(&ascii), ret_place);
    return problem == NULL ? OWED_OK : refuse(url, err, problem);
}

owed_status
owed_address_add(owed_address_list *list, const char *address, owed_error *err)
{
    if (list->count == GUARD_ADDRESSES)
        return fail(err, OWED_LIMIT, "a host has more than %d addresses", GUARD_ADDRESSES);
    if (is_empty(address) || !address_read(address, &list->list[list->count]))
        return fail(err, OWED_INVALID, "\"%s\" is no address; 192.0.2.1 or 2001:db8::1 is right",
            or_empty(address));
    list->count++;
    return OWED_OK;
}

static void
free_found(struct addrinfo **found)
{
    if (*found != NULL)
        freeaddrinfo(*found);
}

/* look_up is getaddrinfo. More addresses than there is room for are not called. */
static owed_status
look_up(const char *host, owed_address_list *list, owed_error *err)
{
    const struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
    CLEANUP(free_found) struct addrinfo *found = NULL;
    int code = getaddrinfo(host, NULL, &hints, &found);
    if (code != 0)
        return fail_native(err, OWED_UNAVAILABLE, code, "the host %s could not be looked up: %s",
            host, gai_strerror(code));
    for (const struct addrinfo *a = found; a != NULL && list->count < GUARD_ADDRESSES;
         a = a->ai_next)
        list->count += address_of(a->ai_addr, &list->list[list->count]);
    return OWED_OK;
}

static owed_status
ask(const struct guard *guard, const char *host, owed_address_list *list, owed_error *err)
{
    if (guard->resolve == NULL)
        return look_up(host, list, err);
    owed_error why = {0};
    owed_status status = guard->resolve(host, guard->resolve_state, list, &why);
    if (status == OWED_OK)
        return OWED_OK;
    return fail(err, OWED_UNAVAILABLE, "the host %s could not be looked up: %s", host,
        why.text[0] == '\0' ? "nobody said why" : why.text);
}

owed_status
guard_resolve(const struct guard *guard, const struct place *place, owed_address_list *ret_list,
    owed_error *err)
{
    ret_list->count = 0;
    bool is_literal = address_read(place->host, &ret_list->list[0]);
    if (is_literal)
        ret_list->count = 1;
    owed_status status = is_literal ? OWED_OK : ask(guard, place->host, ret_list, err);
    if (status == OWED_OK && ret_list->count == 0)
        status = fail(err, OWED_UNAVAILABLE, "the host %s has no address", place->host);
    for (size_t i = 0; i < ret_list->count && status == OWED_OK; i++) {
        const char *problem = address_problem(&ret_list->list[i], guard->allowed);
        char text[NETWORK_TEXT_BYTES];
        if (problem == NULL)
            continue;
        address_write(&ret_list->list[i], text);
        status = fail(err, OWED_INVALID,
            "the host %s is at %s, %s: no endpoint may be there, unless \"allow\" names its network",
            place->host, text, problem);
    }
    return status;
}

void
guard_write_pin(const struct place *place, const owed_address_list *list, struct buf *text)
{
    buf_printf(text, "%s:%d:", place->host, place->port);
    for (size_t i = 0; i < list->count; i++) {
        char written[NETWORK_TEXT_BYTES];
        const char *address = address_write(&list->list[i], written);
        bool is_v6 = list->list[i].is_v6;
        buf_printf(
            text, "%s%s%s%s", i == 0 ? "" : ",", is_v6 ? "[" : "", address, is_v6 ? "]" : "");
    }
}
