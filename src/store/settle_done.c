/* SPDX-License-Identifier: MIT
 *
 * settle_done.c - plain successes of one claim, in one statement.
 *
 * What differs among them is the moment alone, so that goes along with each id. How many rows were
 * written says nearly always that all were; if it does not, the store is asked which.
 */
#include "store/verbs.h"

#include "base/cleanup.h"

static bool
is_done(const struct settlement *s)
{
    return strcmp(s->status, "succeeded") == 0 && s->verdict == NULL && !s->expanded;
}

static bool
is_alike(const struct settlement *a, const struct settlement *b)
{
    return is_done(b) && a->attempts == b->attempts &&
        a->fence.claimed_at_us == b->fence.claimed_at_us &&
        strcmp(a->fence.claimed_by, b->fence.claimed_by) == 0;
}

size_t
settle_count_done(struct db *db, const struct settlement *settlements, size_t count)
{
    const char *const *statements = db->driver->sql->statements;
    bool has = statements[STMT_SETTLE_DONE] != NULL || statements[STMT_SETTLE_DONE_PAIRS] != NULL;
    size_t like = has && is_done(&settlements[0]) ? 1 : 0;
    while (like > 0 && like < count && is_alike(&settlements[0], &settlements[like]))
        like++;
    return like;
}

/* list writes what differs as a JSON object of ids and moments, or as pairs of them where a dialect
 * cannot read such. */
static void
list(const struct settlement *settlements, size_t count, bool as_pairs, struct buf *json)
{
    buf_putc(json, as_pairs ? '[' : '{');
    for (size_t i = 0; i < count; i++) {
        buf_puts(json, i > 0 ? "," : "");
        buf_puts(json, as_pairs ? "[" : "\"");
        buf_int(json, settlements[i].fence.delivery_id);
        buf_puts(json, as_pairs ? "," : "\":");
        buf_int(json, settlements[i].now_us);
        buf_puts(json, as_pairs ? "]" : "");
    }
    buf_putc(json, as_pairs ? ']' : '}');
}

/* ask_which finds out what of it was written. */
static owed_status
ask_which(struct db *db, enum stmt stmt, struct args args, const struct settlement *settlements,
    size_t count, bool *landed, owed_error *err)
{
    struct rows *rows = NULL;
    owed_status status = query(db, stmt, args, &rows, err);
    if (status != OWED_OK)
        return status;
    while (db->driver->next(rows)) {
        int64_t id = db->driver->column(rows, 0).integer;
        for (size_t i = 0; i < count; i++)
            landed[i] = landed[i] || settlements[i].fence.delivery_id == id;
    }
    return db->driver->finish(rows, NULL, err);
}

owed_status
settle_done(struct db *db, const struct settlement *settlements, size_t count, bool *landed,
    owed_error *err)
{
    bool as_pairs = db->driver->sql->statements[STMT_SETTLE_DONE] == NULL;
    const struct settlement *first = &settlements[0];
    CLEANUP(buf_done) struct buf json;
    buf_init(&json, JSON_ARGUMENT_BYTES);
    list(settlements, count, as_pairs, &json);
    if (json.failed)
        return fail_memory(err);
    struct args args = ARGS(V_STR(buf_view(&json)), V_TEXT(first->fence.claimed_by),
        V_TIME(first->fence.claimed_at_us), V_INT(first->attempts));
    int64_t changed = 0;
    owed_status status =
        change(db, as_pairs ? STMT_SETTLE_DONE_PAIRS : STMT_SETTLE_DONE, args, &changed, err);
    for (size_t i = 0; i < count; i++)
        landed[i] = status == OWED_OK && changed == (int64_t)count;
    if (status != OWED_OK || changed == (int64_t)count)
        return status;
    args.count--;
    return ask_which(
        db, as_pairs ? STMT_DONE_PAIRS : STMT_DONE, args, settlements, count, landed, err);
}
