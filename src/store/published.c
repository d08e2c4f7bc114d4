/* SPDX-License-Identifier: MIT
 *
 * published.c - whether the catalogue says already what an app declares.
 *
 * It mostly does: whoever opens a store publishes, and declares what his last start declared. So the
 * catalogue is read first, and nobody writes, locks a row or waits for the disk who has nothing to say.
 */
#include <stdlib.h>

#include "base/cleanup.h"
#include "store/verbs.h"

/* What the app has in the catalogue, in the order of its keys. */
struct published {
    struct catalogue_event *events;
    size_t event_count;
    struct catalogue_receiver *receivers;
    size_t receiver_count;
};

static int
by_key(const void *a, const void *b)
{
    const struct catalogue_receiver *x = a;
    const struct catalogue_receiver *y = b;
    return strcmp(x->key, y->key);
}

static int
by_name(const void *a, const void *b)
{
    const struct catalogue_event *x = a;
    const struct catalogue_event *y = b;
    return strcmp(x->name, y->name);
}

/* read_published leaves out what is other apps'. */
static owed_status
read_published(
    struct db *db, const char *app, struct arena *arena, struct published *ret, owed_error *err)
{
    size_t events = 0, receivers = 0;
    owed_status status = store_catalogue_events(db, arena, &ret->events, &events, err);
    if (status == OWED_OK)
        status = store_catalogue_receivers(db, arena, &ret->receivers, &receivers, err);
    if (status != OWED_OK)
        return status;
    for (size_t i = 0; i < events; i++)
        if (strcmp(ret->events[i].app, app) == 0)
            ret->events[ret->event_count++] = ret->events[i];
    for (size_t i = 0; i < receivers; i++)
        if (strcmp(ret->receivers[i].app, app) == 0)
            ret->receivers[ret->receiver_count++] = ret->receivers[i];
    qsort(ret->events, ret->event_count, sizeof *ret->events, by_name);
    qsort(ret->receivers, ret->receiver_count, sizeof *ret->receivers, by_key);
    return OWED_OK;
}

static bool
is_text(const char *stored, const char *declared, const char *otherwise)
{
    return strcmp(stored, is_empty(declared) ? otherwise : declared) == 0;
}

static bool
has_receiver(const struct published *published, const struct catalogue_receiver *r, int64_t release)
{
    const struct catalogue_receiver *found = bsearch(
        r, published->receivers, published->receiver_count, sizeof *published->receivers, by_key);
    return found != NULL && found->removed_at_us == 0 && found->release >= release &&
        is_text(found->event_name, r->event_name, "") && is_text(found->mode, r->mode, "") &&
        is_text(found->site, r->site, "") && is_text(found->kind, r->kind, "") &&
        is_text(found->lane, r->lane, "") && found->max_attempts == r->max_attempts &&
        found->backoff_base_us == r->backoff_base_us &&
        found->backoff_cap_us == r->backoff_cap_us && found->lease_us == r->lease_us &&
        found->timeout_us == r->timeout_us && found->due_us == r->due_us &&
        found->give_up_after_us == r->give_up_after_us && is_text(found->pause, r->pause, "lane") &&
        is_text(found->targets, r->targets, "none") && found->eager == r->eager &&
        found->database_only == r->database_only && is_text(found->options, r->options, "{}");
}

static bool
has_event(const struct published *published, const struct catalogue_event *e, int64_t release)
{
    const struct catalogue_event *found =
        bsearch(e, published->events, published->event_count, sizeof *published->events, by_name);
    return found != NULL && found->removed_at_us == 0 && found->release >= release &&
        found->version == e->version && is_text(found->fields, e->fields, "[]") &&
        found->retention_seconds == e->retention_seconds &&
        is_text(found->delete_when, e->delete_when, "");
}

/* has_more tells whether anything is there that this release does not declare and may remove. */
static bool
has_more(const struct published *published, const struct publication *publication)
{
    size_t events = 0, receivers = 0;
    for (size_t i = 0; i < published->event_count; i++)
        events += published->events[i].removed_at_us == 0;
    for (size_t i = 0; i < published->receiver_count; i++)
        receivers += published->receivers[i].removed_at_us == 0;
    return publication->release > 0 &&
        (events > publication->event_count || receivers > publication->receiver_count);
}

owed_status
ask_published(struct db *db, const struct publication *publication, bool *ret_is, owed_error *err)
{
    CLEANUP(arena_done) struct arena arena;
    arena_init(&arena, 0);
    struct published published = {.event_count = 0};
    owed_status status = read_published(db, publication->app, &arena, &published, err);
    if (status != OWED_OK)
        return status;
    bool has_all = !has_more(&published, publication);
    for (size_t i = 0; i < publication->event_count && has_all; i++)
        has_all = has_event(&published, &publication->events[i], publication->release);
    for (size_t i = 0; i < publication->receiver_count && has_all; i++)
        has_all = has_receiver(&published, &publication->receivers[i], publication->release);
    *ret_is = has_all;
    return OWED_OK;
}
