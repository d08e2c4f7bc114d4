/* SPDX-License-Identifier: MIT
 *
 * look.c - events, deliveries and attempts, one by one or in pages.
 */
#include "store/look.h"
#include "store/verbs.h"

#include <limits.h>
#include <string.h>

static void
read_event(struct reader *r, void *item)
{
    struct event_row *event = item;
    event->id = read_int(r);
    struct str uid = read_bytes(r);
    if (uid.len == sizeof event->uid)
        memcpy(event->uid, uid.p, sizeof event->uid);
    event->name = read_text(r);
    event->version = read_int32(r);
    event->payload = read_bytes(r);
    event->dedupe_key = read_text(r);
    event->occurred_at_us = read_int(r);
    event->recorded_at_us = read_int(r);
    event->actor_key = read_text(r);
    event->actor_label = read_text(r);
    event->scope = read_text(r);
    event->correlation_id = read_text(r);
    event->causation_id = read_int(r);
    event->traceparent = read_text(r);
    event->suppressed_reason = read_text(r);
    event->owed = read_int(r);
    event->deliveries = read_int(r);
}

static void
read_delivery(struct reader *r, void *item)
{
    struct delivery_row *delivery = item;
    delivery->id = read_int(r);
    delivery->event_id = read_int(r);
    delivery->event_name = read_text(r);
    delivery->receiver_key = read_text(r);
    delivery->target = read_text(r);
    delivery->lane = read_text(r);
    delivery->kind = read_text(r);
    delivery->status = read_text(r);
    delivery->attempts = read_int32(r);
    delivery->max_attempts = read_int32(r);
    delivery->losses = read_int32(r);
    delivery->available_at_us = read_int(r);
    delivery->due_at_us = read_int(r);
    delivery->claimed_by = read_text(r);
    delivery->claimed_at_us = read_int(r);
    delivery->lease_expires_at_us = read_int(r);
    delivery->last_error = read_text(r);
    delivery->result = read_text(r);
    delivery->completed_at_us = read_int(r);
    delivery->succeeded_at_us = read_int(r);
}

static void
read_attempt(struct reader *r, void *item)
{
    struct attempt_row *attempt = item;
    attempt->id = read_int(r);
    attempt->delivery_id = read_int(r);
    attempt->attempt = read_int32(r);
    attempt->started_at_us = read_int(r);
    attempt->duration_us = read_int(r);
    attempt->verdict = read_text(r);
    attempt->code = read_int32(r);
    attempt->error = read_text(r);
    attempt->excerpt = read_text(r);
}

static struct value
below(const struct filter *filter)
{
    return V_INT(filter->before_id > 0 ? filter->before_id : INT64_MAX);
}

owed_status
store_events(struct db *db, const struct filter *filter, struct arena *arena,
    struct event_row **ret_events, size_t *ret_count, owed_error *err)
{
    struct list list = {sizeof(struct event_row), read_event, arena};
    struct value before = below(filter), limit = V_INT(filter->limit);
    struct value name = V_TEXT(filter->event_name), correlation = V_TEXT(filter->correlation_id);
    void *items = NULL;
    owed_status status;
    if (!is_empty(filter->event_name))
        status = read_all(db, STMT_EVENTS_BY_NAME, ARGS(before, limit, name, correlation), &list,
            &items, ret_count, err);
    else if (!is_empty(filter->correlation_id))
        status = read_all(db, STMT_EVENTS_BY_CORRELATION, ARGS(before, limit, correlation), &list,
            &items, ret_count, err);
    else
        status = read_all(db, STMT_EVENTS, ARGS(before, limit), &list, &items, ret_count, err);
    if (status == OWED_OK)
        *ret_events = items;
    return status;
}

static void
read_fired(struct reader *r, void *item)
{
    struct event_row *event = item;
    event->id = read_int(r);
    event->version = read_int32(r);
    event->payload = read_bytes(r);
}

owed_status
store_fired(struct db *db, const char *event_name, struct arena *arena,
    struct event_row **ret_events, size_t *ret_count, owed_error *err)
{
    struct list list = {sizeof(struct event_row), read_fired, arena};
    void *items = NULL;
    owed_status status =
        read_all(db, STMT_FIRED, ARGS(V_TEXT(event_name)), &list, &items, ret_count, err);
    if (status == OWED_OK)
        *ret_events = items;
    return status;
}

static void
read_payload(struct reader *r, void *item)
{
    struct owed_payload *payload = item;
    payload->id = read_int(r);
    payload->receiver_key = read_text(r);
    payload->event_name = read_text(r);
    payload->version = read_int32(r);
    payload->payload = read_bytes(r);
}

owed_status
store_owed_payloads(struct db *db, const char *keys, int64_t after_id, int32_t limit,
    struct arena *arena, struct owed_payload **ret_payloads, size_t *ret_count, owed_error *err)
{
    struct list list = {sizeof(struct owed_payload), read_payload, arena};
    void *items = NULL;
    owed_status status = read_all(db, STMT_OWED_PAYLOADS,
        ARGS(V_INT(after_id), V_INT(limit), V_TEXT(keys)), &list, &items, ret_count, err);
    if (status == OWED_OK)
        *ret_payloads = items;
    return status;
}

static enum stmt
statement_for(const struct filter *filter)
{
    if (filter->event_id > 0)
        return STMT_DELIVERIES_OF_EVENT;
    const char *status = or_empty(filter->status);
    if (strcmp(status, "dead") == 0 || strcmp(status, "orphaned") == 0)
        return STMT_DELIVERIES_ENDED_BADLY;
    return STMT_DELIVERIES;
}

