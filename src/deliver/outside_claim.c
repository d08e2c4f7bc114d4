/* SPDX-License-Identifier: MIT
 *
 * outside_claim.c - rows for the loop: as many as there is room for, or will be soon, and not more payload
 * than may be in hand.
 */
#include "base/error.h"
#include "base/limits.h"
#include "deliver/sortie.h"

#define LOST_ROWS 32
#define LOST_CRASHES 8  // that rows of such a claim may share with one to blame, until it is alone
#define LANDED_ROWS 100 // enough to be written before any more is claimed
#define HELD_BYTES (LIMIT_IN_FLIGHT_BYTES / 2) // in hand, and claims stay small

/* count_waiting counts them for each receiver. */
static void
count_waiting(struct worker *w)
{
    for (size_t i = 0; i < w->known_count; i++)
        w->known[i].waiting = 0;
    for (const struct sortie *s = w->waiting.first; s != NULL; s = s->next)
        s->known->waiting++;
}

/* at_most is how many rows of those that are wanted a claim takes: more where they flow. But one that
 * hangs keeps the memory of all that came with it. */
static int32_t
at_most(struct worker *w, int32_t wanted)
{
    bool flows = flow_rows(&w->flow, worker_mono_us(w)) > 0 && w->bytes_held < HELD_BYTES;
    int32_t most = flows ? pace_most(w) : w->settings.batch_size;
    return wanted < most ? wanted : most;
}

/* wanted is how many rows of a receiver can start before the next claim. Where they flow there is always
 * something in store, and it is filled up when half of it is gone. */
static int32_t
wanted(struct worker *w, const struct known *known)
{
    if (hold_rests(w, known->receiver))
        return 0;
    int32_t room = sortie_room(w, known);
    int32_t flow = flow_rows(&known->flow, worker_mono_us(w));
    if (flow == 0)
        return room + known->landed - known->waiting;
    int32_t most = at_most(w, room + flow);
    return known->waiting > most / 2 ? 0 : most - known->waiting;
}

bool
outside_has_stock(const struct worker *w)
{
    const struct sortie *first = w->waiting.first;
    return first != NULL && flow_rows(&first->known->flow, worker_mono_us(w)) > 0;
}

/* has_plenty: of that no more is wanted yet, so a claim would be for others alone. */
static bool
has_plenty(struct worker *w)
{
    count_waiting(w);
    return outside_has_stock(w) && wanted(w, w->waiting.first->known) <= 0;
}

/* bound is how many may wait of a receiver after so many were wanted. A claim that is large for the sake of what
 * flows may come to rows of another alone, which others have room for. */
static int32_t
bound(struct worker *w, const struct known *known, int32_t wanted)
{
    if (flow_rows(&known->flow, worker_mono_us(w)) > 0)
        return INT32_MAX;
    return known->waiting + (wanted > 0 ? wanted : 0) + w->settings.batch_size;
}

/* give_back_too_many frees what waits above that, the last that came. */
static void
give_back_too_many(struct worker *w)
{
    struct sorties many = {0};
    struct sortie *next = NULL;
    for (struct sortie *s = w->waiting.first; s != NULL; s = next) {
        next = s->next;
        if (s->known->bound-- > 0)
            continue;
        sorties_take_out(&w->waiting, s);
        sorties_append(&many, s);
    }
    sorties_give_back(w, &many, false);
}

/* receivers_wanted lists whose rows are to be claimed. *ret_most is how many of one. */
static const char *const *
receivers_wanted(struct worker *w, int32_t *ret_most, bool *ret_all)
{
    struct claim_filter *filter = &w->filters[SHARE_LOOP];
    size_t count = 0;
    *ret_most = 0;
    *ret_all = true;
    count_waiting(w);
    for (size_t i = 0; filter->members[i] != NULL; i++) {
        struct known *known = filter->members[i];
        int32_t of_it = wanted(w, known);
        known->bound = bound(w, known, of_it);
        if (of_it > *ret_most)
            *ret_most = of_it;
        if (of_it > 0)
            filter->some[count++] = filter->keys[i];
        else
            *ret_all = false;
    }
    filter->some[count] = NULL;
    return filter->some;
}

size_t
outside_bytes_left(const struct worker *w)
{
    return w->bytes_away < LIMIT_IN_FLIGHT_BYTES ? LIMIT_IN_FLIGHT_BYTES - w->bytes_away : 0;
}

/* outside_most_lost is how many rows that somebody was lost with are claimed together.
 *
 * After a relay was killed that is all it had in hand, and nearly always none of them is to blame: what runs
 * them here is the same code for all, which sends requests and starts programs. So the first goes alone, and with
 * every one whose outcome is written one more may be under way. Where one of them ends this worker all the
 * same, the next worker begins again with one, in the same order: what comes before the one to blame is
 * settled by then, and what was with it is about half as many each time, until it is alone. A limit of losses
 * that leaves no room for that, or a receiver in C that starts its work in this very process, keeps each alone. */
int32_t
outside_most_lost(const struct worker *w)
{
    bool has_room = w->settings.max_losses <= 0 || w->settings.max_losses >= LOST_CRASHES;
    if (!has_room || w->errands != NULL)
        return 1;
    int64_t most = w->lost_landed + 1 < LOST_ROWS ? w->lost_landed + 1 : LOST_ROWS;
    return most - w->lost_away > 1 ? (int32_t)(most - w->lost_away) : 1;
}

