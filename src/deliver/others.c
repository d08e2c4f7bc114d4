/* SPDX-License-Identifier: MIT
 *
 * others.c - leaving a store's single writer to the application.
 *
 * Who waits for SQLite's writer asks for it now and then, with pauses of up to 100 ms, and a busy relay
 * may have it each time until he gives up. So, after every write: where the application was seen to
 * commit lately, a short pause, which gives it more than half of the time. Where it was not, but some
 * other process has the store open, a hole that no such waiting misses, at the same moment for all
 * workers, twice a second. Where nobody else is there, nothing.
 */
#include <unistd.h>

#include "base/clock.h"
#include "deliver/worker.h"

#define WRITING_US US_PER_SECOND    // how long a commit of others is news
#define CROWD_LOOK_US US_PER_SECOND // how long an answer about who is there holds
#define HOLE_EVERY_US (US_PER_SECOND / 2)
#define FREE_US (100 * US_PER_MS) // a writer that was free for so long needs no hole

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

/* hole_us is how long to stay away now from a writer that was not free for long; 0: not at all. */
static int64_t
hole_us(struct worker *w)
{
    if (w->seat.hole_us == 0 || !w->owed->db->driver->single_writer)
        return 0;
    int64_t now_us = worker_mono_us(w);
    if (w->streak_mono_us == 0 || now_us - w->yielded_mono_us >= FREE_US)
        w->streak_mono_us = now_us;
    w->yielded_mono_us = now_us;
    int64_t left_us = w->seat.hole_us - now_us % HOLE_EVERY_US;
    if (left_us <= 0 || now_us - w->streak_mono_us < HOLE_EVERY_US - w->seat.hole_us)
        return 0;
    return somebody_is_here(w, now_us) ? left_us : 0;
}

void
worker_yield(struct worker *w)
{
    others_look(w);
    int64_t away_us = hole_us(w);
    if (others_write(w))
        away_us = GROUP_PAUSE_US;
    if (away_us > 0)
        worker_pause(w, away_us);
}
