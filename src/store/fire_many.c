/* SPDX-License-Identifier: MIT
 *
 * fire_many.c - writing several events, in as few statements as the dialect has them.
 */
#include "store/fire_many.h"

#include "base/cleanup.h"
#include "base/json.h"

bool
store_outlives_failure(const struct db *db)
{
    return db->driver->sql->statements[STMT_EVENTS_INSERT] == NULL;
}

owed_status
fail_key_without_event(const char *key, owed_error *err)
{
    return fail(err, OWED_STORE, "dedupe key '%.255s' is taken by an event that is not there", key);
}

/* --- one by one, where a statement is no round trip --- */

static owed_status
insert_each(struct db *db, const struct new_events *events, struct written_event *written,
    size_t *ret_count, owed_error *err)
{
    for (*ret_count = 0; *ret_count < events->count; *ret_count += 1) {
        struct new_event event = events->events[*ret_count];
        struct written_event *each = &written[*ret_count];
        event.own_count = 0;
        owed_status status = store_insert_event(db, &event, &each->id, &each->is_new, err);
        if (status != OWED_OK)
            return status;
    }
    return OWED_OK;
}

static void
add_names(const struct new_events *events, struct buf *json)
{
    for (size_t i = 0; i < events->own_count; i++) {
        buf_puts(json, i == 0 ? "[[" : ",[");
        json_write_string(json, str_of(events->own[i].event_name));
        buf_putc(json, ',');
        json_write_string(json, str_of(events->own[i].key));
        buf_putc(json, ']');
    }
    json_end(json);
}

/* all_owed tells whether the catalogue knew all that the process declares: nearly always. */
static owed_status
all_owed(struct db *db, const struct new_events *events, const struct written_event *written,
    size_t count, bool *ret_all, owed_error *err)
{
    int64_t first = INT64_MAX, last = 0, one = 0;
    bool found = false;
    for (size_t i = 0; i < count; i++) {
        if (!written[i].is_new)
            continue;
        first = written[i].id < first ? written[i].id : first;
        last = written[i].id > last ? written[i].id : last;
    }
    *ret_all = true;
    if (last == 0 || events->own_count == 0)
        return OWED_OK;
    CLEANUP(buf_done) struct buf names;
    buf_init(&names, JSON_ARGUMENT_BYTES);
    add_names(events, &names);
    if (names.failed)
        return fail_memory(err);
    owed_status status = query_int(db, STMT_EVENTS_UNOWED,
        ARGS(V_INT(first), V_INT(last), V_STR(buf_view(&names))), &one, &found, err);
    *ret_all = !found;
    return status;
}

static owed_status
owe_to_own(
    struct db *db, const struct new_events *events, size_t place, int64_t id, owed_error *err)
{
    const struct new_event *event = &events->events[place];
    owed_status status = OWED_OK;
    for (size_t i = 0; i < events->own_count && status == OWED_OK; i++) {
        const struct own_receiver *own = &events->own[i];
        if (strcmp(own->event_name, event->name) != 0)
            continue;
        const struct new_delivery delivery = {
            .event_id = id,
            .receiver_key = own->key,
            .lane = own->lane,
            .kind = own->kind,
            .max_attempts = own->max_attempts,
            .available_at_us = event->due_at_us + own->due_us,
        };
        status = store_insert_delivery(db, &delivery, err);
    }
    return status;
}

static owed_status
owe_rest(struct db *db, const struct new_events *events, const struct written_event *written,
    size_t count, owed_error *err)
{
    bool all = true;
    owed_status status = all_owed(db, events, written, count, &all, err);
    for (size_t i = 0; i < count && status == OWED_OK && !all; i++)
        if (written[i].is_new)
            status = owe_to_own(db, events, i, written[i].id, err);
    return status;
}

static owed_status
insert_in_turn(struct db *db, const struct new_events *events, struct written_event *written,
    size_t *ret_count, bool *ret_is_torn, owed_error *err)
{
    owed_status status = insert_each(db, events, written, ret_count, err);
    owed_error why;
    owed_status owing = owe_rest(db, events, written, *ret_count, &why);
    if (owing == OWED_OK)
        return status;
    *ret_is_torn = true;
    return status != OWED_OK ? status : fail_native(err, owing, why.native, "%s", why.text);
}

owed_status
store_insert_events(struct db *db, const struct new_events *events,
    struct written_event *ret_written, size_t *ret_count, bool *ret_is_torn, owed_error *err)
{
    const char *const *statements = db->driver->sql->statements;
    *ret_count = 0;
    *ret_is_torn = false;
    if (statements[STMT_EVENTS_UNOWED] != NULL)
        return insert_in_turn(db, events, ret_written, ret_count, ret_is_torn, err);
    owed_status status = statements[STMT_EVENTS_INSERT] != NULL
        ? insert_arrays(db, events, ret_written, ret_is_torn, err)
        : insert_json(db, events, ret_written, ret_is_torn, err);
    *ret_count = status == OWED_OK ? events->count : 0;
    return status;
}
