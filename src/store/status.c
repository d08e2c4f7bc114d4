/* SPDX-License-Identifier: MIT
 *
 * status.c - what is owed to whom, counted from the indexes of what has not ended well.
 */
#include "store/look.h"
#include "store/verbs.h"

#include <stdlib.h>
#include <string.h>

/* read_lane takes the lane of rows: those of a paused receiver stand in one that goes on with "!" and its key. */
static const char *
read_lane(struct reader *r, bool *ret_paused)
{
    const char *lane = read_text(r);
    const char *end = lane == NULL ? NULL : strchr(lane, '!');
    *ret_paused = end != NULL;
    if (end == NULL)
        return lane;
    const char *cut = arena_printf(r->arena, "%.*s", (int)(end - lane), lane);
    r->no_memory |= cut == NULL;
    return cut;
}

/* What one of the three counts says of one receiver; the columns that it lacks stay 0. */
static void
read_owed(struct reader *r, void *item)
{
    struct status_line *line = item;
    bool is_paused = false;
    line->receiver_key = read_text(r);
    line->lane = read_lane(r, &is_paused);
    line->owed = read_int(r);
    line->due = read_int(r);
    line->scheduled = read_int(r);
    line->failed = read_int(r);
    line->oldest_due_at_us = read_int(r);
    if (!is_paused)
        return;
    line->held = line->due;
    line->due = line->oldest_due_at_us = 0;
}

static void
read_claimed(struct reader *r, void *item)
{
    struct status_line *line = item;
    bool is_paused = false;
    line->receiver_key = read_text(r);
    line->lane = read_lane(r, &is_paused);
    line->owed = line->claimed = read_int(r);
    line->lapsed = read_int(r);
    line->handed_back = read_int(r);
    line->due = line->lapsed + line->handed_back;
    line->oldest_due_at_us = read_int(r);
}

static void
read_ended(struct reader *r, void *item)
{
    struct status_line *line = item;
    bool is_paused = false;
    line->receiver_key = read_text(r);
    line->lane = read_lane(r, &is_paused);
    line->dead = read_int(r);
    line->orphaned = read_int(r);
}

void
status_add(struct status_line *sum, const struct status_line *line)
{
    sum->owed += line->owed;
    sum->due += line->due;
    sum->held += line->held;
    sum->scheduled += line->scheduled;
    sum->claimed += line->claimed;
    sum->lapsed += line->lapsed;
    sum->handed_back += line->handed_back;
    sum->failed += line->failed;
    sum->dead += line->dead;
    sum->orphaned += line->orphaned;
    int64_t oldest = line->oldest_due_at_us;
    if (oldest != 0 && (sum->oldest_due_at_us == 0 || oldest < sum->oldest_due_at_us))
        sum->oldest_due_at_us = oldest;
}

int
status_compare(const struct status_line *a, const struct status_line *b)
{
    if (a->owed != b->owed)
        return a->owed < b->owed ? 1 : -1;
    if (a->dead != b->dead)
        return a->dead < b->dead ? 1 : -1;
    return 0;
}

static int
by_key(const void *a, const void *b)
{
    const struct status_line *x = a, *y = b;
    return strcmp(x->receiver_key, y->receiver_key);
}

static int
by_most_owed(const void *a, const void *b)
{
    int order = status_compare(a, b);
    return order != 0 ? order : by_key(a, b);
}

/* merge makes one line of each receiver's, in place; returns how many are left. */
static size_t
merge(struct status_line *lines, size_t count)
{
    qsort(lines, count, sizeof *lines, by_key);
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (kept > 0 && by_key(&lines[kept - 1], &lines[i]) == 0)
            status_add(&lines[kept - 1], &lines[i]);
        else
            lines[kept++] = lines[i];
    }
    qsort(lines, kept, sizeof *lines, by_most_owed);
    return kept;
}