owed_status
store_deliveries(struct db *db, const struct filter *filter, struct arena *arena,
    struct delivery_row **ret_deliveries, size_t *ret_count, owed_error *err)
{
    struct list list = {sizeof(struct delivery_row), read_delivery, arena};
    const struct value values[] = {below(filter), V_INT(filter->limit),
        V_TEXT(filter->receiver_key), V_TEXT(filter->status), V_TEXT(filter->lane),
        V_TEXT(filter->event_name), V_TEXT(filter->correlation_id), V_INT(filter->event_id)};
    size_t count = sizeof values / sizeof values[0];
    enum stmt stmt = statement_for(filter);
    struct args args = {values, stmt == STMT_DELIVERIES_OF_EVENT ? count : count - 1};
    void *items = NULL;
    owed_status status = read_all(db, stmt, args, &list, &items, ret_count, err);
    if (status == OWED_OK)
        *ret_deliveries = items;
    return status;
}

/* read_one is read_all for a statement that finds one row by its id; NOT_FOUND. */
static owed_status
read_one(struct db *db, enum stmt stmt, int64_t id, const struct list *list, const char *what,
    void **ret_item, owed_error *err)
{
    size_t count = 0;
    owed_status status = read_all(db, stmt, ARGS(V_INT(id)), list, ret_item, &count, err);
    if (status == OWED_OK && count == 0)
        return fail(err, OWED_NOT_FOUND, "there is no %s %lld", what, (long long)id);
    return status;
}

static void
read_effect(struct reader *r, void *item)
{
    struct event_row *event = item;
    event->id = read_int(r);
    event->name = read_text(r);
}

owed_status
store_effects(struct db *db, int64_t event_id, int32_t limit, struct arena *arena,
    struct event_row **ret_events, size_t *ret_count, owed_error *err)
{
    struct list list = {sizeof(struct event_row), read_effect, arena};
    void *items = NULL;
    owed_status status = read_all(db, STMT_EVENTS_BY_CAUSE, ARGS(V_INT(event_id), V_INT(limit)),
        &list, &items, ret_count, err);
    if (status == OWED_OK)
        *ret_events = items;
    return status;
}

owed_status
store_event(
    struct db *db, int64_t id, struct arena *arena, struct event_row *ret_event, owed_error *err)
{
    struct list list = {sizeof(struct event_row), read_event, arena};
    void *item = NULL;
    owed_status status = read_one(db, STMT_EVENT, id, &list, "event", &item, err);
    if (status == OWED_OK)
        *ret_event = *(const struct event_row *)item;
    return status;
}

owed_status
store_event_of_key(struct db *db, const char *key, int64_t *ret_id, owed_error *err)
{
    bool found = false;
    owed_status status = query_int(db, STMT_EVENT_OF_KEY, ARGS(V_TEXT(key)), ret_id, &found, err);
    return status == OWED_OK && !found
        ? fail(err, OWED_NOT_FOUND, "no event has the dedupe key \"%.100s\"", key)
        : status;
}

owed_status
store_delivery(struct db *db, int64_t id, struct arena *arena, struct delivery_row *ret_delivery,
    owed_error *err)
{
    struct list list = {sizeof(struct delivery_row), read_delivery, arena};
    void *item = NULL;
    owed_status status = read_one(db, STMT_DELIVERY, id, &list, "delivery", &item, err);
    if (status == OWED_OK)
        *ret_delivery = *(const struct delivery_row *)item;
    return status;
}

owed_status
store_attempts(struct db *db, int64_t delivery_id, struct arena *arena,
    struct attempt_row **ret_attempts, size_t *ret_count, owed_error *err)
{
    struct list list = {sizeof(struct attempt_row), read_attempt, arena};
    void *items = NULL;
    owed_status status =
        read_all(db, STMT_ATTEMPTS, ARGS(V_INT(delivery_id)), &list, &items, ret_count, err);
    if (status == OWED_OK)
        *ret_attempts = items;
    return status;
}

owed_status
store_ahead(struct db *db, const struct delivery_row *delivery, int64_t most, int64_t *ret_count,
    owed_error *err)
{
    return query_int(db, STMT_AHEAD,
        ARGS(V_TEXT(delivery->lane), V_TEXT(delivery->kind), V_TIME(delivery->available_at_us),
            V_INT(delivery->id), V_INT(most)),
        ret_count, NULL, err);
}

static void
read_put_off(struct reader *r, void *item)
{
    struct put_off *put_off = item;
    put_off->delivery_id = read_int(r);
    put_off->receiver_key = read_text(r);
    put_off->at_us = read_int(r);
    put_off->until_us = read_int(r);
    put_off->error = read_text(r);
}

owed_status
store_put_off(struct db *db, const struct delivery_row *delivery, int64_t now_us,
    struct arena *arena, struct put_off *ret_put_off, owed_error *err)
{
    static const char *const kinds[] = {"inside", "outside"}; // what a task puts off pauses nothing
    const struct list list = {sizeof *ret_put_off, read_put_off, arena};
    *ret_put_off = (struct put_off){0};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        void *found = NULL;
        size_t count = 0;
        owed_status status = read_all(db, STMT_PUT_OFF,
            ARGS(V_TEXT(delivery->lane), V_TEXT(kinds[i]), V_TIME(now_us),
                V_TEXT(delivery->receiver_key), V_TEXT(delivery->target)),
            &list, &found, &count, err);
        if (status != OWED_OK)
            return status;
        const struct put_off *latest = found;
        if (count > 0 && latest->at_us > ret_put_off->at_us)
            *ret_put_off = *latest;
    }
    return OWED_OK;
}
