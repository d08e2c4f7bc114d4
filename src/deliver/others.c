/* SPDX-License-Identifier: MIT
 *
 * others.c - leaving a store's single writer to the application.
 *
 * Who waits for SQLite's writer asks for it now and then, with pauses of up to 100 ms, and a busy relay
 * may have it each time until he gives up. So, after every write: where the application was seen to
 * commit lately, a short pause, which gives it more than half of the time. Where it was not, but some
 * other process has the store open, the writer is free for a quarter of the time, in short pauses: who
 * asks, and asks again, finds it so. If our transactions are too long for that, a hole that no such
 * waiting misses, at the same moment for all workers, twice a second. Where nobody else is there, nothing.
 */
#include <unistd.h>

#include "base/clock.h"
#include "deliver/worker.h"

#define WRITING_US US_PER_SECOND    // how long a commit of others is news
#define CROWD_LOOK_US US_PER_SECOND // how long an answer about who is there holds
#define HOLE_EVERY_US (US_PER_SECOND / 2)
#define FREE_US (100 * US_PER_MS) // a writer that was free for so long needs no hole
#define FREE_PART 4               // nor does one that is free for a quarter of the time
#define DOSE_MIN_US 100
#define DOSE_MAX_US (3 * US_PER_MS)

void
others_look(struct worker *w)
{
    const struct driver *driver = w->owed->db->driver;
    if (!driver->single_writer || driver->changed == NULL || w->is_eager)
        return;
    // Our relay's other workers count their commits; what is beyond that is the application's.
    int64_t others = 0;
    if (w->seat.shared != NULL)
        others = atomic_load(&w->seat.shared->commits) - w->own_commits;
    bool is_changed = driver->changed(w->owed->db);
    w->took_sign = true;
    if (is_changed && others == w->others_commits)
        w->others_wrote_mono_us = worker_mono_us(w);
    w->others_commits = others;
}

bool
others_write(struct worker *w)
{
    return w->others_wrote_mono_us != 0 && worker_mono_us(w) - w->others_wrote_mono_us < WRITING_US;
}

static bool
is_colleague(void *state, int pid)
{
    const struct shared *shared = state;
    if (pid == getpid() || pid == getppid())
        return true;
    for (int i = 0; i < shared->slot_count; i++)
        if (atomic_load(&shared->slots[i].pid) == pid)
            return true;
    return false;
}

/* somebody_is_here: a relay without a supervisor lives in the application itself. */
static bool
somebody_is_here(struct worker *w, int64_t now_us)
{
    const struct driver *driver = w->owed->db->driver;
    if (w->seat.shared == NULL || driver->alone == NULL)
        return true;
    if (w->crowd_mono_us == 0 || now_us - w->crowd_mono_us >= CROWD_LOOK_US) {
        w->crowd_mono_us = now_us;
        w->is_crowded = !driver->alone(w->owed->db, is_colleague, w->seat.shared);
    }
    return w->is_crowded;
}

bool
others_are_here(struct worker *w)
{
    return somebody_is_here(w, worker_mono_us(w));
}

/* kept_us is how long this worker kept the writer since it left it to others last. */
static int64_t
kept_us(struct worker *w)
{
    int64_t us = w->kept_us;
    w->kept_us = 0;
    w->all_kept_us += us;
    if (w->seat.shared != NULL)
        atomic_fetch_add(&w->seat.shared->kept_us, us);
    return us;
}

/* is_often_free tells whether whoever asks now and then has found the writer free soon. */
static bool
is_often_free(struct worker *w, int64_t now_us)
{
    int64_t all_us = w->all_kept_us;
    if (w->seat.shared != NULL)
        all_us = atomic_load(&w->seat.shared->kept_us);
    int64_t window_us = now_us - w->window_mono_us;
    bool is_free =
        window_us >= FREE_US && all_us - w->window_kept_us <= window_us - window_us / FREE_PART;
    if (window_us >= HOLE_EVERY_US) {
        w->window_mono_us = now_us;
        w->window_kept_us = all_us;
    }
    return is_free;
}

/* hole_us is how long to stay away now from a writer that was not free for long; 0: not at all. */
static int64_t
hole_us(struct worker *w, int64_t now_us)
{
    if (w->seat.hole_us == 0)
        return 0;
    bool is_free = is_often_free(w, now_us);
    int64_t left_us = w->seat.hole_us - now_us % HOLE_EVERY_US;
    if (is_free || left_us <= 0 || now_us - w->streak_mono_us < HOLE_EVERY_US - w->seat.hole_us)
        return 0;
    return somebody_is_here(w, now_us) ? left_us : 0;
}

/* dose_us is how long to stay away after transactions that were short, for their share of the time: less what
 * they were away for anyway. What is too long for that is left to the holes. */
static int64_t
dose_us(struct worker *w, int64_t held_us, int64_t free_us, int64_t now_us)
{
    int64_t us = w->dose_us + held_us / (FREE_PART - 1) - free_us;
    bool is_due = us >= DOSE_MIN_US && us <= DOSE_MAX_US && w->seat.hole_us != 0;
    w->dose_us = us > DOSE_MAX_US || is_due ? 0 : us;
    if (w->dose_us < -DOSE_MAX_US)
        w->dose_us = -DOSE_MAX_US;
    return is_due && somebody_is_here(w, now_us) ? us : 0;
}

void
worker_yield(struct worker *w)
{
    if (!w->owed->db->driver->single_writer)
        return;
    others_look(w);
    int64_t now_us = worker_mono_us(w);
    int64_t since_us = now_us - w->yielded_mono_us;
    if (w->streak_mono_us == 0 || since_us >= FREE_US)
        w->streak_mono_us = now_us;
    int64_t held_us = kept_us(w);
    int64_t away_us = hole_us(w, now_us);
    // A pause that was had before this write, while nothing was to do, need not be made after it.
    if (others_write(w))
        away_us = since_us - held_us >= GROUP_PAUSE_US ? 0 : GROUP_PAUSE_US;
    else if (away_us == 0)
        away_us = dose_us(w, held_us, since_us - held_us, now_us);
    if (away_us > 0)
        worker_pause(w, away_us);
    w->yielded_mono_us = worker_mono_us(w);
}
