/* SPDX-License-Identifier: MIT
 *
 * endpoints.c - what may be said of endpoints when their receiver is declared.
 */
#include "base/error.h"
#include "base/limits.h"
#include "declare/check.h"

#define DISABLE_AFTER 10
#define REDIRECTS_MAX 5
#define PER_HOST 20
#define NETWORKS_MAX 64

/* next_network takes the next word of a list; false: there is none. */
static bool
next_network(const char **list, char word[static SHOWN_BYTES])
{
    *list += strspn(*list, " \t");
    size_t len = strcspn(*list, " \t");
    size_t kept = len < SHOWN_BYTES ? len : SHOWN_BYTES - 1;
    memcpy(word, *list, kept);
    word[kept] = '\0';
    *list += len;
    return len > 0;
}

static owed_status
check_allowed(const struct declaration *declaration, const char *allow, owed_error *err)
{
    char word[SHOWN_BYTES];
    size_t count = 0;
    while (next_network(&allow, word)) {
        struct network network;
        owed_error why;
        if (network_read(word, &network, &why) != OWED_OK)
            return refuse(declaration, err, "allow: %s", why.text);
        if (++count > NETWORKS_MAX)
            return refuse(declaration, err, "allow names more than %d networks", NETWORKS_MAX);
    }
    return OWED_OK;
}

static bool
is_key(const char *text)
{
    size_t len = strlen(text);
    return len <= LIMIT_LANE_BYTES &&
        strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-") == len;
}

static bool
is_source(const char *text)
{
    for (const char *p = text; *p != '\0'; p++)
        if (*p <= ' ' || *p > '~' || *p == '"' || *p == '\\')
            return false;
    return strlen(text) <= LIMIT_KEY_BYTES;
}

owed_status
check_endpoints(const struct declaration *declaration, owed_error *err)
{
    const owed_receiver *receiver = declaration->receiver;
    const owed_endpoint_settings *said = receiver->endpoints;
    if (said == NULL)
        return OWED_OK;
    if (strcmp(receiver->key, OWED_ENDPOINTS_RECEIVER) != 0)
        return refuse(declaration, err,
            "endpoints are the targets of one receiver; the key \"" OWED_ENDPOINTS_RECEIVER
            "\" is right");
    if (receiver->targets != NULL)
        return refuse(declaration, err,
            "targets and endpoints contradict each other; one of them alone is right");
    if (receiver->site == OWED_SITE_TASK)
        return refuse(declaration, err, "endpoints are called by the relay; site relay is right");
    if (!is_key(or_empty(said->tenant_key)))
        return refuse(declaration, err,
            "tenant-key is up to %d letters, digits, \"_\", \".\" and \"-\", such as tenant",
            LIMIT_LANE_BYTES);
    if (!is_source(or_empty(said->source)))
        return refuse(
            declaration, err, "source is no URI; one such as https://shop.example is right");
    if (said->disable_after < -1 || said->disable_after > LIMIT_MAX_ATTEMPTS)
        return refuse(declaration, err, "disable-after is %d; 1 to %d is right, or -1 for never",
            (int)said->disable_after, LIMIT_MAX_ATTEMPTS);
    if (said->per_host < 0 || said->per_host > 1000)
        return refuse(declaration, err, "per-host is %d; 1 to 1000 is right", (int)said->per_host);
    if (said->redirects < 0 || said->redirects > REDIRECTS_MAX)
        return refuse(declaration, err, "redirects is %d; 0 to %d is right", (int)said->redirects,
            REDIRECTS_MAX);
    return check_allowed(declaration, or_empty(said->allow), err);
}

const struct endpoints *
endpoints_copy(struct arena *arena, const owed_endpoint_settings *said, const char *app)
{
    struct endpoints *made = arena_alloc(arena, sizeof *made);
    struct network *list = arena_alloc(arena, NETWORKS_MAX * sizeof *list);
    if (made == NULL || list == NULL)
        return NULL;
    *made = (struct endpoints){.said = *said};
    made->said.allow = arena_strdup(arena, or_empty(said->allow));
    made->said.tenant_key = arena_strdup(arena, or_empty(said->tenant_key));
    made->said.source = is_empty(said->source) ? arena_printf(arena, "/%s", app)
                                               : arena_strdup(arena, said->source);
    if (made->said.allow == NULL || made->said.tenant_key == NULL || made->said.source == NULL)
        return NULL;
    if (said->disable_after == 0)
        made->said.disable_after = DISABLE_AFTER;
    if (said->per_host == 0)
        made->said.per_host = PER_HOST;
    char word[SHOWN_BYTES];
    for (const char *rest = made->said.allow;
         made->allowed.count < NETWORKS_MAX && next_network(&rest, word);)
        if (network_read(word, &list[made->allowed.count], NULL) == OWED_OK)
            made->allowed.count++;
    made->allowed.list = list;
    return made;
}

static bool
same(const char *a, const char *b)
{
    return strcmp(or_empty(a), or_empty(b)) == 0;
}

bool
endpoints_same(const owed_endpoint_settings *a, const owed_endpoint_settings *b)
{
    if (a == NULL || b == NULL)
        return a == b;
    int32_t after = a->disable_after != 0 ? a->disable_after : DISABLE_AFTER;
    int32_t other = b->disable_after != 0 ? b->disable_after : DISABLE_AFTER;
    return same(a->allow, b->allow) && a->resolve == b->resolve &&
        a->resolve_state == b->resolve_state && same(a->tenant_key, b->tenant_key) &&
        (is_empty(b->source) || same(a->source, b->source)) && after == other &&
        a->redirects == b->redirects &&
        (a->per_host != 0 ? a->per_host : PER_HOST) == (b->per_host != 0 ? b->per_host : PER_HOST);
}
