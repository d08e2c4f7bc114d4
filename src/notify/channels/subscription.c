/* SPDX-License-Identifier: MIT
 *
 * subscription.c - a browser that wants to be pushed to.
 */
#include "notify/channels/subscription.h"

#include <string.h>
#include <strings.h>

#include "base/cleanup.h"
#include "base/digest.h"
#include "base/error.h"
#include "base/json.h"
#include "notify/channels/http.h"

#define SUBSCRIPTION_DEPTH 8

static owed_status
refuse(owed_error *err, const char *what)
{
    return fail(err, OWED_INVALID,
        "the address is no subscription of web push: %s; {\"endpoint\": \"https://...\", \"keys\": "
        "{\"p256dh\": \"...\", \"auth\": \"...\"}} would be right",
        what);
}

static bool
read_member(struct json object, const char *key, struct arena *arena, struct str *ret_text)
{
    struct json value;
    return json_member(object, key, &value) && value.type == JSON_STRING &&
        json_read_string(value, arena, ret_text, NULL) == OWED_OK &&
        strlen(ret_text->p) == ret_text->len;
}

/* read_bytes takes exactly so many out of base64url. */
static bool
read_bytes(struct json keys, const char *key, struct arena *arena, uint8_t *ret_bytes, size_t len)
{
    struct str text;
    CLEANUP(secret_buf_done) struct buf bytes;
    buf_init(&bytes, len);
    if (!read_member(keys, key, arena, &text) || !base64url_read(text, &bytes) || bytes.len != len)
        return false;
    memcpy(ret_bytes, bytes.p, len);
    return true;
}

static owed_status
read_endpoint(struct json root, struct arena *arena, struct subscription *ret, owed_error *err)
{
    struct str endpoint;
    if (!read_member(root, "endpoint", arena, &endpoint))
        return refuse(err, "its endpoint lacks");
    if (http_url_check(endpoint.p, NULL) != OWED_OK)
        return refuse(err, "its endpoint is no URL");
    const char *host = strstr(endpoint.p, "://") + 3;
    size_t len = (size_t)(host - endpoint.p) + strcspn(host, "/?");
    if (len >= sizeof ret->origin)
        return refuse(err, "its endpoint has too long a host");
    for (size_t i = 0; i < len; i++) {
        char c = endpoint.p[i];
        ret->origin[i] = (char)(c >= 'A' && c <= 'Z' ? c + 32 : c);
    }
    ret->origin[len] = '\0';
    ret->endpoint = endpoint.p;
    return OWED_OK;
}

owed_status
subscription_read(const char *address, struct arena *arena, struct subscription *ret_subscription,
    owed_error *err)
{
    struct str text = str_of(address);
    struct subscription read = {0};
    struct json keys;
    if (json_check(text, SUBSCRIPTION_DEPTH, NULL) != OWED_OK ||
        json_root(text).type != JSON_OBJECT)
        return refuse(err, "it is no JSON object");
    owed_status status = read_endpoint(json_root(text), arena, &read, err);
    if (status != OWED_OK)
        return status;
    if (!json_member(json_root(text), "keys", &keys) || keys.type != JSON_OBJECT)
        return refuse(err, "its keys lack");
    if (!read_bytes(keys, "p256dh", arena, read.keys.point, sizeof read.keys.point) ||
        !webpush_point_is_good(read.keys.point))
        return refuse(err, "p256dh is no key on P-256");
    if (!read_bytes(keys, "auth", arena, read.keys.auth, sizeof read.keys.auth))
        return refuse(err, "auth is not of 16 bytes");
    *ret_subscription = read;
    return OWED_OK;
}

bool
subscription_host_is(const struct subscription *subscription, const char *const *hosts)
{
    const char *host = strstr(subscription->origin, "://") + 3;
    size_t len = host[0] == '[' ? strcspn(host, "]") + 1 : strcspn(host, ":");
    for (; *hosts != NULL; hosts++) {
        const char *wanted = *hosts;
        bool is_any = strncmp(wanted, "*.", 2) == 0;
        wanted += is_any ? 1 : 0;
        size_t wanted_len = strlen(wanted);
        if ((is_any ? len > wanted_len : len == wanted_len) &&
            strncasecmp(host + len - wanted_len, wanted, wanted_len) == 0)
            return true;
    }
    return false;
}
