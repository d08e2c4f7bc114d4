/* SPDX-License-Identifier: MIT
 *
 * benchmarks.c - the table of them, and how one is run.
 */
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "bench/run.h"

#define NONE KNOB_NONE

const struct benchmark benchmarks[] = {
    {
        .name = "fire",
        .unit = "events",
        .wait = "transaction",
        .knobs = {[KNOB_ROWS] = 2000,
            [KNOB_BACKLOG] = NONE,
            [KNOB_HISTORY] = 0,
            [KNOB_PAYLOAD_SIZE] = 200,
            [KNOB_RECEIVERS] = 1,
            [KNOB_CONCURRENCY] = 1,
            [KNOB_BATCH] = 1,
            [KNOB_INSERTS] = NONE,
            [KNOB_GROUPS] = NONE,
            [KNOB_DURATION_US] = NONE},
        .run = run_fire,
    },
    {
        .name = "drain",
        .unit = "deliveries",
        .wait = "claim",
        .knobs = {[KNOB_ROWS] = 20000,
            [KNOB_BACKLOG] = 0,
            [KNOB_HISTORY] = 0,
            [KNOB_PAYLOAD_SIZE] = 200,
            [KNOB_RECEIVERS] = 1,
            [KNOB_CONCURRENCY] = 1,
            [KNOB_BATCH] = 50,
            [KNOB_INSERTS] = 0,
            [KNOB_GROUPS] = 1,
            [KNOB_DURATION_US] = NONE},
        .run = run_drain,
    },
    {
        .name = "claim",
        .unit = "deliveries",
        .wait = "claim",
        .knobs = {[KNOB_ROWS] = 5000,
            [KNOB_BACKLOG] = 20000,
            [KNOB_HISTORY] = 0,
            [KNOB_PAYLOAD_SIZE] = 200,
            [KNOB_RECEIVERS] = 1,
            [KNOB_CONCURRENCY] = NONE,
            [KNOB_BATCH] = 50,
            [KNOB_INSERTS] = NONE,
            [KNOB_GROUPS] = NONE,
            [KNOB_DURATION_US] = NONE},
        .run = run_claim,
    },
    {
        .name = "latency",
        .unit = "events",
        .wait = "commit to start",
        .knobs = {[KNOB_ROWS] = 200,
            [KNOB_BACKLOG] = NONE,
            [KNOB_HISTORY] = 0,
            [KNOB_PAYLOAD_SIZE] = 200,
            [KNOB_RECEIVERS] = NONE,
            [KNOB_CONCURRENCY] = NONE,
            [KNOB_BATCH] = NONE,
            [KNOB_INSERTS] = NONE,
            [KNOB_GROUPS] = NONE,
            [KNOB_DURATION_US] = NONE},
        .run = run_latency,
    },
    {
        .name = "idle",
        .unit = "seconds",
        .wait = NULL,
        .knobs = {[KNOB_ROWS] = NONE,
            [KNOB_BACKLOG] = NONE,
            [KNOB_HISTORY] = 0,
            [KNOB_PAYLOAD_SIZE] = NONE,
            [KNOB_RECEIVERS] = NONE,
            [KNOB_CONCURRENCY] = 1,
            [KNOB_BATCH] = NONE,
            [KNOB_INSERTS] = NONE,
            [KNOB_GROUPS] = NONE,
            [KNOB_DURATION_US] = 10 * US_PER_SECOND},
        .run = run_idle,
    },
    {
        .name = "churn",
        .unit = "deliveries",
        .wait = "claim",
        .knobs = {[KNOB_ROWS] = NONE,
            [KNOB_BACKLOG] = NONE,
            [KNOB_HISTORY] = 20000,
            [KNOB_PAYLOAD_SIZE] = 200,
            [KNOB_RECEIVERS] = 1,
            [KNOB_CONCURRENCY] = 1,
            [KNOB_BATCH] = 50,
            [KNOB_INSERTS] = 0,
            [KNOB_GROUPS] = 1,
            [KNOB_DURATION_US] = 60 * US_PER_SECOND},
        .run = run_churn,
    },
    {.name = NULL},
};

static const char *const keys[KNOB_COUNT] = {
    [KNOB_ROWS] = "rows",
    [KNOB_BACKLOG] = "backlog",
    [KNOB_HISTORY] = "history",
    [KNOB_PAYLOAD_SIZE] = "payload_size",
    [KNOB_RECEIVERS] = "receivers",
    [KNOB_CONCURRENCY] = "concurrency",
    [KNOB_BATCH] = "batch",
    [KNOB_INSERTS] = "inserts",
    [KNOB_GROUPS] = "groups",
    [KNOB_DURATION_US] = "duration_us",
};
_Static_assert(KNOB_COUNT == REPORT_SETTINGS, "the report has room for each of them");

const struct benchmark *
bench_find(const char *name)
{
    for (const struct benchmark *b = benchmarks; b->name != NULL; b++)
        if (strcmp(b->name, name) == 0)
            return b;
    return NULL;
}

static void
describe(const struct benchmark *benchmark, const struct bench_plan *plan, struct report *report)
{
    report_init(report);
    report->benchmark = benchmark->name;
    report->unit = benchmark->unit;
    report->wait = benchmark->wait;
    for (size_t i = 0; i < KNOB_COUNT; i++)
        report->settings[i] = (struct report_setting){keys[i], plan->knobs[i]};
}

owed_status
bench_run(const struct benchmark *benchmark, const struct bench_plan *plan,
    struct report *ret_report, owed_error *err)
{
    describe(benchmark, plan, ret_report);
    struct bench bench = {.benchmark = benchmark, .plan = plan, .report = ret_report};
    owed_status status = bench_open(&bench, err);
    if (status != OWED_OK)
        return status;
    status = benchmark->run(&bench, err);
    if (status != OWED_ABORTED && bench_was_cleaned(&bench))
        status = fail(err, OWED_BUSY,
            "owed bench clean took back what this benchmark wrote while it ran: run it again, and "
            "clean only after one that was killed");
    // That something is left matters more than why it went wrong: it says what to do.
    owed_status cleaned = bench_close(&bench, err);
    return cleaned == OWED_OK ? status : cleaned;
}
