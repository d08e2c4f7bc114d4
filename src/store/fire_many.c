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

/* --- some at a time, where a statement is no round trip --- */

#define ROWS 16 // of one statement

static void
note_row(const struct new_event *events, size_t count, const struct driver *driver,
    const struct rows *row, struct written_event *written)
{
    struct str uid = driver->column(row, 1).bytes;
    for (size_t i = 0; i < count; i++)
        if (uid.len == sizeof events[i].uid && memcmp(uid.p, events[i].uid, uid.len) == 0)
            written[i] = (struct written_event){driver->column(row, 0).integer, true};
}

static owed_status
insert_rows(struct db *db, const struct new_event *events, size_t count,
    struct written_event *written, owed_error *err)
{
    struct value args[ROWS * EVENT_ARGS] = {0}; // null: there is no event
    struct rows *rows = NULL;
    for (size_t i = 0; i < count; i++)
        event_args(&events[i], &args[i * EVENT_ARGS]);
    owed_status status =
        query(db, STMT_EVENTS_INSERT_ROWS, (struct args){args, ROWS * EVENT_ARGS}, &rows, err);
    if (status != OWED_OK)
        return status;
    memset(written, 0, count * sizeof *written);
    while (db->driver->next(rows))
        note_row(events, count, db->driver, rows, written);
    return db->driver->finish(rows, NULL, err);
}

static owed_status
insert_all(struct db *db, const struct new_events *events, struct written_event *written,
    size_t *ret_count, owed_error *err)
{
    owed_status status = OWED_OK;
    size_t done = 0;
    while (done < events->count && status == OWED_OK) {
        size_t left = events->count - done, count = left < ROWS ? left : ROWS;
        status = insert_rows(db, &events->events[done], count, &written[done], err);
        done += status == OWED_OK ? count : 0;
    }
    *ret_count = done;
    return status;
}

/* find_taken finds the events that have the keys of those that were not written. */
static owed_status
find_taken(struct db *db, const struct new_events *events, struct written_event *written,
    size_t count, owed_error *err)
{
    owed_status status = OWED_OK;
    for (size_t i = 0; i < count && status == OWED_OK; i++)
        if (!written[i].is_new)
            status = find_by_dedupe_key(db, events->events[i].dedupe_key, &written[i].id, err);
    return status;
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
insert_some_at_a_time(struct db *db, const struct new_events *events, struct written_event *written,
    size_t *ret_count, bool *ret_is_torn, owed_error *err)
{
    owed_status status = insert_all(db, events, written, ret_count, err);
    owed_error why;
    owed_status rest = find_taken(db, events, written, *ret_count, &why);
    if (rest == OWED_OK)
        rest = owe_rest(db, events, written, *ret_count, &why);
    if (rest == OWED_OK)
        return status;
    *ret_is_torn = true;
    return status != OWED_OK ? status : fail_native(err, rest, why.native, "%s", why.text);
}

owed_status
store_insert_events(struct db *db, const struct new_events *events,
    struct written_event *ret_written, size_t *ret_count, bool *ret_is_torn, owed_error *err)
{
    const char *const *statements = db->driver->sql->statements;
    *ret_count = 0;
    *ret_is_torn = false;
    if (statements[STMT_EVENTS_INSERT_ROWS] != NULL)
        return insert_some_at_a_time(db, events, ret_written, ret_count, ret_is_torn, err);
    owed_status status = statements[STMT_EVENTS_INSERT] != NULL
        ? insert_arrays(db, events, ret_written, ret_is_torn, err)
        : insert_json(db, events, ret_written, ret_is_torn, err);
    *ret_count = status == OWED_OK ? events->count : 0;
    return status;
}
