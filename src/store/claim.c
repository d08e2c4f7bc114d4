/* SPDX-License-Identifier: MIT
 *
 * claim.c - taking rows for a while, and when the next ones can be taken.
 *
 * A claim is one write transaction: pick ids by index, read those rows and their events until the
 * batch is full, mark them. A look before it keeps an idle relay from ever taking the writer's lock.
 * Where the dialect can say all of it in one statement, that is one round trip.
 */
#include "store/claim_where.h"

#include <limits.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/limits.h"

/* A batch under way. */
struct batch {
    const struct claim *claim;
    struct arena *arena;
    const char *claimed_by; // in the arena
    struct claimed *rows;
    size_t count;
    size_t bytes;       // of payloads
    struct buf taken;   // ids, as a JSON array
    struct buf orphans; // ids of rows whose event is gone
    bool is_marked;     // what is read is what fits, and is taken already
};

static struct batch
batch_of(const struct claim *claim, struct arena *arena)
{
    return (struct batch){
        .claim = claim, .arena = arena, .claimed_by = arena_strdup(arena, claim->claimed_by)};
}

static void
batch_ids(struct batch *batch)
{
    buf_init(&batch->taken, JSON_ARGUMENT_BYTES);
    buf_init(&batch->orphans, JSON_ARGUMENT_BYTES);
}

