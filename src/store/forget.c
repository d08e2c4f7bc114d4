/* SPDX-License-Identifier: MIT
 *
 * forget.c - events and all that was owed for them are deleted, in one order, by whoever does it.
 */
#include "store/forget.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "store/array.h"

#define SLACK_US (60 * INT64_C(1000000))
#define MORE_ROWS_AT_ONCE 1000 // than one for each event

/* look_again takes the events and finds which of them can go. */
static owed_status
look_again(struct db *db, const struct forgetting *forgetting, struct buf *ids, int64_t *ret_count,
    owed_error *err)
{
    owed_status status =
        collect_ids(db, STMT_EVENTS_LOCK, ARGS(V_STR(forgetting->event_ids)), ids, ret_count, err);
    if (status != OWED_OK || *ret_count == 0)
        return status;
    CLEANUP(buf_done) struct buf taken;
    buf_init(&taken, JSON_ARGUMENT_BYTES);
    buf_str(&taken, buf_view(ids));
    if (taken.failed)
        return fail_memory(err);
    return collect_ids(db, STMT_PRUNE_DUE, ARGS(V_STR(buf_view(&taken)), V_TEXT(forgetting->once)),
        ids, ret_count, err);
}

static owed_status
delete_rows(struct db *db, const struct buf *rows, int64_t slack_us, owed_error *err)
{
    struct str ids = buf_view(rows);
    owed_status status =
        change(db, STMT_SUCCESS_KEEP, ARGS(V_STR(ids), V_INT(slack_us)), NULL, err);
    if (status == OWED_OK)
        status = change(db, STMT_ATTEMPTS_DELETE, ARGS(V_STR(ids)), NULL, err);
    if (status == OWED_OK)
        status = change(db, STMT_DELIVERIES_DELETE, ARGS(V_STR(ids)), NULL, err);
    return status;
}

/* forget_at_once does all of it in one statement. */
static owed_status
forget_at_once(
    struct db *db, const struct forgetting *forgetting, struct forgotten *ret, owed_error *err)
{
    struct rows *rows;
    owed_status status = query(db, STMT_FORGET,
        ARGS(V_STR(forgetting->event_ids), V_TEXT(forgetting->once), V_INT(forgetting->most_rows),
            V_INT(forgetting->slack_us)),
        &rows, err);
    if (status != OWED_OK)
        return status;
    if (db->driver->next(rows)) {
        ret->events = db->driver->column(rows, 0).integer;
        ret->rows = db->driver->column(rows, 1).integer;
    }
    return db->driver->finish(rows, NULL, err);
}

owed_status
forget(struct db *db, const struct forgetting *forgetting, struct forgotten *ret, owed_error *err)
{
    CLEANUP(buf_done) struct buf events;
    CLEANUP(buf_done) struct buf rows;
    buf_init(&events, JSON_ARGUMENT_BYTES);
    buf_init(&rows, JSON_ARGUMENT_BYTES);
    *ret = (struct forgotten){0};
    if (db->driver->sql->statements[STMT_FORGET] != NULL)
        return forget_at_once(db, forgetting, ret, err);
    int64_t event_count = 0;
    int64_t row_count = 0;
    owed_status status = look_again(db, forgetting, &events, &event_count, err);
    if (status != OWED_OK || event_count == 0)
        return status;
    status = collect_ids(db, STMT_PRUNE_ROWS,
        ARGS(V_STR(buf_view(&events)), V_INT(forgetting->most_rows)), &rows, &row_count, err);
    if (status == OWED_OK && row_count > 0)
        status = delete_rows(db, &rows, forgetting->slack_us, err);
    if (status == OWED_OK && row_count < forgetting->most_rows)
        status = change(db, STMT_EVENTS_DELETE, ARGS(V_STR(buf_view(&events))), NULL, err);
    if (status != OWED_OK)
        return status;
    ret->events = row_count < forgetting->most_rows ? event_count : 0;
    ret->rows = ret->events + row_count;
    return OWED_OK;
}

/* --- at the acknowledgement --- */

/* Of the settlements that name an event, under the claims of one, where among all of them each stands. */
struct named {
    const struct settlement *settlements;
    size_t *at;
    size_t count;
    const char *claimed_by;
};

/* find_named finds them; what others claimed is settled first. */
static void
find_named(const struct settlement *settlements, size_t count, struct named *named)
{
    for (size_t i = 0; i < count; i++) {
        const struct settlement *s = &settlements[i];
        if (s->consumed_event_id == 0)
            continue;
        if (named->count == 0)
            named->claimed_by = s->fence.claimed_by;
        if (strcmp(s->fence.claimed_by, named->claimed_by) == 0)
            named->at[named->count++] = i;
    }
}

