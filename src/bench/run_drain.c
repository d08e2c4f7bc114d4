/* SPDX-License-Identifier: MIT
 *
 * run_drain.c - how fast what is owed is claimed, run and acknowledged.
 */
#include "bench/bare_loop.h"
#include "bench/cost.h"
#include "bench/fill.h"
#include "bench/hands.h"
#include "bench/run.h"

/* When enough was run the relays end: what is behind it is a backlog. */
struct goal {
    struct bench *bench;
    struct hands *hands;
    int64_t deliveries;
};

static void
took(void *state)
{
    struct goal *goal = state;
    if (atomic_load(&goal->bench->taken) >= goal->deliveries)
        hands_stop(goal->hands);
}

static owed_status
bare_half(struct bench *bench, struct pace *pace, owed_error *err)
{
    owed_status status = bare_fire(bench, (bare_events(bench) + 1) / 2, NULL, err);
    return status == OWED_OK ? bare_drain(bench, pace, err) : status;
}

static owed_status
measure(struct bench *bench, struct hands *hands, struct pace *pace, owed_error *err)
{
    struct goal goal = {
        bench, hands, bench_knob(bench, KNOB_ROWS) * bench_knob(bench, KNOB_RECEIVERS)};
    bench->took_state = &goal;
    bench->took = took;
    struct cost before;
    cost_read(bench, &before);
    int64_t start_us = bench_mono_us();
    owed_status status = hands_relay(hands, true, err);
    if (status == OWED_OK)
        status = hands_join(hands, err);
    bench->took = NULL;
    if (status != OWED_OK)
        return status;
    pace->count = hands_succeeded(hands);
    pace->us = hands_ended_us(hands) - start_us;
    cost_log(bench, &before, pace->count);
    struct samples claims = {0};
    hands_waits(hands, &claims);
    report_percentiles(bench->report, &claims);
    samples_done(&claims);
    return OWED_OK;
}

owed_status
run_drain(struct bench *bench, owed_error *err)
{
    struct pace bare = {0}, ours = {0};
    struct hands hands;
    int64_t owed_events = bench_knob(bench, KNOB_ROWS) + bench_knob(bench, KNOB_BACKLOG);
    owed_status status = fill_history(bench, bench_knob(bench, KNOB_HISTORY), err);
    if (status == OWED_OK)
        status = fill_owed(bench, owed_events, err);
    if (status == OWED_OK)
        status = hands_open(bench, &hands, bench_knob(bench, KNOB_CONCURRENCY), err);
    if (status != OWED_OK)
        return status;
    status = bare_half(bench, &bare, err);
    if (status == OWED_OK)
        status = measure(bench, &hands, &ours, err);
    hands_close(&hands);
    if (status == OWED_OK)
        status = bare_half(bench, &bare, err);
    if (status != OWED_OK)
        return status;
    report_rates(bench->report, ours.count, ours.us, pace_rate(&bare));
    cost_sizes(bench);
    return OWED_OK;
}
