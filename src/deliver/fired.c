/* SPDX-License-Identifier: MIT
 *
 * fired.c - what was fired, read back from the log.
 */
#include <owed/testing.h>

#include <stdlib.h>

#include "base/error.h"
#include "declare/codec.h"
#include "deliver/handle.h"
#include "store/look.h"

/* The public list is the first member: what is freed is the whole. */
struct fired_list {
    owed_fired_list list;
    struct arena arena;
};

static owed_status
check_declared(const owed *handle, const owed_event_type *type, owed_error *err)
{
    if (type == NULL || is_empty(type->name))
        return fail(err, OWED_INVALID, "no event type was given");
    const owed_event_type *declared = registry_type(handle->registry, type->name);
    if (declared != NULL && (declared == type || codec_same(declared, type)))
        return OWED_OK;
    return fail(err, OWED_NOT_FOUND, "event %s was not declared%s: call owed_declare_event first",
        type->name, declared == NULL ? "" : " with this descriptor");
}

static owed_status
decode_all(struct fired_list *all, const owed_event_type *type, const struct event_row *rows,
    size_t count, owed_error *err)
{
    owed_fired_event *events = arena_alloc(&all->arena, (count + 1) * sizeof *events);
    if (events == NULL)
        return fail_memory(err);
    for (size_t i = 0; i < count; i++) {
        owed_fired_event *event = &events[i];
        event->id = rows[i].id;
        event->version = rows[i].version;
        event->json = (owed_bytes){.data = rows[i].payload.p, .len = rows[i].payload.len};
        owed_error why;
        owed_status status = codec_decode(
            type, rows[i].version, rows[i].payload, &all->arena, &event->payload, &why);
        if (status != OWED_OK)
            return fail(err, status, "event %lld: %s", (long long)rows[i].id, why.text);
    }
    all->list = (owed_fired_list){.count = count, .events = events};
    return OWED_OK;
}

owed_status
owed_fired(owed *handle, const owed_event_type *type, owed_fired_list **ret_list, owed_error *err)
{
    owed_status status = check_declared(handle, type, err);
    if (status != OWED_OK)
        return status;
    struct fired_list *all = calloc(1, sizeof *all);
    if (all == NULL)
        return fail_memory(err);
    arena_init(&all->arena, 0);
    struct db *db = handle->tx != NULL ? handle->tx->db : handle->db;
    struct event_row *rows = NULL;
    size_t count = 0;
    status = store_fired(db, type->name, &all->arena, &rows, &count, err);
    if (status == OWED_OK)
        status = decode_all(all, type, rows, count, err);
    if (status == OWED_OK)
        *ret_list = &all->list;
    else
        owed_fired_free(&all->list);
    return status;
}

void
owed_fired_free(owed_fired_list *list)
{
    if (list == NULL)
        return;
    struct fired_list *all = (struct fired_list *)list;
    arena_done(&all->arena);
    free(all);
}
