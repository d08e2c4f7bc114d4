/* SPDX-License-Identifier: MIT
 *
 * verbs.c - what the verbs share.
 */
#include "store/verbs.h"

#include <limits.h>
#include <poll.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/json.h"

#define REPEATS 5
#define REPEAT_WAIT_US (2 * US_PER_MS)

owed_status
query(struct db *db, enum stmt stmt, struct args args, struct rows **ret_rows, owed_error *err)
{
    return db->driver->run(db, stmt, args.values, args.count, ret_rows, err);
}

static owed_status
change_once(struct db *db, enum stmt stmt, struct args args, int64_t *ret_changed, owed_error *err)
{
    struct rows *rows;
    owed_status status = query(db, stmt, args, &rows, err);
    return status == OWED_OK ? db->driver->finish(rows, ret_changed, err) : status;
}

owed_status
change(struct db *db, enum stmt stmt, struct args args, int64_t *ret_changed, owed_error *err)
{
    // By itself it is a transaction of its own.
    struct scope scope = {.db = db, .was_own = !db->adopted && !store_in_transaction(db)};
    owed_status status = OWED_OK;
    do {
        status = change_once(db, stmt, args, ret_changed, err);
    } while (scope_repeats(&scope, status));
    return status;
}

owed_status
query_int(struct db *db, enum stmt stmt, struct args args, int64_t *ret_number, bool *ret_found,
    owed_error *err)
{
    struct rows *rows;
    owed_status status = query(db, stmt, args, &rows, err);
    if (status != OWED_OK)
        return status;
    struct value value = {.type = VALUE_NULL};
    if (db->driver->next(rows))
        value = db->driver->column(rows, 0);
    status = db->driver->finish(rows, NULL, err);
    if (status != OWED_OK)
        return status;
    if (ret_found != NULL)
        *ret_found = value.type == VALUE_INT;
    if (value.type == VALUE_INT)
        *ret_number = value.integer;
    return OWED_OK;
}

struct reader
reader(struct db *db, const struct rows *rows, struct arena *arena)
{
    return (struct reader){.driver = db->driver, .rows = rows, .arena = arena};
}

int64_t
read_int(struct reader *reader)
{
    struct value value = reader->driver->column(reader->rows, reader->place++);
    return value.type == VALUE_INT ? value.integer : 0;
}

int32_t
read_int32(struct reader *reader)
{
    int64_t number = read_int(reader);
    if (number > INT32_MAX)
        return INT32_MAX;
    return number < INT32_MIN ? INT32_MIN : (int32_t)number;
}

struct str
read_bytes(struct reader *reader)
{
    struct value value = reader->driver->column(reader->rows, reader->place++);
    if (value.type != VALUE_TEXT && value.type != VALUE_BLOB)
        return (struct str){NULL, 0};
    struct str view = {value.bytes.p == NULL ? "" : value.bytes.p, value.bytes.len};
    char *copy = arena_copy(reader->arena, view);
    reader->no_memory = reader->no_memory || copy == NULL;
    return (struct str){copy, copy == NULL ? 0 : view.len};
}

const char *
read_text(struct reader *reader)
{
    struct str bytes = read_bytes(reader);
    return bytes.p == NULL && !reader->no_memory ? "" : bytes.p;
}

/* grow doubles an array that lives in malloc's memory until it is complete. */
static bool
grow(char **items, size_t size, size_t count, size_t *capacity)
{
    if (count < *capacity)
        return true;
    size_t more = *capacity == 0 ? 16 : *capacity * 2;
    char *bigger = realloc(*items, more * size);
    if (bigger == NULL)
        return false;
    *items = bigger;
    *capacity = more;
    return true;
}

static owed_status
read_rows(struct db *db, struct rows *rows, const struct list *list, char **ret_items,
    size_t *ret_count, owed_error *err)
{
    size_t capacity = 0;
    while (db->driver->next(rows)) {
        if (!grow(ret_items, list->size, *ret_count, &capacity))
            return fail_memory(err);
        char *item = *ret_items + *ret_count * list->size;
        memset(item, 0, list->size);
        struct reader row = reader(db, rows, list->arena);
        list->read(&row, item);
        if (row.no_memory)
            return fail_memory(err);
        *ret_count += 1;
    }
    return OWED_OK;
}