static bool
enlist(struct worker *w, struct batch *batch, struct task *task, struct known *known,
    const void *payload)
{
    struct sortie *sortie = arena_alloc(&batch->arena, sizeof *sortie);
    owed_error err = {0};
    owed_status status = sortie == NULL
        ? fail_memory(&err)
        : delivery_init(&sortie->flight.delivery, w->owed, known->receiver, task->row,
              (size_t)w->settings.error_length, &batch->arena, &err);
    if (status != OWED_OK) {
        trouble(w, "prepare an attempt", &err);
        return false;
    }
    sortie->batch = batch;
    sortie->task = task;
    sortie->known = known;
    sortie->payload = payload;
    task->state = TASK_AWAY;
    batch->is_shared = batch->is_shared || is_errand(sortie);
    w->bytes_away += task->row->payload.len;
    w->lost_away += task->row->losses > 0;
    batch->flights++;
    batch->sorties++;
    sortie_note_renewal(w, sortie);
    sorties_append(&w->waiting, sortie);
    return true;
}

static bool
leave_stranger(struct worker *w, struct task *task)
{
    struct claim_filter *filter = &w->filters[SHARE_LOOP];
    task->state = TASK_LEFT;
    if (!filter->met_stranger)
        report_left(w, task->row, "receiver not declared here: left for a relay that knows it");
    filter->met_stranger = true;
    filter->on = true;
    return true;
}

static bool
sort_out(struct worker *w, struct batch *batch, struct task *task)
{
    struct known *known = known_find(w, task->row->receiver_key);
    if (known == NULL || !known_is_of(w, known, SHARE_LOOP))
        return leave_stranger(w, task);
    const void *payload = NULL;
    enum readiness readiness = row_check(w, task, known);
    // The others take the payload as it is.
    if (readiness == READY && known->receiver->runner == RUN_START)
        readiness = attempt_decode(w, task, known, &batch->arena, &payload);
    switch (readiness) {
    case READY:
        return enlist(w, batch, task, known, payload);
    case NOT_OURS:
        report_left(w, task->row, "event not declared here: left for a relay that knows it");
        task->state = TASK_LEFT;
        visit_leave(w, task->row->fence.delivery_id);
        return true;
    case NOT_TO_RUN:
        task->state = TASK_DONE;
        return record_now(w);
    case NOT_HELD:
        task->state = TASK_DONE;
        return true;
    case NO_STORE:
        break;
    }
    return false;
}

static bool
sort_out_batch(struct worker *w, struct batch *batch)
{
    for (size_t i = 0; i < batch->count; i++)
        if (!sort_out(w, batch, &batch->tasks[i]))
            return false;
    return batch_hand_back(w, batch);
}

void
outside_forgo_claim(struct worker *w)
{
    for (size_t i = 0; i < w->known_count; i++)
        w->known[i].landed = 0;
}

void
outside_claim_ahead(struct worker *w)
{
    bool is_all = false;
    int32_t most = 0;
    if (!w->loop_has_more || ahead_has(w, SHARE_LOOP) || has_plenty(w))
        return;
    const char *const *some = receivers_wanted(w, &most, &is_all);
    if (most > 0 && outside_bytes_left(w) > 0)
        ahead_begin(w, SHARE_LOOP, is_all ? NULL : some, at_most(w, most));
}

/* claim_some takes what was claimed ahead, or claims. *ret_limit is how many were asked for, *ret_most how
 * many there was room for; false: the store failed. */
static bool
claim_some(struct worker *w, struct batch **ret_batch, int32_t *ret_limit, int32_t *ret_most)
{
    bool is_all = false;
    *ret_batch = NULL;
    // First, since until then others read whose rows were wanted.
    if (ahead_has(w, SHARE_LOOP) && !ahead_take(w, ret_batch, ret_limit))
        return false;
    const char *const *some = receivers_wanted(w, ret_most, &is_all);
    if (*ret_batch != NULL || *ret_most <= 0 || outside_bytes_left(w) == 0)
        return true;
    *ret_limit = at_most(w, *ret_most);
    return worker_claim(w, SHARE_LOOP, is_all ? NULL : some, *ret_limit, ret_batch);
}

bool
outside_claim(struct worker *w, bool *ret_again)
{
    int32_t most = 0;
    int32_t limit = 0;
    struct batch *batch = NULL;
    *ret_again = false;
    bool is_for_others = !ahead_has(w, SHARE_LOOP) && has_plenty(w);
    if (worker_is_stopping(w) || !claim_some(w, &batch, &limit, &most))
        return false;
    bool is_full = batch != NULL && batch->count == (size_t)limit;
    if (!is_for_others)
        w->loop_has_more = is_full;
    *ret_again = is_full && limit < most && w->landed.count < LANDED_ROWS;
    if (!*ret_again && limit > 0)
        outside_forgo_claim(w);
    if (batch == NULL)
        return false;
    bool was_filtered = w->filters[SHARE_LOOP].on;
    batch->flights = 1; // ours, until all is sorted out
    bool is_sorted = sort_out_batch(w, batch);
    batch->weight = batch->sorties > 0 ? batch->arena.used : 0;
    w->bytes_held += batch->weight;
    if (!is_sorted)
        batch_drop(w, batch);
    else if (batch->count > (size_t)w->settings.batch_size)
        give_back_too_many(w);
    bool any = w->filters[SHARE_LOOP].on != was_filtered;
    for (size_t i = 0; i < batch->count; i++)
        any = any || batch->tasks[i].state != TASK_LEFT;
    sortie_let_go(batch);
    return any;
}
