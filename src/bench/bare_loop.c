/* SPDX-License-Identifier: MIT
 *
 * bare_loop.c - the bare loop that a benchmark is held against.
 */
#include "bench/bare_loop.h"

#include "base/clock.h"
#include "base/error.h"
#include "store/verbs.h"

#define BATCH_MAX 10000

double
pace_rate(const struct pace *pace)
{
    if (pace->us <= 0)
        return 0;
    return (double)pace->count * (double)US_PER_SECOND / (double)pace->us;
}

int64_t
bare_events(const struct bench *bench)
{
    int64_t rows = bench_knob(bench, KNOB_ROWS);
    return rows < BARE_EVENTS ? rows : BARE_EVENTS;
}

static int64_t
batch_of(const struct bench *bench)
{
    int64_t batch = bench_knob(bench, KNOB_BATCH);
    return batch < 1 ? 1 : batch > BATCH_MAX ? BATCH_MAX : batch;
}

static int64_t
receivers_of(const struct bench *bench)
{
    int64_t receivers = bench_knob(bench, KNOB_RECEIVERS);
    return receivers < 1 ? 1 : receivers;
}

/* --- firing --- */

static owed_status
fire_one(struct bench *bench, owed_error *err)
{
    int64_t now_us = clock_now_us(&clock_system);
    int64_t id = ++bench->bare_id;
    owed_status status = change(bench->db, STMT_BARE_EVENT,
        ARGS(V_INT(id), V_TEXT(BENCH_EVENT),
            V_STR(((struct str){bench->bulk[0].data, bench->bulk[0].len})), V_TIME(now_us)),
        NULL, err);
    int64_t receivers = receivers_of(bench);
    for (int64_t i = 0; i < receivers && status == OWED_OK; i++)
        status = change(bench->db, STMT_BARE_DELIVERY,
            ARGS(V_INT(id), V_TEXT(BENCH_APP ".receiver-1"), V_TIME(now_us)), NULL, err);
    return status;
}

static owed_status
fire_batch(struct bench *bench, int64_t events, owed_error *err)
{
    owed_status status = store_begin(bench->db, true, err);
    if (status != OWED_OK)
        return status;
    for (int64_t i = 0; i < events && status == OWED_OK; i++)
        status = fire_one(bench, err);
    if (status == OWED_OK)
        return store_commit(bench->db, err);
    store_rollback(bench->db);
    return status;
}

owed_status
bare_fire(struct bench *bench, int64_t events, struct pace *pace, owed_error *err)
{
    // What is only there to be claimed is written in large transactions.
    int64_t batch = pace == NULL ? BENCH_BULK : batch_of(bench);
    int64_t start_us = bench_mono_us();
    owed_status status = OWED_OK;
    for (int64_t done = 0; done < events && status == OWED_OK; done += batch) {
        status = bench_go_on(err);
        if (status == OWED_OK)
            status = fire_batch(bench, events - done < batch ? events - done : batch, err);
    }
    bench->db->driver->tidy(bench->db);
    if (pace == NULL)
        return status;
    pace->count += events;
    pace->us += bench_mono_us() - start_us;
    return status;
}

/* --- draining --- */

static owed_status
pick(struct bench *bench, int64_t *ids, int64_t *ret_count, owed_error *err)
{
    const struct driver *driver = bench->db->driver;
    struct rows *rows = NULL;
    int64_t count = 0;
    volatile size_t bytes = 0; // the payloads have to be read
    owed_status status = query(bench->db, STMT_BARE_PICK,
        ARGS(V_TIME(clock_now_us(&clock_system)), V_INT(batch_of(bench))), &rows, err);
    if (status != OWED_OK)
        return status;
    while (count < BATCH_MAX && driver->next(rows)) {
        ids[count++] = driver->column(rows, 0).integer;
        bytes += driver->column(rows, 1).bytes.len;
    }
    (void)bytes;
    *ret_count = count;
    return driver->finish(rows, NULL, err);
}

static owed_status
mark(struct bench *bench, enum stmt stmt, const int64_t *ids, int64_t count, owed_error *err)
{
    owed_status status = OWED_OK;
    for (int64_t i = 0; i < count && status == OWED_OK; i++)
        status = change(
            bench->db, stmt, ARGS(V_INT(ids[i]), V_TIME(clock_now_us(&clock_system))), NULL, err);
    return status;
}

static owed_status
claim(struct bench *bench, int64_t *ids, int64_t *ret_count, owed_error *err)
{
    bench->db->driver->light(bench->db);
    owed_status status = store_begin(bench->db, true, err);
    if (status != OWED_OK)
        return status;
    status = pick(bench, ids, ret_count, err);
    if (status == OWED_OK)
        status = mark(bench, STMT_BARE_MARK, ids, *ret_count, err);
    if (status == OWED_OK)
        return store_commit(bench->db, err);
    store_rollback(bench->db);
    return status;
}

/* acknowledge is one transaction; where receivers insert, each row of theirs goes with it. */
static owed_status
acknowledge(struct bench *bench, const int64_t *ids, int64_t count, owed_error *err)
{
    owed_status status = store_begin(bench->db, true, err);
    if (status != OWED_OK)
        return status;
    for (int64_t i = 0; bench_knob(bench, KNOB_INSERTS) != 0 && i < count && status == OWED_OK; i++)
        status = change(bench->db, STMT_BENCH_EFFECT, ARGS(V_INT(ids[i])), NULL, err);
    if (status == OWED_OK)
        status = mark(bench, STMT_BARE_DONE, ids, count, err);
    if (status == OWED_OK)
        return store_commit(bench->db, err);
    store_rollback(bench->db);
    return status;
}

static owed_status
acknowledge_all(struct bench *bench, const int64_t *ids, int64_t count, owed_error *err)
{
    bool one_by_one = bench_knob(bench, KNOB_INSERTS) != 0 && bench_knob(bench, KNOB_GROUPS) == 0;
    int64_t step = one_by_one ? 1 : count;
    owed_status status = OWED_OK;
    for (int64_t i = 0; i < count && status == OWED_OK; i += step)
        status = acknowledge(bench, ids + i, step, err);
    return status;
}

static owed_status
empty(struct bench *bench, bool acknowledges, struct pace *pace, owed_error *err)
{
    int64_t ids[BATCH_MAX];
    int64_t count = 1;
    int64_t start_us = bench_mono_us();
    owed_status status = OWED_OK;
    while (status == OWED_OK && count > 0) {
        status = bench_go_on(err);
        if (status == OWED_OK)
            status = claim(bench, ids, &count, err);
        if (status == OWED_OK && acknowledges)
            status = acknowledge_all(bench, ids, count, err);
        pace->count += status == OWED_OK ? count : 0;
    }
    bench->db->driver->tidy(bench->db);
    pace->us += bench_mono_us() - start_us;
    return status;
}

owed_status
bare_claim(struct bench *bench, struct pace *pace, owed_error *err)
{
    return empty(bench, false, pace, err);
}

owed_status
bare_drain(struct bench *bench, struct pace *pace, owed_error *err)
{
    return empty(bench, true, pace, err);
}
