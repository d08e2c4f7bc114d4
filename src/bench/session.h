/* SPDX-License-Identifier: MIT
 *
 * session.h - one run of a benchmark: its place in the store, and how it is left.
 */
#ifndef BENCH_SESSION_H
#define BENCH_SESSION_H

#include <stdatomic.h>

#include "bench/bench.h"

#define BENCH_BULK 500 // events in one transaction, where it does not matter

struct bench {
    const struct benchmark *benchmark;
    const struct bench_plan *plan;
    struct report *report;
    owed *owed;    // fires and fills; its receivers are in the catalogue
    struct db *db; // of it
    owed_registry *registry;
    char *payload; // JSON
    owed_bytes bulk[BENCH_BULK];
    int64_t last_event_id;
    int64_t bare_id; // of the bare loop's last event
    // A receiver was run, on whatever thread; took NULL: nobody asks.
    atomic_llong taken;
    void (*took)(void *state);
    void *took_state;
};

/* The one type of event, opaque. */
extern const owed_event_type bench_event_type;

int64_t bench_knob(const struct bench *bench, enum knob knob);
int64_t bench_mono_us(void);

/* bench_open takes its place: what bench_run refuses is refused here. bench_close takes back all that was
 * written, and frees. */
owed_status bench_open(struct bench *bench, owed_error *err);
owed_status bench_close(struct bench *bench, owed_error *err);

/* bench_was_cleaned: did somebody take back what it wrote, as though it had been killed? */
bool bench_was_cleaned(const struct bench *bench);

/* bench_connect opens one more handle with the same declarations. */
owed_status bench_connect(const struct bench *bench, owed **ret_owed, owed_error *err);

/* bench_go_on answers ABORTED once bench_stop was called. */
bool bench_is_stopped(void);
owed_status bench_go_on(owed_error *err);

/* bench_pause waits so long, or until bench_stop. */
void bench_pause(int64_t us);

#endif
