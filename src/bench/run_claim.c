/* SPDX-License-Identifier: MIT
 *
 * run_claim.c - what a claim costs in front of a backlog and behind a history; what was claimed is let lie.
 */
#include "bench/bare_loop.h"
#include "bench/cost.h"
#include "bench/fill.h"
#include "bench/run.h"

#define LEASE_US OWED_HOURS(1)
#define CLAIM_BYTES ((size_t)64 << 20)

static owed_status
claim_once(struct bench *bench, struct arena *arena, size_t *ret_count, owed_error *err)
{
    static const char *const lanes[] = {BENCH_LANE, NULL};
    struct claim claim = {
        .claimed_by = BENCH_APP ".00000000/0",
        .lease_us = LEASE_US,
        .kind = "inside",
        .lanes = lanes,
        .limit = (int32_t)bench_knob(bench, KNOB_BATCH),
        .max_bytes = CLAIM_BYTES,
    };
    struct claimed *rows = NULL;
    owed_status status = store_now(bench->db, &claim.now_us, err);
    return status == OWED_OK ? store_claim(bench->db, &claim, arena, &rows, ret_count, err)
                             : status;
}

static owed_status
measure(struct bench *bench, struct samples *waits, struct pace *pace, owed_error *err)
{
    int64_t wanted = bench_knob(bench, KNOB_ROWS) * bench_knob(bench, KNOB_RECEIVERS);
    size_t count = 1;
    owed_status status = OWED_OK;
    while (status == OWED_OK && count > 0 && pace->count < wanted) {
        struct arena arena;
        arena_init(&arena, 0);
        int64_t start_us = bench_mono_us();
        status = claim_once(bench, &arena, &count, err);
        int64_t took_us = bench_mono_us() - start_us;
        arena_done(&arena);
        if (status == OWED_OK)
            status = bench_go_on(err);
        samples_add(waits, took_us);
        pace->count += (int64_t)count;
        pace->us += took_us;
    }
    return status;
}

static owed_status
bare_half(struct bench *bench, struct pace *pace, owed_error *err)
{
    owed_status status = bare_fire(bench, (bare_events(bench) + 1) / 2, NULL, err);
    return status == OWED_OK ? bare_claim(bench, pace, err) : status;
}

static owed_status
measure_between(struct bench *bench, owed_error *err)
{
    struct pace bare = {0}, ours = {0};
    struct samples waits = {0};
    struct cost before = {0};
    owed_status status = bare_half(bench, &bare, err);
    cost_read(bench, &before);
    if (status == OWED_OK)
        status = measure(bench, &waits, &ours, err);
    if (status == OWED_OK)
        cost_log(bench, &before, ours.count);
    if (status == OWED_OK)
        status = bare_half(bench, &bare, err);
    if (status == OWED_OK) {
        report_rates(bench->report, ours.count, ours.us, pace_rate(&bare));
        report_percentiles(bench->report, &waits);
        cost_sizes(bench);
    }
    samples_done(&waits);
    return status;
}

owed_status
run_claim(struct bench *bench, owed_error *err)
{
    int64_t owed_events = bench_knob(bench, KNOB_ROWS) + bench_knob(bench, KNOB_BACKLOG);
    owed_status status = fill_history(bench, bench_knob(bench, KNOB_HISTORY), err);
    if (status == OWED_OK)
        status = fill_owed(bench, owed_events, err);
    return status == OWED_OK ? measure_between(bench, err) : status;
}
