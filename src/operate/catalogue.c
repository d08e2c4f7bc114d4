/* SPDX-License-Identifier: MIT
 *
 * catalogue.c - the catalogue in order, and the arithmetic of its curves.
 */
#include "operate/catalogue.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

static int
by_name_and_app(const void *a, const void *b)
{
    const struct catalogue_event *x = a, *y = b;
    int order = strcmp(x->name, y->name);
    return order != 0 ? order : strcmp(x->app, y->app);
}

static int
by_key(const void *a, const void *b)
{
    const struct catalogue_receiver *x = a, *y = b;
    return strcmp(x->key, y->key);
}

static int
by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void
drop_removed(struct catalogue *catalogue)
{
    size_t kept = 0;
    for (size_t i = 0; i < catalogue->event_count; i++)
        if (catalogue->events[i].removed_at_us == 0)
            catalogue->events[kept++] = catalogue->events[i];
    catalogue->event_count = kept;
    kept = 0;
    for (size_t i = 0; i < catalogue->receiver_count; i++)
        if (catalogue->receivers[i].removed_at_us == 0)
            catalogue->receivers[kept++] = catalogue->receivers[i];
    catalogue->receiver_count = kept;
}

static owed_status
find_names(struct catalogue *catalogue, struct arena *arena, owed_error *err)
{
    size_t count = 0, kept = 0;
    const char **names = arena_alloc(
        arena, (catalogue->event_count + catalogue->receiver_count + 1) * sizeof *names);
    if (names == NULL)
        return fail_memory(err);
    for (size_t i = 0; i < catalogue->event_count; i++)
        names[count++] = catalogue->events[i].name;
    for (size_t i = 0; i < catalogue->receiver_count; i++)
        if (strcmp(catalogue->receivers[i].event_name, "*") != 0)
            names[count++] = catalogue->receivers[i].event_name;
    if (count > 0)
        qsort(names, count, sizeof *names, by_text);
    for (size_t i = 0; i < count; i++)
        if (kept == 0 || strcmp(names[kept - 1], names[i]) != 0)
            names[kept++] = names[i];
    catalogue->names = names;
    catalogue->name_count = kept;
    return OWED_OK;
}

owed_status
catalogue_arrange(struct catalogue *catalogue, struct arena *arena, owed_error *err)
{
    drop_removed(catalogue);
    if (catalogue->event_count > 0)
        qsort(
            catalogue->events, catalogue->event_count, sizeof *catalogue->events, by_name_and_app);
    if (catalogue->receiver_count > 0)
        qsort(
            catalogue->receivers, catalogue->receiver_count, sizeof *catalogue->receivers, by_key);
    return find_names(catalogue, arena, err);
}

bool
is_durable(const struct catalogue_receiver *receiver)
{
    return strcmp(receiver->mode, "durable") == 0;
}

struct waits
waits_of(const struct catalogue *catalogue, const struct catalogue_receiver *receiver)
{
    struct waits waits = {.curve = catalogue->curve};
    if (receiver->backoff_base_us > 0)
        waits.curve.base_us = receiver->backoff_base_us;
    if (receiver->backoff_cap_us > 0)
        waits.curve.cap_us = receiver->backoff_cap_us;
    for (int32_t attempt = 1; attempt < receiver->max_attempts; attempt++) {
        int64_t ceiling_us = backoff_ceiling_us(waits.curve, attempt);
        if (__builtin_add_overflow(waits.longest_us, ceiling_us, &waits.longest_us)) {
            waits.longest_us = INT64_MAX;
            break;
        }
    }
    waits.mean_us = waits.longest_us / 2;
    return waits;
}
