/* SPDX-License-Identifier: MIT
 *
 * fill.h - events of a benchmark, many in a transaction.
 */
#ifndef BENCH_FILL_H
#define BENCH_FILL_H

#include "bench/session.h"

/* fill_fire fires events on a handle in one transaction; of at most BENCH_BULK. ret_last_id (may be NULL) is
 * the last one's. */
owed_status fill_fire(
    const struct bench *bench, owed *handle, int64_t events, int64_t *ret_last_id, owed_error *err);

/* fill_owed fires so many on the benchmark's own handle, which are then owed. */
owed_status fill_owed(struct bench *bench, int64_t events, owed_error *err);

/* fill_history writes so many as though they had been delivered. */
owed_status fill_history(struct bench *bench, int64_t events, owed_error *err);

#endif
