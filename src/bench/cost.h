/* SPDX-License-Identifier: MIT
 *
 * cost.h - what a stretch of work costs beside time: bytes of log, transactions, what is left behind.
 *
 * A server counts for everybody, so that whoever else is at work on it shows here.
 */
#ifndef BENCH_COST_H
#define BENCH_COST_H

#include "bench/session.h"

struct cost {
    int64_t mono_us;
    int64_t log_bytes;    // servers: their log's. SQLite: what this process wrote to files
    int64_t transactions; // below 0: not known, as all others
    int64_t wake_ups;     // of this process
    int64_t cpu_us;
};

void cost_read(struct bench *bench, struct cost *ret_cost);

/* What the tables have come to; below 0: not known. */
struct sizes {
    int64_t dead_tuples, table_bytes, index_bytes;
};
void sizes_read(struct bench *bench, struct sizes *ret_sizes);

/* Each notes what became of it since then in the report. */
void cost_log(struct bench *bench, const struct cost *since, int64_t deliveries);
void cost_idle(struct bench *bench, const struct cost *since);
void cost_sizes(struct bench *bench);

#endif
