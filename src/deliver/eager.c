/* SPDX-License-Identifier: MIT
 *
 * eager.c - one attempt right after the commit, in the process that fired.
 *
 * The rows are there like all others. A worker made for the moment, with no lanes, no wake and no
 * upkeep, claims those of this transaction and runs them as any worker would; it is the only thing
 * that differs. Whatever it does not finish is owed to a relay.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "deliver/local.h"
#include "deliver/worker.h"

#define EVENTS 100 // whose rows one claim takes

bool
eager_wants(const struct receiver *receiver, const char *event_name)
{
    return receiver->declared.eager && receiver_wants(receiver, event_name);
}

static bool
is_wanted(const owed *handle, const struct fired *fired)
{
    if (!fired->exists)
        return false;
    for (const struct receiver *r = handle->registry->receivers; r != NULL; r = r->next)
        if (eager_wants(r, fired->event.name))
            return true;
    return false;
}

/* --- the worker --- */

static void
worker_free(struct worker *w)
{
    arena_done(&w->group.ledger.arena);
    arena_done(&w->gathered.arena);
    arena_done(&w->arena);
    free(w->dropped);
    free(w->hand_off.ready);
    free(w);
}

static owed_status
set_up(struct worker *w, owed *handle, owed_error *err)
{
    const owed_relay_settings none = {0};
    w->owed = handle;
    w->seat = (struct relay_seat){.role = ROLE_ALL};
    w->is_eager = true;
    w->passes_left = -1;
    w->instance = w->claimed_by = arena_printf(
        &w->arena, "eager.%08" PRIx32, (uint32_t)handle->dice.next(handle->dice.state));
    if (w->claimed_by != NULL)
        w->hand_off.claimed_by = arena_printf(&w->arena, "%s" HANDED_ON, w->claimed_by);
    if (w->hand_off.claimed_by == NULL)
        return fail_memory(err);
    owed_status status = settings_fill(&none, &w->settings, err);
    return status == OWED_OK ? filters_init(w, err) : status;
}

/* eager_keys lists the eager receivers of a share, NULL-ended; NULL: there are none. */
static const char *const *
eager_keys(const struct worker *w, enum share share)
{
    const struct claim_filter *filter = &w->filters[share];
    size_t count = 0;
    for (size_t i = 0; filter->members[i] != NULL; i++)
        if (filter->members[i]->receiver->declared.eager)
            filter->some[count++] = filter->keys[i];
    filter->some[count] = NULL;
    return count == 0 ? NULL : filter->some;
}

/* --- the attempts --- */

static void
run_share(struct worker *w, enum share share)
{
    const char *const *keys = eager_keys(w, share);
    struct batch *batch = NULL;
    if (keys == NULL || !worker_claim(w, share, keys, LIMIT_BATCH_SIZE, &batch) || batch == NULL)
        return;
    batch_run(w, share, batch);
    batch_free(batch);
}

static void
run_events(struct worker *w, const int64_t *event_ids, size_t count)
{
    w->only_events = event_ids;
    w->only_count = count;
    if (!w->trouble.now)
        run_share(w, SHARE_INSIDE);
    if (!w->trouble.now)
        run_share(w, SHARE_FUNCTION);
    // Without a backend a relay that has one is not to wait for what fails here.
    if (!w->trouble.now && task_backend_of(w->owed) != NULL)
        run_share(w, SHARE_TASK);
}

static void
run_fired(struct worker *w, const struct fired *fired)
{
    int64_t event_ids[EVENTS];
    size_t count = 0;
    for (; fired != NULL; fired = fired->next) {
        if (is_wanted(w->owed, fired))
            event_ids[count++] = fired->event_id;
        bool is_last = fired->next == NULL;
        if (count == 0 || (count < EVENTS && !is_last))
            continue;
        run_events(w, event_ids, count);
        count = 0;
    }
}

/* let_go writes what is noted and gives back the rest, if the store is there again: else the end of the
 * lease brings it back. */
static void
let_go(struct worker *w)
{
    owed_error err;
    int64_t given = 0;
    if (w->trouble.now && ledger_flush(w, &w->gathered, &err) == OWED_OK &&
        store_hand_back_all(w->owed->db, w->claimed_by, 0, &given, &err) == OWED_OK)
        (void)store_hand_back(w->owed->db, w->dropped, w->dropped_count, &given, &err);
}

static bool
any_is_wanted(const owed_tx *tx)
{
    for (const struct fired *fired = tx->fired; fired != NULL; fired = fired->next)
        if (is_wanted(tx->owed, fired))
            return true;
    return false;
}

void
eager_after_commit(owed_tx *tx)
{
    owed *handle = tx->owed;
    // Inside a relay, or inside an eager attempt, there is somebody already to whom it is owed.
    if (handle->make_way != NULL || !any_is_wanted(tx))
        return;
    struct worker *w = calloc(1, sizeof *w);
    if (w == NULL)
        return;
    owed_error err = {0};
    handle->make_way = group_make_way;
    handle->make_way_state = w;
    if (set_up(w, handle, &err) == OWED_OK)
        run_fired(w, tx->fired);
    else
        trouble(w, "prepare an eager attempt", &err);
    let_go(w);
    handle->make_way = NULL;
    worker_free(w);
}
