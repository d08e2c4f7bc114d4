/* SPDX-License-Identifier: MIT
 *
 * upkeep.c - what a worker does beside delivering: the waiting, the mending.
 */
#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/error.h"
#include "deliver/worker.h"

#define FORGET_AFTER_US (24 * 3600 * US_PER_SECOND) // relays that did not leave
#define MEND_ROWS 1000

int64_t
worker_now_us(const struct worker *w)
{
    return clock_now_us(&w->owed->clock);
}

int64_t
worker_mono_us(const struct worker *w)
{
    return clock_monotonic_us(&w->owed->clock);
}

bool
worker_is_stopping(const struct worker *w)
{
    return atomic_load(&w->owed->stop) != 0 ||
        (w->seat.shared != NULL && atomic_load(&w->seat.shared->stop) != 0);
}

bool
worker_has_limit(const struct worker *w)
{
    return w->settings.limit > 0;
}

void
worker_wrote(struct worker *w)
{
    w->own_commits++;
    w->wrote = true;
    if (w->seat.shared != NULL)
        shared_committed(w->seat.shared);
}

void
worker_share_counts(struct worker *w)
{
    struct shared *shared = w->seat.shared;
    if (shared == NULL)
        return;
    const owed_relay_counts *now = &w->counts;
    const owed_relay_counts *told = &w->counts_told;
    atomic_fetch_add(&shared->succeeded, now->succeeded - told->succeeded);
    atomic_fetch_add(&shared->failed, now->failed - told->failed);
    atomic_fetch_add(&shared->dead, now->dead - told->dead);
    atomic_fetch_add(&shared->orphaned, now->orphaned - told->orphaned);
    atomic_fetch_add(&shared->handed_back, now->handed_back - told->handed_back);
    atomic_fetch_add(&shared->handed_on, now->handed_on - told->handed_on);
    atomic_fetch_add(&shared->put_off, now->put_off - told->put_off);
    w->counts_told = w->counts;
}

/* --- waiting --- */

static bool
wait_for_seat(struct worker *w, int64_t timeout_us)
{
    bool hears = w->seat.hears && w->wake != NULL;
    if (hears && wake_sleep(w->wake))
        return true;
    w->seat.wait(w->seat.wait_state, timeout_us);
    outside_attend(w);
    return hears && wake_take(w->wake);
}

bool
worker_wait(struct worker *w, int64_t timeout_us)
{
    if (w->seat.wait != NULL)
        return wait_for_seat(w, timeout_us);
    if (w->wake == NULL) {
        worker_pause(w, timeout_us);
        return false;
    }
    if (w->took_sign)
        wake_expect(w->wake);
    w->took_sign = false;
    if (w->flight_count == 0)
        return wake_wait(w->wake, timeout_us);
    if (!wake_sleep(w->wake))
        outside_wait(w, timeout_us);
    return true;
}

void
worker_pause(struct worker *w, int64_t timeout_us)
{
    if (w->seat.wait != NULL) {
        w->seat.wait(w->seat.wait_state, timeout_us);
        outside_attend(w);
        return;
    }
    int64_t end_us = clock_monotonic_us(&clock_system) + timeout_us;
    struct pollfd fd = {.fd = w->owed->stop_fd, .events = POLLIN};
    while (!worker_is_stopping(w)) {
        int64_t left_us = end_us - clock_monotonic_us(&clock_system);
        if (left_us <= 0)
            return;
        outside_attend(w);
        // What is in flight wants looking after.
        if (w->flight_count > 0 && left_us > 10 * US_PER_MS)
            left_us = 10 * US_PER_MS;
        struct timespec timeout = {.tv_sec = (time_t)(left_us / US_PER_SECOND),
            .tv_nsec = (long)(left_us % US_PER_SECOND) * 1000};
        ppoll(&fd, 1, &timeout, NULL);
    }
}

/* --- now and then --- */

/* note_successes writes when its receivers last succeeded, as far as it has not yet: what is settled stays
 * where it is, and nobody who asks should have to look through all of it. */