/* The counts, and whether they take the moment. */
static const struct {
    enum stmt stmt;
    read_item read;
    size_t arguments;
} counts[] = {
    {STMT_STATUS_OWED, read_owed, 1},
    {STMT_STATUS_CLAIMED, read_claimed, 1},
    {STMT_STATUS_ENDED, read_ended, 0},
};
#define COUNTS (sizeof counts / sizeof counts[0])

static owed_status
read_lines(
    struct db *db, int64_t now_us, struct arena *arena, struct status *status, owed_error *err)
{
    void *parts[COUNTS] = {0};
    size_t sizes[COUNTS] = {0}, total = 0;
    struct value now = V_TIME(now_us);
    for (size_t i = 0; i < COUNTS; i++) {
        struct list list = {sizeof(struct status_line), counts[i].read, arena};
        struct args args = {&now, counts[i].arguments};
        owed_status read = read_all(db, counts[i].stmt, args, &list, &parts[i], &sizes[i], err);
        if (read != OWED_OK)
            return read;
        total += sizes[i];
    }
    status->lines = arena_alloc(arena, (total + 1) * sizeof *status->lines);
    if (status->lines == NULL)
        return fail_memory(err);
    for (size_t i = 0, at = 0; i < COUNTS; at += sizes[i++])
        memcpy(status->lines + at, parts[i], sizes[i] * sizeof *status->lines);
    status->count = merge(status->lines, total);
    return OWED_OK;
}

owed_status
store_status(
    struct db *db, int64_t now_us, struct arena *arena, struct status *ret_status, owed_error *err)
{
    struct status found = {.total = {.receiver_key = "", .lane = ""}};
    // One snapshot, so that a row that is claimed meanwhile is counted once.
    bool own = !db->adopted && !store_in_transaction(db);
    owed_status status = own ? store_begin(db, false, err) : OWED_OK;
    if (status != OWED_OK)
        return status;
    status = read_lines(db, now_us, arena, &found, err);
    if (status == OWED_OK)
        status = query_int(
            db, STMT_COUNT_EVENTS, ARGS(V_INT(STATUS_EVENTS_MAX + 1)), &found.events, NULL, err);
    if (own)
        store_rollback(db);
    if (status != OWED_OK)
        return status;
    for (size_t i = 0; i < found.count; i++)
        status_add(&found.total, &found.lines[i]);
    found.more_events = found.events > STATUS_EVENTS_MAX;
    if (found.more_events)
        found.events = STATUS_EVENTS_MAX;
    *ret_status = found;
    return OWED_OK;
}

static void
read_paused(struct reader *r, void *item)
{
    struct paused_row *paused = item;
    paused->lane = read_text(r);
    paused->receiver_key = read_text(r);
    paused->paused_at_us = read_int(r);
    paused->paused_until_us = read_int(r);
    paused->paused_by = read_text(r);
    paused->reason = read_text(r);
    paused->endpoint = read_text(r);
}

owed_status
store_paused(struct db *db, struct arena *arena, struct paused_row **ret_paused, size_t *ret_count,
    owed_error *err)
{
    struct list list = {sizeof(struct paused_row), read_paused, arena};
    void *items = NULL;
    owed_status status = read_all(db, STMT_PAUSED, NO_ARGS, &list, &items, ret_count, err);
    if (status == OWED_OK)
        *ret_paused = items;
    return status;
}

static void
read_owed_name(struct reader *r, void *item)
{
    struct owed_name *name = item;
    name->receiver_key = read_text(r);
    name->event_name = read_text(r);
    name->owed = read_int(r);
}

owed_status
store_owed_names(struct db *db, struct arena *arena, struct owed_name **ret_names,
    size_t *ret_count, owed_error *err)
{
    struct list list = {sizeof(struct owed_name), read_owed_name, arena};
    void *items = NULL;
    owed_status status = read_all(db, STMT_OWED_NAMES, NO_ARGS, &list, &items, ret_count, err);
    if (status == OWED_OK)
        *ret_names = items;
    return status;
}
