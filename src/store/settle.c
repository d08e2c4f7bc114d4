/* SPDX-License-Identifier: MIT
 *
 * settle.c - what became of claimed rows. Every write names its fence.
 */
#include "store/verbs.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/limits.h"
#include "store/forget.h"

#define NO_LONGER_HELD \
    "delivery %lld is no longer held by %s: its lease was over and others took it"

static owed_status
lost(const struct fence *fence, owed_error *err)
{
    return fail(err, OWED_LOST, NO_LONGER_HELD, (long long)fence->delivery_id, fence->claimed_by);
}

#define FENCE(fence) \
    V_INT((fence)->delivery_id), V_TEXT((fence)->claimed_by), V_TIME((fence)->claimed_at_us)

static owed_status
trim_attempts(struct db *db, const struct settlement *s, owed_error *err)
{
    if (s->attempt <= LIMIT_ATTEMPT_ROWS)
        return OWED_OK;
    return change(db, STMT_ATTEMPT_TRIM,
        ARGS(V_INT(s->fence.delivery_id), V_INT(LIMIT_ATTEMPT_ROWS)), NULL, err);
}

static owed_status
keep_attempt(struct db *db, const struct settlement *s, owed_error *err)
{
    int64_t id = s->fence.delivery_id;
    owed_status status = change(db, STMT_ATTEMPT_INSERT,
        ARGS(V_INT(id), V_INT(s->attempt), V_TIME(s->started_at_us), V_INT(s->duration_us),
            V_TEXT(s->verdict), V_INT(s->code), V_TEXT(s->last_error), V_TEXT(s->excerpt)),
        NULL, err);
    return status == OWED_OK ? trim_attempts(db, s, err) : status;
}

/* settle_expanded ends a row that only stood for others. What was tried goes with it. */
static owed_status
settle_expanded(struct db *db, const struct settlement *s, bool *ret_landed, owed_error *err)
{
    int64_t changed = 0;
    owed_status status = change(db, STMT_EXPANDED, ARGS(FENCE(&s->fence)), &changed, err);
    *ret_landed = status == OWED_OK && changed == 1;
    if (!*ret_landed)
        return status;
    return change(db, STMT_ATTEMPT_TRIM, ARGS(V_INT(s->fence.delivery_id), V_INT(0)), NULL, err);
}

static owed_status
settle_one(struct db *db, const struct settlement *s, bool *ret_landed, owed_error *err)
{
    if (s->expanded)
        return settle_expanded(db, s, ret_landed, err);
    struct written written = written_of(s);
    int64_t changed = 0;
    owed_status status = change(db, STMT_SETTLE,
        ARGS(FENCE(&s->fence), V_TEXT(s->status), V_INT(s->attempts), V_TIME(s->available_at_us),
            V_TEXT(written.last_error), V_TIME(written.completed_at_us),
            V_TIME(written.succeeded_at_us)),
        &changed, err);
    *ret_landed = status == OWED_OK && changed == 1;
    if (!*ret_landed || s->verdict == NULL)
        return status;
    return keep_attempt(db, s, err);
}

/* settle_in_turn writes what is alike in one statement, where the dialect has it, and the rest row by row. */
static owed_status
settle_in_turn(struct db *db, const struct settlement *settlements, size_t count, bool *landed,
    owed_error *err)
{
    for (size_t i = 0, alike; i < count; i += alike) {
        owed_status status = OWED_OK;
        alike = settle_count_done(db, &settlements[i], count - i);
        if (alike < 2) {
            alike = 1;
            status = settle_one(db, &settlements[i], &landed[i], err);
        } else {
            status = settle_done(db, &settlements[i], alike, &landed[i], err);
        }
        if (status != OWED_OK)
            return status;
    }
    return count == 1 && !landed[0] ? lost(&settlements[0].fence, err) : OWED_OK;
}

static owed_status
settle_plainly(struct db *db, const struct settlement *settlements, size_t count, bool *landed,
    owed_error *err)
{
    if (!settle_fits_once(db, settlements, count)) {
        if (landed != NULL)
            return settle_in_turn(db, settlements, count, landed, err);
        CLEANUP(free_ptr) bool *ours = calloc(count, sizeof *ours);
        return ours == NULL ? fail_memory(err) : settle_in_turn(db, settlements, count, ours, err);
    }
    owed_status status = settle_at_once(db, settlements, count, landed, err);
    for (size_t i = 0; status == OWED_OK && i < count; i++)
        if (settlements[i].verdict != NULL)
            status = trim_attempts(db, &settlements[i], err);
    return status;
}

/* keep_results goes before what ends the claim: it is under the fence like that. */
static owed_status
keep_results(struct db *db, const struct settlement *settlements, size_t count, owed_error *err)
{
    owed_status status = OWED_OK;
    for (size_t i = 0; status == OWED_OK && i < count; i++)
        if (settlements[i].result != NULL)
            status = change(db, STMT_KEEP_RESULT,
                ARGS(FENCE(&settlements[i].fence), V_TEXT(settlements[i].result)), NULL, err);
    return status;
}

/* --- what goes once it has succeeded --- */

static bool
consumes_any(const struct db *db, const struct settlement *settlements, size_t count)
{
    // A caller's transaction may see an older state of the rows than the one that is deleted from.
    for (size_t i = 0; i < count && !db->adopted; i++)
        if (settlements[i].consumed_event_id != 0)
            return true;
    return false;
}