owed_status
read_all(struct db *db, enum stmt stmt, struct args args, const struct list *list, void **ret_items,
    size_t *ret_count, owed_error *err)
{
    struct rows *rows;
    owed_status status = query(db, stmt, args, &rows, err);
    if (status != OWED_OK)
        return status;
    CLEANUP(free_ptr) char *items = NULL;
    size_t count = 0;
    status = read_rows(db, rows, list, &items, &count, err);
    owed_status ended = db->driver->finish(rows, NULL, status == OWED_OK ? err : NULL);
    if (status == OWED_OK)
        status = ended;
    if (status != OWED_OK)
        return status;
    char *copy = arena_alloc(list->arena, count * list->size + 1);
    if (copy == NULL)
        return fail_memory(err);
    if (count > 0)
        memcpy(copy, items, count * list->size);
    *ret_items = copy;
    *ret_count = count;
    return OWED_OK;
}

owed_status
scope_begin(struct db *db, struct scope *scope, owed_error *err)
{
    scope->db = db;
    scope->own = scope->was_own = false;
    if (db->adopted || store_in_transaction(db))
        return OWED_OK;
    owed_status status = store_begin(db, true, err);
    scope->own = scope->was_own = status == OWED_OK;
    return status;
}

owed_status
scope_begin_light(struct db *db, struct scope *scope, owed_error *err)
{
    if (!db->adopted && !store_in_transaction(db))
        db->driver->light(db);
    return scope_begin(db, scope, err);
}

owed_status
scope_end(struct scope *scope, owed_status status, owed_error *err)
{
    if (!scope->own)
        return status;
    scope->own = false;
    if (status == OWED_OK)
        return store_commit(scope->db, err);
    store_rollback(scope->db);
    return status;
}

/* wait_a_little lets whoever won go first; each time for longer, and never two for the same time. */
static void
wait_a_little(const struct db *db, int tries)
{
    const owed_dice dice = dice_or_system(db->dice);
    double us = dice_unit(&dice) * (double)(REPEAT_WAIT_US << tries);
    const struct timespec timeout = {.tv_nsec = (long)us * 1000};
    ppoll(NULL, 0, &timeout, NULL);
}

bool
scope_repeats(struct scope *scope, owed_status status)
{
    // Where nothing waits row by row there is no such thing: a single writer has been waited for.
    if (status != OWED_BUSY || !scope->was_own || scope->db->driver->contention == NULL ||
        scope->tries >= REPEATS)
        return false;
    wait_a_little(scope->db, scope->tries++);
    return true;
}

void
json_add_text(struct buf *buf, const char *text)
{
    buf_putc(buf, buf->len == 0 ? '[' : ',');
    json_write_string(buf, str_of(text));
}

void
json_add_id(struct buf *buf, int64_t id)
{
    buf_putc(buf, buf->len == 0 ? '[' : ',');
    buf_int(buf, id);
}

void
json_end(struct buf *buf)
{
    if (buf->len == 0)
        buf_putc(buf, '[');
    buf_putc(buf, ']');
}

void
json_texts(struct buf *buf, const char *const *texts)
{
    for (size_t i = 0; texts[i] != NULL; i++)
        json_add_text(buf, texts[i]);
    json_end(buf);
}

owed_status
collect_ids(struct db *db, enum stmt stmt, struct args args, struct buf *ids, int64_t *ret_count,
    owed_error *err)
{
    struct rows *rows;
    owed_status status = query(db, stmt, args, &rows, err);
    if (status != OWED_OK)
        return status;
    buf_clear(ids);
    *ret_count = 0;
    for (; db->driver->next(rows); *ret_count += 1)
        json_add_id(ids, db->driver->column(rows, 0).integer);
    json_end(ids);
    status = db->driver->finish(rows, NULL, err);
    return status == OWED_OK && ids->failed ? fail_memory(err) : status;
}
