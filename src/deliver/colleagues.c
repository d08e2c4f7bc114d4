/* SPDX-License-Identifier: MIT
 *
 * colleagues.c - leases of what the relay's other workers have in hand.
 *
 * A worker that runs a receiver in C cannot renew its lease meanwhile. The worker of the loop can: it
 * never stays long in one place, and has a connection of its own. Where a store has a single writer
 * and that one has it, nobody could take the row, and trying to renew it would only wait.
 */
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>

#include "base/clock.h"
#include "deliver/worker.h"

#define LOOK_MAX_US (15 * US_PER_SECOND)
#define SEE_OFF_LOOK_US (5 * US_PER_MS)
#define LOOK_MIN_US (20 * US_PER_MS)

static bool
looks_after_others(const struct worker *w)
{
    return w->seat.shared != NULL && w->seat.role == ROLE_LOOP;
}

int64_t
colleagues_next_us(const struct worker *w)
{
    if (!looks_after_others(w))
        return INT64_MAX;
    int64_t left_us = w->colleagues_mono_us - worker_mono_us(w);
    return left_us > 0 ? left_us : 0;
}

static int64_t
expires_at_us(const struct kept *kept, const struct in_hand *hand)
{
    bool is_same =
        kept->delivery_id == hand->delivery_id && kept->claimed_at_us == hand->claimed_at_us;
    return is_same && kept->expires_at_us > hand->lease_expires_at_us ? kept->expires_at_us
                                                                      : hand->lease_expires_at_us;
}

/* keep renews one lease that is half spent. */
static owed_status
keep(struct worker *w, int slot, const struct in_hand *hand, unsigned turn, owed_error *err)
{
    struct kept *kept = &w->kept[slot];
    int64_t now_us = worker_now_us(w);
    if (expires_at_us(kept, hand) - now_us >= hand->lease_us / 2)
        return OWED_OK;
    char claimed_by[SHARED_INSTANCE_BYTES + 16];
    snprintf(claimed_by, sizeof claimed_by, "%s/%d", w->instance, slot);
    const struct fence fence = {hand->delivery_id, claimed_by, hand->claimed_at_us};
    owed_status status = store_renew(w->owed->db, &fence, now_us + hand->lease_us, err);
    // Or its attempt has ended meanwhile: then nobody asks any more.
    if (status == OWED_LOST) {
        slot_lose(w->seat.shared, slot, turn);
        return OWED_OK;
    }
    if (status != OWED_OK)
        return status;
    worker_wrote(w);
    *kept = (struct kept){hand->delivery_id, hand->claimed_at_us, now_us + hand->lease_us};
    return OWED_OK;
}

static int64_t
shortest_lease_us(const struct worker *w)
{
    int64_t us = w->settings.lease_us;
    for (size_t i = 0; i < w->known_count; i++) {
        int64_t own_us = lease_us(w, w->known[i].receiver);
        us = own_us < us ? own_us : us;
    }
    return us;
}

bool
colleagues_keep(struct worker *w)
{
    if (colleagues_next_us(w) > 0)
        return true;
    int64_t every_us = shortest_lease_us(w) / 4;
    every_us = every_us < LOOK_MIN_US ? LOOK_MIN_US : every_us;
    w->colleagues_mono_us = worker_mono_us(w) + (every_us < LOOK_MAX_US ? every_us : LOOK_MAX_US);
    struct shared *shared = w->seat.shared;
    bool is_single = w->owed->db->driver->single_writer;
    for (int i = 0; i < shared->slot_count; i++) {
        struct in_hand hand;
        unsigned turn = 0;
        bool is_held = is_single && atomic_load(&shared->slots[i].holds_store);
        if (i == w->seat.slot || is_held || !slot_hand(shared, i, &hand, &turn))
            continue;
        owed_error err = {0};
        owed_status status = keep(w, i, &hand, turn, &err);
        if (status != OWED_OK && status != OWED_BUSY) {
            trouble(w, "renew a lease", &err);
            return false;
        }
    }
    return true;
}

static bool
any_runs(const struct worker *w)
{
    for (int i = 0; i < w->seat.shared->slot_count; i++)
        if (i != w->seat.slot && slot_is_running(w->seat.shared, i))
            return true;
    return false;
}

void
colleagues_see_off(struct worker *w)
{
    const struct timespec look = {.tv_nsec = SEE_OFF_LOOK_US * 1000};
    while (looks_after_others(w) && any_runs(w) && colleagues_keep(w)) {
        // A stop has been asked for already: nothing else would end this wait.
        if (w->seat.wait != NULL)
            w->seat.wait(w->seat.wait_state, SEE_OFF_LOOK_US);
        else
            ppoll(NULL, 0, &look, NULL);
    }
}
