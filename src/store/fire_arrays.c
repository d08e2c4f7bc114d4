/* SPDX-License-Identifier: MIT
 *
 * fire_arrays.c - several events in one statement: an array of each of their columns.
 */
#include "store/array.h"
#include "store/fire_many.h"

enum column {
    UID,
    NAME,
    VERSION,
    PAYLOAD,
    DEDUPE_KEY,
    OCCURRED_AT,
    RECORDED_AT,
    DUE_AT,
    ACTOR_KEY,
    ACTOR_LABEL,
    SCOPE,
    CORRELATION_ID,
    CAUSATION_ID,
    TRACEPARENT,
    OWN_NAME, // from here on receivers
    OWN_KEY,
    OWN_LANE,
    OWN_KIND,
    OWN_MAX_ATTEMPTS,
    OWN_DUE,
    COLUMNS
};

static const enum value_type types[COLUMNS] = {VALUE_BLOB, VALUE_TEXT, VALUE_INT, VALUE_TEXT,
    VALUE_TEXT, VALUE_TIME, VALUE_TIME, VALUE_TIME, VALUE_TEXT, VALUE_TEXT, VALUE_TEXT, VALUE_TEXT,
    VALUE_INT, VALUE_TEXT, VALUE_TEXT, VALUE_TEXT, VALUE_TEXT, VALUE_TEXT, VALUE_INT, VALUE_INT};

static void
add_event(struct array *columns, const struct new_event *event)
{
    bool has_key = !is_empty(event->dedupe_key);
    array_add(&columns[UID], V_BLOB(event->uid, sizeof event->uid));
    array_add(&columns[NAME], V_TEXT(event->name));
    array_add(&columns[VERSION], V_INT(event->version));
    array_add(&columns[PAYLOAD], V_STR(event->payload));
    array_add(&columns[DEDUPE_KEY], has_key ? V_TEXT(event->dedupe_key) : V_NULL);
    array_add(&columns[OCCURRED_AT], V_TIME(event->occurred_at_us));
    array_add(&columns[RECORDED_AT], V_TIME(event->recorded_at_us));
    array_add(&columns[DUE_AT], V_TIME(event->due_at_us));
    array_add(&columns[ACTOR_KEY], V_TEXT(event->actor_key));
    array_add(&columns[ACTOR_LABEL], V_TEXT(event->actor_label));
    array_add(&columns[SCOPE], V_TEXT(is_empty(event->scope) ? "{}" : event->scope));
    array_add(&columns[CORRELATION_ID], V_TEXT(event->correlation_id));
    array_add(
        &columns[CAUSATION_ID], event->causation_id != 0 ? V_INT(event->causation_id) : V_NULL);
    array_add(&columns[TRACEPARENT], V_TEXT(event->traceparent));
}

static void
add_own(struct array *columns, const struct own_receiver *own)
{
    array_add(&columns[OWN_NAME], V_TEXT(own->event_name));
    array_add(&columns[OWN_KEY], V_TEXT(own->key));
    array_add(&columns[OWN_LANE], V_TEXT(own->lane));
    array_add(&columns[OWN_KIND], V_TEXT(own->kind));
    array_add(&columns[OWN_MAX_ATTEMPTS], V_INT(own->max_attempts));
    array_add(&columns[OWN_DUE], V_INT(own->due_us));
}

static owed_status
read_ids(struct db *db, struct rows *rows, const struct new_events *events,
    struct written_event *written, owed_error *err)
{
    const struct driver *driver = db->driver;
    owed_status status = OWED_OK;
    size_t count = 0;
    for (; count < events->count && driver->next(rows); count++) {
        struct value id = driver->column(rows, 0);
        written[count] = (struct written_event){id.integer, driver->column(rows, 1).integer != 0};
        if (id.type == VALUE_NULL && status == OWED_OK)
            status = fail_key_without_event(or_empty(events->events[count].dedupe_key), err);
    }
    owed_status ended = driver->finish(rows, NULL, status == OWED_OK ? err : NULL);
    if (status != OWED_OK || ended != OWED_OK)
        return status != OWED_OK ? status : ended;
    return count == events->count
        ? OWED_OK
        : fail(err, OWED_BUG, "%zu of %zu events were answered for", count, events->count);
}

static owed_status
run(struct db *db, struct array *columns, const struct new_events *events,
    struct written_event *written, bool *ret_is_torn, owed_error *err)
{
    struct value values[COLUMNS];
    struct rows *rows = NULL;
    if (!arrays_end(columns, COLUMNS, values))
        return fail_memory(err);
    owed_status status = query(db, STMT_EVENTS_INSERT, (struct args){values, COLUMNS}, &rows, err);
    if (status != OWED_OK)
        return status;
    status = read_ids(db, rows, events, written, err);
    *ret_is_torn = status != OWED_OK;
    return status;
}

owed_status
insert_arrays(struct db *db, const struct new_events *events, struct written_event *ret_written,
    bool *ret_is_torn, owed_error *err)
{
    struct array columns[COLUMNS];
    arrays_init(columns, types, COLUMNS);
    for (size_t i = 0; i < events->count; i++)
        add_event(columns, &events->events[i]);
    for (size_t i = 0; i < events->own_count; i++)
        add_own(columns, &events->own[i]);
    owed_status status = run(db, columns, events, ret_written, ret_is_torn, err);
    arrays_done(columns, COLUMNS);
    return status;
}