static owed_status
note_successes(struct worker *w, owed_error *err)
{
    const owed_registry *registry = w->owed->registry;
    if (w->seat.is_guest || registry == NULL)
        return OWED_OK;
    struct success *successes = calloc(registry->receiver_count + 1, sizeof *successes);
    if (successes == NULL)
        return fail_memory(err);
    size_t count = 0;
    for (const struct receiver *r = registry->receivers; r != NULL; r = r->next) {
        int64_t at_us = atomic_exchange(r->succeeded_at_us, 0);
        if (at_us > 0 && count < registry->receiver_count)
            successes[count++] = (struct success){r->declared.key, at_us};
    }
    owed_status status =
        count > 0 ? store_note_successes(w->owed->db, successes, count, err) : OWED_OK;
    free(successes);
    if (count > 0 && status == OWED_OK)
        worker_wrote(w);
    return status;
}

/* --- mending --- */

static owed_status
mend(struct worker *w, owed_error *err)
{
    int64_t all_moved = 0;
    int64_t all_orphaned = 0;
    owed_status status = OWED_OK;
    bool is_more = true;
    while (status == OWED_OK && is_more && !worker_is_stopping(w)) {
        int64_t moved = 0;
        int64_t orphaned = 0;
        status = store_mend(w->owed->db, worker_now_us(w), w->settings.orphan_grace_us, MEND_ROWS,
            &moved, &orphaned, err);
        is_more = moved + orphaned >= MEND_ROWS;
        all_moved += moved;
        all_orphaned += orphaned;
        if (moved + orphaned > 0)
            worker_wrote(w);
    }
    w->counts.orphaned += all_orphaned;
    if (all_moved + all_orphaned > 0)
        log_say(&w->owed->log, OWED_LOG_INFO, "owed rows follow the catalogue",
            LOG_INT("moved", all_moved), LOG_INT("orphaned", all_orphaned));
    return status;
}

bool
mends(const struct worker *w)
{
    return !w->seat.is_guest && (w->seat.shared == NULL || w->seat.slot == 0);
}

owed_status
upkeep_refresh(struct worker *w, owed_error *err)
{
    struct db *db = w->owed->db;
    bool is_own = !store_in_transaction(db);
    owed_status status = is_own ? store_begin(db, false, err) : OWED_OK;
    if (status != OWED_OK)
        return status;
    status = secrecy_refresh(w, err);
    if (status == OWED_OK)
        status = filters_refresh(w, err);
    if (is_own && status == OWED_OK)
        return store_commit(db, err);
    if (is_own)
        store_rollback(db);
    return status;
}

/* mend_for_visit: a visit has no rounds. */
static owed_status
mend_for_visit(struct worker *w, owed_error *err)
{
    int64_t mono_us = worker_mono_us(w);
    if (mono_us < w->mend_mono_us)
        return OWED_OK;
    w->mend_mono_us = mono_us + MEND_EVERY_US;
    owed_status status = mends(w) ? mend(w, err) : OWED_OK;
    return status == OWED_OK && serves_anything(w) ? upkeep_refresh(w, err) : status;
}

owed_status
upkeep(struct worker *w, owed_error *err)
{
    struct db *db = w->owed->db;
    owed_status status = db->driver->still_there(db, err);
    if (status != OWED_OK)
        return status;
    if (w->visit != NULL)
        return mend_for_visit(w, err);
    if (round_is_due(w)) {
        status = round_make(w, err);
        if (status == OWED_OK)
            status = note_successes(w, err);
    }
    if (status == OWED_OK)
        status = clean(w, err);
    if (status != OWED_OK || !w->has_to_mend)
        return status;
    w->has_to_mend = false;
    w->due_at_us = 0; // what moved is for this worker as well
    return mend(w, err);
}

void
upkeep_end(struct worker *w)
{
    owed_error err = {0};
    clean_end(w);
    (void)note_successes(
        w, &err); // of what did not fit in, nobody hears but by looking through the events
    int64_t silent_since_us = w->seat.is_guest ? 0 : worker_now_us(w) - FORGET_AFTER_US;
    if (store_relay_leave(w->owed->db, w->claimed_by, silent_since_us, &err) == OWED_OK)
        w->owed->db->driver->tidy(w->owed->db);
}
