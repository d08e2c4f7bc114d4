/* SPDX-License-Identifier: MIT
 *
 * run_churn.c - fire on one connection, deliver and delete at half the rate that the store can do so, for as
 * long as is wanted: what a twelfth of that time is like at the beginning is what it should be like at the end.
 */
#include "base/clock.h"
#include "base/error.h"
#include "bench/cost.h"
#include "bench/fill.h"
#include "bench/hands.h"
#include "bench/run.h"
#include "bench/traces.h"

#define TRY_MIN_US US_PER_SECOND
#define TRY_MAX_US (10 * US_PER_SECOND)
#define TRY_OWED 2000 // deliveries that are owed while the highest rate is looked for
#define TRY_TAKEN 100 // deliveries without which there is no highest rate
#define TICK_US (5 * US_PER_MS)
#define TRIM_EVERY_US US_PER_SECOND
#define REST_US (60 * US_PER_SECOND)
#define UNNOTED (-1) // no slice: what is claimed is not of interest

struct churn {
    struct bench *bench;
    struct hands hands;
    atomic_int slice;
    int64_t fired;    // deliveries
    double rate;      // of events, that is kept to
    int64_t start_us; // monotonic
    int64_t trim_us;  // when to delete next
    int64_t slice_us; // when the slice that is on began
    int64_t slice_taken;
};

static int64_t
taken(const struct churn *churn)
{
    return atomic_load(&churn->bench->taken);
}

static owed_status
fire(struct churn *churn, int64_t events, owed_error *err)
{
    struct bench *bench = churn->bench;
    events = events > BENCH_BULK ? BENCH_BULK : events;
    owed_status status = fill_fire(bench, bench->owed, events, &bench->last_event_id, err);
    churn->fired += status == OWED_OK ? events * bench_knob(bench, KNOB_RECEIVERS) : 0;
    return status;
}

/* go_on fails once it is stopped, or a relay has ended by itself. */
static owed_status
go_on(struct churn *churn, owed_error *err)
{
    if (!hands_are_at_work(&churn->hands))
        return hands_join(&churn->hands, err);
    return bench_go_on(err);
}

/* rest waits until nothing is owed. */
static owed_status
rest(struct churn *churn, owed_error *err)
{
    int64_t give_up_us = bench_mono_us() + REST_US;
    while (taken(churn) < churn->fired) {
        owed_status status = go_on(churn, err);
        if (status != OWED_OK)
            return status;
        if (bench_mono_us() > give_up_us)
            return fail(err, OWED_BUSY, "what was fired is still not delivered after a minute");
        bench_pause(TICK_US);
    }
    return OWED_OK;
}

/* tries_on tells whether find_rate goes on: a start that was slow is no rate. */
static bool
tries_on(struct churn *churn, int64_t tried_us, int64_t try_us)
{
    return tried_us < try_us || (taken(churn) < TRY_TAKEN && tried_us < REST_US);
}

/* find_rate fires as fast as it is delivered. */
static owed_status
find_rate(struct churn *churn, owed_error *err)
{
    struct bench *bench = churn->bench;
    int64_t try_us = bench_knob(bench, KNOB_DURATION_US) / 6;
    try_us = try_us < TRY_MIN_US ? TRY_MIN_US : try_us > TRY_MAX_US ? TRY_MAX_US : try_us;
    int64_t start_us = bench_mono_us();
    owed_status status = OWED_OK;
    while (status == OWED_OK && tries_on(churn, bench_mono_us() - start_us, try_us)) {
        status = go_on(churn, err);
        if (status == OWED_OK && churn->fired - taken(churn) < TRY_OWED)
            status = fire(churn, bench_knob(bench, KNOB_BATCH), err);
        else if (status == OWED_OK)
            bench_pause(US_PER_MS);
    }
    int64_t took_us = bench_mono_us() - start_us;
    double most = per_second(taken(churn), took_us);
    report_set(bench->report, FIGURE_MAX_RATE, most);
    churn->rate = most / 2 / (double)bench_knob(bench, KNOB_RECEIVERS);
    if (status == OWED_OK && churn->rate < 1)
        return fail(err, OWED_BUSY, "the store delivers less than two events a second");
    return status == OWED_OK ? rest(churn, err) : status;
}

/* trim deletes what is older than the history that is kept, and never what is still owed. */
static owed_status
trim(struct churn *churn, owed_error *err)
{
    struct bench *bench = churn->bench;
    int64_t kept = bench_knob(bench, KNOB_HISTORY) + (churn->fired - taken(churn)) + BENCH_BULK;
    return traces_trim(bench->db, bench->last_event_id - kept, -1, NULL, err);
}

