/* SPDX-License-Identifier: MIT
 *
 * run_idle.c - what a relay costs that has nothing to do: transactions, wake-ups, time, memory.
 */
#include "base/clock.h"
#include "bench/cost.h"
#include "bench/fill.h"
#include "bench/meeting.h"
#include "bench/run.h"

#define SETTLE_US (2 * US_PER_SECOND) // what it does right after work is not what it does when idle

static owed_status
measure(struct bench *bench, struct meeting *meeting, owed_error *err)
{
    int64_t took_us = 0;
    owed_status status = meeting_fire(meeting, &took_us, err); // until the relay is up
    if (status != OWED_OK)
        return status;
    bench_pause(SETTLE_US);
    struct cost before;
    cost_read(bench, &before);
    bench_pause(bench_knob(bench, KNOB_DURATION_US));
    cost_idle(bench, &before);
    report_set(bench->report, FIGURE_SECONDS,
        (double)(bench_mono_us() - before.mono_us) / (double)US_PER_SECOND);
    return bench_go_on(err);
}

static owed_status
measure_hands(struct bench *bench, struct hands *hands, owed_error *err)
{
    struct meeting meeting;
    owed_status status = meeting_init(&meeting, bench, hands, err);
    if (status != OWED_OK)
        return status;
    status = hands_relay(hands, false, err);
    if (status == OWED_OK)
        status = measure(bench, &meeting, err);
    hands_stop(hands);
    owed_status ended = hands_join(hands, status == OWED_OK ? err : NULL);
    meeting_done(&meeting);
    return status == OWED_OK ? ended : status;
}

owed_status
run_idle(struct bench *bench, owed_error *err)
{
    struct hands hands;
    owed_status status = fill_history(bench, bench_knob(bench, KNOB_HISTORY), err);
    if (status == OWED_OK)
        status = hands_open(bench, &hands, bench_knob(bench, KNOB_CONCURRENCY), err);
    if (status != OWED_OK)
        return status;
    status = measure_hands(bench, &hands, err);
    hands_close(&hands);
    return status;
}
