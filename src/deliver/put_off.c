/* SPDX-License-Identifier: MIT
 *
 * put_off.c - a tree of what was put off, by delivery.
 */
#include "deliver/put_off.h"

#include <search.h>
#include <stdlib.h>

#include "base/clock.h"
#include "deliver/worker.h"

#define SOON_US (5 * US_PER_SECOND)
#define LOOK_US (50 * US_PER_MS)

struct put_off {
    int64_t delivery_id;
    int64_t until_mono_us;
    bool wants_room; // at its destination: nothing else keeps it
};

static int
by_delivery(const void *a, const void *b)
{
    int64_t left = ((const struct put_off *)a)->delivery_id;
    int64_t right = ((const struct put_off *)b)->delivery_id;
    return left < right ? -1 : left > right;
}

/* is_heard: any other relay meets what it has put off again, and has nothing to say at its end. */
static bool
is_heard(const struct worker *w)
{
    return w->visit == NULL && (w->settings.once || worker_has_limit(w) || w->settings.passes > 0);
}

static struct put_off *
find(struct worker *w, int64_t delivery_id)
{
    const struct put_off wanted = {.delivery_id = delivery_id};
    struct put_off *const *found = tfind(&wanted, &w->put_off, by_delivery);
    return found == NULL ? NULL : *found;
}

/* put_in finds the one of a delivery, or makes it; NULL: out of memory. */
static struct put_off *
put_in(struct worker *w, int64_t delivery_id)
{
    struct put_off *one = find(w, delivery_id);
    if (one != NULL)
        return one;
    one = calloc(1, sizeof *one);
    if (one == NULL)
        return NULL;
    one->delivery_id = delivery_id;
    if (tsearch(one, &w->put_off, by_delivery) == NULL) {
        free(one);
        return NULL;
    }
    w->counts.put_off++;
    return one;
}

static void
take_out(struct worker *w, int64_t delivery_id)
{
    struct put_off *one = find(w, delivery_id);
    if (one == NULL)
        return;
    tdelete(one, &w->put_off, by_delivery);
    free(one);
    w->counts.put_off--;
}

void
put_off_hear(struct worker *w, const struct settlement *settlement, const struct note *note)
{
    int64_t delivery_id = settlement->fence.delivery_id;
    if (!is_heard(w))
        return;
    if (note->later == NULL) {
        take_out(w, delivery_id);
        return;
    }
    struct put_off *one = put_in(w, delivery_id);
    if (one == NULL)
        return;
    one->until_mono_us = worker_mono_us(w) + settlement->available_at_us - settlement->now_us;
    one->wants_room = note->wants_room;
}

struct search {
    int64_t now_mono_us;
    int64_t first_mono_us;
};

/* look_at_one leaves out what is due and was not claimed for a while: somebody else has it. */
static void
look_at_one(const void *node, VISIT visit, void *state)
{
    struct search *search = state;
    const struct put_off *one = *(struct put_off *const *)node;
    if ((visit != postorder && visit != leaf) || !one->wants_room ||
        one->until_mono_us < search->now_mono_us - US_PER_SECOND)
        return;
    if (one->until_mono_us < search->first_mono_us)
        search->first_mono_us = one->until_mono_us;
}

int64_t
put_off_wait_us(const struct worker *w)
{
    struct search search = {worker_mono_us(w), INT64_MAX};
    if (!w->settings.once || worker_has_limit(w))
        return INT64_MAX;
    twalk_r(w->put_off, look_at_one, &search);
    if (search.first_mono_us == INT64_MAX || search.first_mono_us > search.now_mono_us + SOON_US)
        return INT64_MAX;
    int64_t left_us = search.first_mono_us - search.now_mono_us;
    return left_us > LOOK_US ? left_us : LOOK_US;
}

void
put_off_done(struct worker *w)
{
    tdestroy(w->put_off, free);
    w->put_off = NULL;
}
