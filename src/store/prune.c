/* SPDX-License-Identifier: MIT
 *
 * prune.c - which events can go, oldest first, and in batches of how many rows.
 */
#include "store/prune.h"

#include <limits.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "store/forget.h"

#define BATCH_ROWS 1000
#define SLOW_BATCH_ROWS 200 // of several statements, and a commit that others wait for
#define ALONE_BATCH_ROWS 40
#define REST 4 // times as long as a batch took
#define ALONE_REST 9
#define LONGEST_REST_US (US_PER_SECOND / 2)
#define PAGE 500 // events that one look, and so one batch, names
#define SMALL_PAGE 100
#define PRUNE_PEEKS 8 // pages on which nothing is to go, in one transaction

/* One event that a look found. */
struct candidate {
    int64_t id;
    bool is_old;
    int64_t size; // rows; 0: it cannot go
    bool goes_anyway;
};

void
prune_begin(struct prune_course *course, const struct prune *prune)
{
    struct prune_course begun = {.prune = *prune};
    memcpy(begun.resume_id, course->resume_id, sizeof begun.resume_id);
    begun.after_id = begun.resume_id[0];
    begun.is_over = prune->limit == 0;
    *course = begun;
}

int64_t
prune_batch_rows(const struct db *db)
{
    if (db->driver->single_writer)
        return ALONE_BATCH_ROWS;
    return db->driver->sql->statements[STMT_FORGET] == NULL ? SLOW_BATCH_ROWS : BATCH_ROWS;
}

int64_t
prune_rest_us(const struct db *db, int64_t took_us)
{
    int64_t rest_us = took_us * (db->driver->single_writer ? ALONE_REST : REST);
    return rest_us < LONGEST_REST_US ? rest_us : LONGEST_REST_US;
}

static void
read_candidate(struct reader *r, void *item)
{
    struct candidate *candidate = item;
    candidate->id = read_int(r);
    candidate->is_old = read_int(r) != 0;
    candidate->size = read_int(r);
    candidate->goes_anyway = read_int(r) != 0;
}

static const char *
once_of(const struct prune_course *course)
{
    return course->arm == PRUNE_SUCCEEDED ? "succeeded" : "settled";
}

/* page_of is how many events are looked at: few where a batch takes few, but enough to tell that no old one follows. */
static int64_t
page_of(const struct prune_course *course)
{
    return course->prune.batch_rows < PAGE ? SMALL_PAGE : PAGE;
}

static owed_status
look(struct db *db, const struct prune_course *course, const struct list *list, void **ret_page,
    size_t *ret_count, owed_error *err)
{
    const struct prune *prune = &course->prune;
    const struct value after = V_INT(course->after_id);
    int64_t page = page_of(course);
    int64_t own_us = prune->now_us - course->window_seconds * US_PER_SECOND;
    switch (course->arm) {
    case PRUNE_OWN:
        return read_all(db, STMT_PRUNE_OWN,
            ARGS(after, V_INT(page), V_TIME(own_us), V_INT(course->window_seconds)), list, ret_page,
            ret_count, err);
    case PRUNE_OLD:
        return read_all(db, STMT_PRUNE_OLD,
            ARGS(after, V_INT(page), V_TIME(prune->now_us - prune->retention_us)), list, ret_page,
            ret_count, err);
    default:
        return read_all(db, STMT_PRUNE_CONSUMED, ARGS(after, V_INT(page), V_TEXT(once_of(course))),
            list, ret_page, ret_count, err);
    }
}

/* next_window finds the next window of their own that events have; 0: there is none. */
static owed_status
next_window(struct db *db, struct prune_course *course, owed_error *err)
{
    int64_t seconds = 0;
    bool found = false;
    owed_status status = query_int(
        db, STMT_PRUNE_WINDOWS, ARGS(V_INT(course->window_seconds)), &seconds, &found, err);
    course->window_seconds = found ? seconds : 0;
    return status;
}

/* next_arm goes on to what is looked at after this arm, or this window of it. */
static owed_status
next_arm(struct db *db, struct prune_course *course, owed_error *err)
{
    owed_status status = OWED_OK;
    course->held = 0;
    if (course->arm != PRUNE_OWN)
        course->arm++;
    if (course->arm == PRUNE_OWN) {
        status = next_window(db, course, err);
        if (course->window_seconds == 0)
            course->arm++;
    }
    course->is_over = course->arm == PRUNE_ARMS;
    course->after_id = course->is_over ? 0 : course->resume_id[course->arm];
    return status;
}

/* A batch that is being put together from a page. */
struct batch {
    struct buf ids;
    int64_t events;
    int64_t size;
    bool is_wide; // of one event that is more than a batch
};

/* takes tells whether the batch has room for an event. */
static bool
takes(
    const struct prune_course *course, const struct batch *batch, const struct candidate *candidate)
{
    const struct prune *prune = &course->prune;
    if (prune->limit >= 0 && course->events + batch->events >= prune->limit)
        return false;
    return batch->events == 0 || batch->size + candidate->size <= prune->batch_rows;
}

/* is_due tells whether an event is this arm's to take; where nothing is deleted, another one has it. */
static bool
is_due(const struct prune_course *course, const struct candidate *candidate)
{
    return candidate->size > 0 && !(course->prune.dry_run && candidate->goes_anyway);
}

