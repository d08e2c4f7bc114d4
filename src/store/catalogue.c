/* SPDX-License-Identifier: MIT
 *
 * catalogue.c - what apps declare, kept in the database, and rows that follow it.
 */
#include "store/verbs.h"

#include <limits.h>
#include <stdlib.h>

#include "base/cleanup.h"

#define MOVE_ROWS 1000 // in one short transaction

/* refuse_foreign_key looks up whose receiver a key is; a removed one is nobody's. */
static owed_status
refuse_foreign_key(struct db *db, const struct catalogue_receiver *receiver, owed_error *err)
{
    struct rows *rows;
    owed_status status = query(db, STMT_RECEIVER_OWNER, ARGS(V_TEXT(receiver->key)), &rows, err);
    if (status != OWED_OK)
        return status;
    if (db->driver->next(rows)) {
        struct str app = db->driver->column(rows, 0).bytes;
        bool removed = db->driver->column(rows, 1).integer != 0;
        if (!removed && !str_is(app, receiver->app))
            status = fail(err, OWED_CONFIG,
                "receiver '%s' of app '%s' has a key that app '%.*s' published already: keys are "
                "unique in a store",
                receiver->key, receiver->app, (int)app.len, app.p);
    }
    owed_status ended = db->driver->finish(rows, NULL, status == OWED_OK ? err : NULL);
    return status == OWED_OK ? ended : status;
}

static owed_status
publish_receiver(struct db *db, const struct publication *publication,
    const struct catalogue_receiver *r, int64_t *changed, owed_error *err)
{
    owed_status status = refuse_foreign_key(db, r, err);
    if (status != OWED_OK)
        return status;
    return change(db, STMT_RECEIVER_UPSERT,
        ARGS(V_TEXT(r->key), V_TEXT(publication->app), V_TEXT(r->event_name), V_TEXT(r->mode),
            V_TEXT(r->site), V_TEXT(r->kind), V_TEXT(r->lane), V_INT(r->max_attempts),
            V_INT(r->backoff_base_us), V_INT(r->backoff_cap_us), V_INT(r->lease_us),
            V_INT(r->timeout_us), V_INT(r->database_only),
            V_TEXT(is_empty(r->options) ? "{}" : r->options), V_INT(publication->release),
            V_TIME(publication->now_us), V_INT(r->due_us), V_INT(r->give_up_after_us),
            V_TEXT(is_empty(r->pause) ? "lane" : r->pause),
            V_TEXT(is_empty(r->targets) ? "none" : r->targets), V_INT(r->eager)),
        changed, err);
}

static owed_status
publish_event(struct db *db, const struct publication *publication, const struct catalogue_event *e,
    int64_t *changed, owed_error *err)
{
    return change(db, STMT_EVENT_TYPE_UPSERT,
        ARGS(V_TEXT(e->name), V_TEXT(publication->app), V_INT(e->version),
            V_TEXT(is_empty(e->fields) ? "[]" : e->fields), V_INT(publication->release),
            V_TIME(publication->now_us),
            e->retention_seconds == 0 ? V_NULL : V_INT(e->retention_seconds),
            V_TEXT(e->delete_when)),
        changed, err);
}

/* remove_others marks what the app no longer declares; names is what it does, as a JSON array. */
static owed_status
remove_others(struct db *db, enum stmt stmt, const char *app, int64_t release, int64_t now_us,
    const struct buf *names, int64_t *changed, owed_error *err)
{
    if (names->failed)
        return fail_memory(err);
    int64_t removed = 0;
    owed_status status = change(db, stmt,
        ARGS(V_TEXT(app), V_INT(release), V_TIME(now_us), V_STR(buf_view(names))), &removed, err);
    *changed += removed;
    return status;
}

static owed_status
publish_receivers(struct db *db, const struct publication *publication, int64_t *changed,
    bool *ret_differs, owed_error *err)
{
    CLEANUP(buf_done) struct buf keys;
    buf_init(&keys, JSON_ARGUMENT_BYTES);
    for (size_t i = 0; i < publication->receiver_count; i++) {
        int64_t written = 0;
        owed_status status =
            publish_receiver(db, publication, &publication->receivers[i], &written, err);
        if (status != OWED_OK)
            return status;
        ret_differs[i] = written != 0;
        *changed += written != 0; // an upsert that changes a row counts two in some databases
        json_add_text(&keys, publication->receivers[i].key);
    }
    if (publication->release <= 0)
        return OWED_OK;
    json_end(&keys);
    return remove_others(db, STMT_RECEIVER_REMOVE, publication->app, publication->release,
        publication->now_us, &keys, changed, err);
}

static owed_status
publish_events(
    struct db *db, const struct publication *publication, int64_t *changed, owed_error *err)
{
    CLEANUP(buf_done) struct buf names;
    buf_init(&names, JSON_ARGUMENT_BYTES);
    for (size_t i = 0; i < publication->event_count; i++) {
        int64_t written = 0;
        owed_status status = publish_event(db, publication, &publication->events[i], &written, err);
        if (status != OWED_OK)
            return status;
        *changed += written != 0;
        json_add_text(&names, publication->events[i].name);
    }
    if (publication->release <= 0)
        return OWED_OK;
    json_end(&names);
    return remove_others(db, STMT_EVENT_TYPE_REMOVE, publication->app, publication->release,
        publication->now_us, &names, changed, err);
}

