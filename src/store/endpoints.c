/* SPDX-License-Identifier: MIT
 *
 * endpoints.c - endpoints, and what they have subscribed to.
 */
#include "store/endpoints.h"

#include "base/cleanup.h"
#include "base/digest.h"
#include "base/json.h"
#include "base/moment.h"
#include "store/verbs.h"

#define FREE_ROWS 1000 // in one short transaction
// A relay may have read of a pause just before it ended, and puts off what it had claimed.
#define RESUMED_LATELY_US INT64_C(300000000)

static owed_status
not_found(const char *id, owed_error *err)
{
    return fail(err, OWED_NOT_FOUND, "there is no endpoint %.100s", id);
}

static owed_status
add(struct db *db, const struct endpoint_row *e, const char *const *names, owed_error *err)
{
    const struct str id = str_of(e->id);
    uint8_t digest[SHA256_BYTES];
    if (!sha256(&id, 1, digest))
        return fail(err, OWED_STORE, "the digest of an endpoint could not be made");
    owed_status status = change(db, STMT_ENDPOINT_INSERT,
        ARGS(V_STR(id), V_BLOB(digest, sizeof digest), V_TEXT(e->name), V_TEXT(e->url),
            V_TEXT(e->tenant), V_TEXT(e->format), V_TEXT(e->signing), V_TEXT(e->secret),
            V_TEXT(e->filter), V_INT(e->rate), V_TIME(e->created_at_us)),
        NULL, err);
    for (; *names != NULL && status == OWED_OK; names++)
        status = change(db, STMT_SUBSCRIPTION_INSERT, ARGS(V_STR(id), V_TEXT(*names)), NULL, err);
    return status;
}

owed_status
store_endpoint_add(
    struct db *db, const struct endpoint_row *endpoint, const char *const *names, owed_error *err)
{
    struct scope scope = {0};
    owed_status status = OWED_OK;
    do {
        status = scope_begin(db, &scope, err);
        if (status == OWED_OK)
            status = scope_end(&scope, add(db, endpoint, names, err), err);
    } while (scope_repeats(&scope, status));
    return status;
}

static void
read_endpoint(struct reader *r, void *item)
{
    struct endpoint_row *e = item;
    e->id = read_text(r);
    e->name = read_text(r);
    e->url = read_text(r);
    e->tenant = read_text(r);
    e->format = read_text(r);
    e->signing = read_text(r);
    e->secret = read_text(r);
    e->previous_secret = read_text(r);
    e->previous_until_us = read_int(r);
    e->filter = read_text(r);
    e->rate = read_int32(r);
    e->dead_in_row = read_int(r);
    e->disabled_at_us = read_int(r);
    e->disabled_reason = read_text(r);
    e->paused_at_us = read_int(r);
    e->paused_until_us = read_int(r);
    e->paused_reason = read_text(r);
    e->created_at_us = read_int(r);
    e->updated_at_us = read_int(r);
    e->subscriptions = read_text(r);
}

static owed_status
read_some(struct db *db, enum stmt stmt, struct args args, struct arena *arena,
    struct endpoint_row **ret_endpoints, size_t *ret_count, owed_error *err)
{
    struct list list = {sizeof(struct endpoint_row), read_endpoint, arena};
    void *items = NULL;
    owed_status status = read_all(db, stmt, args, &list, &items, ret_count, err);
    if (status == OWED_OK)
        *ret_endpoints = items;
    return status;
}

owed_status
store_endpoints_of(struct db *db, const char *ids, struct arena *arena,
    struct endpoint_row **ret_endpoints, size_t *ret_count, owed_error *err)
{
    return read_some(
        db, STMT_ENDPOINTS_OF, ARGS(V_TEXT(ids)), arena, ret_endpoints, ret_count, err);
}

owed_status
store_endpoint(struct db *db, const char *id, struct arena *arena,
    struct endpoint_row *ret_endpoint, owed_error *err)
{
    struct endpoint_row *rows = NULL;
    size_t count = 0;
    CLEANUP(buf_done) struct buf ids;
    buf_init(&ids, JSON_ARGUMENT_BYTES);
    json_add_text(&ids, id);
    json_end(&ids);
    if (ids.failed)
        return fail_memory(err);
    owed_status status = store_endpoints_of(db, buf_text(&ids), arena, &rows, &count, err);
    if (status == OWED_OK && count == 0)
        return not_found(id, err);
    if (status == OWED_OK)
        *ret_endpoint = rows[0];
    return status;
}

owed_status
store_endpoints(struct db *db, const char *after_id, int32_t limit, const char *tenant,
    struct arena *arena, struct endpoint_row **ret_endpoints, size_t *ret_count, owed_error *err)
{
    struct value of = tenant == NULL ? V_NULL : V_TEXT(tenant);
    return read_some(db, STMT_ENDPOINTS, ARGS(V_TEXT(after_id), V_INT(limit), of), arena,
        ret_endpoints, ret_count, err);
}

/* not_rotated says why: it is not there, or its last rotation has not ended. */
static owed_status
not_rotated(struct db *db, const char *id, owed_error *err)
{
    CLEANUP(arena_done) struct arena arena;
    struct endpoint_row row;
    char until[MOMENT_BYTES];
    arena_init(&arena, 0);
    owed_status status = store_endpoint(db, id, &arena, &row, err);
    if (status != OWED_OK)
        return status;
    return fail(err, OWED_INVALID,
        "the secret before the present one of endpoint %.100s signs until %s: rotate it then, or with an overlap of 0, "
        "which ends both at once",
        id, moment_write(row.previous_until_us, until));
}

