/* SPDX-License-Identifier: MIT
 *
 * meeting.c - one thread fires and waits, and hears from another when the receiver was started.
 */
#include "bench/meeting.h"

#include <time.h>

#include "base/clock.h"
#include "base/error.h"
#include "bench/fill.h"

#define GIVE_UP_SECONDS 60
#define LOOK_EVERY_US (50 * US_PER_MS)

static void
took(void *state)
{
    struct meeting *meeting = state;
    pthread_mutex_lock(&meeting->lock);
    meeting->started_us = bench_mono_us();
    pthread_cond_signal(&meeting->came);
    pthread_mutex_unlock(&meeting->lock);
}

owed_status
meeting_init(struct meeting *meeting, struct bench *bench, struct hands *hands, owed_error *err)
{
    *meeting = (struct meeting){.bench = bench, .hands = hands};
    pthread_condattr_t attr;
    int code = pthread_condattr_init(&attr);
    if (code == 0)
        code = pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    if (code == 0)
        code = pthread_cond_init(&meeting->came, &attr);
    pthread_condattr_destroy(&attr);
    if (code == 0)
        code = pthread_mutex_init(&meeting->lock, NULL);
    if (code != 0)
        return fail_native(err, OWED_NOMEM, code, "no lock can be made for a benchmark");
    bench->took_state = meeting;
    bench->took = took;
    return OWED_OK;
}

void
meeting_done(struct meeting *meeting)
{
    meeting->bench->took = NULL;
    pthread_mutex_destroy(&meeting->lock);
    pthread_cond_destroy(&meeting->came);
}

/* await_for waits a second at most. */
static int64_t
await_for(struct meeting *meeting)
{
    int64_t give_up_us = bench_mono_us() + US_PER_SECOND;
    pthread_mutex_lock(&meeting->lock);
    while (meeting->started_us == 0 && bench_mono_us() < give_up_us && !bench_is_stopped() &&
        hands_are_at_work(meeting->hands)) {
        int64_t until_us = bench_mono_us() + LOOK_EVERY_US;
        const struct timespec until = {.tv_sec = (time_t)(until_us / US_PER_SECOND),
            .tv_nsec = (long)(until_us % US_PER_SECOND) * 1000};
        pthread_cond_timedwait(&meeting->came, &meeting->lock, &until);
    }
    int64_t started_us = meeting->started_us;
    pthread_mutex_unlock(&meeting->lock);
    return started_us;
}

/* await asks each second whether what was fired is still there. */
static int64_t
await(struct meeting *meeting)
{
    int64_t started_us = await_for(meeting);
    for (int i = 1; started_us == 0 && i < GIVE_UP_SECONDS && !bench_is_stopped() &&
         hands_are_at_work(meeting->hands) && !bench_was_cleaned(meeting->bench);
         i++)
        started_us = await_for(meeting);
    return started_us;
}

owed_status
meeting_fire(struct meeting *meeting, int64_t *ret_us, owed_error *err)
{
    pthread_mutex_lock(&meeting->lock);
    meeting->started_us = 0;
    pthread_mutex_unlock(&meeting->lock);
    owed_status status = fill_fire(meeting->bench, meeting->bench->owed, 1, NULL, err);
    if (status != OWED_OK)
        return status;
    int64_t committed_us = bench_mono_us();
    int64_t started_us = await(meeting);
    status = bench_go_on(err);
    if (status != OWED_OK)
        return status;
    if (started_us == 0)
        return fail(err, OWED_UNAVAILABLE, "the relay of the benchmark started no receiver");
    // It may begin before the committer has heard that it committed.
    *ret_us = started_us < committed_us ? 0 : started_us - committed_us;
    return OWED_OK;
}
