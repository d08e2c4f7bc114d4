/* SPDX-License-Identifier: MIT
 *
 * pauses.c - see pauses.h. A worker that died in the middle of a change leaves a whole table: an entry
 * counts once it is written, and one that stands twice is found, and ended, twice.
 */
#include "deliver/pauses.h"

#include <errno.h>
#include <string.h>

void
pauses_init(struct pauses *pauses)
{
    memset(pauses, 0, sizeof *pauses);
    pthread_mutexattr_t how;
    pthread_mutexattr_init(&how);
    pthread_mutexattr_setpshared(&how, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&how, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&pauses->lock, &how);
    pthread_mutexattr_destroy(&how);
}

static void
lock(struct pauses *pauses)
{
    if (pthread_mutex_lock(&pauses->lock) == EOWNERDEAD)
        pthread_mutex_consistent(&pauses->lock);
}

static void
unlock(struct pauses *pauses)
{
    pthread_mutex_unlock(&pauses->lock);
}

bool
pauses_any(struct pauses *pauses)
{
    return atomic_load_explicit(&pauses->count, memory_order_relaxed) > 0;
}

static bool
is_same(const struct pause_of *a, const struct pause_of *b)
{
    return a->kind == b->kind && strcmp(a->name, b->name) == 0 &&
        memcmp(a->digest, b->digest, sizeof a->digest) == 0;
}

static struct pause *
find(struct pauses *pauses, const struct pause_of *of)
{
    int count = atomic_load(&pauses->count);
    for (int i = 0; i < count; i++)
        if (is_same(&pauses->list[i].of, of))
            return &pauses->list[i];
    return NULL;
}

/* make_room returns the entry to write to, which counts already if the table is full. */
static struct pause *
make_room(struct pauses *pauses, int count)
{
    if (count < PAUSES)
        return &pauses->list[count];
    struct pause *first = &pauses->list[0];
    for (int i = 1; i < count; i++)
        if (pauses->list[i].until_mono_us < first->until_mono_us)
            first = &pauses->list[i];
    return first;
}

int64_t
pauses_add(struct pauses *pauses, const struct pause_of *of, int64_t until_mono_us)
{
    int64_t before_us = 0;
    lock(pauses);
    struct pause *pause = find(pauses, of);
    if (pause != NULL) {
        before_us = pause->until_mono_us;
        if (until_mono_us > pause->until_mono_us)
            pause->until_mono_us = until_mono_us;
    } else {
        int count = atomic_load(&pauses->count);
        *make_room(pauses, count) = (struct pause){.of = *of, .until_mono_us = until_mono_us};
        if (count < PAUSES)
            atomic_store(&pauses->count, count + 1);
    }
    unlock(pauses);
    return before_us;
}

static bool
rests(const struct pause *pause, int64_t now_mono_us)
{
    return pause->until_mono_us > now_mono_us || pause->trier != 0;
}

enum hold
pauses_ask(struct pauses *pauses, const struct pause_of *of, int trier, int64_t now_mono_us)
{
    if (!pauses_any(pauses))
        return HOLD_NONE;
    enum hold hold = HOLD_NONE;
    lock(pauses);
    struct pause *pause = find(pauses, of);
    if (pause != NULL) {
        hold = rests(pause, now_mono_us) ? HOLD_HELD : HOLD_TRIAL;
        if (hold == HOLD_TRIAL)
            pause->trier = trier;
    }
    unlock(pauses);
    return hold;
}

void
pauses_release(struct pauses *pauses, const struct pause_of *of, int trier)
{
    lock(pauses);
    struct pause *pause = find(pauses, of);
    if (pause != NULL && pause->trier == trier)
        pause->trier = 0;
    unlock(pauses);
}

void
pauses_release_all(struct pauses *pauses, int trier)
{
    lock(pauses);
    int count = atomic_load(&pauses->count);
    for (int i = 0; i < count; i++)
        if (pauses->list[i].trier == trier)
            pauses->list[i].trier = 0;
    unlock(pauses);
}

void
pauses_end(struct pauses *pauses, const struct pause_of *of, int64_t started_mono_us)
{
    if (!pauses_any(pauses))
        return;
    lock(pauses);
    int count = atomic_load(&pauses->count);
    for (int i = count - 1; i >= 0; i--) {
        struct pause *pause = &pauses->list[i];
        if (!is_same(&pause->of, of) || started_mono_us < pause->until_mono_us)
            continue;
        *pause = pauses->list[--count];
        atomic_store(&pauses->count, count);
    }
    unlock(pauses);
}

bool
pauses_rests(struct pauses *pauses, const struct pause_of *of, int64_t now_mono_us)
{
    if (!pauses_any(pauses))
        return false;
    lock(pauses);
    const struct pause *pause = find(pauses, of);
    bool is_resting = pause != NULL && rests(pause, now_mono_us);
    unlock(pauses);
    return is_resting;
}

size_t
pauses_list(struct pauses *pauses, int64_t now_mono_us, struct pause_of ret_list[static PAUSES])
{
    if (!pauses_any(pauses))
        return 0;
    size_t listed = 0;
    lock(pauses);
    int count = atomic_load(&pauses->count);
    for (int i = 0; i < count; i++)
        if (rests(&pauses->list[i], now_mono_us))
            ret_list[listed++] = pauses->list[i].of;
    unlock(pauses);
    return listed;
}

int64_t
pauses_next_us(struct pauses *pauses, int trier, int64_t now_mono_us, bool *ret_trial)
{
    *ret_trial = false;
    if (!pauses_any(pauses))
        return INT64_MAX;
    int64_t next_us = INT64_MAX;
    lock(pauses);
    int count = atomic_load(&pauses->count);
    for (int i = 0; i < count; i++) {
        const struct pause *pause = &pauses->list[i];
        if (pause->until_mono_us > now_mono_us && pause->until_mono_us < next_us)
            next_us = pause->until_mono_us;
        *ret_trial = *ret_trial || (pause->trier != 0 && pause->trier != trier);
    }
    unlock(pauses);
    return next_us;
}
