/* SPDX-License-Identifier: MIT
 *
 * rate.c - buckets of endpoints that allow so many requests a second.
 */
#include "receive/rate.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

int64_t
rate_take(struct rate *rate, int32_t per_second, int64_t now_us)
{
    if (per_second <= 0)
        return 0;
    int64_t each_us = US_PER_SECOND / per_second;
    if (rate->next_us < now_us - US_PER_SECOND + each_us)
        rate->next_us = now_us - US_PER_SECOND + each_us;
    if (rate->next_us <= now_us) {
        rate->next_us += each_us;
        return 0;
    }
    rate->line_us = rate->line_us < rate->next_us ? rate->next_us : rate->line_us + each_us;
    return rate->line_us - now_us;
}

struct bucket {
    const char *id;
    struct rate rate;
};

static int
by_bucket_id(const void *a, const void *b)
{
    return strcmp(((const struct bucket *)a)->id, ((const struct bucket *)b)->id);
}

static void
free_bucket(void *node)
{
    struct bucket *bucket = node;
    free((void *)(uintptr_t)bucket->id);
    free(bucket);
}

struct rate *
rates_find(void **root, const char *id)
{
    const struct bucket wanted = {.id = id};
    struct bucket *const *found = tfind(&wanted, root, by_bucket_id);
    if (found != NULL)
        return &(*found)->rate;
    struct bucket *bucket = calloc(1, sizeof *bucket);
    if (bucket == NULL)
        return NULL;
    bucket->id = strdup(id);
    if (bucket->id == NULL || tsearch(bucket, root, by_bucket_id) == NULL) {
        free_bucket(bucket);
        return NULL;
    }
    return &bucket->rate;
}

void
rates_done(void **root)
{
    tdestroy(*root, free_bucket);
    *root = NULL;
}
