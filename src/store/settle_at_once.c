/* SPDX-License-Identifier: MIT
 *
 * settle_at_once.c - outcomes of several attempts in one statement, where the dialect has it: a column
 * each of what is written, as the text of an array.
 */
#include "store/verbs.h"

enum column {
    ID,
    CLAIMED_BY, // of successes that are alike once
    CLAIMED_AT,
    STATUS, // not of these
    ATTEMPTS,
    COMPLETED_AT, // nor this
    SUCCEEDED_AT,
    AVAILABLE_AT, // nor this
    LAST_ERROR,   // nor this
    VERDICT,      // once, where they are kept
    ATTEMPT,      // not of these
    STARTED_AT,
    DURATION,
    CODE,
    ERROR, // nor this
    EXCERPT,
    COLUMNS
};

/* How settlements are told: what is alike needs fewer columns. */
enum likeness { LIKE_NONE, LIKE_SUCCESS, LIKE_KEPT_SUCCESS };

bool
settle_fits_once(struct db *db, const struct settlement *settlements, size_t count)
{
    if (count < 2 || db->driver->sql->statements[STMT_SETTLE_ALL] == NULL)
        return false;
    for (size_t i = 0; i < count; i++)
        if (settlements[i].expanded)
            return false;
    return true;
}

struct written
written_of(const struct settlement *s)
{
    bool succeeded = strcmp(s->status, "succeeded") == 0;
    bool ended = strcmp(s->status, "failed") != 0 && strcmp(s->status, "pending") != 0;
    return (struct written){.last_error = succeeded ? "" : or_empty(s->last_error),
        .completed_at_us = ended ? s->now_us : 0,
        .succeeded_at_us = succeeded ? s->now_us : 0};
}

static void
add_plain(struct buf *arrays, const struct settlement *s)
{
    array_add_number(&arrays[ID], s->fence.delivery_id);
    array_add_number(&arrays[CLAIMED_AT], s->fence.claimed_at_us);
    array_add_number(&arrays[ATTEMPTS], s->attempts);
    array_add_number(&arrays[SUCCEEDED_AT], s->now_us);
}

static void
add_any(struct buf *arrays, const struct settlement *s)
{
    const struct written written = written_of(s);
    array_add_number(&arrays[ID], s->fence.delivery_id);
    array_add_text(&arrays[CLAIMED_BY], s->fence.claimed_by);
    array_add_number(&arrays[CLAIMED_AT], s->fence.claimed_at_us);
    array_add_text(&arrays[STATUS], s->status);
    array_add_number(&arrays[ATTEMPTS], s->attempts);
    array_add_number(&arrays[COMPLETED_AT], written.completed_at_us);
    array_add_number(&arrays[SUCCEEDED_AT], written.succeeded_at_us);
    array_add_number(&arrays[AVAILABLE_AT], s->available_at_us);
    array_add_text(&arrays[LAST_ERROR], written.last_error);
    array_add_text(&arrays[VERDICT], s->verdict);
    array_add_number(&arrays[ATTEMPT], s->attempt);
    array_add_number(&arrays[STARTED_AT], s->started_at_us);
    array_add_number(&arrays[DURATION], s->duration_us);
    array_add_number(&arrays[CODE], s->code);
    array_add_text(&arrays[ERROR], or_empty(s->last_error));
    array_add_text(&arrays[EXCERPT], or_empty(s->excerpt));
}

static void
add_kept(struct buf *arrays, const struct settlement *s)
{
    add_plain(arrays, s);
    array_add_number(&arrays[STARTED_AT], s->started_at_us);
    array_add_number(&arrays[DURATION], s->duration_us);
    array_add_number(&arrays[CODE], s->code);
    array_add_text(&arrays[EXCERPT], or_empty(s->excerpt));
}

static enum likeness
likeness_of(const struct settlement *s)
{
    if (strcmp(s->status, "succeeded") != 0)
        return LIKE_NONE;
    if (s->verdict == NULL)
        return LIKE_SUCCESS;
    bool is_plain = s->attempt == s->attempts && is_empty(s->last_error);
    return is_plain && strcmp(s->verdict, "succeeded") == 0 ? LIKE_KEPT_SUCCESS : LIKE_NONE;
}

/* likeness_of_all is what all are, under the claims of one. */
static enum likeness
likeness_of_all(const struct settlement *settlements, size_t count)
{
    enum likeness likeness = likeness_of(&settlements[0]);
    for (size_t i = 1; i < count; i++)
        if (likeness_of(&settlements[i]) != likeness ||
            strcmp(settlements[i].fence.claimed_by, settlements[0].fence.claimed_by) != 0)
            return LIKE_NONE;
    return likeness;
}

static void
fill(struct buf *arrays, const struct settlement *settlements, size_t count)
{
    static void (*const add[])(struct buf * arrays, const struct settlement *s) = {
        [LIKE_NONE] = add_any, [LIKE_SUCCESS] = add_plain, [LIKE_KEPT_SUCCESS] = add_kept};
    enum likeness likeness = likeness_of_all(settlements, count);
    if (likeness != LIKE_NONE)
        array_add_text(&arrays[CLAIMED_BY], settlements[0].fence.claimed_by);
    if (likeness == LIKE_KEPT_SUCCESS)
        array_add_text(&arrays[VERDICT], settlements[0].verdict);
    for (size_t i = 0; i < count; i++)
        add[likeness](arrays, &settlements[i]);
}

static owed_status
run(struct db *db, struct args args, size_t count, bool *landed, owed_error *err)
{
    struct rows *rows;
    owed_status status = query(db, STMT_SETTLE_ALL, args, &rows, err);
    if (status != OWED_OK)
        return status;
    for (size_t i = 0; landed != NULL && i < count; i++)
        landed[i] = false;
    while (db->driver->next(rows)) {
        int64_t place = db->driver->column(rows, 0).integer;
        if (landed != NULL && place >= 1 && place <= (int64_t)count)
            landed[place - 1] = true;
    }
    return db->driver->finish(rows, NULL, err);
}

owed_status
settle_at_once(struct db *db, const struct settlement *settlements, size_t count, bool *landed,
    owed_error *err)
{
    struct buf arrays[COLUMNS];
    struct value values[COLUMNS];
    arrays_init(arrays, COLUMNS);
    fill(arrays, settlements, count);
    owed_status status = arrays_end(arrays, COLUMNS, values)
        ? run(db, (struct args){values, COLUMNS}, count, landed, err)
        : fail_memory(err);
    arrays_done(arrays, COLUMNS);
    return status;
}
