/* SPDX-License-Identifier: MIT
 *
 * run_latency.c - from the end of a commit to the start of its receiver, in an idle relay.
 */
#include "base/clock.h"
#include "bench/fill.h"
#include "bench/meeting.h"
#include "bench/run.h"

#define PAUSE_US (30 * US_PER_MS) // the relay is idle again long before

static owed_status
measure(struct bench *bench, struct meeting *meeting, struct samples *waits, owed_error *err)
{
    int64_t rows = bench_knob(bench, KNOB_ROWS);
    int64_t took_us = 0;
    owed_status status = meeting_fire(meeting, &took_us, err); // until the relay is up
    for (int64_t i = 0; i < rows && status == OWED_OK; i++) {
        bench_pause(PAUSE_US);
        status = meeting_fire(meeting, &took_us, err);
        samples_add(waits, took_us);
    }
    return status;
}

static owed_status
measure_hands(struct bench *bench, struct hands *hands, owed_error *err)
{
    struct meeting meeting;
    struct samples waits = {0};
    owed_status status = meeting_init(&meeting, bench, hands, err);
    if (status != OWED_OK)
        return status;
    status = hands_relay(hands, false, err);
    if (status == OWED_OK)
        status = measure(bench, &meeting, &waits, err);
    hands_stop(hands);
    owed_status ended = hands_join(hands, status == OWED_OK ? err : NULL);
    meeting_done(&meeting);
    if (status == OWED_OK)
        status = ended;
    if (status == OWED_OK) {
        report_set(bench->report, FIGURE_COUNT, (double)waits.count);
        report_percentiles(bench->report, &waits);
    }
    samples_done(&waits);
    return status;
}

owed_status
run_latency(struct bench *bench, owed_error *err)
{
    struct hands hands;
    owed_status status = fill_history(bench, bench_knob(bench, KNOB_HISTORY), err);
    if (status == OWED_OK)
        status = hands_open(bench, &hands, 1, err);
    if (status != OWED_OK)
        return status;
    status = measure_hands(bench, &hands, err);
    hands_close(&hands);
    return status;
}
