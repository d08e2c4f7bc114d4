/* SPDX-License-Identifier: MIT
 *
 * secrecy.c - what the catalogue says is secret, kept for the failures to come.
 */
#include "base/error.h"
#include "declare/mask.h"
#include "deliver/worker.h"

struct hidden {
    const char *event_name;
    const char *fields;
    struct hidden *next;
};

static owed_status
keep_hidden(
    struct secrecy *secrecy, const struct catalogue_event *events, size_t count, owed_error *err)
{
    for (size_t i = 0; i < count; i++) {
        struct mask mask = {0};
        mask_add(&mask, events[i].fields);
        if (mask.count == 0)
            continue;
        struct hidden *hidden = arena_alloc(&secrecy->arena, sizeof *hidden);
        if (hidden == NULL)
            return fail_memory(err);
        *hidden = (struct hidden){
            .event_name = events[i].name, .fields = events[i].fields, .next = secrecy->first};
        secrecy->first = hidden;
    }
    return OWED_OK;
}

owed_status
secrecy_refresh(struct worker *w, owed_error *err)
{
    struct secrecy fresh = {.first = NULL};
    arena_init(&fresh.arena, 0);
    struct catalogue_event *events = NULL;
    size_t count = 0;
    owed_status status = store_catalogue_events(w->owed->db, &fresh.arena, &events, &count, err);
    if (status == OWED_OK)
        status = keep_hidden(&fresh, events, count, err);
    if (status != OWED_OK) {
        arena_done(&fresh.arena);
        return status;
    }
    secrecy_done(w);
    w->secrecy = fresh;
    return OWED_OK;
}

void
secrecy_done(struct worker *w)
{
    arena_done(&w->secrecy.arena);
    w->secrecy = (struct secrecy){.first = NULL};
}

const char *
secrecy_hide(
    const struct worker *w, const struct claimed *row, const char *text, struct arena *arena)
{
    struct mask mask = {0};
    const char *name = or_empty(row->event_name);
    registry_mask(w->owed->registry, name, &mask);
    for (const struct hidden *hidden = w->secrecy.first; hidden != NULL; hidden = hidden->next)
        if (strcmp(hidden->event_name, name) == 0)
            mask_add(&mask, hidden->fields);
    return mask.count == 0 ? text : mask_text(&mask, row->payload, text, arena);
}
