/* SPDX-License-Identifier: MIT
 *
 * quiet.c - receivers that have not succeeded for long.
 *
 * A success is kept by receiver when its event is deleted, and by relays now and then; what is newer
 * stands in the deliveries of the newest events.
 */
#include "store/look.h"
#include "store/verbs.h"

static void
read_quiet(struct reader *r, void *item)
{
    struct quiet_row *quiet = item;
    quiet->receiver_key = read_text(r);
    quiet->app = read_text(r);
    quiet->event_name = read_text(r);
    quiet->lane = read_text(r);
    quiet->last_success_at_us = read_int(r);
}

/* look_through finds what became of the newest events of a receiver. */
static owed_status
look_through(struct db *db, int32_t most_events, struct quiet_row *quiet, owed_error *err)
{
    struct rows *rows;
    owed_status status = query(db, STMT_LATELY,
        ARGS(V_TEXT(quiet->receiver_key), V_TEXT(quiet->event_name), V_INT(most_events),
            V_TIME(quiet->last_success_at_us)),
        &rows, err);
    if (status != OWED_OK)
        return status;
    if (db->driver->next(rows)) {
        struct reader r = reader(db, rows, NULL);
        quiet->last_success_at_us = read_int(&r);
        quiet->events = read_int(&r);
        quiet->last_event_at_us = read_int(&r);
    }
    return db->driver->finish(rows, NULL, err);
}

owed_status
store_quiet(struct db *db, int64_t since_us, int32_t most_events, struct arena *arena,
    struct quiet_row **ret_quiet, size_t *ret_count, owed_error *err)
{
    struct list list = {sizeof(struct quiet_row), read_quiet, arena};
    void *items = NULL;
    size_t count = 0;
    owed_status status =
        read_all(db, STMT_SUCCESSES_BEFORE, ARGS(V_TIME(since_us)), &list, &items, &count, err);
    struct quiet_row *rows = items;
    size_t kept = 0;
    for (size_t i = 0; i < count && status == OWED_OK; i++) {
        status = look_through(db, most_events, &rows[i], err);
        if (rows[i].last_success_at_us < since_us)
            rows[kept++] = rows[i];
    }
    if (status != OWED_OK)
        return status;
    *ret_quiet = rows;
    *ret_count = kept;
    return OWED_OK;
}