static owed_status
move_changed(
    struct db *db, const struct publication *publication, const bool *differs, owed_error *err)
{
    int64_t moved = 0;
    bool any = false;
    for (size_t i = 0; i < publication->receiver_count; i++) {
        if (!differs[i])
            continue;
        any = true;
        owed_status status = move_rows(db, STMT_MISPLACED,
            ARGS(V_TEXT(publication->receivers[i].key), V_INT(MOVE_ROWS)), &moved, err);
        if (status != OWED_OK)
            return status;
    }
    return any ? move_rows(db, STMT_MISPLACED_CLAIMED, ARGS(V_INT(MOVE_ROWS)), &moved, err)
               : OWED_OK;
}

static owed_status
publish_all(struct db *db, const struct publication *publication, int64_t *changed, bool *differs,
    owed_error *err)
{
    owed_status status = publish_events(db, publication, changed, err);
    int64_t before = *changed;
    if (status == OWED_OK)
        status = publish_receivers(db, publication, changed, differs, err);
    return status == OWED_OK && *changed > before
        ? change(db, STMT_PAUSE_PUBLISHED, NO_ARGS, NULL, err)
        : status;
}

static owed_status
publish(struct db *db, const struct publication *publication, int64_t *ret_changed, owed_error *err)
{
    CLEANUP(free_ptr) bool *differs = calloc(publication->receiver_count + 1, sizeof *differs);
    if (differs == NULL)
        return fail_memory(err);
    int64_t changed = 0;
    struct scope scope = {0};
    owed_status status = OWED_OK;
    do {
        changed = 0;
        status = scope_begin(db, &scope, err);
        if (status == OWED_OK)
            status = scope_end(&scope, publish_all(db, publication, &changed, differs, err), err);
    } while (scope_repeats(&scope, status));
    if (status == OWED_OK)
        status = move_changed(db, publication, differs, err);
    if (status == OWED_OK)
        *ret_changed = changed;
    return status;
}

owed_status
store_publish(
    struct db *db, const struct publication *publication, int64_t *ret_changed, owed_error *err)
{
    bool is_there = false;
    int64_t changed = 0;
    owed_status status = ask_published(db, publication, &is_there, err);
    if (status == OWED_OK && !is_there)
        status = publish(db, publication, &changed, err);
    if (status == OWED_OK && ret_changed != NULL)
        *ret_changed = changed;
    return status;
}

static owed_status
remove_all(struct db *db, const char *app, int64_t now_us, struct buf *none, int64_t *changed,
    owed_error *err)
{
    owed_status status =
        remove_others(db, STMT_RECEIVER_REMOVE, app, INT64_MAX, now_us, none, changed, err);
    if (status != OWED_OK)
        return status;
    return remove_others(db, STMT_EVENT_TYPE_REMOVE, app, INT64_MAX, now_us, none, changed, err);
}

owed_status
store_retire(struct db *db, const char *app, int64_t now_us, int64_t *ret_changed, owed_error *err)
{
    CLEANUP(buf_done) struct buf none;
    buf_init(&none, JSON_ARGUMENT_BYTES);
    json_end(&none);
    int64_t changed = 0;
    struct scope scope = {0};
    owed_status status = OWED_OK;
    do {
        changed = 0;
        status = scope_begin(db, &scope, err);
        if (status == OWED_OK)
            status = scope_end(&scope, remove_all(db, app, now_us, &none, &changed, err), err);
    } while (scope_repeats(&scope, status));
    if (status == OWED_OK && ret_changed != NULL)
        *ret_changed = changed;
    return status;
}

static void
read_receiver(struct reader *r, void *item)
{
    struct catalogue_receiver *receiver = item;
    receiver->key = read_text(r);
    receiver->app = read_text(r);
    receiver->event_name = read_text(r);
    receiver->mode = read_text(r);
    receiver->site = read_text(r);
    receiver->kind = read_text(r);
    receiver->lane = read_text(r);
    receiver->max_attempts = read_int32(r);
    receiver->backoff_base_us = read_int(r);
    receiver->backoff_cap_us = read_int(r);
    receiver->lease_us = read_int(r);
    receiver->timeout_us = read_int(r);
    receiver->database_only = read_int(r) != 0;
    receiver->options = read_text(r);
    receiver->release = read_int(r);
    receiver->published_at_us = read_int(r);
    receiver->removed_at_us = read_int(r);
    receiver->due_us = read_int(r);
    receiver->give_up_after_us = read_int(r);
    receiver->pause = read_text(r);
    receiver->targets = read_text(r);
    receiver->eager = read_int(r) != 0;
}

owed_status
store_catalogue_receivers(struct db *db, struct arena *arena,
    struct catalogue_receiver **ret_receivers, size_t *ret_count, owed_error *err)
{
    struct list list = {sizeof(struct catalogue_receiver), read_receiver, arena};
    void *items = NULL;
    owed_status status = read_all(db, STMT_RECEIVERS, NO_ARGS, &list, &items, ret_count, err);
    if (status == OWED_OK)
        *ret_receivers = items;
    return status;
}

static void
read_event(struct reader *r, void *item)
{
    struct catalogue_event *event = item;
    event->app = read_text(r);
    event->name = read_text(r);
    event->version = read_int32(r);
    event->fields = read_text(r);
    event->release = read_int(r);
    event->published_at_us = read_int(r);
    event->removed_at_us = read_int(r);
    event->retention_seconds = read_int(r);
    event->delete_when = read_text(r);
}

owed_status
store_catalogue_events(struct db *db, struct arena *arena, struct catalogue_event **ret_events,
    size_t *ret_count, owed_error *err)
{
    struct list list = {sizeof(struct catalogue_event), read_event, arena};
    void *items = NULL;
    owed_status status = read_all(db, STMT_EVENT_TYPES, NO_ARGS, &list, &items, ret_count, err);
    if (status == OWED_OK)
        *ret_events = items;
    return status;
}