static owed_status
consume(struct db *db, enum stmt stmt, struct args args, const struct named *named, bool *gone,
    owed_error *err)
{
    struct rows *rows;
    owed_status status = query(db, stmt, args, &rows, err);
    if (status != OWED_OK)
        return status;
    while (db->driver->next(rows)) {
        int64_t place = db->driver->column(rows, 0).integer; // from 1
        if (place >= 1 && place <= (int64_t)named->count)
            gone[named->at[place - 1]] = true;
    }
    return db->driver->finish(rows, NULL, err);
}

enum column { ID, EVENT_ID, CLAIMED_AT, SUCCEEDED_AT, COLUMNS };

static owed_status
consume_by_arrays(struct db *db, const struct named *named, bool *gone, owed_error *err)
{
    static const enum value_type types[COLUMNS] = {VALUE_INT, VALUE_INT, VALUE_TIME, VALUE_TIME};
    struct array columns[COLUMNS];
    struct value values[COLUMNS];
    arrays_init(columns, types, COLUMNS);
    for (size_t i = 0; i < named->count; i++) {
        const struct settlement *s = &named->settlements[named->at[i]];
        array_add(&columns[ID], V_INT(s->fence.delivery_id));
        array_add(&columns[EVENT_ID], V_INT(s->consumed_event_id));
        array_add(&columns[CLAIMED_AT], V_TIME(s->fence.claimed_at_us));
        array_add(&columns[SUCCEEDED_AT], V_TIME(s->now_us));
    }
    owed_status status = arrays_end(columns, COLUMNS, values)
        ? consume(db, STMT_CONSUME,
              ARGS(values[ID], values[EVENT_ID], V_TEXT(named->claimed_by), values[CLAIMED_AT],
                  values[SUCCEEDED_AT], V_INT(SLACK_US)),
              named, gone, err)
        : fail_memory(err);
    arrays_done(columns, COLUMNS);
    return status;
}

/* consume_by_list does so where there are no arrays. */
static owed_status
consume_by_list(struct db *db, const struct named *named, bool *gone, owed_error *err)
{
    CLEANUP(buf_done) struct buf json;
    buf_init(&json, JSON_ARGUMENT_BYTES);
    for (size_t i = 0; i < named->count; i++) {
        const struct settlement *s = &named->settlements[named->at[i]];
        const int64_t numbers[COLUMNS] = {
            s->fence.delivery_id, s->consumed_event_id, s->fence.claimed_at_us, s->now_us};
        buf_puts(&json, i == 0 ? "[" : ",");
        for (size_t n = 0; n < COLUMNS; n++) {
            buf_putc(&json, n == 0 ? '[' : ',');
            buf_int(&json, numbers[n]);
        }
        buf_putc(&json, ']');
    }
    json_end(&json);
    return json.failed
        ? fail_memory(err)
        : consume(db, STMT_CONSUME_LISTED,
              ARGS(V_STR(buf_view(&json)), V_TEXT(named->claimed_by), V_INT(SLACK_US)), named, gone,
              err);
}

owed_status
consume_first(
    struct db *db, const struct settlement *settlements, size_t count, bool *gone, owed_error *err)
{
    const char *const *statements = db->driver->sql->statements;
    bool has_arrays = statements[STMT_CONSUME] != NULL;
    if (!has_arrays && statements[STMT_CONSUME_LISTED] == NULL)
        return OWED_OK;
    CLEANUP(free_ptr) size_t *at = calloc(count, sizeof *at);
    if (at == NULL)
        return fail_memory(err);
    struct named named = {.settlements = settlements, .at = at};
    find_named(settlements, count, &named);
    if (named.count == 0)
        return OWED_OK;
    return (has_arrays ? consume_by_arrays : consume_by_list)(db, &named, gone, err);
}

owed_status
consume_after(struct db *db, const struct settlement *settlements, size_t count, const bool *landed,
    owed_error *err)
{
    CLEANUP(buf_done) struct buf events;
    buf_init(&events, JSON_ARGUMENT_BYTES);
    int64_t named = 0;
    for (size_t i = 0; i < count; i++) {
        if (settlements[i].consumed_event_id == 0 || !landed[i])
            continue;
        json_add_id(&events, settlements[i].consumed_event_id);
        named++;
    }
    if (events.len == 0)
        return OWED_OK;
    json_end(&events);
    if (events.failed)
        return fail_memory(err);
    const struct forgetting forgetting = {.event_ids = buf_view(&events),
        .once = "succeeded",
        .most_rows = MORE_ROWS_AT_ONCE + named,
        .slack_us = SLACK_US};
    struct forgotten forgotten;
    return forget(db, &forgetting, &forgotten, err);
}
