/* SPDX-License-Identifier: MIT
 *
 * replay.c - an event owed once more to those who want it now.
 */
#include "store/look.h"
#include "store/verbs.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/json.h"
#include "base/limits.h"

/* What an event is to those who replay it. */
struct subject {
    int64_t id;
    const char *name;
    const char *suppressed_reason;
};

static void
read_subject(struct reader *r, void *item)
{
    struct subject *subject = item;
    subject->id = read_int(r);
    subject->name = read_text(r);
    subject->suppressed_reason = read_text(r);
}

/* note_subject tells whether there is a reason to leave an event alone. */
static void
note_subject(const struct subject *subject, struct replayed *ret)
{
    *ret = (struct replayed){.event_name = subject == NULL ? "" : subject->name};
    if (subject == NULL)
        ret->skip = REPLAY_UNKNOWN;
    else if (!is_empty(subject->suppressed_reason))
        ret->skip = REPLAY_SUPPRESSED;
}

/* look_up takes the events, and finds what each of them is. */
static owed_status
look_up(struct db *db, const struct replay *replay, struct arena *arena, struct replayed *ret,
    owed_error *err)
{
    CLEANUP(buf_done) struct buf ids;
    buf_init(&ids, JSON_ARGUMENT_BYTES);
    for (size_t i = 0; i < replay->event_count; i++)
        json_add_id(&ids, replay->event_ids[i]);
    json_end(&ids);
    if (ids.failed)
        return fail_memory(err);
    struct list list = {sizeof(struct subject), read_subject, arena};
    const struct args args = ARGS(V_STR(buf_view(&ids)));
    void *items = NULL;
    size_t count = 0;
    owed_status status = change(db, STMT_EVENTS_HOLD, args, NULL, err);
    if (status == OWED_OK)
        status = read_all(db, STMT_REPLAY_EVENT, args, &list, &items, &count, err);
    const struct subject *subjects = items;
    for (size_t i = 0; status == OWED_OK && i < replay->event_count; i++) {
        const struct subject *found = NULL;
        for (size_t k = 0; k < count && found == NULL; k++)
            found = subjects[k].id == replay->event_ids[i] ? &subjects[k] : NULL;
        note_subject(found, &ret[i]);
    }
    return status;
}

static owed_status
count_receivers(
    struct db *db, struct args args, int64_t *ret_wanted, int64_t *ret_left, owed_error *err)
{
    struct rows *rows;
    owed_status status = query(db, STMT_REPLAY_RECEIVERS, args, &rows, err);
    if (status != OWED_OK)
        return status;
    if (db->driver->next(rows)) {
        *ret_wanted = db->driver->column(rows, 0).integer;
        *ret_left = db->driver->column(rows, 1).integer;
    }
    return db->driver->finish(rows, NULL, err);
}

/* owe makes events of one name owed once more; what it comes to is counted in ret. */
static owed_status
owe(struct db *db, const struct replay *replay, struct str ids, struct replayed *ret,
    owed_error *err)
{
    const struct value events = V_STR(ids), name = V_TEXT(ret->event_name),
                       keys = V_TEXT(replay->keys), now = V_TIME(replay->now_us),
                       side = V_TEXT(replay->side_lane);
    int64_t wanted = 0;
    owed_status status = count_receivers(db, ARGS(events, name, keys), &wanted, &ret->left, err);
    if (status == OWED_OK && wanted == 0)
        ret->skip = REPLAY_UNWANTED;
    if (status != OWED_OK || ret->skip != REPLAY_DONE)
        return status;
    status =
        change(db, STMT_REPLAY_REOPEN, ARGS(events, name, keys, now, side), &ret->reopened, err);
    if (status == OWED_OK)
        status = change(db, STMT_REPLAY_ADD, ARGS(events, name, keys, now, side), &ret->added, err);
    return status;
}

/* gather lists the events from first on that have its name and no reason to be left alone, and marks them in done. */
static void
gather(const struct replay *replay, const struct replayed *all, size_t first, bool *done,
    struct buf *ids)
{
    buf_clear(ids);
    for (size_t i = first; i < replay->event_count; i++) {
        if (done[i] || all[i].skip != REPLAY_DONE ||
            strcmp(all[i].event_name, all[first].event_name) != 0)
            continue;
        done[i] = true;
        json_add_id(ids, replay->event_ids[i]);
    }
    json_end(ids);
}

static owed_status
replay_names(
    struct db *db, const struct replay *replay, bool *done, struct replayed *ret, owed_error *err)
{
    CLEANUP(buf_done) struct buf ids;
    buf_init(&ids, JSON_ARGUMENT_BYTES);
    for (size_t i = 0; i < replay->event_count; i++) {
        if (done[i] || ret[i].skip != REPLAY_DONE)
            continue;
        gather(replay, ret, i, done, &ids);
        owed_status status =
            ids.failed ? fail_memory(err) : owe(db, replay, buf_view(&ids), &ret[i], err);
        if (status != OWED_OK)
            return status;
        for (size_t k = i + 1; k < replay->event_count; k++)
            if (done[k] && strcmp(ret[k].event_name, ret[i].event_name) == 0)
                ret[k].skip = ret[i].skip;
    }
    return OWED_OK;
}

static owed_status
replay_each(struct db *db, const struct replay *replay, struct arena *arena, struct replayed *ret,
    owed_error *err)
{
    bool *done = arena_alloc(arena, replay->event_count * sizeof *done + 1);
    if (done == NULL)
        return fail_memory(err);
    memset(done, 0, replay->event_count * sizeof *done);
    owed_status status = look_up(db, replay, arena, ret, err);
    return status == OWED_OK ? replay_names(db, replay, done, ret, err) : status;
}

owed_status
store_replay(struct db *db, const struct replay *replay, struct arena *arena, struct replayed *ret,
    owed_error *err)
{
    struct replay all = *replay;
    struct scope scope = {0};
    owed_status status = OWED_OK;
    if (all.event_ids == NULL) {
        all.event_ids = &replay->event_id;
        all.event_count = 1;
    }
    do {
        status = scope_begin(db, &scope, err);
        if (status != OWED_OK)
            continue;
        status = replay_each(db, &all, arena, ret, err);
        if (status == OWED_OK && replay->dry_run && scope.own) {
            store_rollback(db);
            return OWED_OK;
        }
        status = scope_end(&scope, status, err);
    } while (scope_repeats(&scope, status));
    return status;
}

static void
read_id(struct reader *r, void *item)
{
    int64_t *id = item;
    *id = read_int(r);
}

owed_status
store_replay_pick(struct db *db, const struct replay_range *range, int64_t after_id, int32_t limit,
    struct arena *arena, int64_t **ret_ids, size_t *ret_count, owed_error *err)
{
    struct list list = {sizeof(int64_t), read_id, arena};
    void *items = NULL;
    int64_t until_us = range->until_us == 0 ? LIMIT_MOMENT_US : range->until_us;
    owed_status status = read_all(db, STMT_REPLAY_PICK,
        ARGS(V_TEXT(range->event_name), V_INT(after_id), V_INT(limit), V_TIME(range->since_us),
            V_TIME(until_us)),
        &list, &items, ret_count, err);
    if (status == OWED_OK)
        *ret_ids = items;
    return status;
}
