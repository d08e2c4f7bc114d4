/* SPDX-License-Identifier: MIT
 *
 * upkeep.c - what a worker does beside delivering: the heartbeat, the mending, the waiting.
 */
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/json.h"
#include "deliver/worker.h"

#define MEND_EVERY_US (60 * US_PER_SECOND)
#define BEAT_EVERY_US (30 * US_PER_SECOND)
#define FORGET_AFTER_US (24 * 3600 * US_PER_SECOND) // relays that did not leave
#define MEND_ROWS 1000
#define BOOT_ID_BYTES 37

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
    atomic_fetch_add(&shared->put_off, now->put_off - told->put_off);
    w->counts_told = w->counts;
}

/* --- waiting --- */

bool
worker_wait(struct worker *w, int64_t timeout_us)
{
    if (w->seat.wait != NULL) {
        w->seat.wait(w->seat.wait_state, timeout_us);
        outside_attend(w);
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

/* --- the heartbeat --- */

static void
read_boot_id(char id[static BOOT_ID_BYTES])
{
    id[0] = '\0';
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");
    if (file == NULL)
        return;
    if (fgets(id, BOOT_ID_BYTES, file) == NULL)
        id[0] = '\0';
    fclose(file);
}

static void
write_lanes(const struct worker *w, struct buf *json)
{
    buf_putc(json, '[');
    if (w->lanes == NULL)
        json_write_string(json, STR("*"));
    for (size_t i = 0; w->lanes != NULL && w->lanes[i] != NULL; i++) {
        if (i > 0)
            buf_putc(json, ',');
        json_write_string(json, str_of(w->lanes[i]));
    }
    buf_putc(json, ']');
}

static const char *
deaf_of(const struct worker *w)
{
    return w->wake == NULL ? "" : wake_deaf(w->wake);
}

/* has_news tells whether what its row says of its ears is no longer so. */
static bool
has_news(const struct worker *w)
{
    return strncmp(deaf_of(w), w->deaf_told, sizeof w->deaf_told - 1) != 0;
}

static owed_status
beat(struct worker *w, owed_error *err)
{
    char host[256] = "";
    char boot_id[BOOT_ID_BYTES];
    gethostname(host, sizeof host - 1);
    read_boot_id(boot_id);
    struct buf lanes;
    buf_init(&lanes, 1024 * 1024);
    write_lanes(w, &lanes);
    const struct relay_row row = {
        .id = w->claimed_by,
        .host = host,
        .pid = getpid(),
        .boot_id = boot_id,
        .lanes = buf_text(&lanes),
        .wake_path = w->wake == NULL ? "" : wake_path(w->wake),
        .deaf = deaf_of(w),
        .started_at_us = w->started_at_us,
        .heartbeat_at_us = worker_now_us(w),
    };
    owed_status status = store_relay_heartbeat(w->owed->db, &row, err);
    buf_done(&lanes);
    if (status != OWED_OK)
        return status;
    snprintf(w->deaf_told, sizeof w->deaf_told, "%s", row.deaf);
    worker_wrote(w);
    return OWED_OK;
}

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

/* look_and_beat reads the store's clock and says that the worker lives, in one transaction. */
static owed_status
look_and_beat(struct worker *w, owed_error *err)
{
    struct db *db = w->owed->db;
    if (db->driver->now == NULL)
        return beat(w, err);
    owed_status status = store_begin(db, true, err);
    if (status != OWED_OK)
        return status;
    status = handle_read_clock(w->owed, err);
    if (status == OWED_OK)
        status = beat(w, err);
    if (status == OWED_OK)
        return store_commit(db, err);
    store_rollback(db);
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

/* refresh reads the catalogue, in one transaction where none is open. */
static owed_status
refresh(struct worker *w, owed_error *err)
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

owed_status
upkeep(struct worker *w, owed_error *err)
{
    int64_t mono_us = worker_mono_us(w);
    struct db *db = w->owed->db;
    owed_status status = db->driver->still_there(db, err);
    if (status != OWED_OK)
        return status;
    if (mono_us >= w->beat_mono_us || has_news(w)) {
        status = look_and_beat(w, err);
        if (status == OWED_OK)
            status = note_successes(w, err);
        w->beat_mono_us = mono_us + BEAT_EVERY_US;
    }
    if (status == OWED_OK)
        status = clean(w, err);
    if (status != OWED_OK || mono_us < w->mend_mono_us)
        return status;
    w->mend_mono_us = mono_us + MEND_EVERY_US;
    if (mends(w))
        status = mend(w, err);
    if (status == OWED_OK && serves_anything(w))
        status = refresh(w, err);
    return status;
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
