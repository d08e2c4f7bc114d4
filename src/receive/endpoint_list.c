/* SPDX-License-Identifier: MIT
 *
 * endpoint_list.c - endpoints as they can be shown to anybody.
 */
#include <owed/endpoint.h>

#include <stdlib.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/json.h"
#include "declare/url.h"
#include "deliver/handle.h"
#include "receive/endpoint.h"
#include "receive/keys.h"
#include "receive/parcel.h"
#include "store/endpoints.h"

#define PAGE_MOST 1000

struct list {
    owed_endpoint_list shown; // the first member: the caller has it
    struct arena arena;
};

static owed_status
list_new(struct list **ret_list, owed_error *err)
{
    struct list *list = calloc(1, sizeof *list);
    if (list == NULL)
        return fail_memory(err);
    arena_init(&list->arena, 0);
    *ret_list = list;
    return OWED_OK;
}

void
owed_endpoint_list_free(owed_endpoint_list *shown)
{
    struct list *list = (struct list *)shown;
    if (list == NULL)
        return;
    arena_done(&list->arena);
    free(list);
}

/* names_of writes a JSON array of names as a list to a NULL; NULL: out of memory. */
static const char *const *
names_of(const char *json, struct arena *arena)
{
    size_t count = 0;
    struct json value;
    for (struct json_walk walk = json_walk(json_root(str_of(json)));
         json_next(&walk, NULL, &value);)
        count++;
    const char **names = arena_alloc(arena, (count + 1) * sizeof *names);
    struct json_walk walk = json_walk(json_root(str_of(json)));
    for (size_t i = 0; names != NULL && i < count && json_next(&walk, NULL, &value); i++) {
        struct str name;
        if (json_read_string(value, arena, &name, NULL) != OWED_OK)
            return NULL;
        names[i] = name.p;
    }
    if (names != NULL)
        names[count] = NULL;
    return names;
}

bool
endpoint_public_key(const struct endpoint_row *row, char ret_key[static OWED_ENDPOINT_SECRET_BYTES])
{
    CLEANUP(buf_done) struct buf key;
    buf_init(&key, OWED_ENDPOINT_SECRET_BYTES - 1);
    if (strcmp(row->signing, signing_name(OWED_SIGNING_V1A)) != 0 ||
        !key_for_others(row->secret, &key))
        return false;
    memcpy(ret_key, buf_text(&key), key.len + 1);
    return true;
}

static owed_status
show(const struct endpoint_row *row, struct arena *arena, owed_endpoint_entry *entry,
    owed_error *err)
{
    char key[OWED_ENDPOINT_SECRET_BYTES];
    *entry = (owed_endpoint_entry){.id = row->id,
        .name = row->name,
        .url = arena_copy(arena, url_without_query(row->url)),
        .tenant = row->tenant,
        .events = names_of(row->subscriptions, arena),
        .filter = row->filter,
        .rate = row->rate,
        .dead_in_row = row->dead_in_row,
        .previous_until_us = row->previous_until_us,
        .disabled_at_us = row->disabled_at_us,
        .disabled_reason = row->disabled_reason,
        .paused_at_us = row->paused_at_us,
        .paused_until_us = row->paused_until_us,
        .paused_reason = row->paused_reason,
        .created_at_us = row->created_at_us,
        .updated_at_us = row->updated_at_us,
        .public_key = endpoint_public_key(row, key) ? arena_strdup(arena, key) : ""};
    if (entry->url == NULL || entry->events == NULL || entry->public_key == NULL)
        return fail_memory(err);
    if (!format_of(row->format, &entry->format) || !signing_of(row->signing, &entry->signing))
        return fail(err, OWED_STORE,
            "endpoint %.100s has a format or a way to sign that is not known here", row->id);
    return OWED_OK;
}

static owed_status
show_all(struct list *list, const struct endpoint_row *rows, size_t count, owed_error *err)
{
    owed_endpoint_entry *entries = arena_alloc(&list->arena, (count + 1) * sizeof *entries);
    owed_status status = entries == NULL ? fail_memory(err) : OWED_OK;
    for (size_t i = 0; i < count && status == OWED_OK; i++)
        status = show(&rows[i], &list->arena, &entries[i], err);
    list->shown = (owed_endpoint_list){.count = count, .endpoints = entries};
    return status;
}

static owed_status
hand_out(struct list *list, owed_status status, owed_endpoint_list **ret_list)
{
    if (status == OWED_OK)
        *ret_list = &list->shown;
    else
        owed_endpoint_list_free(&list->shown);
    return status;
}

owed_status
owed_endpoints(owed *handle, const char *after_id, int32_t limit, const char *tenant,
    owed_endpoint_list **ret_list, owed_error *err)
{
    struct list *list = NULL;
    struct endpoint_row *rows = NULL;
    size_t count = 0;
    if (limit < 1 || limit > PAGE_MOST)
        return fail(
            err, OWED_INVALID, "a page of %d endpoints; 1 to %d is right", (int)limit, PAGE_MOST);
    owed_status status = list_new(&list, err);
    if (status != OWED_OK)
        return status;
    status = store_endpoints(
        handle->db, or_empty(after_id), limit, tenant, &list->arena, &rows, &count, err);
    if (status == OWED_OK)
        status = show_all(list, rows, count, err);
    return hand_out(list, status, ret_list);
}

owed_status
owed_endpoint_find(owed *handle, const char *id, owed_endpoint_list **ret_list, owed_error *err)
{
    struct list *list = NULL;
    struct endpoint_row row;
    owed_status status = list_new(&list, err);
    if (status != OWED_OK)
        return status;
    status = store_endpoint(handle->db, or_empty(id), &list->arena, &row, err);
    if (status == OWED_OK)
        status = show_all(list, &row, 1, err);
    return hand_out(list, status, ret_list);
}
