/* SPDX-License-Identifier: MIT
 *
 * idle.c - how long a worker waits when there is nothing to do.
 *
 * The poll is the floor. Once the store's own sign of a commit is known to come, waits stretch, and
 * one that ends without a sign is followed by the next: whether anything was committed is asked each
 * time, but not what. A store that gives no signs is polled, quickly after work and then ever more slowly.
 */
#include "base/clock.h"
#include "base/error.h"
#include "deliver/worker.h"

#define IDLE_MAX_US (15 * US_PER_SECOND)
#define DUE_MIN_US US_PER_MS
#define ONCE_LOOK_US (10 * US_PER_MS)
#define QUICK_POLLS 16                    // in the time of one, right after work
#define DUE_HOLDS_US (15 * US_PER_SECOND) // what was heard of the next row, where nothing says more

static void
tidy(struct worker *w)
{
    if (w->wrote && !w->trouble.now)
        w->owed->db->driver->tidy(w->owed->db);
    w->wrote = false;
}

/* ask_due asks when the next row falls due that no commit will announce; INT64_MAX: none does. is_found: in the lanes
 * that were found before. */
static owed_status
ask_due(struct worker *w, bool is_found, int64_t *ret_at_us, owed_error *err)
{
    owed_status status = OWED_OK;
    *ret_at_us = INT64_MAX;
    for (enum share share = 0; share < SHARE_COUNT && status == OWED_OK; share++) {
        if (!share_is_served(w, share))
            continue;
        struct claim claim;
        claim_fill(w, share, &claim);
        if (is_found)
            claim_where_found(w, share, &claim);
        int64_t at_us = INT64_MAX;
        status = store_next_due(w->owed->db, &claim, &at_us, err);
        if (status == OWED_OK && at_us < *ret_at_us)
            *ret_at_us = at_us;
    }
    return status;
}

/* first_due asks so in the lanes that were found before; false is trouble. */
static bool
first_due(struct worker *w, int64_t *ret_at_us)
{
    owed_error err = {0};
    if (ask_due(w, true, ret_at_us, &err) == OWED_OK)
        return true;
    trouble(w, "look for what is due next", &err);
    return false;
}

static void
note_due(struct worker *w, int64_t at_us)
{
    int64_t soon_us = worker_now_us(w) + DUE_MIN_US;
    w->vain = at_us <= soon_us ? w->vain + 1 : 0;
    w->due_heard_mono_us = worker_mono_us(w);
    w->due_at_us = at_us < soon_us ? soon_us : at_us;
}

owed_status
idle_ask(struct worker *w, owed_error *err)
{
    int64_t at_us = INT64_MAX;
    owed_status status = ask_due(w, false, &at_us, err);
    if (status == OWED_OK)
        w->due_at_us = at_us;
    return status;
}

/* jitter shortens a wait by up to a sixteenth, so that many relays do not look at the same moment. */
static int64_t
jitter(const struct worker *w, int64_t us)
{
    return us - (int64_t)((double)us / 16 * dice_unit(&w->owed->dice));
}

/* sooner cuts a wait to what the leases of colleagues, and old events, leave of it. */
static int64_t
sooner(const struct worker *w, int64_t us)
{
    int64_t next_us = colleagues_next_us(w);
    int64_t clean_us = clean_next_us(w);
    next_us = clean_us < next_us ? clean_us : next_us;
    return next_us < us ? next_us : us;
}

/* wait_held_us tells how long until a pause ends, of a destination or of hand-offs. */
static int64_t
wait_held_us(const struct worker *w)
{
    int64_t hold_us = hold_wait_us(w);
    int64_t hand_off_us = hand_off_wait_us(w);
    return hold_us < hand_off_us ? hold_us : hand_off_us;
}

/* wait_us tells how long this worker may wait, with the next row due in due_us. */
static int64_t
wait_us(struct worker *w, int64_t due_us)
{
    int64_t us = jitter(w, w->idle_us);
    // A row that seems due and cannot be claimed is not asked about all the time.
    if (due_us < us && w->vain <= 1)
        us = due_us;
    int64_t renewal_us = w->next_renewal_us - worker_now_us(w);
    if (!worker_is_at_rest(w) && renewal_us < us)
        us = renewal_us > DUE_MIN_US ? renewal_us : DUE_MIN_US;
    int64_t held_us = wait_held_us(w);
    return sooner(w, held_us < us ? held_us : us);
}

void
idle_after_work(struct worker *w)
{
    w->due_heard_mono_us = 0;
    w->has_worked = true;
}

