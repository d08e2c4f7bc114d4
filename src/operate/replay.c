/* SPDX-License-Identifier: MIT
 *
 * replay.c - events replayed a few at a time, each few committed by themselves, at a pace.
 */
#include <poll.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "operate/requeue.h"

#define PAGE 500
#define NOTE_EVERY 100  // events between two notes of how many it are
#define MOST_AT_ONCE 20 // events of one transaction: it is to be short

struct course {
    owed *handle;
    const struct replaying *replaying;
    const struct acting *acting;
    struct replay_counts *counts;
    int64_t audit_id;
    int64_t noted;
    int64_t began_mono_us;
};

/* keep_pace waits until the next event may go. */
static void
keep_pace(const struct course *course)
{
    int64_t rate = course->replaying->rate;
    if (rate <= 0 || course->acting->dry_run)
        return;
    int64_t due_us = course->began_mono_us + course->counts->events * US_PER_SECOND / rate;
    int64_t left_us = due_us - clock_monotonic_us(&clock_system);
    if (left_us <= 0)
        return;
    wakers_send(course->handle->wakers, course->handle->db, &course->handle->clock);
    const struct timespec timeout = {
        .tv_sec = left_us / US_PER_SECOND, .tv_nsec = left_us % US_PER_SECOND * 1000};
    ppoll(NULL, 0, &timeout, NULL);
}

static bool
is_full(const struct course *course)
{
    int64_t limit = course->replaying->limit;
    return limit >= 0 && course->counts->events >= limit;
}

static owed_status
note(struct course *course, owed_error *err)
{
    struct replay_counts *counts = course->counts;
    int64_t all = counts->reopened + counts->added;
    int64_t more = all - course->noted;
    course->noted = all;
    return act_step(
        course->handle->db, course->acting, course->audit_id, more, counts->events, err);
}

/* count_one adds up what one event came to. */
static void
count_one(struct course *course, int64_t event_id, const struct replayed *replayed)
{
    struct replay_counts *counts = course->counts;
    counts->events++;
    counts->reopened += replayed->reopened;
    counts->added += replayed->added;
    counts->left += replayed->left;
    if (replayed->skip == REPLAY_DONE)
        return;
    counts->skipped++;
    course->replaying->skipped(course->replaying->state, event_id, replayed);
}

static owed_status
replay_some(struct course *course, const int64_t *ids, size_t count, owed_error *err)
{
    CLEANUP(arena_done) struct arena arena;
    arena_init(&arena, 0);
    const struct replaying *replaying = course->replaying;
    struct replay_counts *counts = course->counts;
    keep_pace(course);
    const struct replay replay = {.event_ids = ids,
        .event_count = count,
        .keys = replaying->keys,
        .side_lane = replaying->side_lane,
        .now_us =
            course->acting->now_us + clock_monotonic_us(&clock_system) - course->began_mono_us,
        .dry_run = course->acting->dry_run};
    struct replayed replayed[MOST_AT_ONCE];
    owed_status status = store_replay(course->handle->db, &replay, &arena, replayed, err);
    if (status != OWED_OK)
        return status;
    int64_t notes = counts->events / NOTE_EVERY;
    for (size_t i = 0; i < count; i++)
        count_one(course, ids[i], &replayed[i]);
    return counts->events / NOTE_EVERY > notes ? note(course, err) : OWED_OK;
}

/* at_once is how many one transaction takes: at a rate those of ten milliseconds. */
static size_t
at_once(const struct course *course)
{
    int64_t rate = course->replaying->rate;
    int64_t limit = course->replaying->limit;
    int64_t count = rate > 0 && rate < MOST_AT_ONCE * 100 ? rate / 100 : MOST_AT_ONCE;
    if (limit >= 0 && count > limit - course->counts->events)
        count = limit - course->counts->events;
    return count < 1 ? 1 : (size_t)count;
}

static owed_status
replay_ids(struct course *course, const int64_t *ids, size_t count, owed_error *err)
{
    owed_status status = OWED_OK;
    while (count > 0 && status == OWED_OK && !is_full(course)) {
        size_t some = at_once(course);
        some = some < count ? some : count;
        status = replay_some(course, ids, some, err);
        ids += some;
        count -= some;
    }
    return status;
}

static owed_status
replay_range(struct course *course, owed_error *err)
{
    int64_t after_id = 0;
    for (;;) {
        CLEANUP(arena_done) struct arena arena;
        arena_init(&arena, 0);
        int64_t *ids = NULL;
        size_t count = 0;
        owed_status status = store_replay_pick(course->handle->db, &course->replaying->range,
            after_id, PAGE, &arena, &ids, &count, err);
        if (status != OWED_OK || count == 0)
            return status;
        after_id = ids[count - 1];
        status = replay_ids(course, ids, count, err);
        if (status != OWED_OK || is_full(course))
            return status;
    }
}

owed_status
replay_events(owed *handle, const struct replaying *replaying, const struct acting *acting,
    struct replay_counts *ret, owed_error *err)
{
    *ret = (struct replay_counts){0};
    struct course course = {.handle = handle,
        .replaying = replaying,
        .acting = acting,
        .counts = ret,
        .began_mono_us = clock_monotonic_us(&clock_system)};
    owed_status status = act_begin(handle->db, acting, "replay", &course.audit_id, err);
    if (status == OWED_OK && replaying->range.event_name == NULL)
        status = replay_ids(&course, replaying->ids, replaying->id_count, err);
    else if (status == OWED_OK)
        status = replay_range(&course, err);
    if (ret->reopened + ret->added > 0 && !acting->dry_run)
        wakers_send(handle->wakers, handle->db, &handle->clock);
    if (status == OWED_OK)
        status = note(&course, err);
    return status == OWED_OK ? act_end(handle->db, acting, course.audit_id, err) : status;
}
