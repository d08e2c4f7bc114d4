/* SPDX-License-Identifier: MIT
 *
 * mend.c - owed rows that follow the catalogue: to another lane, or to their end as orphans.
 */
#include "store/endpoints.h"
#include "store/verbs.h"

#include <limits.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "base/limits.h"

/* move_rows lets the rows that a statement picks follow the catalogue, chunk by chunk. A look comes before
 * each write, so that nothing to do takes no lock. */
owed_status
move_rows(struct db *db, enum stmt pick, struct args args, int64_t *moved, owed_error *err)
{
    CLEANUP(buf_done) struct buf ids;
    buf_init(&ids, JSON_ARGUMENT_BYTES);
    for (;;) {
        int64_t found = 0, changed = 0;
        owed_status status = collect_ids(db, pick, args, &ids, &found, err);
        if (status != OWED_OK || found == 0)
            return status;
        status = change(db, STMT_MOVE, ARGS(V_STR(buf_view(&ids))), &changed, err);
        if (status != OWED_OK)
            return status;
        *moved += changed;
        if (changed == 0)
            return OWED_OK;
    }
}

/* A receiver that something is owed to. */
struct owed_receiver_row {
    const char *key;
    bool known; // to the catalogue
    int64_t removed_at_us;
};

static void
read_owed_receiver(struct reader *r, void *item)
{
    struct owed_receiver_row *receiver = item;
    receiver->key = read_text(r);
    receiver->known = read_int(r) != 0;
    receiver->removed_at_us = read_int(r);
}

struct mend {
    int64_t now_us;
    int64_t grace_us;
    int32_t limit;
    int64_t moved;
    int64_t orphaned;
};

/* is_over tells whether a receiver's rows are orphans, and of events up to when. */
static bool
is_over(const struct mend *mend, const struct owed_receiver_row *receiver, int64_t *ret_before_us)
{
    int64_t before_us = mend->grace_us < 0 ? INT64_MAX : mend->now_us - mend->grace_us;
    *ret_before_us = receiver->known ? INT64_MAX : before_us;
    return !receiver->known ||
        (receiver->removed_at_us != 0 && receiver->removed_at_us <= before_us);
}

static owed_status
orphan(struct db *db, struct mend *mend, const struct owed_receiver_row *receiver,
    int64_t before_us, owed_error *err)
{
    char sentence[LIMIT_KEY_BYTES + 64];
    snprintf(sentence, sizeof sentence, "receiver '%.*s' %s", LIMIT_KEY_BYTES, receiver->key,
        receiver->known ? "was removed from the catalogue" : "was never published");
    CLEANUP(buf_done) struct buf ids;
    buf_init(&ids, JSON_ARGUMENT_BYTES);
    for (;;) {
        int64_t found = 0, changed = 0;
        owed_status status = collect_ids(db, STMT_ORPHANS,
            ARGS(
                V_TEXT(receiver->key), V_TIME(mend->now_us), V_TIME(before_us), V_INT(mend->limit)),
            &ids, &found, err);
        if (status != OWED_OK || found == 0)
            return status;
        status = change(db, STMT_ORPHAN,
            ARGS(V_STR(buf_view(&ids)), V_TIME(mend->now_us), V_TEXT(sentence)), &changed, err);
        if (status != OWED_OK || changed == 0)
            return status;
        mend->orphaned += changed;
    }
}

static owed_status
mend_receiver(
    struct db *db, struct mend *mend, const struct owed_receiver_row *receiver, owed_error *err)
{
    int64_t before_us;
    if (is_over(mend, receiver, &before_us))
        return orphan(db, mend, receiver, before_us, err);
    return move_rows(
        db, STMT_MISPLACED, ARGS(V_TEXT(receiver->key), V_INT(mend->limit)), &mend->moved, err);
}

/* end_pauses resumes what an operator paused until now, and pauses what was published into a paused lane
 * while it was being paused: then rows are out of place, and follow. */
static owed_status
end_pauses(struct db *db, int64_t now_us, owed_error *err)
{
    owed_status status = change(db, STMT_RESUME_DUE, ARGS(V_TIME(now_us)), NULL, err);
    if (status == OWED_OK)
        status = change(db, STMT_RESUME_LANES_DUE, ARGS(V_TIME(now_us)), NULL, err);
    if (status == OWED_OK)
        status = store_endpoints_resume(db, now_us, err);
    return status == OWED_OK ? change(db, STMT_PAUSE_PUBLISHED, NO_ARGS, NULL, err) : status;
}

