/* SPDX-License-Identifier: MIT
 *
 * share.c - counts in flight, by receiver.
 */
#include "receive/share.h"

#include <search.h>
#include <stdlib.h>

struct count {
    const struct receiver *receiver;
    int32_t flying;
};

static int
by_receiver(const void *a, const void *b)
{
    uintptr_t left = (uintptr_t)((const struct count *)a)->receiver;
    uintptr_t right = (uintptr_t)((const struct count *)b)->receiver;
    return left < right ? -1 : left > right;
}

/* count_of finds a receiver's count, or makes one; NULL: out of memory. */
static struct count *
count_of(struct share *share, const struct receiver *receiver)
{
    const struct count wanted = {.receiver = receiver};
    struct count *const *found = tfind(&wanted, &share->tree, by_receiver);
    if (found != NULL)
        return *found;
    struct count *count = calloc(1, sizeof *count);
    if (count == NULL)
        return NULL;
    count->receiver = receiver;
    if (tsearch(count, &share->tree, by_receiver) == NULL) {
        free(count);
        return NULL;
    }
    share->known++;
    return count;
}

int32_t
share_room(struct share *share, const struct receiver *receiver)
{
    const struct count *count = count_of(share, receiver);
    int32_t left = share->limit - share->flying;
    if (count == NULL || left <= 0)
        return 0;
    if (share->known == 1)
        return left;
    int32_t others = share->active - (count->flying > 0);
    int32_t own = (share->limit - share->limit / 8) / (others + 1);
    int32_t room = (own > 1 ? own : 1) - count->flying;
    if (room > left)
        room = left;
    return room > 0 ? room : 0;
}

void
share_take(struct share *share, const struct receiver *receiver)
{
    struct count *count = count_of(share, receiver);
    if (count == NULL)
        return;
    share->active += count->flying == 0;
    share->flying++;
    count->flying++;
}

void
share_give(struct share *share, const struct receiver *receiver)
{
    struct count *count = count_of(share, receiver);
    if (count == NULL || count->flying == 0)
        return;
    count->flying--;
    share->flying--;
    share->active -= count->flying == 0;
}

void
share_done(struct share *share)
{
    tdestroy(share->tree, free);
    share->tree = NULL;
}
