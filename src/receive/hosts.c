/* SPDX-License-Identifier: MIT
 *
 * hosts.c - windows that grow with answers, and rests that grow with failures.
 */
#include "receive/hosts.h"

#include <search.h>
#include <stdlib.h>

#include "base/clock.h"

#define FIRST_WINDOW 2

static int
by_name(const void *a, const void *b)
{
    return strcmp(((const struct host *)a)->name, ((const struct host *)b)->name);
}

static void
free_host(void *node)
{
    struct host *host = node;
    free((void *)(uintptr_t)host->name);
    free(host);
}

struct sweep {
    int64_t now_us;
    struct host *found[64];
    size_t count;
};

static void
sweep_one(const void *node, VISIT visit, void *state)
{
    struct sweep *sweep = state;
    struct host *host = *(struct host *const *)node;
    bool is_idle = host->users == 0 && host->not_before_us <= sweep->now_us;
    bool is_room = sweep->count < sizeof sweep->found / sizeof sweep->found[0];
    if ((visit == postorder || visit == leaf) && is_idle && is_room)
        sweep->found[sweep->count++] = host;
}

static void
forget_some(struct hosts *hosts, int64_t now_us)
{
    struct sweep sweep = {.now_us = now_us};
    twalk_r(hosts->tree, sweep_one, &sweep);
    for (size_t i = 0; i < sweep.count; i++) {
        tdelete(sweep.found[i], &hosts->tree, by_name);
        free_host(sweep.found[i]);
        hosts->count--;
    }
}

static struct host *
find(struct hosts *hosts, const char *name, int64_t now_us)
{
    const struct host wanted = {.name = name};
    struct host *const *found = tfind(&wanted, &hosts->tree, by_name);
    if (found != NULL)
        return *found;
    if (hosts->count >= HOSTS_MAX)
        forget_some(hosts, now_us);
    struct host *host = calloc(1, sizeof *host);
    if (host == NULL)
        return NULL;
    host->name = strdup(name);
    host->window = FIRST_WINDOW;
    if (host->name == NULL || tsearch(host, &hosts->tree, by_name) == NULL) {
        free_host(host);
        return NULL;
    }
    hosts->count++;
    return host;
}

struct host *
hosts_find(struct hosts *hosts, const char *name, int64_t now_us)
{
    struct host *host = find(hosts, name, now_us);
    if (host != NULL)
        host->users++;
    return host;
}

void
host_leave(struct host *host)
{
    host->users--;
}

void
hosts_done(struct hosts *hosts)
{
    tdestroy(hosts->tree, free_host);
    *hosts = (struct hosts){0};
}

int64_t
host_ask(const struct host *host, int64_t now_us)
{
    if (host->not_before_us > now_us)
        return host->not_before_us - now_us;
    return host->in_flight >= host->window ? HOSTS_FULL : 0;
}

void
host_begin(struct host *host)
{
    host->in_flight++;
}

static void
rest(struct host *host, int64_t now_us)
{
    host->rest_us = host->rest_us == 0 ? HOSTS_REST_US : host->rest_us * 2;
    if (host->rest_us > HOSTS_LONGEST_REST_US)
        host->rest_us = HOSTS_LONGEST_REST_US;
    host_wait_until(host, now_us + host->rest_us);
}

enum host_word
host_word_of(bool is_there, int32_t code)
{
    if (!is_there || code == 429 || (code >= 502 && code <= 504))
        return HOST_ILL;
    return code >= 500 ? HOST_SILENT : HOST_WELL;
}

void
host_miss(struct host *host, int64_t now_us)
{
    host->failures++;
    host->window = host->window > 1 ? host->window / 2 : 1;
    if (host->failures >= HOSTS_BREAK_AFTER) {
        host->window = 1;
        // Those that were in flight together say it once.
        if (host->not_before_us <= now_us)
            rest(host, now_us);
    }
}

void
host_end(struct host *host, enum host_word word, int32_t limit, int64_t now_us)
{
    host->in_flight--;
    if (word == HOST_SILENT)
        return;
    if (word == HOST_WELL) {
        host->failures = 0;
        host->rest_us = 0;
        host->window = host->window < limit ? host->window + 1 : limit;
        return;
    }
    host_miss(host, now_us);
}

void
host_wait_until(struct host *host, int64_t at_us)
{
    if (at_us > host->not_before_us)
        host->not_before_us = at_us;
}

void
host_wait_asked(struct host *host, int64_t asked_us, int64_t now_us)
{
    bool is_far = asked_us > HOSTS_LONGEST_WAIT_US;
    host_wait_until(host, now_us + (is_far ? HOSTS_LONGEST_WAIT_US : asked_us));
}
