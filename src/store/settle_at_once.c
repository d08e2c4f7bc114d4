/* SPDX-License-Identifier: MIT
 *
 * settle_at_once.c - outcomes of several attempts in one statement, where the dialect has it: an array
 * of each column that is written.
 */
#include "store/array.h"
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

static const enum value_type types[COLUMNS] = {VALUE_INT, VALUE_TEXT, VALUE_TIME, VALUE_TEXT,
    VALUE_INT, VALUE_TIME, VALUE_TIME, VALUE_TIME, VALUE_TEXT, VALUE_TEXT, VALUE_INT, VALUE_TIME,
    VALUE_INT, VALUE_INT, VALUE_TEXT, VALUE_TEXT};

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
add_plain(struct array *arrays, const struct settlement *s)
{
    array_add(&arrays[ID], V_INT(s->fence.delivery_id));
    array_add(&arrays[CLAIMED_AT], V_TIME(s->fence.claimed_at_us));
    array_add(&arrays[ATTEMPTS], V_INT(s->attempts));
    array_add(&arrays[SUCCEEDED_AT], V_TIME(s->now_us));
}

static void
add_any(struct array *arrays, const struct settlement *s)
{
    const struct written written = written_of(s);
    array_add(&arrays[ID], V_INT(s->fence.delivery_id));
    array_add(&arrays[CLAIMED_BY], V_TEXT(s->fence.claimed_by));
    array_add(&arrays[CLAIMED_AT], V_TIME(s->fence.claimed_at_us));
    array_add(&arrays[STATUS], V_TEXT(s->status));
    array_add(&arrays[ATTEMPTS], V_INT(s->attempts));
    array_add(&arrays[COMPLETED_AT], V_TIME(written.completed_at_us));
    array_add(&arrays[SUCCEEDED_AT], V_TIME(written.succeeded_at_us));
    array_add(&arrays[AVAILABLE_AT], V_TIME(s->available_at_us));
    array_add(&arrays[LAST_ERROR], V_TEXT(written.last_error));
    array_add(&arrays[VERDICT], s->verdict == NULL ? V_NULL : V_TEXT(s->verdict));
    array_add(&arrays[ATTEMPT], V_INT(s->attempt));
    array_add(&arrays[STARTED_AT], V_TIME(s->started_at_us));
    array_add(&arrays[DURATION], V_INT(s->duration_us));
    array_add(&arrays[CODE], V_INT(s->code));
    array_add(&arrays[ERROR], V_TEXT(s->last_error));
    array_add(&arrays[EXCERPT], V_TEXT(s->excerpt));
}

static void
add_kept(struct array *arrays, const struct settlement *s)
{
    add_plain(arrays, s);
    array_add(&arrays[STARTED_AT], V_TIME(s->started_at_us));
    array_add(&arrays[DURATION], V_INT(s->duration_us));
    array_add(&arrays[CODE], V_INT(s->code));
    array_add(&arrays[EXCERPT], V_TEXT(s->excerpt));
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
fill(struct array *arrays, const struct settlement *settlements, size_t count)
{
    static void (*const add[])(struct array * arrays, const struct settlement *s) = {
        [LIKE_NONE] = add_any, [LIKE_SUCCESS] = add_plain, [LIKE_KEPT_SUCCESS] = add_kept};
    enum likeness likeness = likeness_of_all(settlements, count);
    if (likeness != LIKE_NONE)
        array_add(&arrays[CLAIMED_BY], V_TEXT(settlements[0].fence.claimed_by));
    if (likeness == LIKE_KEPT_SUCCESS)
        array_add(&arrays[VERDICT], V_TEXT(settlements[0].verdict));
    for (size_t i = 0; i < count; i++)
        add[likeness](arrays, &settlements[i]);
}

#define ALL_LANDED 0 // in place of a place

/* read_landed notes which were written, by their places from 1. */
static void
read_landed(struct db *db, struct rows *rows, size_t count, bool *landed)
{
    for (size_t i = 0; i < count; i++)
        landed[i] = false;
    while (db->driver->next(rows)) {
        int64_t place = db->driver->column(rows, 0).integer;
        for (size_t i = 0; place == ALL_LANDED && i < count; i++)
            landed[i] = true;
        if (place >= 1 && place <= (int64_t)count)
            landed[place - 1] = true;
    }
}

static owed_status
run(struct db *db, struct args args, size_t count, bool *landed, owed_error *err)
{
    struct rows *rows;
    owed_status status = query(db, STMT_SETTLE_ALL, args, &rows, err);
    if (status != OWED_OK)
        return status;
    if (landed != NULL)
        read_landed(db, rows, count, landed);
    return db->driver->finish(rows, NULL, err);
}

owed_status
settle_at_once(struct db *db, const struct settlement *settlements, size_t count, bool *landed,
    owed_error *err)
{
    struct array arrays[COLUMNS];
    struct value values[COLUMNS];
    arrays_init(arrays, types, COLUMNS);
    fill(arrays, settlements, count);
    owed_status status = arrays_end(arrays, COLUMNS, values)
        ? run(db, (struct args){values, COLUMNS}, count, landed, err)
        : fail_memory(err);
    arrays_done(arrays, COLUMNS);
    return status;
}
