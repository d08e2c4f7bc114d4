/* SPDX-License-Identifier: MIT
 *
 * replay.c - an event owed once more to those who want it now.
 */
#include "store/look.h"
#include "store/verbs.h"

#include <stdio.h>

#include "base/cleanup.h"
#include "base/limits.h"

#define ID_BYTES 32

/* What an event is to those who replay it. */
struct subject {
    const char *name;
    const char *suppressed_reason;
};

static void
read_subject(struct reader *r, void *item)
{
    struct subject *subject = item;
    subject->name = read_text(r);
    subject->suppressed_reason = read_text(r);
}

/* look_up takes the event, and tells whether there is a reason to leave it alone. */
static owed_status
look_up(struct db *db, const struct replay *replay, struct arena *arena, struct replayed *ret,
    owed_error *err)
{
    char ids[ID_BYTES];
    snprintf(ids, sizeof ids, "[%lld]", (long long)replay->event_id);
    struct list list = {sizeof(struct subject), read_subject, arena};
    void *found = NULL;
    size_t count = 0;
    owed_status status = change(db, STMT_EVENTS_HOLD, ARGS(V_TEXT(ids)), NULL, err);
    if (status == OWED_OK)
        status = read_all(
            db, STMT_REPLAY_EVENT, ARGS(V_INT(replay->event_id)), &list, &found, &count, err);
    const struct subject *subject = found;
    if (status != OWED_OK)
        return status;
    ret->event_name = count == 0 ? "" : subject->name;
    if (count == 0)
        ret->skip = REPLAY_UNKNOWN;
    else if (!is_empty(subject->suppressed_reason))
        ret->skip = REPLAY_SUPPRESSED;
    return OWED_OK;
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

static owed_status
replay_one(struct db *db, const struct replay *replay, struct arena *arena, struct replayed *ret,
    owed_error *err)
{
    *ret = (struct replayed){0};
    owed_status status = look_up(db, replay, arena, ret, err);
    if (status != OWED_OK || ret->skip != REPLAY_DONE)
        return status;
    const struct value event = V_INT(replay->event_id), name = V_TEXT(ret->event_name),
                       keys = V_TEXT(replay->keys), now = V_TIME(replay->now_us),
                       side = V_TEXT(replay->side_lane);
    int64_t wanted = 0;
    status = count_receivers(db, ARGS(event, name, keys), &wanted, &ret->left, err);
    if (status == OWED_OK && wanted == 0)
        ret->skip = REPLAY_UNWANTED;
    if (status != OWED_OK || ret->skip != REPLAY_DONE)
        return status;
    status =
        change(db, STMT_REPLAY_REOPEN, ARGS(event, name, keys, now, side), &ret->reopened, err);
    if (status == OWED_OK)
        status = change(db, STMT_REPLAY_ADD, ARGS(event, name, keys, now, side), &ret->added, err);
    return status;
}

static owed_status
replay_each(struct db *db, const struct replay *replay, struct arena *arena, struct replayed *ret,
    owed_error *err)
{
    struct replay one = *replay;
    owed_status status = OWED_OK;
    for (size_t i = 0; i < replay->event_count && status == OWED_OK; i++) {
        one.event_id = replay->event_ids[i];
        status = replay_one(db, &one, arena, &ret[i], err);
    }
    return status;
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
