/* SPDX-License-Identifier: MIT
 *
 * requeue.c - ended rows made owed again, and owed ones withdrawn, in id order, chunk by chunk.
 */
#include "store/look.h"
#include "store/verbs.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/limits.h"

#define CHUNK 500

struct course {
    const struct requeue *requeue;
    bool cancels;
    int64_t *ids; // sorted; NULL: all that match
    size_t next;  // of ids
    int64_t after_id;
    struct buf picked; // a JSON array
    struct buf events; // theirs
    int64_t count;
    int64_t running;
};

static void
course_done(struct course *course)
{
    free(course->ids);
    buf_done(&course->picked);
    buf_done(&course->events);
}

static int
by_number(const void *a, const void *b)
{
    int64_t x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return (x > y) - (x < y);
}

static owed_status
course_init(struct course *course, const struct requeue *requeue, bool cancels, owed_error *err)
{
    *course = (struct course){.requeue = requeue, .cancels = cancels, .after_id = 0};
    buf_init(&course->picked, JSON_ARGUMENT_BYTES);
    buf_init(&course->events, JSON_ARGUMENT_BYTES);
    if (requeue->ids == NULL)
        return OWED_OK;
    course->ids = malloc((requeue->id_count + 1) * sizeof *course->ids);
    if (course->ids == NULL)
        return fail_memory(err);
    if (requeue->id_count > 0)
        memcpy(course->ids, requeue->ids, requeue->id_count * sizeof *course->ids);
    qsort(course->ids, requeue->id_count, sizeof *course->ids, by_number);
    return OWED_OK;
}

static int64_t
room_left(const struct course *course)
{
    int64_t limit = course->requeue->limit;
    return limit < 0 || limit - course->count > CHUNK ? CHUNK : limit - course->count;
}

/* collect reads a picking statement: up to room ids, the last of which is remembered. */
static owed_status
collect(struct db *db, struct course *course, enum stmt stmt, struct args args, int64_t *ret_found,
    owed_error *err)
{
    struct rows *rows;
    owed_status status = query(db, stmt, args, &rows, err);
    if (status != OWED_OK)
        return status;
    int64_t room = room_left(course), found = 0;
    buf_clear(&course->picked);
    buf_clear(&course->events);
    for (; found < room && db->driver->next(rows); found++) {
        course->after_id = db->driver->column(rows, 0).integer;
        json_add_id(&course->picked, course->after_id);
        json_add_id(&course->events, db->driver->column(rows, 1).integer);
        if (course->cancels)
            course->running += db->driver->column(rows, 2).integer;
    }
    json_end(&course->picked);
    json_end(&course->events);
    *ret_found = found;
    status = db->driver->finish(rows, NULL, err);
    bool failed = course->picked.failed || course->events.failed;
    return status == OWED_OK && failed ? fail_memory(err) : status;
}

static owed_status
pick(struct db *db, struct course *course, int64_t *ret_found, owed_error *err)
{
    const struct requeue *requeue = course->requeue;
    const struct value receiver = V_TEXT(requeue->receiver_key), now = V_TIME(requeue->now_us);
    const struct value after = V_INT(course->after_id), room = V_INT(room_left(course));
    if (course->ids == NULL && course->cancels)
        return collect(
            db, course, STMT_CANCEL_PICK, ARGS(after, room, receiver, now), ret_found, err);
    const struct value orphaned = V_INT(requeue->orphaned), text = V_TEXT(requeue->error_text);
    const struct value since = V_TIME(requeue->since_us),
                       until = V_TIME(requeue->until_us == 0 ? LIMIT_MOMENT_US : requeue->until_us);
    if (course->ids == NULL)
        return collect(db, course, STMT_REQUEUE_PICK,
            ARGS(after, room, receiver, orphaned, text, since, until), ret_found, err);
    CLEANUP(buf_done) struct buf asked;
    buf_init(&asked, JSON_ARGUMENT_BYTES);
    for (size_t i = 0; i < CHUNK && course->next < requeue->id_count; i++)
        json_add_id(&asked, course->ids[course->next++]);
    json_end(&asked);
    if (asked.failed)
        return fail_memory(err);
    if (course->cancels)
        return collect(db, course, STMT_CANCEL_PICK_IDS,
            ARGS(V_STR(buf_view(&asked)), receiver, now), ret_found, err);
    return collect(db, course, STMT_REQUEUE_PICK_IDS,
        ARGS(V_STR(buf_view(&asked)), receiver, orphaned, text, since, until), ret_found, err);
}

