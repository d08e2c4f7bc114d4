/* SPDX-License-Identifier: MIT
 *
 * bench.h - is this database fast enough? Benchmarks that run beside whatever else the store holds.
 *
 * A benchmark fires events of its own for receivers of its own in a lane of its own, measures, holds what
 * it measured against a bare loop (bare_loop.h), and takes back all that it wrote. Rows of others are
 * never written to, whatever happens.
 */
#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H

#include <owed/owed.h>

#include "bench/report.h"
#include "store/store.h"

#define BENCH_APP "owed.bench"
#define BENCH_LANE BENCH_APP "/default"
#define BENCH_EVENT BENCH_APP ".Event"
#define BENCH_RECEIVERS_MAX 100
#define BENCH_CONCURRENCY_MAX 64

/* What may be said of a benchmark; each takes some of them. */
enum knob {
    KNOB_ROWS,         // events that are measured
    KNOB_BACKLOG,      // events that are owed behind them
    KNOB_HISTORY,      // events that were delivered long ago
    KNOB_PAYLOAD_SIZE, // bytes
    KNOB_RECEIVERS,    // of each event
    KNOB_CONCURRENCY,  // connections that fire, or relays
    KNOB_BATCH,        // events in a transaction, or rows in a claim
    KNOB_INSERTS,      // 1: receivers insert a row
    KNOB_GROUPS,       // 1: receivers that insert a row share transactions
    KNOB_DURATION_US,
    KNOB_COUNT
};
#define KNOB_NONE INT64_C(-1) // the benchmark does not take it

struct bench_plan {
    const char *url;
    int64_t busy_timeout_us;
    bool beside;               // also where others have rows
    int64_t knobs[KNOB_COUNT]; // KNOB_NONE where the benchmark takes none
};

struct bench;
struct benchmark {
    const char *name;
    const char *unit;          // what its rate counts
    const char *wait;          // what its percentiles are of; NULL: it has none
    int64_t knobs[KNOB_COUNT]; // what holds where nobody said
    owed_status (*run)(struct bench *bench, owed_error *err);
};
extern const struct benchmark benchmarks[]; // ends with a NULL name

const struct benchmark *bench_find(const char *name); // NULL: there is none

/*
 * bench_run measures and fills in the report. On its return nothing of it is left in the store; where that
 * cannot be had, the error says so. INVALID: others have rows there, and nothing was said of being beside
 * them; somebody receives every event, and would receive these; another benchmark runs, or was killed.
 * ABORTED: bench_stop was called.
 */
owed_status bench_run(const struct benchmark *benchmark, const struct bench_plan *plan,
    struct report *ret_report, owed_error *err);

/* bench_clean takes back what a benchmark that was killed has left. */
owed_status bench_clean(const struct bench_plan *plan, int64_t *ret_events, owed_error *err);

/* bench_stop ends the benchmark that runs in this process; from a signal handler, too. */
void bench_stop(void);

#endif
