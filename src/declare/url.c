/* SPDX-License-Identifier: MIT
 *
 * url.c - the little of RFC 3986 that a webhook's URL must keep to.
 */
#include "declare/url.h"

#include <strings.h>

#define LIMIT_PORT 65535

static bool
has_odd_byte(const char *url)
{
    for (const unsigned char *p = (const unsigned char *)url; *p != '\0'; p++)
        if (*p <= ' ' || *p > '~' || *p == '\\' || *p == '"' || *p == '<' || *p == '>')
            return true;
    return false;
}

/* after_scheme returns what follows "http://" or "https://", or NULL. */
static const char *
after_scheme(const char *url)
{
    static const char *const schemes[] = {"http://", "https://"};
    for (size_t i = 0; i < sizeof schemes / sizeof schemes[0]; i++)
        if (strncasecmp(url, schemes[i], strlen(schemes[i])) == 0)
            return url + strlen(schemes[i]);
    return NULL;
}

static bool
is_port(struct str port)
{
    unsigned long number = 0;
    if (port.len == 0 || port.len > 5)
        return false;
    for (size_t i = 0; i < port.len; i++) {
        if (port.p[i] < '0' || port.p[i] > '9')
            return false;
        number = number * 10 + (unsigned long)(port.p[i] - '0');
    }
    return number >= 1 && number <= LIMIT_PORT;
}

/* host_length counts the bytes of the host at the front of an authority, brackets included;
 * 0: there is none. */
static size_t
host_length(struct str authority)
{
    if (authority.len == 0 || authority.p[0] != '[') {
        const char *colon = memchr(authority.p, ':', authority.len);
        return colon == NULL ? authority.len : (size_t)(colon - authority.p);
    }
    const char *bracket = memchr(authority.p, ']', authority.len);
    return bracket == NULL || bracket == authority.p + 1 ? 0 : (size_t)(bracket - authority.p) + 1;
}

const char *
url_problem(const char *url)
{
    if (has_odd_byte(url))
        return "holds a byte that no URL can hold; blanks and the like are written as %20, a name "
               "beyond ASCII as xn--...";
    const char *rest = after_scheme(url);
    if (rest == NULL)
        return "is neither http:// nor https://";
    struct str authority = {rest, strcspn(rest, "/?#")};
    if (memchr(authority.p, '@', authority.len) != NULL)
        return "holds a user or password; sign with a secret instead";
    size_t host = host_length(authority);
    if (host == 0)
        return "has no host; https://host/path is right";
    if (host == authority.len)
        return NULL;
    struct str port = {authority.p + host + 1, authority.len - host - 1};
    if (authority.p[host] != ':' || !is_port(port))
        return "has a bad port; 1 to 65535 is right";
    return NULL;
}

struct str
url_without_query(const char *url)
{
    return (struct str){url, strcspn(url, "?#")};
}
