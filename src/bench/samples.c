/* SPDX-License-Identifier: MIT
 *
 * samples.c - how long each of many things took, and what that comes to.
 */
#include "bench/samples.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_SIZE 1024

static bool
make_room(struct samples *samples, size_t wanted)
{
    size_t size = samples->size == 0 ? FIRST_SIZE : samples->size;
    while (size < wanted)
        size *= 2;
    if (size == samples->size)
        return true;
    int64_t *more = realloc(samples->us, size * sizeof *more);
    if (more == NULL) {
        samples->no_memory = true;
        return false;
    }
    samples->us = more;
    samples->size = size;
    return true;
}

void
samples_add(struct samples *samples, int64_t took_us)
{
    if (make_room(samples, samples->count + 1))
        samples->us[samples->count++] = took_us;
}

void
samples_append(struct samples *samples, const struct samples *more)
{
    if (more->count == 0 || !make_room(samples, samples->count + more->count))
        return;
    memcpy(samples->us + samples->count, more->us, more->count * sizeof *more->us);
    samples->count += more->count;
}

void
samples_clear(struct samples *samples)
{
    samples->count = 0;
}

void
samples_done(struct samples *samples)
{
    free(samples->us);
    *samples = (struct samples){0};
}

static int
by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a;
    int64_t y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* at is the nearest rank: of 100 samples p99 is the 99th, of 10 the last. */
static int64_t
at(const struct samples *samples, size_t percent)
{
    size_t rank = (samples->count * percent + 99) / 100;
    return samples->us[rank == 0 ? 0 : rank - 1];
}

bool
samples_sum(struct samples *samples, struct percentiles *ret_percentiles)
{
    if (samples->count == 0)
        return false;
    qsort(samples->us, samples->count, sizeof *samples->us, by_value);
    *ret_percentiles = (struct percentiles){
        .p50 = at(samples, 50),
        .p90 = at(samples, 90),
        .p99 = at(samples, 99),
        .max = samples->us[samples->count - 1],
    };
    return true;
}
