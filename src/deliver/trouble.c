/* SPDX-License-Identifier: MIT
 *
 * trouble.c - a store that fails: said once, waited for, opened anew.
 *
 * The old connection stays until a new one works, so that the handle always has one. What was claimed
 * and not settled is then handed back: nothing is counted for it.
 */
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/moment.h"
#include "deliver/worker.h"

int64_t
relay_back_off_us(int failures)
{
    static const int64_t seconds[] = {1, 2, 4, 8, 15};
    static const int last = sizeof seconds / sizeof seconds[0] - 1;
    int step = failures - 1 < last ? failures - 1 : last;
    return seconds[step] * US_PER_SECOND;
}

void
trouble(struct worker *w, const char *doing, const owed_error *err)
{
    struct trouble *t = &w->trouble;
    // What fails in consequence is no news.
    if (t->now)
        return;
    t->now = true;
    t->failures++;
    t->error = *err;
    if (store_in_transaction(w->owed->db))
        store_rollback(w->owed->db);
    if (w->is_eager) {
        log_say(&w->owed->log, OWED_LOG_WARNING,
            "the store failed during an eager attempt: what is open is owed to a relay",
            LOG_TEXT("doing", doing), LOG_TEXT("error", err->text));
        return;
    }
    if (t->logged.status == err->status && strcmp(t->logged.text, err->text) == 0)
        return;
    t->logged = *err;
    char wait[MOMENT_BYTES];
    log_say(&w->owed->log, OWED_LOG_ERROR, "the store failed", LOG_TEXT("doing", doing),
        LOG_TEXT("error", err->text),
        LOG_TEXT("next_try_in", duration_rough(relay_back_off_us(t->failures), wait)));
}

void
trouble_over(struct worker *w)
{
    struct trouble *t = &w->trouble;
    if (t->failures == 0)
        return;
    log_say(&w->owed->log, OWED_LOG_INFO, "the store is back", LOG_INT("failures", t->failures));
    *t = (struct trouble){0};
}

/* outer_is_open: a transaction of the caller's cannot be had anew. */
static owed_status
outer_is_open(const struct worker *w, owed_error *err)
{
    if (store_in_transaction(w->owed->outer->db))
        return OWED_OK;
    return fail(err, OWED_ABORTED,
        "the transaction in which this was to be delivered is over: somebody committed it or rolled "
        "it back");
}

static owed_status
reopen(struct worker *w, owed_error *err)
{
    if (w->owed->outer != NULL)
        return outer_is_open(w, err);
    // Who knows what was committed meanwhile.
    memset(w->marks, 0, sizeof w->marks);
    return handle_reconnect(w->owed, err);
}

/* let_go hands back what this worker still holds and has let go. With nothing in flight that is all it
 * holds: a claim whose answer was lost is among it. */
static owed_status
let_go(struct worker *w, owed_error *err)
{
    int64_t given = 0;
    owed_status status = OWED_OK;
    if (worker_is_at_rest(w))
        status = store_hand_back_all(w->owed->db, w->claimed_by, 0, &given, err);
    if (status != OWED_OK || w->dropped_count == 0)
        return status;
    return store_hand_back(w->owed->db, w->dropped, w->dropped_count, &given, err);
}

/* make_good writes what is noted, and gives back what was let go. */
static owed_status
make_good(struct worker *w, owed_error *err)
{
    owed_status status = group_find_out(w, err);
    if (status == OWED_OK)
        status = ledger_flush(w, &w->gathered, err);
    if (status == OWED_OK)
        status = aftermath(w, err);
    if (status == OWED_OK)
        status = let_go(w, err);
    if (status == OWED_OK)
        w->dropped_count = 0;
    if (status == OWED_OK)
        status = store_forgive_losses(w->owed->db, w->claimed_by, &(int64_t){0}, err);
    if (status == OWED_OK)
        status = store_forgive_losses(w->owed->db, w->hand_off.claimed_by, &(int64_t){0}, err);
    return status;
}

owed_status
trouble_retry(struct worker *w, owed_error *err)
{
    owed_status status = reopen(w, err);
    if (status == OWED_OK)
        status = make_good(w, err);
    if (status == OWED_OK)
        w->trouble.now = false;
    return status;
}

void
trouble_mend(struct worker *w)
{
    ahead_drop(w);
    behind_drop(w);
    worker_pause(w, relay_back_off_us(w->trouble.failures));
    if (worker_is_stopping(w))
        return;
    owed_error err = {0};
    if (trouble_retry(w, &err) == OWED_OK)
        return;
    w->trouble.now = false;
    trouble(w, "connect", &err);
}
