/* SPDX-License-Identifier: MIT
 *
 * claim_filter.c - the receivers of this process, and which rows a claim may ask for.
 *
 * As long as everything that the store holds in our lanes can be run here, a claim names no receivers:
 * that is the cheapest. Once the catalogue, or a row, shows a stranger, it names ours.
 */
#include <stdlib.h>

#include "base/error.h"
#include "deliver/worker.h"

static const char *const share_kinds[] = {
    [SHARE_INSIDE] = "inside",
    [SHARE_EXPAND] = "expand",
    [SHARE_TASK] = "task",
    [SHARE_LOOP] = "outside",
    [SHARE_FUNCTION] = "outside",
};

const char *
share_kind(enum share share)
{
    return share_kinds[share];
}

static bool
role_has(enum role role, enum share share)
{
    static const enum share only[] = {
        [ROLE_INSIDE] = SHARE_INSIDE, [ROLE_LOOP] = SHARE_LOOP, [ROLE_FUNCTION] = SHARE_FUNCTION};
    // What expands a row writes to this database, as inside receivers do; handing on is soon done.
    bool goes_along = share == SHARE_EXPAND || share == SHARE_TASK;
    return role == ROLE_ALL || only[role] == (goes_along ? SHARE_INSIDE : share);
}

static int
by_key(const void *a, const void *b)
{
    const struct known *x = a;
    const struct known *y = b;
    return strcmp(x->receiver->declared.key, y->receiver->declared.key);
}

static int
key_against(const void *key, const void *element)
{
    const struct known *known = element;
    return strcmp(key, known->receiver->declared.key);
}

struct known *
known_find(const struct worker *w, const char *key)
{
    if (w->known_count == 0)
        return NULL;
    return bsearch(key, w->known, w->known_count, sizeof *w->known, key_against);
}

bool
known_is_of(const struct worker *w, const struct known *known, enum share share)
{
    const struct receiver *receiver = known->receiver;
    if (share == SHARE_EXPAND)
        return receiver->declared.targets != NULL;
    bool is_site = w->visit != NULL && w->visit->is_site;
    if (strcmp(is_site ? receiver->runs : receiver->kind, share_kinds[share]) != 0)
        return false;
    if (share == SHARE_INSIDE || share == SHARE_TASK)
        return true;
    return (receiver->runner == RUN_FUNCTION) == (share == SHARE_FUNCTION);
}

bool
serves_anything(const struct worker *w)
{
    for (enum share share = 0; share < SHARE_COUNT; share++)
        if (w->filters[share].serves)
            return true;
    return false;
}

bool
share_is_served(const struct worker *w, enum share share)
{
    return w->filters[share].serves && !(share == SHARE_TASK && hand_off_waits(w));
}

void
known_time(struct known *known, int64_t duration_us)
{
    known->usual_us = known->timed ? (3 * known->usual_us + duration_us) / 4 : duration_us;
    known->timed = true;
}

bool
known_is_slow(const struct known *known)
{
    return !known->timed || known->usual_us > SLOW_US;
}

static owed_status
list_known(struct worker *w, owed_error *err)
{
    const owed_registry *registry = w->owed->registry;
    const char *serves = w->owed->serves;
    w->known = arena_alloc(&w->arena, (registry->receiver_count + 1) * sizeof *w->known);
    if (w->known == NULL)
        return fail_memory(err);
    for (const struct receiver *r = registry->receivers; r != NULL; r = r->next)
        if (r->declared.mode == OWED_DURABLE &&
            (serves == NULL || strcmp(r->declared.key, serves) == 0))
            w->known[w->known_count++].receiver = r;
    qsort(w->known, w->known_count, sizeof *w->known, by_key);
    return OWED_OK;
}

static owed_status
list_share(struct worker *w, enum share share, owed_error *err)
{
    struct claim_filter *filter = &w->filters[share];
    size_t bytes = (w->known_count + 1) * sizeof(char *);
    filter->keys = arena_alloc(&w->arena, bytes);
    filter->members = arena_alloc(&w->arena, bytes);
    filter->some = arena_alloc(&w->arena, bytes);
    if (filter->keys == NULL || filter->members == NULL || filter->some == NULL)
        return fail_memory(err);
    size_t count = 0;
    for (size_t i = 0; i < w->known_count; i++)
        if (known_is_of(w, &w->known[i], share)) {
            filter->members[count] = &w->known[i];
            filter->keys[count++] = w->known[i].receiver->declared.key;
        }
    filter->serves = count > 0 && role_has(w->seat.role, share);
    return OWED_OK;
}

owed_status
filters_init(struct worker *w, owed_error *err)
{
    owed_status status = list_known(w, err);
    for (enum share share = 0; status == OWED_OK && share < SHARE_COUNT; share++)
        status = list_share(w, share, err);
    if (status != OWED_OK)
        return status;
    bool has_functions = w->filters[SHARE_FUNCTION].keys[0] != NULL;
    // Both are of one kind in the store: each has the other for a stranger.
    if (has_functions && w->filters[SHARE_LOOP].keys[0] != NULL)
        for (enum share share = SHARE_LOOP; share < SHARE_COUNT; share++)
            w->filters[share].on = w->filters[share].met_stranger = true;
    if (has_functions && w->seat.shared != NULL)
        atomic_store(&w->seat.shared->has_outside_functions, true);
    return OWED_OK;
}

/* serves_lane: in a side lane rows of every receiver of the app may stand. */
static bool
serves_lane(const struct worker *w, const struct catalogue_receiver *published)
{
    if (w->lanes == NULL)
        return strcmp(published->app, w->owed->registry->app) == 0;
    for (const char *const *lane = w->lanes; *lane != NULL; lane++)
        if (strcmp(*lane, published->lane) == 0 || is_side_lane(*lane, published->app))
            return true;
    return false;
}

/* is_stranger tells whether the store may hold rows of it that a claim of that share would bring,
 * and that it cannot run. */
static bool
is_stranger(const struct worker *w, const struct catalogue_receiver *published, enum share share)
{
    bool is_of = share == SHARE_EXPAND ? strcmp(published->targets, "callback") == 0
                                       : strcmp(published->kind, share_kinds[share]) == 0;
    if (strcmp(published->mode, "durable") != 0 || !is_of || !serves_lane(w, published))
        return false;
    const struct known *known = known_find(w, published->key);
    return known == NULL || !known_is_of(w, known, share);
}

owed_status
filters_refresh(struct worker *w, owed_error *err)
{
    struct arena arena;
    arena_init(&arena, 0);
    struct catalogue_receiver *published = NULL;
    size_t count = 0;
    owed_status status = store_catalogue_receivers(w->owed->db, &arena, &published, &count, err);
    for (enum share share = 0; status == OWED_OK && share < SHARE_COUNT; share++) {
        bool any = false;
        for (size_t i = 0; i < count && !any; i++)
            any = is_stranger(w, &published[i], share);
        w->filters[share].on = any || w->filters[share].met_stranger;
    }
    arena_done(&arena);
    return status;
}