/* settle_left settles what is not gone yet. */
static owed_status
settle_left(struct db *db, const struct settlement *settlements, size_t count, const bool *gone,
    bool *landed, owed_error *err)
{
    CLEANUP(free_ptr) struct settlement *left = calloc(count, sizeof *left);
    CLEANUP(free_ptr) bool *here = calloc(count, sizeof *here);
    if (left == NULL || here == NULL)
        return fail_memory(err);
    size_t left_count = 0;
    for (size_t i = 0; i < count; i++)
        if (!gone[i])
            left[left_count++] = settlements[i];
    if (left_count == 0)
        return OWED_OK;
    owed_status status = settle_plainly(db, left, left_count, here, err);
    if (status == OWED_OK)
        status = consume_after(db, left, left_count, here, err);
    for (size_t i = 0, next = 0; i < count; i++)
        landed[i] = gone[i] || here[next++];
    return status;
}

static owed_status
settle_and_consume(struct db *db, const struct settlement *settlements, size_t count, bool *landed,
    owed_error *err)
{
    CLEANUP(free_ptr) bool *gone = calloc(count, sizeof *gone);
    CLEANUP(free_ptr) bool *here = calloc(count, sizeof *here);
    if (gone == NULL || here == NULL)
        return fail_memory(err);
    owed_status status = consume_first(db, settlements, count, gone, err);
    memcpy(here, gone, count * sizeof *here);
    if (status == OWED_OK)
        status = settle_left(db, settlements, count, gone, here, err);
    if (landed != NULL)
        memcpy(landed, here, count * sizeof *here);
    return status == OWED_OK && count == 1 && !here[0] ? lost(&settlements[0].fence, err) : status;
}

static owed_status
settle_all(struct db *db, const struct settlement *settlements, size_t count, bool *landed,
    owed_error *err)
{
    owed_status status = keep_results(db, settlements, count, err);
    if (status != OWED_OK)
        return status;
    if (consumes_any(db, settlements, count))
        return settle_and_consume(db, settlements, count, landed, err);
    return settle_plainly(db, settlements, count, landed, err);
}

owed_status
store_settle(struct db *db, const struct settlement *settlements, size_t count, bool *landed,
    owed_error *err)
{
    struct scope scope = {0};
    owed_status status = OWED_OK;
    if (count == 0)
        return OWED_OK;
    do {
        status = scope_begin(db, &scope, err);
        if (status == OWED_OK)
            status = scope_end(&scope, settle_all(db, settlements, count, landed, err), err);
    } while (scope_repeats(&scope, status));
    return status;
}

owed_status
settle_along(struct db *db, const struct along *along, owed_error *err)
{
    owed_status status = settle_all(db, along->settlements, along->count, along->landed, err);
    return status == OWED_LOST ? OWED_OK : status;
}

owed_status
store_renew(struct db *db, const struct fence *fence, int64_t lease_expires_at_us, owed_error *err)
{
    int64_t changed = 0;
    owed_status status =
        change(db, STMT_RENEW, ARGS(FENCE(fence), V_TIME(lease_expires_at_us)), &changed, err);
    return status == OWED_OK && changed == 0 ? lost(fence, err) : status;
}

static owed_status
hand_back(struct db *db, const struct fence *fences, size_t count, int64_t *back, owed_error *err)
{
    for (size_t i = 0; i < count; i++) {
        int64_t changed = 0;
        owed_status status = change(db, STMT_HAND_BACK, ARGS(FENCE(&fences[i])), &changed, err);
        if (status != OWED_OK)
            return status;
        *back += changed;
    }
    return OWED_OK;
}

owed_status
store_hand_back(
    struct db *db, const struct fence *fences, size_t count, int64_t *ret_count, owed_error *err)
{
    int64_t back = 0;
    struct scope scope = {0};
    owed_status status = OWED_OK;
    do {
        back = 0;
        status = count == 0 ? OWED_OK : scope_begin(db, &scope, err);
        if (status == OWED_OK && count > 0)
            status = scope_end(&scope, hand_back(db, fences, count, &back, err), err);
    } while (scope_repeats(&scope, status));
    if (status == OWED_OK && ret_count != NULL)
        *ret_count = back;
    return status;
}

owed_status
store_hand_back_all(struct db *db, const char *claimed_by, int64_t but_delivery_id,
    int64_t *ret_count, owed_error *err)
{
    return change(
        db, STMT_HAND_BACK_ALL, ARGS(V_TEXT(claimed_by), V_INT(but_delivery_id)), ret_count, err);
}

owed_status
store_count_loss(struct db *db, const struct fence *fence, owed_error *err)
{
    int64_t changed = 0;
    owed_status status = change(db, STMT_COUNT_LOSS, ARGS(FENCE(fence)), &changed, err);
    return status == OWED_OK && changed == 0 ? lost(fence, err) : status;
}

owed_status
store_count_loss_all(struct db *db, const char *claimed_by, int64_t *ret_count, owed_error *err)
{
    return change(db, STMT_COUNT_LOSS_ALL, ARGS(V_TEXT(claimed_by)), ret_count, err);
}

owed_status
store_forgive_losses(struct db *db, const char *claimed_by, int64_t *ret_count, owed_error *err)
{
    return change(db, STMT_FORGIVE_LOSSES, ARGS(V_TEXT(claimed_by)), ret_count, err);
}
