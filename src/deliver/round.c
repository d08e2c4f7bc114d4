/* SPDX-License-Identifier: MIT
 *
 * round.c - what a worker tells its store and asks it now and then, in one transaction.
 *
 * It says that it lives, and reads the store's clock. Every other time it reads the catalogue, and looks
 * whether anything is to be mended, deleted or, if it rests, delivered: so what nobody announced is found,
 * a lease that ended, a pause that is over, a receiver that is no more. What is due soon goes along, so that a
 * relay that has nothing to do costs its store next to nothing.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/json.h"
#include "deliver/worker.h"

#define BEAT_EVERY_US (30 * US_PER_SECOND)
#define ALONG_US (10 * US_PER_SECOND) // what is due so soon need not have a transaction of its own
#define TRIES 3
#define BOOT_ID_BYTES 37
#define AWAY_BYTES ((size_t)1024 * 1024)

/* --- that it lives --- */

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

/* write_away says whom it cannot hand on to what it should: its task site, and brokers. */
static void
write_away(const struct worker *w, struct buf *text)
{
    hand_off_away(w, text);
    if (w->outside != NULL && w->ops->away != NULL)
        w->ops->away(w->outside, text);
}

/* has_news tells whether what its row says of its ears, or of whom it hands on to, is no longer so. */
static bool
has_news(const struct worker *w)
{
    CLEANUP(buf_done) struct buf away;
    buf_init(&away, AWAY_BYTES);
    write_away(w, &away);
    return strncmp(deaf_of(w), w->deaf_told, sizeof w->deaf_told - 1) != 0 ||
        strncmp(buf_text(&away), w->away_told, sizeof w->away_told - 1) != 0;
}

static owed_status
beat(struct worker *w, owed_error *err)
{
    char host[256] = "";
    char boot_id[BOOT_ID_BYTES];
    gethostname(host, sizeof host - 1);
    read_boot_id(boot_id);
    CLEANUP(buf_done) struct buf lanes;
    buf_init(&lanes, 1024 * 1024);
    write_lanes(w, &lanes);
    CLEANUP(buf_done) struct buf away;
    buf_init(&away, AWAY_BYTES);
    write_away(w, &away);
    const struct relay_row row = {
        .id = w->claimed_by,
        .host = host,
        .pid = getpid(),
        .boot_id = boot_id,
        .lanes = buf_text(&lanes),
        .wake_path = w->wake == NULL ? "" : wake_path(w->wake),
        .deaf = deaf_of(w),
        .away = buf_text(&away),
        .started_at_us = w->started_at_us,
        .heartbeat_at_us = worker_now_us(w),
    };
    owed_status status = store_relay_heartbeat(w->owed->db, &row, err);
    if (status != OWED_OK)
        return status;
    snprintf(w->deaf_told, sizeof w->deaf_told, "%s", row.deaf);
    snprintf(w->away_told, sizeof w->away_told, "%s", row.away);
    worker_wrote(w);
    return OWED_OK;
}

static owed_status
say_alive(struct worker *w, owed_error *err)
{
    w->beat_mono_us = worker_mono_us(w) + BEAT_EVERY_US;
    owed_status status = handle_read_clock(w->owed, err);
    return status == OWED_OK ? beat(w, err) : status;
}

/* --- what else --- */

static owed_status
look_around(struct worker *w, owed_error *err)
{
    w->mend_mono_us = worker_mono_us(w) + MEND_EVERY_US;
    owed_status status = OWED_OK;
    if (mends(w))
        status = store_mend_look(
            w->owed->db, worker_now_us(w), w->settings.orphan_grace_us, &w->has_to_mend, err);
    if (status == OWED_OK && serves_anything(w))
        status = upkeep_refresh(w, err);
    return status == OWED_OK && w->is_resting ? idle_ask(w, err) : status;
}

static owed_status
go_round(struct worker *w, int64_t soon_us, owed_error *err)
{
    owed_status status = OWED_OK;
    if (w->beat_mono_us <= soon_us || has_news(w))
        status = say_alive(w, err);
    if (status == OWED_OK && w->mend_mono_us <= soon_us)
        status = look_around(w, err);
    return status == OWED_OK && clean_looks(w, soon_us) ? clean_look(w, err) : status;
}

bool
round_is_due(const struct worker *w)
{
    int64_t mono_us = worker_mono_us(w);
    return mono_us >= w->beat_mono_us || mono_us >= w->mend_mono_us || has_news(w) ||
        clean_looks(w, mono_us);
}

static owed_status
try_round(struct worker *w, int64_t soon_us, owed_error *err)
{
    struct db *db = w->owed->db;
    // What a crash of the store undoes here is said and done again in the next round.
    db->driver->light(db);
    owed_status status = store_begin(db, true, err);
    if (status != OWED_OK)
        return status;
    status = go_round(w, soon_us, err);
    if (status == OWED_OK)
        return store_commit(db, err);
    store_rollback(db);
    return status;
}

/* round_make goes round once more where others' locks came between: pauses that end are the catalogue's. */
owed_status
round_make(struct worker *w, owed_error *err)
{
    int64_t soon_us = worker_mono_us(w) + ALONG_US;
    int64_t beat_us = w->beat_mono_us;
    int64_t mend_us = w->mend_mono_us;
    owed_status status = try_round(w, soon_us, err);
    bool may_repeat = w->owed->db->driver->contention != NULL;
    for (int i = 1; i < TRIES && status == OWED_BUSY && may_repeat; i++) {
        w->beat_mono_us = beat_us;
        w->mend_mono_us = mend_us;
        status = try_round(w, soon_us, err);
    }
    return status;
}
