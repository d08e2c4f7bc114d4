/* SPDX-License-Identifier: MIT
 *
 * redirect.c - where a request may be sent on to.
 *
 * The endpoint's owner named one host: neither what happened nor a signature for it is anybody else's business, so that a hop
 * to another host is not made, whatever its address.
 */
#include "receive/redirect.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "receive/target.h"

#define REPEATS_1 307 // with the same method and body; of all others that is not said
#define REPEATS_2 308

const char *
redirect_problem(const struct place *from, const struct place *to)
{
    if (strcasecmp(from->host, to->host) != 0)
        return "it is another host, and no redirect is followed there";
    if (from->is_tls && !to->is_tls)
        return "it is http after https, and no redirect is followed there";
    return NULL;
}

static bool
stop(struct call *call, const char *why)
{
    snprintf(call->stopped, sizeof call->stopped, "%s", why);
    return false;
}

static bool
check(struct call *call, const char *to, struct place *place)
{
    owed_error err = {0};
    if (call->hops >= call->flight->delivery.receiver->endpoints->said.redirects)
        return stop(call, "it is one redirect too many");
    if (guard_read(to, place, &err) != OWED_OK)
        return stop(call, err.text);
    const char *problem = redirect_problem(&call->place, place);
    return problem == NULL || stop(call, problem);
}

bool
redirect_take(struct call *call)
{
    struct place place;
    long status = 0;
    const char *to = NULL;
    curl_off_t took_us = 0;
    CURL *easy = call->transfer.easy;
    curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
    curl_easy_getinfo(easy, CURLINFO_REDIRECT_URL, &to);
    curl_easy_getinfo(easy, CURLINFO_TOTAL_TIME_T, &took_us);
    if (to == NULL || call->flight->delivery.receiver->endpoints->said.redirects == 0)
        return false;
    if (status != REPEATS_1 && status != REPEATS_2)
        return stop(call, "only 307 and 308 are followed");
    if (!check(call, to, &place))
        return false;
    char *shown = url_shown(place.url);
    if (shown == NULL)
        return stop(call, "out of memory");
    free(call->shown);
    call->shown = shown;
    call->place = place;
    call->hops++;
    call->spent_us += took_us;
    return true;
}
