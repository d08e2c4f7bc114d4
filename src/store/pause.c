/* SPDX-License-Identifier: MIT
 *
 * pause.c - lanes and receivers that an operator pauses: what is owed to them stands in lanes that nobody
 * serves until it is over.
 */
#include "store/look.h"
#include "store/verbs.h"

#include "base/cleanup.h"

#define MOVE_ROWS 1000 // in one short transaction

static bool
concerns(const struct pausing *pausing, const struct catalogue_receiver *receiver)
{
    if (pausing->receiver_key != NULL)
        return strcmp(receiver->key, pausing->receiver_key) == 0;
    return strcmp(receiver->lane, pausing->lane) == 0;
}

/* follow lets owed rows of those concerned go where they stand now. */
static owed_status
follow(struct db *db, const struct pausing *pausing, owed_error *err)
{
    CLEANUP(arena_done) struct arena arena;
    arena_init(&arena, 0);
    struct catalogue_receiver *receivers = NULL;
    size_t count = 0;
    int64_t moved = 0;
    owed_status status = store_catalogue_receivers(db, &arena, &receivers, &count, err);
    for (size_t i = 0; i < count && status == OWED_OK; i++)
        if (concerns(pausing, &receivers[i]))
            status = move_rows(
                db, STMT_MISPLACED, ARGS(V_TEXT(receivers[i].key), V_INT(MOVE_ROWS)), &moved, err);
    if (status != OWED_OK)
        return status;
    return move_rows(db, STMT_MISPLACED_CLAIMED, ARGS(V_INT(MOVE_ROWS)), &moved, err);
}

static owed_status
begin_pause(struct db *db, const struct pausing *p, int64_t *ret_receivers, owed_error *err)
{
    owed_status status = OWED_OK;
    if (p->lane != NULL)
        status = change(db, STMT_PAUSE_LANE,
            ARGS(V_TEXT(p->lane), V_TIME(p->now_us), V_TIME(p->until_us), V_TEXT(p->who),
                V_TEXT(p->reason)),
            NULL, err);
    if (status != OWED_OK)
        return status;
    return change(db, STMT_PAUSE_RECEIVERS,
        ARGS(V_TEXT(p->lane), V_TEXT(p->receiver_key), V_TIME(p->now_us), V_TIME(p->until_us),
            V_TEXT(p->reason)),
        ret_receivers, err);
}

static owed_status
end_pause(struct db *db, const struct pausing *p, int64_t *ret_receivers, owed_error *err)
{
    owed_status status = change(db, STMT_RESUME_RECEIVERS,
        ARGS(V_TEXT(p->lane), V_TEXT(p->receiver_key)), ret_receivers, err);
    if (status != OWED_OK || p->lane == NULL)
        return status;
    return change(db, STMT_RESUME_LANE, ARGS(V_TEXT(p->lane)), NULL, err);
}

typedef owed_status (*step)(
    struct db *db, const struct pausing *pausing, int64_t *ret_receivers, owed_error *err);

static owed_status
run(struct db *db, step step, const struct pausing *pausing, int64_t *ret_receivers,
    owed_error *err)
{
    struct scope scope = {0};
    owed_status status = OWED_OK;
    do {
        status = scope_begin(db, &scope, err);
        if (status != OWED_OK)
            continue;
        status = step(db, pausing, ret_receivers, err);
        if (status == OWED_OK && pausing->dry_run && scope.own) {
            store_rollback(db);
            return OWED_OK;
        }
        status = scope_end(&scope, status, err);
    } while (scope_repeats(&scope, status));
    return status == OWED_OK ? follow(db, pausing, err) : status;
}

owed_status
store_pause(struct db *db, const struct pausing *pausing, int64_t *ret_receivers, owed_error *err)
{
    return run(db, begin_pause, pausing, ret_receivers, err);
}

owed_status
store_resume(struct db *db, const struct pausing *pausing, int64_t *ret_receivers, owed_error *err)
{
    return run(db, end_pause, pausing, ret_receivers, err);
}

static void
read_lane(struct reader *r, void *item)
{
    struct lane_row *lane = item;
    lane->lane = read_text(r);
    lane->receivers = read_int(r);
    lane->paused_receivers = read_int(r);
    lane->waiting = read_int(r);
    lane->paused_waiting = read_int(r);
    lane->paused_at_us = read_int(r);
    lane->paused_until_us = read_int(r);
    lane->paused_by = read_text(r);
    lane->reason = read_text(r);
}

owed_status
store_lanes(struct db *db, struct arena *arena, struct lane_row **ret_lanes, size_t *ret_count,
    owed_error *err)
{
    struct list list = {sizeof(struct lane_row), read_lane, arena};
    void *items = NULL;
    owed_status status = read_all(db, STMT_LANE_LIST, NO_ARGS, &list, &items, ret_count, err);
    if (status == OWED_OK)
        *ret_lanes = items;
    return status;
}
