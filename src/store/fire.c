/* SPDX-License-Identifier: MIT
 *
 * fire.c - writing events and what is owed for them.
 */
#include "store/fire_many.h"

#include "base/cleanup.h"
#include "base/digest.h"
#include "base/json.h"

static owed_status
find_by_dedupe_key(struct db *db, const char *key, int64_t *ret_id, owed_error *err)
{
    bool found = false;
    owed_status status =
        query_int(db, STMT_EVENT_BY_DEDUPE, ARGS(V_TEXT(key)), ret_id, &found, err);
    if (status == OWED_OK && !found)
        return fail_key_without_event(key, err);
    return status;
}

bool
store_owes_own(const struct db *db)
{
    return db->driver->sql->statements[STMT_EVENT_INSERT_OWN] != NULL;
}

/* list_own writes what the firing process declares as a JSON array. */
static void
list_own(const struct new_event *event, struct buf *json)
{
    for (size_t i = 0; i < event->own_count; i++) {
        const struct new_delivery *own = &event->own[i];
        buf_puts(json, i == 0 ? "[{\"key\":" : ",{\"key\":");
        json_write_string(json, str_of(own->receiver_key));
        buf_puts(json, ",\"lane\":");
        json_write_string(json, str_of(own->lane));
        buf_printf(json, ",\"kind\":\"%s\",\"max_attempts\":%d,\"due\":%lld}", own->kind,
            (int)own->max_attempts, (long long)(own->available_at_us - event->due_at_us));
    }
    json_end(json);
}

owed_status
store_insert_event(
    struct db *db, const struct new_event *event, int64_t *ret_id, bool *ret_fresh, owed_error *err)
{
    struct value cause = event->causation_id == 0 ? V_NULL : V_INT(event->causation_id);
    struct value dedupe = is_empty(event->dedupe_key) ? V_NULL : V_TEXT(event->dedupe_key);
    bool fresh = false;
    CLEANUP(buf_done) struct buf own;
    buf_init(&own, JSON_ARGUMENT_BYTES);
    enum stmt stmt = STMT_EVENT_INSERT;
    if (event->own_count > 0 && store_owes_own(db)) {
        stmt = STMT_EVENT_INSERT_OWN;
        list_own(event, &own);
    }
    if (own.failed)
        return fail_memory(err);
    struct value last = V_STR(buf_view(&own));
    if (!is_empty(event->suppressed_reason)) {
        stmt = STMT_EVENT_INSERT_SUPPRESSED;
        last = V_TEXT(event->suppressed_reason);
    }
    struct args args = ARGS(V_BLOB(event->uid, sizeof event->uid), V_TEXT(event->name),
        V_INT(event->version), V_STR(event->payload), dedupe, V_TIME(event->occurred_at_us),
        V_TIME(event->recorded_at_us), V_TIME(event->due_at_us), V_TEXT(event->actor_key),
        V_TEXT(event->actor_label), V_TEXT(is_empty(event->scope) ? "{}" : event->scope),
        V_TEXT(event->correlation_id), cause, V_TEXT(event->traceparent), last);
    args.count -= stmt == STMT_EVENT_INSERT;
    owed_status status = query_int(db, stmt, args, ret_id, &fresh, err);
    if (status == OWED_OK && !fresh)
        status = find_by_dedupe_key(db, event->dedupe_key, ret_id, err);
    if (status == OWED_OK)
        *ret_fresh = fresh;
    return status;
}

static owed_status
insert_target(struct db *db, const struct new_delivery *delivery, owed_error *err)
{
    struct str target = str_of(delivery->target);
    uint8_t digest[SHA256_BYTES];
    if (!sha256(&target, 1, digest))
        return fail(err, OWED_STORE, "the digest of a target could not be made");
    int64_t due_at_us = delivery->due_at_us != 0 ? delivery->due_at_us : delivery->available_at_us;
    if (delivery->again) {
        owed_status status = change(db, STMT_REPLAY_TARGET,
            ARGS(V_INT(delivery->event_id), V_TEXT(delivery->receiver_key),
                V_BLOB(digest, sizeof digest), V_TIME(delivery->available_at_us),
                V_INT(delivery->max_attempts), V_TEXT(delivery->lane)),
            NULL, err);
        if (status != OWED_OK)
            return status;
    }
    return change(db, STMT_DELIVERY_INSERT_TARGET,
        ARGS(V_INT(delivery->event_id), V_TEXT(delivery->receiver_key), V_STR(target),
            V_BLOB(digest, sizeof digest), V_TEXT(delivery->lane), V_TEXT(delivery->kind),
            V_INT(delivery->max_attempts), V_TIME(delivery->available_at_us), V_TIME(due_at_us)),
        NULL, err);
}

owed_status
store_insert_delivery(struct db *db, const struct new_delivery *delivery, owed_error *err)
{
    if (!is_empty(delivery->target))
        return insert_target(db, delivery, err);
    // The catalogue has written it already, nearly always.
    int64_t one = 0;
    bool found = false;
    owed_status status = query_int(db, STMT_DELIVERY_EXISTS,
        ARGS(V_INT(delivery->event_id), V_TEXT(delivery->receiver_key)), &one, &found, err);
    if (status != OWED_OK || found)
        return status;
    return change(db, STMT_DELIVERY_INSERT,
        ARGS(V_INT(delivery->event_id), V_TEXT(delivery->receiver_key), V_TEXT(delivery->lane),
            V_TEXT(delivery->kind), V_INT(delivery->max_attempts),
            V_TIME(delivery->available_at_us)),
        NULL, err);
}

owed_status
store_is_replay(struct db *db, int64_t delivery_id, bool *ret_is, owed_error *err)
{
    int64_t is = 0;
    owed_status status = query_int(db, STMT_REPLAY_IS, ARGS(V_INT(delivery_id)), &is, NULL, err);
    *ret_is = is != 0;
    return status;
}

owed_status
store_delete_blank(struct db *db, int64_t event_id, const char *receiver_key, owed_error *err)
{
    return change(
        db, STMT_DELIVERY_DELETE_BLANK, ARGS(V_INT(event_id), V_TEXT(receiver_key)), NULL, err);
}

owed_status
store_event_exists(
    struct db *db, int64_t id, const uint8_t uid[16], bool *ret_exists, owed_error *err)
{
    int64_t one = 0;
    owed_status status =
        query_int(db, STMT_EVENT_EXISTS, ARGS(V_INT(id), V_BLOB(uid, 16)), &one, NULL, err);
    if (status == OWED_OK)
        *ret_exists = one == 1;
    return status;
}
