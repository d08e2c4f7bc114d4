/* SPDX-License-Identifier: MIT
 *
 * hands.c - what works for a benchmark on threads of its own: relays, or others that fire.
 */
#include "bench/hands.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/error.h"
#include "bench/fill.h"
#include "deliver/relay.h"

#define LOOK_EVERY_US (50 * US_PER_MS)

owed_status
hands_open(struct bench *bench, struct hands *hands, int64_t count, owed_error *err)
{
    *hands = (struct hands){.hand = calloc((size_t)count, sizeof *hands->hand)};
    if (hands->hand == NULL)
        return fail_memory(err);
    owed_status status = OWED_OK;
    while (hands->count < count && status == OWED_OK) {
        struct hand *hand = &hands->hand[hands->count];
        hand->bench = bench;
        status = bench_connect(bench, &hand->owed, err);
        hands->count += status == OWED_OK;
    }
    if (status != OWED_OK)
        hands_close(hands);
    return status;
}

void
hands_close(struct hands *hands)
{
    hands_stop(hands);
    hands_join(hands, NULL);
    for (int i = 0; i < hands->count; i++) {
        struct hand *hand = &hands->hand[i];
        owed_close(hand->owed);
        samples_done(&hand->waits);
        for (size_t s = 0; s < SLICES; s++)
            samples_done(&hand->slices[s]);
    }
    free(hands->hand);
    *hands = (struct hands){0};
}

/* start leaves signals to the thread that waits. */
static owed_status
start(struct hands *hands, void *(*work)(void *hand), owed_error *err)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int code = 0;
    for (int i = 0; i < hands->count && code == 0; i++) {
        struct hand *hand = &hands->hand[i];
        atomic_store(&hand->is_done, false);
        code = pthread_create(&hand->thread, NULL, work, hand);
        hand->is_started = code == 0;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (code == 0)
        return OWED_OK;
    return fail_native(err, OWED_NOMEM, code, "no thread can be started for a benchmark");
}

/* --- relays --- */

static void
claimed(void *state, int64_t took_us, size_t count)
{
    struct hand *hand = state;
    int slice = hand->slice == NULL ? 0 : atomic_load(hand->slice);
    if (count > 0 && slice >= 0)
        samples_add(&hand->slices[slice], took_us);
}

static const owed_relay_settings relay_settings = {.worker_id = BENCH_APP};

static void *
relay(void *state, bool once)
{
    struct hand *hand = state;
    const struct relay_seat seat = {
        .role = ROLE_ALL,
        .hole_us = RELAY_HOLE_US,
        .is_guest = true,
        .claimed = claimed,
        .claimed_state = hand,
    };
    owed_relay_settings settings = relay_settings;
    settings.once = once;
    settings.prune_us = -1; // churn deletes for itself
    settings.batch_size = (int32_t)bench_knob(hand->bench, KNOB_BATCH);
    hand->status = relay_work(hand->owed, &settings, &seat, &hand->counts, &hand->err);
    hand->ended_us = bench_mono_us();
    atomic_store(&hand->is_done, true);
    return NULL;
}

static void *
relay_once(void *state)
{
    return relay(state, true);
}

static void *
relay_on(void *state)
{
    return relay(state, false);
}

owed_status
hands_relay(struct hands *hands, bool once, owed_error *err)
{
    return start(hands, once ? relay_once : relay_on, err);
}

/* --- firing --- */

static void *
fire(void *state)
{
    struct hand *hand = state;
    int64_t batch = bench_knob(hand->bench, KNOB_BATCH);
    batch = batch < 1 ? 1 : batch > BENCH_BULK ? BENCH_BULK : batch;
    while (hand->events > 0 && hand->status == OWED_OK && !bench_is_stopped()) {
        int64_t some = hand->events < batch ? hand->events : batch;
        int64_t start_us = bench_mono_us();
        hand->status = fill_fire(hand->bench, hand->owed, some, NULL, &hand->err);
        samples_add(&hand->waits, bench_mono_us() - start_us);
        hand->events -= some;
        hand->counts.succeeded += hand->status == OWED_OK ? some : 0;
    }
    hand->ended_us = bench_mono_us();
    atomic_store(&hand->is_done, true);
    return NULL;
}

owed_status
hands_fire(struct hands *hands, int64_t events, owed_error *err)
{
    for (int i = 0; i < hands->count; i++)
        hands->hand[i].events = events / hands->count + (i < events % hands->count);
    return start(hands, fire, err);
}

/* --- their end --- */

void
hands_stop(struct hands *hands)
{
    for (int i = 0; i < hands->count; i++)
        if (hands->hand[i].is_started && !atomic_load(&hands->hand[i].is_done))
            owed_relay_stop(hands->hand[i].owed);
}

/* join looks now and then whether all were told to stop. */
static void
join(struct hands *hands, struct hand *hand)
{
    int code = ETIMEDOUT;
    while (hand->is_started && code == ETIMEDOUT) {
        if (bench_is_stopped())
            hands_stop(hands);
        int64_t until_us = bench_mono_us() + LOOK_EVERY_US;
        const struct timespec until = {.tv_sec = (time_t)(until_us / US_PER_SECOND),
            .tv_nsec = (long)(until_us % US_PER_SECOND) * 1000};
        code = pthread_clockjoin_np(hand->thread, NULL, CLOCK_MONOTONIC, &until);
    }
    hand->is_started = false;
}

owed_status
hands_join(struct hands *hands, owed_error *err)
{
    struct hand *failed = NULL;
    for (int i = 0; i < hands->count; i++) {
        struct hand *hand = &hands->hand[i];
        join(hands, hand);
        if (failed == NULL && hand->status != OWED_OK)
            failed = hand;
    }
    if (failed == NULL)
        return bench_go_on(err);
    return fail_native(err, failed->status, failed->err.native, "%s", failed->err.text);
}

bool
hands_are_at_work(const struct hands *hands)
{
    for (int i = 0; i < hands->count; i++)
        if (atomic_load(&hands->hand[i].is_done))
            return false;
    return true;
}

int64_t
hands_ended_us(const struct hands *hands)
{
    int64_t latest_us = 0;
    for (int i = 0; i < hands->count; i++)
        if (hands->hand[i].ended_us > latest_us)
            latest_us = hands->hand[i].ended_us;
    return latest_us;
}

int64_t
hands_succeeded(const struct hands *hands)
{
    int64_t sum = 0;
    for (int i = 0; i < hands->count; i++)
        sum += hands->hand[i].counts.succeeded;
    return sum;
}

void
hands_waits(const struct hands *hands, struct samples *samples)
{
    for (int i = 0; i < hands->count; i++) {
        samples_append(samples, &hands->hand[i].waits);
        for (size_t s = 0; s < SLICES; s++)
            samples_append(samples, &hands->hand[i].slices[s]);
    }
}
