/* SPDX-License-Identifier: MIT
 *
 * relay.c - the loop of a worker: claim, run, record, and wait for more.
 */
#include "deliver/relay.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "deliver/errand.h"
#include "deliver/worker.h"

#define GIVE_UP_FAILURES 5
#define JSON_IDS_BYTES ((size_t)16 * 1024 * 1024)

void
relay_worker_id(char ret_id[static RELAY_WORKER_ID_BYTES])
{
    char host[65] = "";
    if (gethostname(host, sizeof host - 1) != 0 || host[0] == '\0')
        snprintf(host, sizeof host, "localhost");
    for (char *p = host; *p != '\0'; p++)
        if (*p < '!' || *p > '~')
            *p = '_';
    snprintf(ret_id, RELAY_WORKER_ID_BYTES, "%s-%d", host, getpid());
}

/* --- setting up --- */

static owed_status
name_worker(struct worker *w, owed_error *err)
{
    char id[RELAY_WORKER_ID_BYTES];
    relay_worker_id(id);
    if (w->seat.shared != NULL)
        w->instance = arena_strdup(&w->arena, w->seat.shared->instance);
    else
        w->instance = arena_printf(&w->arena, "%s.%08" PRIx32,
            w->settings.worker_id == NULL ? id : w->settings.worker_id,
            (uint32_t)w->owed->dice.next(w->owed->dice.state));
    if (w->instance == NULL)
        return fail_memory(err);
    w->claimed_by = arena_printf(&w->arena, "%s/%d", w->instance, w->seat.slot);
    if (w->claimed_by == NULL)
        return fail_memory(err);
    w->hand_off.claimed_by = arena_printf(&w->arena, "%s" HANDED_ON, w->claimed_by);
    return w->hand_off.claimed_by == NULL ? fail_memory(err) : OWED_OK;
}

static owed_status
open_outside(struct worker *w, owed_error *err)
{
    w->ops = w->seat.outside == NULL ? &outside_builtin : w->seat.outside;
    if (!w->filters[SHARE_LOOP].serves)
        return OWED_OK;
    const struct outside_settings settings = {
        .in_flight = w->settings.in_flight,
        .exec_in_flight = w->settings.exec_in_flight,
        .clock = w->owed->clock,
        .log = &w->owed->log,
    };
    owed_status status = w->ops->open(&settings, &w->outside, err);
    for (size_t i = 0; i < w->known_count && status == OWED_OK && w->errands == NULL; i++)
        if (w->known[i].receiver->runner == RUN_START)
            status = errands_new(&w->errands, err);
    return status;
}

/* refuse_what_is_outside: in somebody's transaction nothing is run that may hold none, and nothing is
 * handed on under a claim that may be undone. */
static void
refuse_what_is_outside(struct worker *w)
{
    w->filters[SHARE_TASK].serves = false;
    w->filters[SHARE_LOOP].serves = w->filters[SHARE_FUNCTION].serves = false;
}

static owed_status
set_up_pauses(struct worker *w, owed_error *err)
{
    // A single delivery holds up no other.
    if (w->visit != NULL && w->visit->delivery_id != 0)
        return OWED_OK;
    w->left_out = arena_alloc(&w->arena, sizeof *w->left_out);
    struct pauses *pauses = w->seat.shared != NULL ? &w->seat.shared->pauses
                                                   : arena_alloc(&w->arena, sizeof *w->pauses);
    if (w->left_out == NULL || pauses == NULL)
        return fail_memory(err);
    if (w->seat.shared == NULL)
        pauses_init(pauses);
    w->pauses = pauses;
    // Of the one that died in this seat.
    hold_release_all(w);
    return OWED_OK;
}

/* open_wake: commits are no news to one that has nothing to run. */
static owed_status
open_wake(struct worker *w, owed_error *err)
{
    if (w->visit != NULL || (!serves_anything(w) && w->seat.wait == NULL))
        return OWED_OK;
    return wake_open(w->owed, w->claimed_by, &w->wake, err);
}

