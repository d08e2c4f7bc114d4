/* SPDX-License-Identifier: MIT
 *
 * samples.h - how long each of many things took, and what that comes to.
 */
#ifndef BENCH_SAMPLES_H
#define BENCH_SAMPLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Begin with {0}. */
struct samples {
    int64_t *us;
    size_t count, size;
    bool no_memory; // some were dropped
};

void samples_add(struct samples *samples, int64_t took_us);
void samples_append(struct samples *samples, const struct samples *more);
void samples_clear(struct samples *samples);
void samples_done(struct samples *samples);

/* The least value that so many of a hundred samples are not above: by nearest rank. */
struct percentiles {
    int64_t p50, p90, p99, max;
};

/* samples_sum sorts the samples; false: there are none. */
bool samples_sum(struct samples *samples, struct percentiles *ret_percentiles);

#endif
