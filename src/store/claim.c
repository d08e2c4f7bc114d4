/* SPDX-License-Identifier: MIT
 *
 * claim.c - taking rows for a while, and when the next ones can be taken.
 *
 * A claim is one write transaction: pick ids by index, read those rows and their events until the
 * batch is full, mark them. A look before it keeps an idle relay from ever taking the writer's lock.
 * Where a store has one writer for all, that look reads all of it: others may write meanwhile, and if
 * nobody did, the rows need only be marked. Where the dialect can say all of it in one statement, that is
 * one round trip.
 */
#include "base/cleanup.h"
#include "base/limits.h"
#include "store/claim_rows.h"
#include "store/claim_where.h"

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

/* read_picked fills the batch with the rows that are picked now. */
static owed_status
read_picked(struct db *db, struct batch *batch, const struct where *where, int64_t *ret_count,
    owed_error *err)
{
    CLEANUP(buf_done) struct buf ids;
    buf_init(&ids, JSON_ARGUMENT_BYTES);
    *ret_count = 0;
    owed_status status = pick(db, batch->claim, where, batch->claim->limit, &ids, ret_count, err);
    if (status != OWED_OK || *ret_count == 0)
        return status;
    return fetch(db, batch, (size_t)*ret_count, STMT_CLAIM_FETCH, ARGS(V_STR(buf_view(&ids))), err);
}

static owed_status
take_read(struct db *db, struct batch *batch, owed_error *err)
{
    owed_status status = put_away(db, batch, err);
    return status == OWED_OK ? mark(db, batch, err) : status;
}

/* batch_empty forgets what a claim that came to nothing had read. */
static void
batch_empty(struct batch *batch)
{
    batch->rows = NULL;
    batch->count = batch->bytes = 0;
    batch->has_claimed = false;
    buf_clear(&batch->taken);
    buf_clear(&batch->orphans);
}

/* reads_first tells whether it is worth reading what is to be taken before the writer's lock is asked for, and
 * can be told whether it is still so. */
static bool
reads_first(struct db *db)
{
    return db->driver->single_writer && db->driver->sql->statements[STMT_CHANGED] != NULL &&
        !db->adopted && !store_in_transaction(db);
}

/* look finds out whether there is anything to take, without the writer's lock. */
static owed_status
look(struct db *db, struct batch *batch, const struct where *where, int64_t *ret_version,
    int64_t *ret_found, owed_error *err)
{
    if (reads_first(db)) {
        owed_status status = query_int(db, STMT_CHANGED, NO_ARGS, ret_version, NULL, err);
        return status == OWED_OK ? read_picked(db, batch, where, ret_found, err) : status;
    }
    CLEANUP(buf_done) struct buf ids;
    buf_init(&ids, JSON_ARGUMENT_BYTES);
    return pick(db, batch->claim, where, 1, &ids, ret_found, err);
}

/* is_still_so tells, under the lock, whether what was read is as it was: nobody else has committed since. What is
 * claimed already may be among what is written along: that is picked once more. */
static owed_status
is_still_so(
    struct db *db, const struct batch *batch, int64_t version, bool *ret_so, owed_error *err)
{
    int64_t now = 0;
    *ret_so = false;
    if (version < 0 || batch->has_claimed)
        return OWED_OK;
    owed_status status = query_int(db, STMT_CHANGED, NO_ARGS, &now, NULL, err);
    *ret_so = now == version;
    return status;
}

/* take_locked takes what was read, if it is still so, or what is there now. */
static owed_status
take_locked(
    struct db *db, struct batch *batch, const struct where *where, int64_t version, owed_error *err)
{
    const struct along *along = batch->claim->along;
    bool is_so = false;
    int64_t count = 0;
    owed_status status = is_still_so(db, batch, version, &is_so, err);
    if (status == OWED_OK && is_so)
        status = take_read(db, batch, err);
    if (status == OWED_OK && along != NULL)
        status = settle_along(db, along, err);
    if (status != OWED_OK || is_so)
        return status;
    batch_empty(batch);
    status = read_picked(db, batch, where, &count, err);
    return status == OWED_OK ? take_read(db, batch, err) : status;
}

/* take_in_steps looks first, so that nothing to do takes no writer's lock. */
static owed_status
take_in_steps(struct db *db, struct batch *batch, const struct where *where, owed_error *err)
{
    struct along *along = batch->claim->along;
    int64_t version = -1, found = 0;
    owed_status status = look(db, batch, where, &version, &found, err);
    if (status != OWED_OK || found == 0)
        return status;
    // A claim that a power cut undid is claimed again, under another fence.
    struct scope scope = {0};
    status = along == NULL ? scope_begin_light(db, &scope, err) : scope_begin(db, &scope, err);
    if (status != OWED_OK)
        return status;
    if (batch->claim->locked != NULL)
        batch->claim->locked(batch->claim->locked_state);
    status = scope_end(&scope, take_locked(db, batch, where, version, err), err);
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

/* is_at_once: a dialect that has the steps as well has a statement that begins and commits by itself. */
static bool
is_at_once(const struct db *db, const struct choice *choice, bool is_own)
{
    const char *const *statements = db->driver->sql->statements;
    return statements[choice->whole] != NULL && (is_own || statements[choice->pick] == NULL);
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
        status = is_at_once(db, &choice, scope.was_own) ? take_at_once(db, batch, &choice, err)
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
store_claim_unread(struct db *db, const struct claim *claim, struct arena *arena,
    struct unread *ret_unread, struct claimed **ret_rows, size_t *ret_count, owed_error *err)
{
    CLEANUP(where_done) struct where where = {0};
    owed_status status = find_where(db, claim, arena, &where, err);
    struct batch batch = batch_of(claim, arena);
    batch.unread = ret_unread;
    if (status == OWED_OK && batch.claimed_by == NULL)
        status = fail_memory(err);
    bool is_named = claim->delivery_id != 0 || claim->event_count > 0;
    bool again = (where.lane_count > 0 || is_named) && claim->limit > 0;
    while (status == OWED_OK && again)
        status = take_once(db, &batch, &where, &again, err);
    if (status != OWED_OK)
        return status;
    *ret_rows = batch.rows;
    *ret_count = ret_unread != NULL && ret_unread->rows != NULL ? ret_unread->count : batch.count;
    return OWED_OK;
}

owed_status
store_claim(struct db *db, const struct claim *claim, struct arena *arena,
    struct claimed **ret_rows, size_t *ret_count, owed_error *err)
{
    return store_claim_unread(db, claim, arena, NULL, ret_rows, ret_count, err);
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
