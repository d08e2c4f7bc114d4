/* SPDX-License-Identifier: MIT
 *
 * target.c - a tree of destinations, by the address of their receiver.
 */
#include "receive/target.h"

#include <search.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "receive/url_parts.h"

char *
url_shown(const char *url)
{
    CLEANUP(url_parts_free) CURLU *parts = curl_url();
    if (parts == NULL)
        return NULL;
    CLEANUP(url_part_free) char *shown = NULL;
    if (curl_url_set(parts, CURLUPART_URL, url, 0) != CURLUE_OK)
        return strndup(url, strcspn(url, "?#"));
    const CURLUPart hidden[] = {
        CURLUPART_USER, CURLUPART_PASSWORD, CURLUPART_OPTIONS, CURLUPART_QUERY, CURLUPART_FRAGMENT};
    for (size_t i = 0; i < sizeof hidden / sizeof hidden[0]; i++) {
        if (curl_url_set(parts, hidden[i], NULL, 0) != CURLUE_OK)
            return NULL;
    }
    if (curl_url_get(parts, CURLUPART_URL, &shown, 0) != CURLUE_OK)
        return NULL;
    return strdup(shown);
}

/* url_host writes "host:port". */
static char *
url_host(const char *url)
{
    CLEANUP(url_parts_free) CURLU *parts = curl_url();
    CLEANUP(url_part_free) char *host = NULL;
    CLEANUP(url_part_free) char *port = NULL;
    if (parts == NULL)
        return NULL;
    if (curl_url_set(parts, CURLUPART_URL, url, 0) != CURLUE_OK ||
        curl_url_get(parts, CURLUPART_HOST, &host, 0) != CURLUE_OK ||
        curl_url_get(parts, CURLUPART_PORT, &port, CURLU_DEFAULT_PORT) != CURLUE_OK)
        return strdup("the host");
    char *text = NULL;
    return asprintf(&text, "%s:%s", host, port) < 0 ? NULL : text;
}

static int
by_receiver(const void *a, const void *b)
{
    uintptr_t left = (uintptr_t)((const struct target *)a)->receiver;
    uintptr_t right = (uintptr_t)((const struct target *)b)->receiver;
    return left < right ? -1 : left > right;
}

static void
free_target(void *node)
{
    struct target *target = node;
    if (target == NULL)
        return;
    free(target->shown);
    free(target->host);
    explicit_bzero(&target->secrets, sizeof target->secrets);
    free(target);
}

static struct target *
new_target(const struct receiver *receiver)
{
    struct target *target = calloc(1, sizeof *target);
    if (target == NULL)
        return NULL;
    target->receiver = receiver;
    target->shown = url_shown(receiver->declared.webhook);
    target->host = url_host(receiver->declared.webhook);
    if (target->shown != NULL && target->host != NULL)
        return target;
    free_target(target);
    return NULL;
}

struct target *
target_find(void **root, const struct receiver *receiver)
{
    const struct target wanted = {.receiver = receiver};
    struct target *const *found = tfind(&wanted, root, by_receiver);
    if (found != NULL)
        return *found;
    struct target *target = new_target(receiver);
    if (target != NULL && tsearch(target, root, by_receiver) == NULL) {
        free_target(target);
        return NULL;
    }
    return target;
}

void
targets_free(void *root)
{
    tdestroy(root, free_target);
}