/* gather fills a batch from a page, and moves on in the arm; *ret_ends: nothing is left in it. */
static void
gather(struct prune_course *course, const struct candidate *page, size_t count, struct batch *batch,
    bool *ret_ends)
{
    bool any_old = false;
    for (size_t i = 0; i < count; i++) {
        const struct candidate *candidate = &page[i];
        any_old = any_old || candidate->is_old;
        if (is_due(course, candidate)) {
            if (!takes(course, batch, candidate))
                return;
            json_add_id(&batch->ids, candidate->id);
            batch->events++;
            batch->size += candidate->size;
            batch->is_wide = candidate->size > course->prune.batch_rows;
        }
        course->held += candidate->is_old && candidate->size == 0;
        course->after_id = candidate->id;
        // It is found again until it is gone: nothing behind it is passed over before.
        if (batch->is_wide)
            return;
    }
    // Ids grow as time does, nearly: after a whole page of younger ones no old one is to be expected.
    *ret_ends = count < (size_t)page_of(course) || !any_old;
}

static owed_status
forget_batch(struct db *db, struct prune_course *course, const struct batch *batch, owed_error *err)
{
    const struct forgetting forgetting = {.event_ids = buf_view(&batch->ids),
        .once = once_of(course),
        .most_rows = course->prune.batch_rows};
    struct forgotten forgotten = {0};
    struct scope scope = {0};
    owed_status status = OWED_OK;
    do {
        status = scope_begin(db, &scope, err);
        if (status == OWED_OK)
            status = scope_end(&scope, forget(db, &forgetting, &forgotten, err), err);
    } while (scope_repeats(&scope, status));
    if (status != OWED_OK)
        return status;
    course->events += forgotten.events;
    course->rows += forgotten.rows;
    // The rest of it is found again.
    if (batch->is_wide && forgotten.events == 0 && forgotten.rows > 0)
        course->after_id--;
    return OWED_OK;
}

static owed_status
take_batch(struct db *db, struct prune_course *course, struct batch *batch, owed_error *err)
{
    json_end(&batch->ids);
    if (batch->ids.failed)
        return fail_memory(err);
    if (!course->prune.dry_run)
        return forget_batch(db, course, batch, err);
    course->events += batch->events;
    course->rows += batch->size;
    return OWED_OK;
}

/* leave ends an arm, or puts it off where too many that are held stand in the way. */
static owed_status
leave(struct db *db, struct prune_course *course, bool ends, owed_error *err)
{
    const struct prune *prune = &course->prune;
    bool is_tired = prune->most_held >= 0 && course->held > prune->most_held;
    bool is_full = prune->limit >= 0 && course->events >= prune->limit;
    if (is_full)
        course->is_over = true;
    if (is_full || (!ends && !is_tired))
        return OWED_OK;
    course->resume_id[course->arm] = ends || course->arm == PRUNE_OWN ? 0 : course->after_id;
    return next_arm(db, course, err);
}

/* look_on fills a batch from the next page; *ret_ends: nothing is left in the arm. */
static owed_status
look_on(struct db *db, struct prune_course *course, struct batch *batch, bool *ret_ends,
    owed_error *err)
{
    CLEANUP(arena_done) struct arena arena;
    arena_init(&arena, 0);
    struct list list = {sizeof(struct candidate), read_candidate, &arena};
    void *page = NULL;
    size_t count = 0;
    owed_status status = look(db, course, &list, &page, &count, err);
    *ret_ends = false;
    if (status == OWED_OK)
        gather(course, page, count, batch, ret_ends);
    return status;
}

owed_status
store_prune_step(struct db *db, struct prune_course *course, owed_error *err)
{
    if (course->is_over)
        return OWED_OK;
    struct batch batch = {0};
    buf_init(&batch.ids, JSON_ARGUMENT_BYTES);
    bool ends = false;
    owed_status status = look_on(db, course, &batch, &ends, err);
    if (status == OWED_OK && batch.events > 0)
        status = take_batch(db, course, &batch, err);
    buf_done(&batch.ids);
    if (status != OWED_OK)
        return status;
    return leave(db, course, ends, err);
}

/* skip passes over a page on which nothing is to go; *ret_found: something is, and it stays where it was. */
static owed_status
skip(struct db *db, struct prune_course *course, bool *ret_found, owed_error *err)
{
    struct prune_course before = *course;
    struct batch batch = {0};
    buf_init(&batch.ids, JSON_ARGUMENT_BYTES);
    bool ends = false;
    owed_status status = look_on(db, course, &batch, &ends, err);
    buf_done(&batch.ids);
    *ret_found = batch.events > 0;
    if (*ret_found)
        *course = before;
    return status == OWED_OK && !*ret_found ? leave(db, course, ends, err) : status;
}

owed_status
store_prune_peek(struct db *db, struct prune_course *course, owed_error *err)
{
    bool found = false;
    bool is_own = !store_in_transaction(db);
    owed_status status = is_own ? store_begin(db, false, err) : OWED_OK;
    if (status != OWED_OK)
        return status;
    for (int i = 0; i < PRUNE_PEEKS && status == OWED_OK && !found && !course->is_over; i++)
        status = skip(db, course, &found, err);
    if (is_own && status == OWED_OK)
        return store_commit(db, err);
    if (is_own)
        store_rollback(db);
    return status;
}

owed_status
store_prune_turn(struct db *db, int64_t stuck_seconds, bool *ret_is_ours, owed_error *err)
{
    *ret_is_ours = true;
    if (db->driver->sql->statements[STMT_PRUNE_TURN] == NULL)
        return OWED_OK;
    int64_t turn = 0;
    owed_status status =
        query_int(db, STMT_PRUNE_TURN, ARGS(V_INT(stuck_seconds)), &turn, NULL, err);
    *ret_is_ours = turn > 0;
    return status;
}

void
store_prune_leave(struct db *db)
{
    owed_error err = {0};
    int64_t left = 0;
    if (db->driver->sql->statements[STMT_PRUNE_TURN_END] != NULL)
        (void)query_int(db, STMT_PRUNE_TURN_END, NO_ARGS, &left, NULL, &err);
}