static void
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
read_claimed(struct reader *r, const struct batch *batch, struct claimed *row, bool *ret_gone)
{
    row->fence.delivery_id = read_int(r);
    row->fence.claimed_by = batch->claimed_by;
    const char *status = read_text(r);
    int64_t claimed_at = read_int(r), lease = read_int(r), now = batch->claim->now_us;
    bool lapsed = status != NULL && strcmp(status, "claimed") == 0 && lease > 0;
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

/* fetch fills the batch, of most rows, with those of a statement. */
static owed_status
fetch(struct db *db, struct batch *batch, size_t most, enum stmt stmt, struct args args,
    owed_error *err)
{
    struct rows *rows;
    owed_status status = query(db, stmt, args, &rows, err);
    if (status != OWED_OK)
        return status;
    status = read_rows(db, batch, most, rows, err);
    owed_status ended = db->driver->finish(rows, NULL, status == OWED_OK ? err : NULL);
    return status == OWED_OK ? ended : status;
}

owed_status
claimed_fetch(struct db *db, const struct claim *claim, struct arena *arena,
    struct claimed *ret_row, owed_error *err)
{
    CLEANUP(buf_done) struct buf ids;
    buf_init(&ids, JSON_ARGUMENT_BYTES);
    json_add_id(&ids, claim->delivery_id);
    json_end(&ids);
    struct batch batch = batch_of(claim, arena);
    batch.rows = ret_row;
    if (ids.failed || batch.claimed_by == NULL)
        return fail_memory(err);
    batch_ids(&batch);
    owed_status status = fetch(db, &batch, 1, STMT_CLAIM_FETCH, ARGS(V_STR(buf_view(&ids))), err);
    batch_ids_done(&batch);
    if (status == OWED_OK && batch.count == 0)
        return fail(err, OWED_LOST, "there is no delivery %lld, or its event was deleted",
            (long long)claim->delivery_id);
    return status;
}

/* put_away ends rows whose event is gone. */
static owed_status
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

static owed_status
mark(struct db *db, struct batch *batch, owed_error *err)
{
    const struct claim *claim = batch->claim;
    if (batch->count == 0)
        return OWED_OK;
    json_end(&batch->taken);
    int64_t changed = 0;
    owed_status status = change(db, STMT_CLAIM_MARK,
        ARGS(V_STR(buf_view(&batch->taken)), V_TEXT(claim->claimed_by), V_TIME(claim->now_us),
            V_TIME(claim->now_us + claim->lease_us)),
        &changed, err);
    if (status == OWED_OK && changed != (int64_t)batch->count)
        return fail(
            err, OWED_STORE, "a claim of %zu rows marked %lld", batch->count, (long long)changed);
    return status;
}

static owed_status
pick(struct db *db, const struct claim *claim, const struct where *where, int32_t limit,
    struct buf *ids, int64_t *ret_count, owed_error *err)
{
    struct choice choice;
    choose(claim, where, limit, &choice);
    return collect_ids(
        db, choice.pick, (struct args){choice.values, choice.count}, ids, ret_count, err);
}

static owed_status
pick_and_mark(
    struct db *db, struct batch *batch, const struct where *where, struct buf *ids, owed_error *err)
{
    int64_t picked = 0;
    owed_status status = pick(db, batch->claim, where, batch->claim->limit, ids, &picked, err);
    if (status != OWED_OK || picked == 0)
        return status;
    status = fetch(db, batch, (size_t)picked, STMT_CLAIM_FETCH, ARGS(V_STR(buf_view(ids))), err);
    if (status == OWED_OK)
        status = put_away(db, batch, err);
    return status == OWED_OK ? mark(db, batch, err) : status;
}

/* take_in_steps looks first, so that nothing to do takes no writer's lock. */
static owed_status
take_in_steps(struct db *db, struct batch *batch, const struct where *where, owed_error *err)
{
    CLEANUP(buf_done) struct buf ids;
    buf_init(&ids, JSON_ARGUMENT_BYTES);
    int64_t found = 0;
    owed_status status = pick(db, batch->claim, where, 1, &ids, &found, err);
    if (status != OWED_OK || found == 0)
        return status;
    // A claim that a power cut undid is claimed again, under another fence.
    struct along *along = batch->claim->along;
    struct scope scope = {0};
    status = along == NULL ? scope_begin_light(db, &scope, err) : scope_begin(db, &scope, err);
    if (status != OWED_OK)
        return status;
    if (along != NULL)
        status = settle_along(db, along, err);
    if (status == OWED_OK)
        status = pick_and_mark(db, batch, where, &ids, err);
    status = scope_end(&scope, status, err);
    if (along != NULL)
        along->is_written = status == OWED_OK;
    return status;
}

/* take_at_once is for a dialect whose one statement does all of it. */
static owed_status
take_at_once(struct db *db, struct batch *batch, struct choice *choice, owed_error *err)
{
    const struct claim *claim = batch->claim;
    int64_t max_bytes = claim->max_bytes > INT64_MAX ? INT64_MAX : (int64_t)claim->max_bytes;
    choice->values[choice->count++] = V_TEXT(claim->claimed_by);
    choice->values[choice->count++] = V_TIME(claim->now_us + claim->lease_us);
    choice->values[choice->count++] = V_INT(max_bytes);
    choice->values[choice->count++] = V_INT(claim->most_lost);
    if (!db->adopted && !store_in_transaction(db))
        db->driver->light(db);
    batch->is_marked = true;
    owed_status status = fetch(db, batch, (size_t)claim->limit, choice->whole,
        (struct args){choice->values, choice->count}, err);
    return status == OWED_OK ? put_away(db, batch, err) : status;
}

/* batch_empty forgets what a claim that came to nothing had read. */
static void
batch_empty(struct batch *batch)
{
    batch->rows = NULL;
    batch->count = batch->bytes = 0;
    buf_clear(&batch->taken);
    buf_clear(&batch->orphans);
}

/* take_once is a whole claim; *ret_again: nothing was taken but rows that could not be delivered were
 * put away, and there may be more. */
static owed_status
take_once(
    struct db *db, struct batch *batch, const struct where *where, bool *ret_again, owed_error *err)
{
    struct scope scope = {.db = db, .was_own = !db->adopted && !store_in_transaction(db)};
    owed_status status = OWED_OK;
    batch_ids(batch);
    do {
        batch_empty(batch);
        struct choice choice;
        choose(batch->claim, where, batch->claim->limit, &choice);
        status = db->driver->sql->statements[choice.whole] != NULL
            ? take_at_once(db, batch, &choice, err)
            : take_in_steps(db, batch, where, err);
    } while (scope_repeats(&scope, status));
    *ret_again = batch->count == 0 && batch->orphans.len > 0;
    batch_ids_done(batch);
    return status;
}

bool
store_claims_along(const struct db *db)
{
    return db->driver->single_writer;
}

owed_status
store_claim(struct db *db, const struct claim *claim, struct arena *arena,
    struct claimed **ret_rows, size_t *ret_count, owed_error *err)
{
    CLEANUP(where_done) struct where where = {0};
    owed_status status = find_where(db, claim, arena, &where, err);
    struct batch batch = batch_of(claim, arena);
    if (status == OWED_OK && batch.claimed_by == NULL)
        status = fail_memory(err);
    bool is_named = claim->delivery_id != 0 || claim->event_count > 0;
    bool again = (where.lane_count > 0 || is_named) && claim->limit > 0;
    while (status == OWED_OK && again)
        status = take_once(db, &batch, &where, &again, err);
    if (status != OWED_OK)
        return status;
    *ret_rows = batch.rows;
    *ret_count = batch.count;
    return OWED_OK;
}

owed_status
store_next_due(struct db *db, const struct claim *claim, int64_t *ret_at_us, owed_error *err)
{
    CLEANUP(arena_done) struct arena arena;
    arena_init(&arena, 0);
    CLEANUP(where_done) struct where where = {0};
    owed_status status = find_where(db, claim, &arena, &where, err);
    *ret_at_us = INT64_MAX;
    if (status != OWED_OK || where.lane_count == 0)
        return status;
    struct value lanes = V_STR(buf_view(&where.lanes)), kind = V_TEXT(claim->kind);
    int64_t at_us = INT64_MAX;
    if (claim->receivers == NULL)
        status = query_int(db, STMT_NEXT_DUE, ARGS(lanes, kind), &at_us, NULL, err);
    else
        status = query_int(db, STMT_NEXT_DUE_RECEIVERS,
            ARGS(lanes, kind, V_STR(buf_view(&where.receivers))), &at_us, NULL, err);
    if (status == OWED_OK)
        *ret_at_us = at_us;
    return status;
}
