/* SPDX-License-Identifier: MIT
 *
 * settle_done.c - plain successes of one claim, in one statement.
 *
 * What differs among them is the moment, and what is kept of the attempt, so that goes along with each id. How many rows were
 * written says nearly always that all were; if it does not, the store is asked which.
 */
#include "store/verbs.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/limits.h"

/* is_kept_plainly: all of its attempt but when, how long, and what was answered, is what others' is. */
static bool
is_kept_plainly(const struct settlement *s)
{
    return strcmp(s->verdict, "succeeded") == 0 && s->attempt == s->attempts &&
        s->attempt <= LIMIT_ATTEMPT_ROWS && is_empty(s->last_error);
}

static bool
is_done(const struct db *db, const struct settlement *s)
{
    bool keeps = db->driver->sql->statements[STMT_ATTEMPTS_INSERT] != NULL;
    return strcmp(s->status, "succeeded") == 0 && !s->expanded &&
        (s->verdict == NULL || (keeps && is_kept_plainly(s)));
}

static bool
is_alike(const struct db *db, const struct settlement *a, const struct settlement *b)
{
    return is_done(db, b) && a->attempts == b->attempts &&
        (a->verdict == NULL) == (b->verdict == NULL) &&
        a->fence.claimed_at_us == b->fence.claimed_at_us &&
        strcmp(a->fence.claimed_by, b->fence.claimed_by) == 0;
}

size_t
settle_count_done(struct db *db, const struct settlement *settlements, size_t count)
{
    const char *const *statements = db->driver->sql->statements;
    bool has = statements[STMT_SETTLE_DONE] != NULL || statements[STMT_SETTLE_DONE_PAIRS] != NULL;
    size_t like = has && is_done(db, &settlements[0]) ? 1 : 0;
    while (like > 0 && like < count && is_alike(db, &settlements[0], &settlements[like]))
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

static owed_status
write_done(struct db *db, const struct settlement *settlements, size_t count, bool *landed,
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

static void
list_attempts(const struct settlement *settlements, size_t count, struct buf *json)
{
    buf_putc(json, '[');
    for (size_t i = 0; i < count; i++) {
        const struct settlement *s = &settlements[i];
        const int64_t numbers[] = {s->fence.delivery_id, s->started_at_us, s->duration_us, s->code};
        buf_puts(json, i > 0 ? ",[" : "[");
        for (size_t n = 0; n < sizeof numbers / sizeof numbers[0]; n++) {
            buf_int(json, numbers[n]);
            buf_putc(json, ',');
        }
        json_write_string(json, str_of(s->excerpt));
        buf_putc(json, ']');
    }
    buf_putc(json, ']');
}

/* keep_all keeps the attempts of those that are held, and holds them, before they are written: afterwards
 * nobody could tell them from what was written before. */
static owed_status
keep_all(struct db *db, const struct settlement *settlements, size_t count, owed_error *err)
{
    const struct settlement *first = &settlements[0];
    CLEANUP(buf_done) struct buf json;
    buf_init(&json, JSON_ARGUMENT_BYTES);
    list_attempts(settlements, count, &json);
    if (json.failed)
        return fail_memory(err);
    return change(db, STMT_ATTEMPTS_INSERT,
        ARGS(V_STR(buf_view(&json)), V_TEXT(first->fence.claimed_by),
            V_TIME(first->fence.claimed_at_us), V_INT(first->attempt)),
        NULL, err);
}

owed_status
settle_done(struct db *db, const struct settlement *settlements, size_t count, bool *landed,
    owed_error *err)
{
    owed_status status = OWED_OK;
    if (settlements[0].verdict != NULL)
        status = keep_all(db, settlements, count, err);
    return status == OWED_OK ? write_done(db, settlements, count, landed, err) : status;
}
