/* SPDX-License-Identifier: MIT
 *
 * settle_at_once.c - outcomes of several attempts in one statement, where the dialect has it: a column
 * each of what is written, as the text of an array.
 */
#include "store/verbs.h"

enum column {
    ID,
    CLAIMED_BY, // of plain successes once
    CLAIMED_AT,
    STATUS, // not of these
    ATTEMPTS,
    COMPLETED_AT, // nor this
    SUCCEEDED_AT,
    AVAILABLE_AT, // nor all from here on
    LAST_ERROR,
    VERDICT,
    ATTEMPT,
    STARTED_AT,
    DURATION,
    CODE,
    ERROR,
    EXCERPT,
    COLUMNS
};

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

static bool
are_plain(const struct settlement *settlements, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (settlements[i].verdict != NULL || strcmp(settlements[i].status, "succeeded") != 0 ||
            strcmp(settlements[i].fence.claimed_by, settlements[0].fence.claimed_by) != 0)
            return false;
    return true;
}

static void
fill(struct buf *arrays, const struct settlement *settlements, size_t count)
{
    bool is_plain = are_plain(settlements, count);
    if (is_plain)
        array_add_text(&arrays[CLAIMED_BY], settlements[0].fence.claimed_by);
    for (size_t i = 0; i < count; i++)
        (is_plain ? add_plain : add_any)(arrays, &settlements[i]);
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
