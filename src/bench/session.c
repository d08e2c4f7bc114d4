/* SPDX-License-Identifier: MIT
 *
 * session.c - one run of a benchmark: its place in the store, and how it is left.
 */
#include "bench/session.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/error.h"
#include "bench/traces.h"
#include "deliver/handle.h"
#include "store/verbs.h"

const owed_event_type bench_event_type = {.name = BENCH_EVENT};

static atomic_int stopped;

void
bench_stop(void)
{
    atomic_store(&stopped, 1);
}

bool
bench_is_stopped(void)
{
    return atomic_load(&stopped) != 0;
}

owed_status
bench_go_on(owed_error *err)
{
    if (!bench_is_stopped())
        return OWED_OK;
    return fail(err, OWED_ABORTED, "the benchmark was stopped before it had measured anything");
}

void
bench_pause(int64_t us)
{
    int64_t end_us = bench_mono_us() + us;
    while (!bench_is_stopped()) {
        int64_t left_us = end_us - bench_mono_us();
        if (left_us <= 0)
            return;
        const struct timespec timeout = {.tv_sec = (time_t)(left_us / US_PER_SECOND),
            .tv_nsec = (long)(left_us % US_PER_SECOND) * 1000};
        ppoll(NULL, 0, &timeout, NULL); // a signal ends it
    }
}

int64_t
bench_knob(const struct bench *bench, enum knob knob)
{
    int64_t value = bench->plan->knobs[knob];
    return value == KNOB_NONE ? 0 : value;
}

int64_t
bench_mono_us(void)
{
    return clock_monotonic_us(&clock_system);
}

/* --- receivers --- */

static bool
insert_effect(owed_delivery *delivery, owed_error *err)
{
    owed_tx *tx = owed_delivery_tx(delivery);
    if (tx == NULL)
        return false;
    return change(tx->db, STMT_BENCH_EFFECT, ARGS(V_INT(owed_delivery_id(delivery))), NULL, err) ==
        OWED_OK;
}

static owed_outcome
take(owed_delivery *delivery, const void *payload)
{
    (void)payload;
    struct bench *bench = owed_delivery_state(delivery);
    owed_error err = {.text = "no transaction"};
    if (bench_knob(bench, KNOB_INSERTS) != 0 && !insert_effect(delivery, &err))
        return owed_failed(delivery, "%s", err.text);
    atomic_fetch_add(&bench->taken, 1);
    if (bench->took != NULL)
        bench->took(bench->took_state);
    return owed_done();
}

static owed_status
declare(struct bench *bench, owed_error *err)
{
    owed_status status = owed_registry_new(BENCH_APP, &bench->registry, err);
    int64_t count = bench_knob(bench, KNOB_RECEIVERS);
    for (int64_t i = 0; status == OWED_OK && i < (count > 0 ? count : 1); i++) {
        char key[64];
        snprintf(key, sizeof key, BENCH_APP ".receiver-%lld", (long long)i + 1);
        const owed_receiver receiver = {
            .key = key,
            .event = &bench_event_type,
            .run = take,
            .state = bench,
            .database_only =
                bench_knob(bench, KNOB_INSERTS) != 0 && bench_knob(bench, KNOB_GROUPS) != 0,
        };
        status = owed_declare_receiver(bench->registry, &receiver, err);
    }
    return status;
}

/* --- the payload --- */

static owed_status
make_payload(struct bench *bench, owed_error *err)
{
    static const char head[] = "{\"text\":\"";
    static const char tail[] = "\"}";
    size_t size = (size_t)bench_knob(bench, KNOB_PAYLOAD_SIZE);
    size_t least = sizeof head + sizeof tail - 2;
    size = size < least ? least : size;
    bench->payload = malloc(size + 1);
    if (bench->payload == NULL)
        return fail_memory(err);
    memset(bench->payload, 'x', size);
    memcpy(bench->payload, head, sizeof head - 1);
    memcpy(bench->payload + size - (sizeof tail - 1), tail, sizeof tail);
    for (size_t i = 0; i < BENCH_BULK; i++)
        bench->bulk[i] = (owed_bytes){bench->payload, size};
    return OWED_OK;
}

/* --- its place --- */

owed_status
bench_connect(const struct bench *bench, owed **ret_owed, owed_error *err)
{
    const owed_settings settings = {
        .url = bench->plan->url,
        .registry = bench->registry,
        .no_publish = true,
        .busy_timeout_us = bench->plan->busy_timeout_us,
    };
    return owed_open(&settings, ret_owed, err);
}

static owed_status
store_of(const struct bench_plan *plan, struct db **ret_db, owed_error *err)
{
    const struct db_options options = {.busy_timeout_us = plan->busy_timeout_us};
    owed_status status = store_open(plan->url, &options, ret_db, err);
    return status == OWED_OK ? store_check(*ret_db, err) : status;
}

/* take_place is all that is done before anything is written. */
static owed_status
take_place(struct bench *bench, owed_error *err)
{
    struct db *db = NULL;
    owed_status status = store_of(bench->plan, &db, err);
    if (status == OWED_OK)
        status = traces_refuse(db, bench->plan->beside, err);
    if (status == OWED_OK)
        status = traces_make(db, err);
    store_close(db);
    return status;
}

static owed_status
publish(struct bench *bench, owed_error *err)
{
    const owed_settings settings = {
        .url = bench->plan->url,
        .registry = bench->registry,
        .busy_timeout_us = bench->plan->busy_timeout_us,
    };
    owed_status status = owed_open(&settings, &bench->owed, err);
    if (status != OWED_OK)
        return status;
    bench->db = bench->owed->db;
    bench->report->store = bench->db->driver->scheme;
    return OWED_OK;
}

/* clean_up takes a connection of its own: the one that worked may be lost. */
static owed_status
clean_up(const struct bench_plan *plan, int64_t *ret_events, owed_error *err)
{
    struct db *db = NULL;
    owed_status status = store_of(plan, &db, err);
    if (status == OWED_OK)
        status = traces_remove(db, ret_events, err);
    store_close(db);
    return status;
}

bool
bench_was_cleaned(const struct bench *bench)
{
    struct db *db = NULL;
    bool is_gone = store_of(bench->plan, &db, NULL) == OWED_OK && traces_are_gone(db);
    store_close(db);
    return is_gone;
}

static void
let_go(struct bench *bench)
{
    owed_close(bench->owed);
    owed_registry_free(bench->registry);
    free(bench->payload);
}

owed_status
bench_open(struct bench *bench, owed_error *err)
{
    atomic_store(&stopped, 0);
    owed_status status = make_payload(bench, err);
    if (status == OWED_OK)
        status = declare(bench, err);
    if (status == OWED_OK)
        status = take_place(bench, err);
    if (status != OWED_OK) {
        let_go(bench);
        return status;
    }
    status = publish(bench, err);
    if (status == OWED_OK)
        return OWED_OK;
    owed_status cleaned = bench_close(bench, err);
    return cleaned == OWED_OK ? status : cleaned;
}

owed_status
bench_close(struct bench *bench, owed_error *err)
{
    let_go(bench);
    owed_error why = {0};
    owed_status status = clean_up(bench->plan, NULL, &why);
    if (status == OWED_OK)
        return OWED_OK;
    return fail(err, status,
        "what the benchmark wrote is still in the store (%s): owed bench clean takes it back",
        why.text);
}

owed_status
bench_clean(const struct bench_plan *plan, int64_t *ret_events, owed_error *err)
{
    return clean_up(plan, ret_events, err);
}