owed_status
store_endpoint_rotate(struct db *db, const char *id, const char *secret, int64_t previous_until_us,
    int64_t now_us, owed_error *err)
{
    int64_t changed = 0;
    owed_status status = change(db, STMT_ENDPOINT_ROTATE,
        ARGS(V_TEXT(id), V_TEXT(secret), V_TIME(previous_until_us), V_TIME(now_us)), &changed, err);
    return status == OWED_OK && changed == 0 ? not_rotated(db, id, err) : status;
}

static owed_status
change_one(struct db *db, enum stmt stmt, struct args args, bool *ret_changed, owed_error *err)
{
    int64_t changed = 0;
    owed_status status = change(db, stmt, args, &changed, err);
    if (status == OWED_OK)
        *ret_changed = changed > 0;
    return status;
}

owed_status
store_endpoint_disable(struct db *db, const char *id, int64_t now_us, const char *why,
    bool *ret_changed, owed_error *err)
{
    return change_one(
        db, STMT_ENDPOINT_DISABLE, ARGS(V_TEXT(id), V_TIME(now_us), V_TEXT(why)), ret_changed, err);
}

owed_status
store_endpoint_enable(
    struct db *db, const char *id, int64_t now_us, bool *ret_changed, owed_error *err)
{
    return change_one(db, STMT_ENDPOINT_ENABLE, ARGS(V_TEXT(id), V_TIME(now_us)), ret_changed, err);
}

owed_status
store_endpoint_pause(struct db *db, const char *id, int64_t now_us, int64_t until_us,
    const char *why, owed_error *err)
{
    return change(db, STMT_ENDPOINT_PAUSE,
        ARGS(V_TEXT(id), V_TIME(now_us), V_TIME(until_us), V_TEXT(why)), NULL, err);
}

owed_status
store_endpoint_resume(
    struct db *db, const char *id, int64_t now_us, bool *ret_changed, owed_error *err)
{
    return change_one(db, STMT_ENDPOINT_RESUME, ARGS(V_TEXT(id), V_TIME(now_us)), ret_changed, err);
}

owed_status
store_endpoints_resume(struct db *db, int64_t now_us, owed_error *err)
{
    return change(db, STMT_ENDPOINTS_RESUME_DUE, ARGS(V_TIME(now_us)), NULL, err);
}

owed_status
store_endpoints_any_held(struct db *db, int64_t now_us, bool *ret_any, owed_error *err)
{
    int64_t id = 0;
    return query_int(db, STMT_ENDPOINT_HELD,
        ARGS(V_TIME(now_us), V_TIME(now_us - RESUMED_LATELY_US), V_INT(1)), &id, ret_any, err);
}

/* free_found makes due what a statement finds, until it finds nothing more. */
static owed_status
free_found(struct db *db, enum stmt held, struct args args, int64_t now_us, owed_error *err)
{
    CLEANUP(buf_done) struct buf ids;
    buf_init(&ids, JSON_ARGUMENT_BYTES);
    for (;;) {
        int64_t found = 0, changed = 0;
        owed_status status = collect_ids(db, held, args, &ids, &found, err);
        if (status == OWED_OK && found > 0)
            status = change(
                db, STMT_ENDPOINT_FREE, ARGS(V_STR(buf_view(&ids)), V_TIME(now_us)), &changed, err);
        if (status != OWED_OK || changed == 0)
            return status;
    }
}

owed_status
store_endpoints_free(struct db *db, int64_t now_us, owed_error *err)
{
    return free_found(db, STMT_ENDPOINT_HELD,
        ARGS(V_TIME(now_us), V_TIME(now_us - RESUMED_LATELY_US), V_INT(FREE_ROWS)), now_us, err);
}

owed_status
store_endpoint_free_of(struct db *db, const char *id, int64_t now_us, owed_error *err)
{
    return free_found(
        db, STMT_ENDPOINT_HELD_OF, ARGS(V_TIME(now_us), V_TEXT(id), V_INT(FREE_ROWS)), now_us, err);
}

owed_status
store_endpoint_free_rows(struct db *db, const char *ids, int64_t now_us, owed_error *err)
{
    return change(db, STMT_ENDPOINT_FREE, ARGS(V_TEXT(ids), V_TIME(now_us)), NULL, err);
}

owed_status
store_endpoint_dead(struct db *db, const char *id, int64_t count, owed_error *err)
{
    return change(db, STMT_ENDPOINT_DEAD, ARGS(V_TEXT(id), V_INT(count)), NULL, err);
}

owed_status
store_endpoint_give_up(struct db *db, const char *id, int64_t now_us, const char *why, int64_t most,
    bool *ret_changed, owed_error *err)
{
    return change_one(db, STMT_ENDPOINT_GIVE_UP,
        ARGS(V_TEXT(id), V_TIME(now_us), V_TEXT(why), V_INT(most)), ret_changed, err);
}

owed_status
store_endpoint_well(struct db *db, const char *id, owed_error *err)
{
    return change(db, STMT_ENDPOINT_WELL, ARGS(V_TEXT(id)), NULL, err);
}

static owed_status
forget(struct db *db, const char *id, owed_error *err)
{
    int64_t changed = 0;
    owed_status status = change(db, STMT_SUBSCRIPTIONS_DELETE, ARGS(V_TEXT(id)), NULL, err);
    if (status == OWED_OK)
        status = change(db, STMT_ENDPOINT_DELETE, ARGS(V_TEXT(id)), &changed, err);
    return status == OWED_OK && changed == 0 ? not_found(id, err) : status;
}

owed_status
store_endpoint_remove(struct db *db, const char *id, owed_error *err)
{
    struct scope scope = {0};
    owed_status status = OWED_OK;
    do {
        status = scope_begin(db, &scope, err);
        if (status == OWED_OK)
            status = scope_end(&scope, forget(db, id, err), err);
    } while (scope_repeats(&scope, status));
    return status;
}
