/* SPDX-License-Identifier: MIT
 *
 * claim_rows.c - the rows of one claim, as they are read: at once, or later and away from the connection.
 */
#include "store/claim_rows.h"

#include <string.h>

#include "base/limits.h"

struct batch
batch_of(const struct claim *claim, struct arena *arena)
{
    return (struct batch){
        .claim = claim, .arena = arena, .claimed_by = arena_strdup(arena, claim->claimed_by)};
}

void
batch_ids(struct batch *batch)
{
    buf_init(&batch->taken, JSON_ARGUMENT_BYTES);
    buf_init(&batch->orphans, JSON_ARGUMENT_BYTES);
}

void
batch_ids_done(struct batch *batch)
{
    buf_done(&batch->taken);
    buf_done(&batch->orphans);
}

/* read_event fills in what a row knows of its event; false: that is gone. */
static bool
read_event(struct reader *r, struct claimed *row)
{
    struct str uid = read_bytes(r);
    if (uid.len != sizeof row->event_uid)
        return false;
    memcpy(row->event_uid, uid.p, sizeof row->event_uid);
    row->event_name = read_text(r);
    row->event_version = read_int32(r);
    row->payload = read_bytes(r);
    row->occurred_at_us = read_int(r);
    row->recorded_at_us = read_int(r);
    row->actor_key = read_text(r);
    row->actor_label = read_text(r);
    row->scope = read_text(r);
    row->correlation_id = read_text(r);
    row->traceparent = read_text(r);
    return true;
}

/* share_event takes over what the row before knows of the same event. */
static bool
share_event(const struct batch *batch, struct claimed *row)
{
    const struct claimed *before = batch->count == 0 ? NULL : &batch->rows[batch->count - 1];
    if (before == NULL || before->event_id != row->event_id)
        return false;
    memcpy(row->event_uid, before->event_uid, sizeof row->event_uid);
    row->event_name = before->event_name;
    row->event_version = before->event_version;
    row->payload = before->payload;
    row->occurred_at_us = before->occurred_at_us;
    row->recorded_at_us = before->recorded_at_us;
    row->actor_key = before->actor_key;
    row->actor_label = before->actor_label;
    row->scope = before->scope;
    row->correlation_id = before->correlation_id;
    row->traceparent = before->traceparent;
    return true;
}

/* read_claimed fills in a row as it will be once it is marked. */
static void
read_claimed(struct reader *r, struct batch *batch, struct claimed *row, bool *ret_gone)
{
    row->fence.delivery_id = read_int(r);
    row->fence.claimed_by = batch->claimed_by;
    const char *status = read_text(r);
    int64_t claimed_at = read_int(r), lease = read_int(r), now = batch->claim->now_us;
    bool is_claimed = status != NULL && strcmp(status, "claimed") == 0;
    bool lapsed = is_claimed && lease > 0;
    batch->has_claimed = batch->has_claimed || is_claimed;
    row->fence.claimed_at_us = now > claimed_at ? now : claimed_at + 1;
    row->lease_expires_at_us = now + batch->claim->lease_us;
    row->losses = read_int32(r) + lapsed;
    row->event_id = read_int(r);
    row->receiver_key = read_text(r);
    row->target = read_text(r);
    row->lane = read_text(r);
    row->attempts = read_int32(r);
    row->max_attempts = read_int32(r);
    row->available_at_us = read_int(r);
    row->due_at_us = read_int(r);
    *ret_gone = false;
    if (!share_event(batch, row))
        *ret_gone = !read_event(r, row);
}

/* fits tells whether a row joins the batch: one that somebody was lost with goes alone, or with few others of
 * its like, and payloads have a bound above the first. */
static bool
fits(const struct batch *batch, const struct claimed *row)
{
    if (batch->count == 0 || batch->is_marked)
        return true;
    bool is_lost = row->losses > 0;
    if (is_lost != (batch->rows[0].losses > 0) ||
        (is_lost && batch->count >= (size_t)batch->claim->most_lost))
        return false;
    return batch->bytes + row->payload.len <= batch->claim->max_bytes;
}

static owed_status
read_rows(struct db *db, struct batch *batch, size_t most, struct rows *rows, owed_error *err)
{
    while (db->driver->next(rows)) {
        if (batch->rows == NULL)
            batch->rows = arena_alloc(batch->arena, most * sizeof *batch->rows);
        if (batch->rows == NULL)
            return fail_memory(err);
        struct claimed row = {0};
        bool gone = false;
        struct reader r = reader(db, rows, batch->arena);
        read_claimed(&r, batch, &row, &gone);
        if (r.no_memory)
            return fail_memory(err);
        if (gone) {
            json_add_id(&batch->orphans, row.fence.delivery_id);
            continue;
        }
        if (!fits(batch, &row))
            break;
        json_add_id(&batch->taken, row.fence.delivery_id);
        batch->bytes += row.payload.len;
        batch->rows[batch->count++] = row;
    }
    return batch->taken.failed || batch->orphans.failed ? fail_memory(err) : OWED_OK;
}

