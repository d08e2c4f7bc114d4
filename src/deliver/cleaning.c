/* SPDX-License-Identifier: MIT
 *
 * cleaning.c - a relay deletes events that nobody needs any more: on a schedule of its own, a batch
 * between two passes, whether there is anything to deliver or not.
 */
#include "base/clock.h"
#include "base/error.h"
#include "deliver/worker.h"

#define STUCK_SECONDS 60 // whoever has the turn asks for it again long before
#define LOOKS 8          // that find nothing, in one go
#define MOST_HELD 10000  // old ones that are still owed: the next course goes on behind them

static bool
cleans(const struct worker *w)
{
    return w->visit == NULL && w->settings.prune_us > 0 && mends(w);
}

int64_t
clean_next_us(const struct worker *w)
{
    if (!cleans(w))
        return INT64_MAX;
    int64_t next_us = w->prune.is_over ? w->prune_mono_us : w->rest_mono_us;
    int64_t left_us = next_us - worker_mono_us(w);
    return left_us < 0 ? 0 : left_us;
}

static void
begin(struct worker *w)
{
    const struct prune prune = {
        .now_us = worker_now_us(w),
        .retention_us = w->settings.retention_us,
        .batch_rows = prune_batch_rows(w->owed->db),
        .limit = -1,
        .most_held = MOST_HELD,
    };
    prune_begin(&w->prune, &prune);
    w->prune_mono_us = worker_mono_us(w) + w->settings.prune_us;
}

static bool
is_trouble(owed_status status)
{
    return status == OWED_UNAVAILABLE || status == OWED_UNSURE;
}

/* step deletes a batch, if there is one and nobody else is at it; else this course is over, and the next one tries. */
static owed_status
step(struct worker *w, bool is_first, owed_error *err)
{
    struct db *db = w->owed->db;
    int64_t rows = w->prune.rows;
    bool is_ours = false;
    owed_status status = store_prune_turn(db, STUCK_SECONDS, &is_ours, err);
    if (status == OWED_OK && !is_ours)
        w->prune.is_over = true;
    if (status == OWED_OK && is_first && !w->prune.is_over)
        status = store_prune_peek(db, &w->prune, err);
    for (int i = 0; i < LOOKS && status == OWED_OK && !w->prune.is_over && w->prune.rows == rows;
         i++)
        status = store_prune_step(db, &w->prune, err);
    if (is_ours && (w->prune.is_over || status != OWED_OK))
        store_prune_leave(db);
    return status;
}

static void
say_trouble(struct worker *w, const owed_error *err)
{
    w->prune.is_over = true;
    log_say(&w->owed->log, OWED_LOG_ERROR, "old events could not be deleted, for now",
        LOG_TEXT("error", err->text));
}

bool
clean_looks(const struct worker *w, int64_t until_mono_us)
{
    return cleans(w) && !w->owed->db->driver->single_writer && w->prune.is_over &&
        w->prune_mono_us <= until_mono_us;
}

owed_status
clean_look(struct worker *w, owed_error *err)
{
    begin(w);
    w->rest_mono_us = 0;
    owed_status status = store_prune_peek(w->owed->db, &w->prune, err);
    if (status == OWED_OK)
        return OWED_OK;
    say_trouble(w, err);
    // The transaction is of no use any more, and all else of it is done again without this.
    return is_trouble(status) ? status : OWED_BUSY;
}

static void
say_deleted(const struct worker *w)
{
    if (w->prune.events > 0)
        log_say(&w->owed->log, OWED_LOG_INFO, "old events were deleted",
            LOG_INT("events", w->prune.events), LOG_INT("rows", w->prune.rows));
}

owed_status
clean(struct worker *w, owed_error *err)
{
    if (!cleans(w) || clean_next_us(w) > 0)
        return OWED_OK;
    bool is_first = w->prune.is_over;
    if (is_first)
        begin(w);
    int64_t rows = w->prune.rows;
    int64_t begun_us = worker_mono_us(w);
    owed_status status = step(w, is_first, err);
    if (w->prune.rows > rows) {
        int64_t mono_us = worker_mono_us(w);
        w->rest_mono_us = mono_us + prune_rest_us(w->owed->db, mono_us - begun_us);
        worker_wrote(w);
        worker_yield(w);
    }
    if (status != OWED_OK)
        say_trouble(w, err);
    else if (w->prune.is_over)
        say_deleted(w);
    return is_trouble(status) ? status : OWED_OK;
}

void
clean_end(struct worker *w)
{
    if (w->prune.is_over)
        return;
    w->prune.is_over = true;
    store_prune_leave(w->owed->db);
    say_deleted(w);
}