/* hear_due sees to it that due_at_us is when the next row falls due. */
static void
hear_due(struct worker *w)
{
    int64_t mono_us = worker_mono_us(w);
    bool is_known = w->due_heard_mono_us != 0 && mono_us - w->due_heard_mono_us < DUE_HOLDS_US &&
        worker_now_us(w) + DUE_MIN_US < w->due_at_us;
    if (is_known && !wake_has_signs(w->wake))
        return;
    int64_t at_us = INT64_MAX;
    if (first_due(w, &at_us))
        note_due(w, at_us);
}

/* stretch makes the next wait longer where commits are seen to be noticed. */
static void
stretch(struct worker *w, bool is_woken)
{
    int64_t poll_us = w->settings.poll_us;
    int64_t most_us = poll_us > IDLE_MAX_US ? poll_us : IDLE_MAX_US;
    if (!wake_has_signs(w->wake))
        most_us = poll_us;
    int64_t next_us = w->idle_us * 2 < most_us ? w->idle_us * 2 : most_us;
    bool may_stretch = wake_is_proven(w->wake) || !wake_has_signs(w->wake);
    w->idle_us = is_woken || !may_stretch ? poll_us : next_us;
}

/* may_rest tells whether another look could find nothing: no commit, nothing due. Whoever died with rows in
 * hand since the last look announced nothing: they are found by the next round. */
static bool
may_rest(const struct worker *w)
{
    return wake_is_proven(w->wake) && worker_is_at_rest(w) && !worker_is_stopping(w) &&
        w->passes_left < 0 && worker_now_us(w) < w->due_at_us;
}

/* keep_house does meanwhile what is due beside deliveries. */
static bool
keep_house(struct worker *w)
{
    owed_error err = {0};
    w->is_resting = true;
    owed_status status = upkeep(w, &err);
    w->is_resting = false;
    if (status == OWED_OK)
        return colleagues_keep(w);
    trouble(w, "look after the store", &err);
    return false;
}

void
idle(struct worker *w)
{
    tidy(w);
    // For a worker that has nothing to run only its upkeep will be due.
    if (w->wake == NULL) {
        worker_wait(w, sooner(w, IDLE_MAX_US));
        return;
    }
    if (w->has_worked && !wake_has_signs(w->wake))
        w->idle_us = w->settings.poll_us / QUICK_POLLS;
    w->has_worked = false;
    hear_due(w);
    if (w->trouble.now)
        return;
    bool is_woken = false;
    // The end of a pause is announced by nobody.
    bool is_held = wait_held_us(w) != INT64_MAX;
    do {
        int64_t next_us = w->due_at_us;
        int64_t left_us = next_us == INT64_MAX ? next_us : next_us - worker_now_us(w);
        is_woken = worker_wait(w, wait_us(w, left_us > DUE_MIN_US ? left_us : DUE_MIN_US));
        stretch(w, is_woken);
        if (is_woken)
            w->due_heard_mono_us = 0;
    } while (!is_woken && !is_held && may_rest(w) && keep_house(w) && may_rest(w));
}

/* idle_once waits, once all is done, until the supervisor has heard the same of every worker. */
void
idle_once(struct worker *w, long long seen)
{
    tidy(w);
    slot_waits(w->seat.shared, w->seat.slot, seen);
    int64_t end_us = worker_mono_us(w) + sooner(w, jitter(w, w->settings.poll_us));
    int64_t left_us;
    do {
        left_us = end_us - worker_mono_us(w);
        if (left_us < 0)
            left_us = 0;
    } while (!worker_wait(w, left_us < ONCE_LOOK_US ? left_us : ONCE_LOOK_US) && left_us > 0 &&
        !worker_is_stopping(w) && !slot_is_behind(w->seat.shared, w->seat.slot));
}

bool
idle_for_room(struct worker *w)
{
    int64_t left_us = put_off_wait_us(w);
    int64_t before_us = worker_mono_us(w);
    if (left_us == INT64_MAX)
        return false;
    tidy(w);
    worker_wait(w, left_us);
    // On a clock that stands still it would never be due.
    return worker_mono_us(w) != before_us;
}

void
idle_tell_due(struct worker *w)
{
    if (!w->settings.once && !worker_has_limit(w) && w->settings.passes == 0)
        return;
    int64_t first_us = INT64_MAX;
    if (!first_due(w, &first_us) || first_us == INT64_MAX)
        return;
    w->counts.next_due_us = first_us;
    if (w->seat.shared != NULL)
        shared_tell_due(w->seat.shared, first_us);
}