static void
end_slice(struct churn *churn)
{
    struct report *report = churn->bench->report;
    int64_t now_us = bench_mono_us();
    int64_t now_taken = taken(churn);
    struct sizes sizes;
    sizes_read(churn->bench, &sizes);
    report->slices[report->slice_count++] = (struct slice){
        .rate = per_second(now_taken - churn->slice_taken, now_us - churn->slice_us),
        .claim_p50_us = -1,
        .dead_tuples = sizes.dead_tuples,
        .table_bytes = sizes.table_bytes,
        .index_bytes = sizes.index_bytes,
    };
    churn->slice_us = now_us;
    churn->slice_taken = now_taken;
    atomic_store(&churn->slice, report->slice_count < SLICES ? (int)report->slice_count : UNNOTED);
}

/* tick fires what is due by now, and deletes now and then. */
static owed_status
tick(struct churn *churn, owed_error *err)
{
    int64_t now_us = bench_mono_us();
    double due = (double)(now_us - churn->start_us) / (double)US_PER_SECOND * churn->rate;
    int64_t receivers = bench_knob(churn->bench, KNOB_RECEIVERS);
    int64_t events = (int64_t)due - churn->fired / receivers;
    owed_status status = go_on(churn, err);
    if (status == OWED_OK && now_us >= churn->trim_us) {
        churn->trim_us = now_us + TRIM_EVERY_US;
        status = trim(churn, err);
    }
    if (status == OWED_OK && events > 0)
        return fire(churn, events, err);
    bench_pause(TICK_US);
    return status;
}

static owed_status
keep_on(struct churn *churn, owed_error *err)
{
    int64_t duration_us = bench_knob(churn->bench, KNOB_DURATION_US);
    churn->fired = 0;
    atomic_store(&churn->bench->taken, 0);
    churn->slice_taken = 0;
    churn->start_us = churn->slice_us = churn->trim_us = bench_mono_us();
    atomic_store(&churn->slice, 0);
    owed_status status = OWED_OK;
    for (int64_t i = 1; i <= SLICES && status == OWED_OK; i++) {
        int64_t end_us = churn->start_us + duration_us * i / SLICES;
        while (status == OWED_OK && bench_mono_us() < end_us)
            status = tick(churn, err);
        end_slice(churn);
    }
    return status;
}

/* sum_up is for when the relays are done. */
static void
sum_up(struct churn *churn)
{
    struct report *report = churn->bench->report;
    struct samples all = {0}, slice = {0};
    struct percentiles sum;
    for (size_t s = 0; s < report->slice_count; s++) {
        for (int i = 0; i < churn->hands.count; i++)
            samples_append(&slice, &churn->hands.hand[i].slices[s]);
        if (samples_sum(&slice, &sum))
            report->slices[s].claim_p50_us = sum.p50;
        samples_append(&all, &slice);
        samples_clear(&slice);
    }
    report_percentiles(report, &all);
    samples_done(&all);
    samples_done(&slice);
}

static owed_status
measure(struct churn *churn, owed_error *err)
{
    owed_status status = hands_relay(&churn->hands, false, err);
    if (status == OWED_OK)
        status = find_rate(churn, err);
    struct cost before = {0};
    cost_read(churn->bench, &before);
    if (status == OWED_OK)
        status = keep_on(churn, err);
    if (status == OWED_OK) {
        report_rates(churn->bench->report, taken(churn), churn->slice_us - churn->start_us, 0);
        cost_log(churn->bench, &before, taken(churn));
        cost_sizes(churn->bench);
        status = rest(churn, err);
    }
    hands_stop(&churn->hands);
    owed_status ended = hands_join(&churn->hands, status == OWED_OK ? err : NULL);
    return status == OWED_OK ? ended : status;
}

owed_status
run_churn(struct bench *bench, owed_error *err)
{
    struct churn churn = {.bench = bench};
    atomic_store(&churn.slice, UNNOTED);
    owed_status status = fill_history(bench, bench_knob(bench, KNOB_HISTORY), err);
    if (status == OWED_OK)
        status = hands_open(bench, &churn.hands, bench_knob(bench, KNOB_CONCURRENCY), err);
    if (status != OWED_OK)
        return status;
    for (int i = 0; i < churn.hands.count; i++)
        churn.hands.hand[i].slice = &churn.slice;
    status = measure(&churn, err);
    if (status == OWED_OK)
        sum_up(&churn);
    hands_close(&churn.hands);
    return status;
}
