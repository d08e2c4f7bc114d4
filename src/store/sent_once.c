/* SPDX-License-Identifier: MIT
 *
 * sent_once.c - see sent_once.h.
 */
#include "store/sent_once.h"

#include "store/verbs.h"

static owed_status
find_receipt(struct db *db, const struct sent_once *once, struct arena *arena,
    enum once_claim *ret_claim, const char **ret_receipt, owed_error *err)
{
    struct rows *rows;
    *ret_claim = ONCE_PENDING; // also one that was released this moment
    owed_status status = query(db, STMT_DEDUP_FIND, ARGS(V_TEXT(once->key)), &rows, err);
    if (status != OWED_OK)
        return status;
    bool no_memory = false;
    while (db->driver->next(rows)) {
        struct reader r = reader(db, rows, arena);
        const char *receipt = read_text(&r);
        no_memory = no_memory || r.no_memory;
        if (is_empty(receipt))
            continue;
        *ret_receipt = receipt;
        *ret_claim = ONCE_SENT;
    }
    status = db->driver->finish(rows, NULL, err);
    return status == OWED_OK && no_memory ? fail_memory(err) : status;
}

static owed_status
claim(struct db *db, const struct sent_once *once, bool *ret_claimed, owed_error *err)
{
    int64_t changed = 0;
    owed_status status = change(db, STMT_DEDUP_FREE,
        ARGS(V_TEXT(once->key), V_TIME(once->now_us), V_TEXT(once->token)), NULL, err);
    if (status == OWED_OK)
        status = change(db, STMT_DEDUP_CLAIM,
            ARGS(V_TEXT(once->key), V_TEXT(once->token), V_TIME(once->now_us + once->lease_us)),
            &changed, err);
    *ret_claimed = changed == 1;
    return status;
}

owed_status
store_once_claim(struct db *db, const struct sent_once *once, struct arena *arena,
    enum once_claim *ret_claim, const char **ret_receipt, owed_error *err)
{
    struct scope scope = {0};
    owed_status status = OWED_OK;
    do {
        bool is_claimed = false;
        *ret_claim = ONCE_CLAIMED;
        status = scope_begin(db, &scope, err);
        if (status == OWED_OK)
            status = claim(db, once, &is_claimed, err);
        if (status == OWED_OK && !is_claimed)
            status = find_receipt(db, once, arena, ret_claim, ret_receipt, err);
        status = scope_end(&scope, status, err);
    } while (scope_repeats(&scope, status));
    return status;
}

owed_status
store_once_complete(struct db *db, const struct sent_once *once, const char *receipt,
    int64_t until_us, owed_error *err)
{
    return change(db, STMT_DEDUP_COMPLETE,
        ARGS(V_TEXT(once->key), V_TEXT(once->token), V_TEXT(receipt), V_TIME(until_us)), NULL, err);
}

owed_status
store_once_release(struct db *db, const struct sent_once *once, owed_error *err)
{
    return change(db, STMT_DEDUP_RELEASE, ARGS(V_TEXT(once->key), V_TEXT(once->token)), NULL, err);
}

owed_status
store_once_prune(struct db *db, int64_t now_us, int64_t limit, int64_t *ret_count, owed_error *err)
{
    return change(db, STMT_DEDUP_PRUNE, ARGS(V_TIME(now_us), V_INT(limit)), ret_count, err);
}