static owed_status
see_to_pauses(struct db *db, int64_t now_us, owed_error *err)
{
    struct scope scope = {0};
    owed_status status = OWED_OK;
    do {
        status = scope_begin(db, &scope, err);
        if (status == OWED_OK)
            status = scope_end(&scope, end_pauses(db, now_us, err), err);
    } while (scope_repeats(&scope, status));
    return status;
}

/* without_locks is the statement that only looks, where the one that is for writing locks what it reads. */
static enum stmt
without_locks(const struct db *db, enum stmt look, enum stmt locking)
{
    return db->driver->sql->statements[look] != NULL ? look : locking;
}

/* look_at tells of one of a receiver's rows that is to be mended, if there is one. */
static owed_status
look_at(struct db *db, const struct mend *mend, const struct owed_receiver_row *receiver,
    struct buf *ids, int64_t *ret_found, owed_error *err)
{
    int64_t before_us;
    if (is_over(mend, receiver, &before_us))
        return collect_ids(db, without_locks(db, STMT_ORPHANS_LOOK, STMT_ORPHANS),
            ARGS(V_TEXT(receiver->key), V_TIME(mend->now_us), V_TIME(before_us), V_INT(1)), ids,
            ret_found, err);
    return collect_ids(db, without_locks(db, STMT_MISPLACED_LOOK, STMT_MISPLACED),
        ARGS(V_TEXT(receiver->key), V_INT(1)), ids, ret_found, err);
}

/* look_for_rows tells whether any row is to be mended. */
static owed_status
look_for_rows(struct db *db, const struct mend *mend, struct arena *arena, int64_t *ret_found,
    owed_error *err)
{
    CLEANUP(buf_done) struct buf ids;
    buf_init(&ids, JSON_ARGUMENT_BYTES);
    struct list list = {sizeof(struct owed_receiver_row), read_owed_receiver, arena};
    void *items = NULL;
    size_t count = 0;
    owed_status status = read_all(db, STMT_OWED_RECEIVERS, NO_ARGS, &list, &items, &count, err);
    const struct owed_receiver_row *receivers = items;
    *ret_found = 0;
    for (size_t i = 0; status == OWED_OK && *ret_found == 0 && i < count; i++)
        status = look_at(db, mend, &receivers[i], &ids, ret_found, err);
    if (status == OWED_OK && *ret_found == 0)
        status =
            collect_ids(db, without_locks(db, STMT_MISPLACED_CLAIMED_LOOK, STMT_MISPLACED_CLAIMED),
                ARGS(V_INT(1)), &ids, ret_found, err);
    return status;
}

owed_status
store_mend_look(struct db *db, int64_t now_us, int64_t grace_us, bool *ret_any, owed_error *err)
{
    CLEANUP(arena_done) struct arena arena;
    arena_init(&arena, 0);
    const struct mend mend = {.now_us = now_us, .grace_us = grace_us};
    int64_t found = 0;
    owed_status status = end_pauses(db, now_us, err);
    if (status == OWED_OK)
        status = look_for_rows(db, &mend, &arena, &found, err);
    *ret_any = found > 0;
    return status == OWED_OK && found == 0 ? store_endpoints_any_held(db, now_us, ret_any, err)
                                           : status;
}

owed_status
store_mend(struct db *db, int64_t now_us, int64_t grace_us, int32_t limit, int64_t *ret_moved,
    int64_t *ret_orphaned, owed_error *err)
{
    CLEANUP(arena_done) struct arena arena;
    arena_init(&arena, 0);
    struct mend mend = {.now_us = now_us, .grace_us = grace_us, .limit = limit < 1 ? 1 : limit};
    struct list list = {sizeof(struct owed_receiver_row), read_owed_receiver, &arena};
    void *items = NULL;
    size_t count = 0;
    owed_status status = see_to_pauses(db, now_us, err);
    if (status == OWED_OK)
        status = read_all(db, STMT_OWED_RECEIVERS, NO_ARGS, &list, &items, &count, err);
    const struct owed_receiver_row *receivers = items;
    for (size_t i = 0; status == OWED_OK && i < count; i++)
        status = mend_receiver(db, &mend, &receivers[i], err);
    if (status == OWED_OK)
        status = move_rows(db, STMT_MISPLACED_CLAIMED, ARGS(V_INT(mend.limit)), &mend.moved, err);
    if (status == OWED_OK)
        status = store_endpoints_free(db, now_us, err);
    if (status != OWED_OK)
        return status;
    if (ret_moved != NULL)
        *ret_moved = mend.moved;
    if (ret_orphaned != NULL)
        *ret_orphaned = mend.orphaned;
    return OWED_OK;
}
