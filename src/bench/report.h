/* SPDX-License-Identifier: MIT
 *
 * report.h - what a benchmark found, for people and as one JSON document whose keys are always the same.
 */
#ifndef BENCH_REPORT_H
#define BENCH_REPORT_H

#include <stdint.h>

#include "base/buf.h"
#include "bench/samples.h"

enum figure {
    FIGURE_COUNT, // what was measured, so many
    FIGURE_SECONDS,
    FIGURE_RATE,
    FIGURE_BARE_RATE,
    FIGURE_RATIO,
    FIGURE_MAX_RATE, // churn: what it runs at half of
    FIGURE_P50,
    FIGURE_P90,
    FIGURE_P99,
    FIGURE_MAX,
    FIGURE_LOG_BYTES, // a delivery
    FIGURE_DEAD_TUPLES,
    FIGURE_TABLE_BYTES,
    FIGURE_INDEX_BYTES,
    FIGURE_TRANSACTIONS, // a second
    FIGURE_WAKE_UPS,     // a second
    FIGURE_CPU,          // microseconds a second
    FIGURE_RESIDENT,     // bytes
    FIGURES
};

/* A part of a churn. Rates and times as above; below 0: not known. */
struct slice {
    double rate;
    int64_t claim_p50_us;
    int64_t dead_tuples, table_bytes, index_bytes;
};
#define SLICES 12

/* A setting as it was in force. */
struct report_setting {
    const char *key;
    int64_t value; // below 0: the benchmark takes none
};
#define REPORT_SETTINGS 10

struct report {
    const char *benchmark;
    const char *store; // scheme
    const char *unit;  // what count and rate are of
    const char *wait;  // what the percentiles are of; NULL: there are none
    struct report_setting settings[REPORT_SETTINGS];
    double figures[FIGURES]; // NaN: none
    struct slice slices[SLICES];
    size_t slice_count;
};

/* report_init leaves all figures at none. */
void report_init(struct report *report);
void report_set(struct report *report, enum figure figure, double value);
bool report_has(const struct report *report, enum figure figure);

/* per_second is the rate of so many in so long; a time too short to be seen counts as a microsecond. */
double per_second(int64_t count, int64_t took_us);

/* report_rates notes so many in so long, and what the bare loop came to; bare_rate 0: there is none. */
void report_rates(struct report *report, int64_t count, int64_t took_us, double bare_rate);
void report_percentiles(struct report *report, struct samples *samples);

void report_json(const struct report *report, struct buf *json);
void report_text(const struct report *report, struct buf *text);

#endif