/* write_chunk does it to what was picked. Before anything is made owed again its events are taken, so that
 * nobody who found that all has ended deletes them. */
static owed_status
write_chunk(struct db *db, struct course *course, int64_t *ret_changed, owed_error *err)
{
    const struct requeue *requeue = course->requeue;
    owed_status status = OWED_OK;
    if (!course->cancels)
        status = change(db, STMT_EVENTS_HOLD, ARGS(V_STR(buf_view(&course->events))), NULL, err);
    if (status == OWED_OK)
        status = change(db, course->cancels ? STMT_CANCEL : STMT_REQUEUE,
            ARGS(V_STR(buf_view(&course->picked)), V_TIME(requeue->now_us)), ret_changed, err);
    return status == OWED_OK ? store_audit_add(db, requeue->audit_id, *ret_changed, 0, err)
                             : status;
}

/* run_chunk picks and writes one; *ret_more: there may be others. */
static owed_status
run_chunk(struct db *db, struct course *course, bool *ret_more, owed_error *err)
{
    int64_t found = 0, changed = 0;
    owed_status status = pick(db, course, &found, err);
    if (status != OWED_OK)
        return status;
    *ret_more = course->ids == NULL ? found > 0 : course->next < course->requeue->id_count;
    changed = found;
    if (found > 0 && !course->requeue->dry_run)
        status = write_chunk(db, course, &changed, err);
    if (status == OWED_OK)
        course->count += changed;
    return status;
}

static owed_status
run_in_scope(struct db *db, struct course *course, bool *ret_more, owed_error *err)
{
    if (course->requeue->dry_run)
        return run_chunk(db, course, ret_more, err);
    const struct course before = *course;
    struct scope scope = {0};
    owed_status status = OWED_OK;
    do {
        course->after_id = before.after_id;
        course->next = before.next;
        course->count = before.count;
        course->running = before.running;
        status = scope_begin(db, &scope, err);
        if (status == OWED_OK)
            status = scope_end(&scope, run_chunk(db, course, ret_more, err), err);
    } while (scope_repeats(&scope, status));
    return status;
}

static owed_status
run_all(struct db *db, struct course *course, owed_error *err)
{
    const struct requeue *requeue = course->requeue;
    bool more = requeue->ids == NULL || requeue->id_count > 0;
    owed_status status = OWED_OK;
    while (status == OWED_OK && more && room_left(course) > 0) {
        status = run_in_scope(db, course, &more, err);
        if (requeue->step != NULL)
            requeue->step(requeue->state, course->count);
    }
    return status;
}

owed_status
store_requeue(struct db *db, const struct requeue *requeue, int64_t *ret_count, owed_error *err)
{
    CLEANUP(course_done) struct course course;
    owed_status status = course_init(&course, requeue, false, err);
    if (status == OWED_OK)
        status = run_all(db, &course, err);
    if (status == OWED_OK && ret_count != NULL)
        *ret_count = course.count;
    return status;
}

owed_status
store_cancel(struct db *db, const struct requeue *which, int64_t *ret_count, int64_t *ret_running,
    owed_error *err)
{
    CLEANUP(course_done) struct course course;
    owed_status status = course_init(&course, which, true, err);
    if (status == OWED_OK)
        status = run_all(db, &course, err);
    if (status == OWED_OK && ret_count != NULL)
        *ret_count = course.count;
    if (status == OWED_OK && ret_running != NULL)
        *ret_running = course.running;
    return status;
}