static owed_status
set_up(struct worker *w, const owed_relay_settings *settings, owed_error *err)
{
    owed_status status = settings_fill(settings, &w->settings, err);
    if (status == OWED_OK)
        status = name_worker(w, err);
    if (status == OWED_OK)
        status = settings_lanes(w, err);
    if (status == OWED_OK)
        status = filters_init(w, err);
    if (status == OWED_OK && w->visit != NULL && w->visit->is_nested)
        refuse_what_is_outside(w);
    if (status == OWED_OK)
        status = open_outside(w, err);
    if (status == OWED_OK)
        status = open_wake(w, err);
    if (status != OWED_OK)
        return status;
    status = set_up_pauses(w, err);
    if (status != OWED_OK)
        return status;
    w->started_at_us = worker_now_us(w);
    w->frozen_now_us = worker_has_limit(w) && w->visit == NULL ? w->started_at_us : 0;
    w->limit_left = w->settings.limit;
    w->pace.may_grow = w->visit == NULL && w->settings.limit == 0 && !w->is_eager &&
        (settings == NULL || settings->batch_size == 0);
    w->passes_left = w->settings.passes > 0 ? w->settings.passes : -1;
    w->idle_us = w->settings.poll_us;
    w->next_renewal_us = INT64_MAX;
    w->next_deadline_mono_us = INT64_MAX;
    // What was committed before now is no news.
    others_look(w);
    w->others_wrote_mono_us = 0;
    // All are due at once, whatever the clock's start.
    w->beat_mono_us = w->mend_mono_us = w->colleagues_mono_us = worker_mono_us(w);
    w->prune_mono_us = w->mend_mono_us;
    w->prune.is_over = true;
    if (w->visit != NULL)
        w->beat_mono_us = INT64_MAX; // nobody has to know of it
    return OWED_OK;
}

void
worker_close(struct worker *w)
{
    if (w == NULL)
        return;
    w->owed->make_way = NULL;
    outside_close(w);
    put_off_done(w);
    ahead_close(w);
    hold_release_all(w);
    errands_let_go(w->errands);
    wake_close(w->wake);
    for (enum share share = 0; share < SHARE_COUNT; share++)
        found_lanes_done(&w->found_lanes[share]);
    secrecy_done(w);
    arena_done(&w->group.ledger.arena);
    arena_done(&w->gathered.arena);
    arena_done(&w->arena);
    buf_done(&w->left_ids);
    free(w->dropped);
    free(w->hand_off.ready);
    free(w);
}

static void
worker_free_ptr(struct worker **w)
{
    worker_close(*w);
}

owed_status
worker_open(owed *handle, const owed_relay_settings *settings, const struct relay_seat *seat,
    struct worker **ret_worker, owed_error *err)
{
    CLEANUP(worker_free_ptr) struct worker *w = calloc(1, sizeof *w);
    if (w == NULL)
        return fail_memory(err);
    w->owed = handle;
    w->seat = *seat;
    w->visit = seat->visit;
    buf_init(&w->left_ids, JSON_IDS_BYTES);
    w->slot = seat->shared == NULL ? NULL : &seat->shared->slots[seat->slot];
    handle->make_way = group_make_way;
    handle->make_way_state = w;
    owed_status status = set_up(w, settings, err);
    if (status == OWED_OK)
        *ret_worker = steal(&w);
    return status;
}

/* --- the loop --- */

static bool
ends_when_idle(const struct worker *w)
{
    return w->settings.once || worker_has_limit(w);
}

bool
worker_is_at_rest(const struct worker *w)
{
    return w->flight_count == 0 && w->waiting.first == NULL && w->landed.first == NULL &&
        !behind_is_busy(w);
}

bool
worker_pass(struct worker *w)
{
    owed_error err = {0};
    if (upkeep(w, &err) != OWED_OK) {
        trouble(w, "look after the store", &err);
        return false;
    }
    if (!colleagues_keep(w) || (ledger_is_old(w, &w->gathered) && !record_now(w)))
        return false;
    bool busy = inside_pass(w, SHARE_EXPAND);
    if (!w->trouble.now && inside_pass(w, SHARE_TASK))
        busy = true;
    if (!w->trouble.now && inside_pass(w, SHARE_INSIDE))
        busy = true;
    if (!w->trouble.now && outside_pass(w))
        busy = true;
    if (!w->trouble.now && inside_pass(w, SHARE_FUNCTION))
        busy = true;
    return busy;
}

static bool
is_over(const struct worker *w)
{
    if (worker_is_stopping(w) || w->passes_left == 0)
        return true;
    if (!w->trouble.now || !ends_when_idle(w))
        return false;
    return w->trouble.failures >= GIVE_UP_FAILURES;
}

