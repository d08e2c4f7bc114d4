/* SPDX-License-Identifier: MIT
 *
 * run_fire.c - how fast events are fired, on one connection or several.
 */
#include "bench/bare_loop.h"
#include "bench/cost.h"
#include "bench/fill.h"
#include "bench/hands.h"
#include "bench/run.h"

static owed_status
measure(struct bench *bench, struct hands *hands, struct pace *pace, owed_error *err)
{
    struct cost before;
    cost_read(bench, &before);
    int64_t start_us = bench_mono_us();
    owed_status status = hands_fire(hands, bench_knob(bench, KNOB_ROWS), err);
    if (status == OWED_OK)
        status = hands_join(hands, err);
    if (status != OWED_OK)
        return status;
    pace->count = hands_succeeded(hands);
    pace->us = hands_ended_us(hands) - start_us;
    cost_log(bench, &before, pace->count * bench_knob(bench, KNOB_RECEIVERS));
    struct samples waits = {0};
    hands_waits(hands, &waits);
    report_percentiles(bench->report, &waits);
    samples_done(&waits);
    return OWED_OK;
}

owed_status
run_fire(struct bench *bench, owed_error *err)
{
    struct pace bare = {0}, ours = {0};
    struct hands hands;
    int64_t half = (bare_events(bench) + 1) / 2;
    owed_status status = fill_history(bench, bench_knob(bench, KNOB_HISTORY), err);
    if (status == OWED_OK)
        status = hands_open(bench, &hands, bench_knob(bench, KNOB_CONCURRENCY), err);
    if (status != OWED_OK)
        return status;
    status = bare_fire(bench, half, &bare, err);
    if (status == OWED_OK)
        status = measure(bench, &hands, &ours, err);
    hands_close(&hands);
    if (status == OWED_OK)
        status = bare_fire(bench, half, &bare, err);
    if (status == OWED_OK)
        report_rates(bench->report, ours.count, ours.us, pace_rate(&bare));
    return status;
}
