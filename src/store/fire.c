/* SPDX-License-Identifier: MIT
 *
 * fire.c - writing events and what is owed for them.
 */
#include "store/fire_many.h"

#include "base/cleanup.h"
#include "base/digest.h"
#include "base/json.h"
#include "store/array.h"

owed_status
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
    const char *const *statements = db->driver->sql->statements;
    return statements[STMT_EVENT_INSERT_OWN] != NULL ||
        statements[STMT_EVENT_INSERT_LISTED] != NULL;
}

enum own_column { OWN_KEY, OWN_LANE, OWN_KIND, OWN_MAX_ATTEMPTS, OWN_DUE, OWN_COLUMNS };

static void
add_own(struct array *columns, const struct new_delivery *own, int64_t due_at_us)
{
    array_add(&columns[OWN_KEY], V_TEXT(own->receiver_key));
    array_add(&columns[OWN_LANE], V_TEXT(own->lane));
    array_add(&columns[OWN_KIND], V_TEXT(own->kind));
    array_add(&columns[OWN_MAX_ATTEMPTS], V_INT(own->max_attempts));
    array_add(&columns[OWN_DUE], V_INT(own->available_at_us - due_at_us));
}

/* give has the store write the event, now or later. */
static owed_status
give(struct db *db, const struct new_event *event, enum stmt stmt, struct args args,
    int64_t *ret_id, bool *ret_fresh, owed_error *err)
{
    *ret_id = 0;
    *ret_fresh = event->may_wait && db->driver->hold != NULL &&
        db->driver->hold(db, stmt, args.values, args.count);
    return *ret_fresh ? OWED_OK : query_int(db, stmt, args, ret_id, ret_fresh, err);
}

/* insert_with_list does what insert_with_own does, where there are no arrays. */
static owed_status
insert_with_list(struct db *db, const struct new_event *event, const struct value *values,
    int64_t *ret_id, bool *ret_fresh, owed_error *err)
{
    CLEANUP(buf_done) struct buf json;
    struct value args[EVENT_ARGS + 1];
    buf_init(&json, JSON_ARGUMENT_BYTES);
    for (size_t i = 0; i < event->own_count; i++) {
        const struct new_delivery *own = &event->own[i];
        buf_puts(&json, i == 0 ? "[{\"key\":" : ",{\"key\":");
        json_write_string(&json, str_of(own->receiver_key));
        buf_puts(&json, ",\"lane\":");
        json_write_string(&json, str_of(own->lane));
        buf_printf(&json, ",\"kind\":\"%s\",\"max_attempts\":%d,\"due\":%lld}", own->kind,
            (int)own->max_attempts, (long long)(own->available_at_us - event->due_at_us));
    }
    json_end(&json);
    if (json.failed)
        return fail_memory(err);
    memcpy(args, values, EVENT_ARGS * sizeof *args);
    args[EVENT_ARGS] = V_STR(buf_view(&json));
    return give(db, event, STMT_EVENT_INSERT_LISTED, (struct args){args, EVENT_ARGS + 1}, ret_id,
        ret_fresh, err);
}

/* insert_with_own writes the event, and owes it to what the firing process declares as well. */
static owed_status
insert_with_own(struct db *db, const struct new_event *event, const struct value *values,
    int64_t *ret_id, bool *ret_fresh, owed_error *err)
{
    static const enum value_type types[OWN_COLUMNS] = {
        VALUE_TEXT, VALUE_TEXT, VALUE_TEXT, VALUE_INT, VALUE_INT};
    struct array columns[OWN_COLUMNS];
    struct value args[EVENT_ARGS + OWN_COLUMNS];
    arrays_init(columns, types, OWN_COLUMNS);
    for (size_t i = 0; i < event->own_count; i++)
        add_own(columns, &event->own[i], event->due_at_us);
    memcpy(args, values, EVENT_ARGS * sizeof *args);
    owed_status status = arrays_end(columns, OWN_COLUMNS, args + EVENT_ARGS)
        ? give(db, event, STMT_EVENT_INSERT_OWN, (struct args){args, EVENT_ARGS + OWN_COLUMNS},
              ret_id, ret_fresh, err)
        : fail_memory(err);
    arrays_done(columns, OWN_COLUMNS);
    return status;
}

static owed_status
insert_one(struct db *db, const struct new_event *event, struct args args, int64_t *ret_id,
    bool *ret_fresh, owed_error *err)
{
    if (!is_empty(event->suppressed_reason))
        return query_int(db, STMT_EVENT_INSERT_SUPPRESSED, args, ret_id, ret_fresh, err);
    bool has_arrays = db->driver->sql->statements[STMT_EVENT_INSERT_OWN] != NULL;
    // What goes with its commit is that statement even where the process declares nothing.
    if ((event->own_count > 0 && store_owes_own(db)) || (event->may_wait && has_arrays)) {
        return (has_arrays ? insert_with_own : insert_with_list)(
            db, event, args.values, ret_id, ret_fresh, err);
    }
    args.count = EVENT_ARGS;
    return give(db, event, STMT_EVENT_INSERT, args, ret_id, ret_fresh, err);
}

void
event_args(const struct new_event *event, struct value ret_args[static EVENT_ARGS])
{
    const struct value args[EVENT_ARGS] = {V_BLOB(event->uid, sizeof event->uid),
        V_TEXT(event->name), V_INT(event->version), V_STR(event->payload),
        is_empty(event->dedupe_key) ? V_NULL : V_TEXT(event->dedupe_key),
        V_TIME(event->occurred_at_us), V_TIME(event->recorded_at_us), V_TIME(event->due_at_us),
        V_TEXT(event->actor_key), V_TEXT(event->actor_label),
        V_TEXT(is_empty(event->scope) ? "{}" : event->scope), V_TEXT(event->correlation_id),
        event->causation_id == 0 ? V_NULL : V_INT(event->causation_id), V_TEXT(event->traceparent)};
    memcpy(ret_args, args, sizeof args);
}

owed_status
store_insert_event(
    struct db *db, const struct new_event *event, int64_t *ret_id, bool *ret_fresh, owed_error *err)
{
    struct value values[EVENT_ARGS + 1];
    bool fresh = false;
    event_args(event, values);
    values[EVENT_ARGS] = V_TEXT(event->suppressed_reason);
    struct args args = {values, EVENT_ARGS + 1};
    owed_status status = insert_one(db, event, args, ret_id, &fresh, err);
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