/* leave_unread keeps the rows for later; false: they are to be read now. */
static bool
leave_unread(struct db *db, struct batch *batch, struct rows *rows)
{
    struct unread *unread = batch->unread;
    if (unread == NULL || db->driver->keep == NULL)
        return false;
    unread->rows = db->driver->keep(rows, &unread->count);
    if (unread->rows == NULL)
        return false;
    unread->driver = db->driver;
    unread->claim = *batch->claim;
    unread->claim.claimed_by = batch->claimed_by;
    return true;
}

/* --- long payloads --- */

/* read_payload reads what was left out of a row, for it is longer than its share of the bytes. */
static owed_status
read_payload(struct db *db, struct batch *batch, struct claimed *row, owed_error *err)
{
    struct claim asked = *batch->claim;
    struct claimed again = {0};
    asked.delivery_id = row->fence.delivery_id;
    owed_status status = claimed_fetch(db, &asked, batch->arena, &again, err);
    row->payload = again.payload;
    batch->bytes += row->payload.len;
    return status;
}

/* give_back_from ends the batch before a row: those from there on are free for all at once. */
static owed_status
give_back_from(struct db *db, struct batch *batch, size_t first, owed_error *err)
{
    size_t count = batch->count - first;
    struct fence *fences = arena_alloc(batch->arena, count * sizeof *fences);
    if (fences == NULL)
        return fail_memory(err);
    for (size_t i = 0; i < count; i++)
        fences[i] = batch->rows[first + i].fence;
    batch->count = first;
    return store_hand_back(db, fences, count, NULL, err);
}

/* read_long reads the payloads that came as null, one by one, as long as they fit; one fits always. */
static owed_status
read_long(struct db *db, struct batch *batch, owed_error *err)
{
    size_t most = batch->claim->max_bytes;
    for (size_t i = 0; i < batch->count; i++) {
        struct claimed *row = &batch->rows[i];
        if (row->payload.p != NULL)
            continue;
        owed_status status =
            i > 0 && batch->bytes >= most ? OWED_LOST : read_payload(db, batch, row, err);
        // Also one whose event went meanwhile: the next claim puts it away.
        if (status == OWED_LOST || (status == OWED_OK && i > 0 && batch->bytes > most))
            return give_back_from(db, batch, i, err);
        if (status != OWED_OK)
            return status;
    }
    return OWED_OK;
}

owed_status
fetch(struct db *db, struct batch *batch, size_t most, enum stmt stmt, struct args args,
    owed_error *err)
{
    struct rows *rows;
    owed_status status = query(db, stmt, args, &rows, err);
    if (status != OWED_OK)
        return status;
    bool is_left = leave_unread(db, batch, rows);
    if (!is_left)
        status = read_rows(db, batch, most, rows, err);
    owed_status ended = db->driver->finish(rows, NULL, status == OWED_OK ? err : NULL);
    if (status == OWED_OK)
        status = ended;
    return status == OWED_OK && batch->is_marked ? read_long(db, batch, err) : status;
}

owed_status
put_away(struct db *db, struct batch *batch, owed_error *err)
{
    if (batch->orphans.len == 0)
        return OWED_OK;
    json_end(&batch->orphans);
    if (batch->orphans.failed)
        return fail_memory(err);
    return change(db, STMT_ORPHAN,
        ARGS(V_STR(buf_view(&batch->orphans)), V_TIME(batch->claim->now_us),
            V_TEXT("its event was deleted from owed_event")),
        NULL, err);
}

/* --- read later --- */

#define AVAILABLE_AT 11 // its place among the columns of every claim

int64_t
unread_last_us(const struct unread *unread)
{
    return unread->driver->peek(unread->rows, unread->count - 1, AVAILABLE_AT).integer;
}

void
unread_done(struct unread *unread)
{
    if (unread->rows != NULL)
        unread->driver->finish(unread->rows, NULL, NULL);
    *unread = (struct unread){0};
}

owed_status
store_read_claimed(struct db *db, struct unread *unread, struct arena *arena,
    struct claimed **ret_rows, size_t *ret_count, owed_error *err)
{
    struct batch batch = {.claim = &unread->claim,
        .arena = arena,
        .claimed_by = unread->claim.claimed_by,
        .is_marked = true};
    batch_ids(&batch);
    owed_status status = read_rows(db, &batch, unread->count, unread->rows, err);
    if (status == OWED_OK)
        status = read_long(db, &batch, err);
    if (status == OWED_OK)
        status = put_away(db, &batch, err);
    batch_ids_done(&batch);
    unread_done(unread);
    *ret_rows = batch.rows;
    *ret_count = status == OWED_OK ? batch.count : 0;
    return status;
}