/* step is one pass and the wait after it; false: there is nothing left to do. */
static bool
step(struct worker *w)
{
    if (w->passes_left > 0)
        w->passes_left--;
    if (w->trouble.now) {
        trouble_mend(w);
        return true;
    }
    long long seen = w->seat.shared == NULL ? 0 : slot_works(w->seat.shared, w->seat.slot);
    bool busy = worker_pass(w);
    worker_share_counts(w);
    if (busy)
        idle_after_work(w);
    if (busy || w->trouble.now || worker_is_stopping(w))
        return true;
    if (ends_when_idle(w) && worker_is_at_rest(w)) {
        if (idle_for_room(w))
            return true;
        if (w->seat.shared == NULL)
            return false;
        idle_once(w, seen);
        return true;
    }
    if (w->passes_left != 0)
        idle(w);
    return true;
}

static void
finish(struct worker *w)
{
    // What is over is written before anything is waited for.
    if (!w->trouble.now && record_now(w))
        outside_settle(w);
    if (w->trouble.now) {
        ahead_drop(w);
        behind_drop(w);
    } else {
        ahead_hand_back(w);
    }
    outside_stop(w);
    outside_finish(w);
    owed_error err = {0};
    if (w->trouble.now && trouble_retry(w, &err) != OWED_OK)
        log_say(&w->owed->log, OWED_LOG_ERROR,
            "the store is still away: what is not recorded comes back when its lease is over",
            LOG_TEXT("error", err.text));
    if (!w->trouble.now && outside_settle(w)) {
        colleagues_see_off(w);
        upkeep_end(w);
    }
    if (!w->trouble.now)
        idle_tell_due(w);
    worker_share_counts(w);
}

static owed_status
work(struct worker *w, owed_error *err)
{
    // Whoever sat here before may have died with it.
    if (w->slot != NULL)
        atomic_store(&w->slot->holds_store, false);
    owed_status status = aftermath(w, err);
    if (status != OWED_OK)
        trouble(w, "make good what a dead worker left", err);
    if (w->seat.shared != NULL)
        slot_ready(w->seat.shared, w->seat.slot);
    log_say(&w->owed->log, OWED_LOG_INFO, "worker started", LOG_TEXT("worker", w->claimed_by));
    while (!is_over(w) && step(w))
        ;
    bool is_given_up = w->trouble.now && !worker_is_stopping(w) && w->passes_left != 0;
    owed_error why = w->trouble.error;
    finish(w);
    if (!is_given_up)
        return OWED_OK;
    return fail_native(err, why.status, why.native, "%s", why.text);
}

owed_status
relay_work(owed *handle, const owed_relay_settings *settings, const struct relay_seat *seat,
    owed_relay_counts *ret_counts, owed_error *err)
{
    if (handle->tx != NULL || store_in_transaction(handle->db))
        return fail(err, OWED_INVALID,
            "a transaction is open on this handle: end it before the relay runs");
    CLEANUP(worker_free_ptr) struct worker *w = NULL;
    owed_status status = worker_open(handle, settings, seat, &w, err);
    if (status == OWED_OK)
        status = work(w, err);
    handle_forget_stop(handle);
    if (ret_counts != NULL)
        *ret_counts = w == NULL ? (owed_relay_counts){0} : w->counts;
    return status;
}

/* refuse_timeouts: in one process nobody could end a receiver that does not return. */
static owed_status
refuse_timeouts(const owed *handle, owed_error *err)
{
    for (const struct receiver *r = handle->registry->receivers; r != NULL; r = r->next)
        if (r->runner == RUN_FUNCTION && r->declared.timeout_us > 0)
            return fail(err, OWED_INVALID,
                "receiver %s declares a timeout, which a relay inside your own process cannot "
                "enforce: run it under owed relay --module, or leave the timeout out",
                r->declared.key);
    return OWED_OK;
}

owed_status
owed_relay_run(owed *handle, const owed_relay_settings *settings, owed_relay_counts *ret_counts,
    owed_error *err)
{
    owed_status status = refuse_timeouts(handle, err);
    if (status != OWED_OK)
        return status;
    const struct relay_seat seat = {.role = ROLE_ALL, .hole_us = RELAY_HOLE_US};
    return relay_work(handle, settings, &seat, ret_counts, err);
}
