/* SPDX-License-Identifier: MIT
 *
 * run.h - the benchmarks: each measures between bench_open and bench_close, and fills in the report.
 */
#ifndef BENCH_RUN_H
#define BENCH_RUN_H

#include "bench/session.h"

owed_status run_fire(struct bench *bench, owed_error *err);
owed_status run_drain(struct bench *bench, owed_error *err);
owed_status run_claim(struct bench *bench, owed_error *err);
owed_status run_latency(struct bench *bench, owed_error *err);
owed_status run_idle(struct bench *bench, owed_error *err);
owed_status run_churn(struct bench *bench, owed_error *err);

#endif
