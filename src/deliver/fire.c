/* SPDX-License-Identifier: MIT
 *
 * fire.c - writing an event, and what is owed for it, inside a transaction.
 *
 * Whatever can be refused is refused before anything is written. The event and the catalogue's
 * deliveries are one statement, all or nothing; if what this process itself declares cannot be
 * added after that, the transaction is refused as a whole. A savepoint around each fire would save
 * it, at 3 to 10 % of every fire's price, for the sake of a full disk or memory that is out.
 */
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/json.h"
#include "base/limits.h"
#include "declare/codec.h"
#include "deliver/fire.h"
#include "deliver/local.h"
#include "deliver/scope.h"

static owed_status
check_size(const char *name, size_t len, owed_error *err)
{
    if (len <= LIMIT_PAYLOAD_BYTES)
        return OWED_OK;
    return fail(err, OWED_LIMIT, "event %s: a payload of %zu bytes is over the limit of %zu", name,
        len, LIMIT_PAYLOAD_BYTES);
}

owed_status
fire_check_text(const char *name, struct str text, owed_error *err)
{
    owed_status status = check_size(name, text.len, err);
    if (status != OWED_OK)
        return status;
    owed_error why;
    status = json_check(text, LIMIT_PAYLOAD_DEPTH, &why);
    if (status != OWED_OK)
        return fail(err, status, "event %s: the payload is not JSON: %s", name, why.text);
    return OWED_OK;
}

static int64_t
max64(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

struct new_event
fire_make_event(const owed_tx *tx, const struct subject *subject, struct str payload,
    const owed_fire_options *options)
{
    const owed *handle = tx->owed;
    int64_t now = clock_now_us(&handle->clock);
    struct new_event event = {
        .name = subject->name,
        .version = subject->version,
        .payload = payload,
        .dedupe_key = options->dedupe_key,
        .occurred_at_us = options->occurred_at_us != 0 ? options->occurred_at_us : now,
        .recorded_at_us = now,
        .due_at_us = max64(options->due_at_us, now),
        .actor_key = or_empty(options->actor_key),
        .actor_label = or_empty(options->actor_label),
        .scope = or_empty(options->scope),
        .correlation_id = or_empty(options->correlation_id),
        .causation_id = options->causation_id,
        .traceparent = or_empty(options->traceparent),
    };
    dice_fill(&handle->dice, event.uid, sizeof event.uid);
    return event;
}

/* owe_targets asks the receiver for its targets, which take the place of what the catalogue's fan-out
 * wrote for it. */
static owed_status
owe_targets(owed_tx *tx, const struct new_event *event, struct new_delivery *delivery,
    const struct receiver *receiver, owed_error *err)
{
    CLEANUP(arena_done) struct arena arena;
    arena_init(&arena, 0);
    struct owed_target_list list;
    target_list_init(&list, receiver->declared.key, &arena);
    const struct local_run run = {.owed = tx->owed,
        .tx = tx,
        .receiver = receiver,
        .event = event,
        .event_id = delivery->event_id};
    owed_status status = local_targets(&run, &list, err);
    // The function may have ended the transaction.
    if (status == OWED_OK)
        status = tx_check(tx, err);
    if (status == OWED_OK)
        status = store_delete_blank(tx->db, delivery->event_id, delivery->receiver_key, err);
    return status == OWED_OK ? targets_owe(tx->db, &list, delivery, err) : status;
}

bool
fire_owes(const struct receiver *receiver, const char *event_name)
{
    // Endpoints are rows of the store, which owes them what they want by itself.
    return receiver->declared.mode == OWED_DURABLE && receiver->runner != RUN_ENDPOINT &&
        receiver_wants(receiver, event_name);
}

static struct new_delivery
own_delivery(const owed_tx *tx, const struct new_event *event, const struct receiver *receiver)
{
    return (struct new_delivery){
        .receiver_key = receiver->declared.key,
        .lane = receiver->lane,
        .kind = receiver->kind,
        .max_attempts = receiver_max_attempts(tx->owed->registry, receiver),
        .available_at_us = event->due_at_us + receiver->declared.due_us,
    };
}

/* list_own lets what this process declares go along with the event, where the store can. */
static owed_status
list_own(const owed_tx *tx, struct new_event *event, struct arena *arena, owed_error *err)
{
    const owed_registry *registry = tx->owed->registry;
    if (!store_owes_own(tx->db))
        return OWED_OK;
    struct new_delivery *own = arena_alloc(arena, (registry->receiver_count + 1) * sizeof *own);
    if (own == NULL)
        return fail_memory(err);
    event->own = own;
    for (const struct receiver *r = registry->receivers; r != NULL; r = r->next)
        if (fire_owes(r, event->name) && r->declared.targets == NULL)
            own[event->own_count++] = own_delivery(tx, event, r);
    return OWED_OK;
}

/* owe_own adds what this process declares and the catalogue does not know (yet, or any more). */
static owed_status
owe_own(owed_tx *tx, const struct new_event *event, int64_t event_id, owed_error *err)
{
    bool went_along = store_owes_own(tx->db);
    const struct receiver *receiver = tx->owed->registry->receivers;
    for (; receiver != NULL; receiver = receiver->next) {
        bool has_targets = receiver->declared.targets != NULL;
        if (!fire_owes(receiver, event->name) || (went_along && !has_targets))
            continue;
        struct new_delivery delivery = own_delivery(tx, event, receiver);
        delivery.event_id = event_id;
        owed_status status = has_targets ? owe_targets(tx, event, &delivery, receiver, err)
                                         : store_insert_delivery(tx->db, &delivery, err);
        if (status != OWED_OK)
            return status;
    }
    return OWED_OK;
}

owed_status
fire_half_written(
    owed_tx *tx, const char *name, owed_status status, const owed_error *why, owed_error *err)
{
    owed_error sentence;
    fail(&sentence, OWED_ABORTED,
        "event %s could not be written in full, so the transaction can only be rolled back: %s",
        name, why->text);
    tx_refuse(tx, OWED_ABORTED, sentence.text, NULL);
    return fail_native(err, status, why->native, "%s", sentence.text);
}

static owed_status
insert_event(
    owed_tx *tx, const struct new_event *event, int64_t *ret_id, bool *ret_fresh, owed_error *err)
{
    owed_error why;
    owed_status status = store_insert_event(tx->db, event, ret_id, ret_fresh, &why);
    if (status == OWED_OK)
        return OWED_OK;
    // One statement failed and wrote nothing; some failures take the whole transaction along, and where
    // what is owed goes along with the event, all do, unless the store undoes that by itself. Who was
    // joined may have a savepoint to go back to.
    bool is_undone = tx->db->driver->undoes_refused && status != OWED_UNAVAILABLE;
    bool is_whole = event->own_count > 0 && !tx->db->adopted && !is_undone;
    if (is_whole || !store_in_transaction(tx->db))
        return fire_half_written(tx, event->name, status, &why, err);
    return fail_native(err, status, why.native, "%s", why.text);
}

/* check_dedupe refuses a key that would stop protecting as soon as all went well. */
static owed_status
check_dedupe(const owed_tx *tx, const struct new_event *event, owed_error *err)
{
    struct keeping keeping = registry_keeping(tx->owed->registry, event->name);
    if (is_empty(event->dedupe_key) || keeping.delete_when == OWED_DELETE_WHEN_OLD)
        return OWED_OK;
    return fail(err, OWED_INVALID,
        "event %s is deleted when it has %s, and a dedupe key protects only for as long as it is "
        "there: give it a retention instead, or no key",
        event->name, delete_when_name(keeping.delete_when));
}

owed_status
fire_prepare(
    owed_tx *tx, struct new_event *event, struct arena *arena, bool *ret_discard, owed_error *err)
{
    event->suppressed_reason = scope_suppresses(event->name, ret_discard);
    if (*ret_discard)
        return OWED_OK;
    owed_status status = check_dedupe(tx, event, err);
    return status == OWED_OK ? scope_fill(event, tx->owed, arena, err) : status;
}

/* owe_event owes what was written, now and after the commit. */
static owed_status
owe_event(owed_tx *tx, const owed_event_type *type, const struct new_event *event, int64_t id,
    owed_error *err)
{
    owed_error why;
    owed_status status = owe_own(tx, event, id, &why);
    if (status == OWED_OK)
        status = on_commit_remember(tx, type, event, id, &why);
    if (status != OWED_OK)
        return fire_half_written(tx, event->name, status, &why, err);
    tx->fired_anything = true;
    return inline_run(tx, event, id, err);
}

owed_status
fire_write(owed_tx *tx, const owed_event_type *type, struct new_event *event, struct arena *arena,
    int64_t *ret_id, owed_error *err)
{
    bool fresh = false;
    int64_t id = 0;
    owed_status status = OWED_OK;
    if (event->suppressed_reason == NULL)
        status = list_own(tx, event, arena, err);
    if (status == OWED_OK)
        status = insert_event(tx, event, &id, &fresh, err);
    if (status != OWED_OK)
        return status;
    if (event->may_wait)
        snprintf(tx->waiting, sizeof tx->waiting, "%s", event->name);
    if (!fresh) {
        *ret_id = id;
        return fail(err, OWED_DUPLICATE, "event %lld has the dedupe key \"%s\" already",
            (long long)id, event->dedupe_key);
    }
    if (event->suppressed_reason == NULL)
        status = owe_event(tx, type, event, id, err);
    if (status == OWED_OK)
        *ret_id = id;
    return status;
}

/* may_wait tells whether nothing needs the event, or an answer, before the transaction of ours goes on. */
static bool
may_wait(const owed_tx *tx, const struct new_event *event)
{
    const owed_registry *registry = tx->owed->registry;
    return tx->kind == TX_OWN && is_empty(event->dedupe_key) &&
        !fire_runs_code(registry, event->name) && !on_commit_wanted(registry, event->name);
}

/* fire_event writes one event. Its payload and options have been checked. */
static owed_status
fire_event(owed_tx *tx, const struct subject *subject, struct str payload,
    const owed_fire_options *options, int64_t *ret_id, owed_error *err)
{
    struct new_event event = fire_make_event(tx, subject, payload, options);
    CLEANUP(arena_done) struct arena arena;
    arena_init(&arena, 0);
    bool discard = false;
    int64_t id = 0;
    event.may_wait = ret_id == NULL && may_wait(tx, &event);
    owed_status status = fire_prepare(tx, &event, &arena, &discard, err);
    if (status == OWED_OK && !discard)
        status = fire_write(tx, subject->type, &event, &arena, &id, err);
    if (ret_id != NULL && (status == OWED_OK || id != 0))
        *ret_id = id;
    return status;
}

owed_status
fire_ready(owed_tx *tx, owed_error *err)
{
    if (tx->owed->depth >= LOCAL_DEPTH)
        return fail(err, OWED_LIMIT,
            "receivers fire events whose receivers fire events, %d deep: that looks endless",
            LOCAL_DEPTH);
    return tx_check(tx, err);
}

owed_status
fire_find_type(
    const owed_tx *tx, const owed_event_type *type, struct subject *ret_subject, owed_error *err)
{
    if (type == NULL || is_empty(type->name))
        return fail(err, OWED_INVALID, "no event type was given");
    if (type == &owed_any_event)
        return fail(err, OWED_INVALID, "owed_any_event is for receivers: it is never fired");
    const owed_event_type *declared = registry_type(tx->owed->registry, type->name);
    if (declared == NULL)
        return fail(err, OWED_NOT_FOUND,
            "event %s was not declared: call owed_declare_event before owed_open", type->name);
    if (declared != type && !codec_same(declared, type))
        return fail(err, OWED_NOT_FOUND,
            "event %s was declared with another descriptor: fire it with that one", type->name);
    *ret_subject = (struct subject){
        .type = type, .name = type->name, .version = type->version != 0 ? type->version : 1};
    return OWED_OK;
}

owed_status
fire_encode(const owed_event_type *type, const void *payload, struct buf *json, owed_error *err)
{
    buf_init(json, LIMIT_PAYLOAD_BYTES);
    if (payload == NULL)
        return fail(err, OWED_INVALID, "event %s: no payload was given", type->name);
    owed_status status = codec_encode(type, payload, json, err);
    if (status == OWED_OK && json->failed)
        return fail(err, OWED_LIMIT,
            "event %s: the payload is over the limit of %zu bytes, or memory is out", type->name,
            LIMIT_PAYLOAD_BYTES);
    return status;
}

static owed_status
fire_struct(owed_tx *tx, const struct subject *subject, const void *payload,
    const owed_fire_options *options, int64_t *ret_id, owed_error *err)
{
    if (subject->type->fields == NULL && payload != NULL) {
        const owed_bytes *bytes = payload;
        struct str text = {bytes->data, bytes->len};
        owed_status status = fire_check_text(subject->name, text, err);
        return status != OWED_OK ? status : fire_event(tx, subject, text, options, ret_id, err);
    }
    CLEANUP(buf_done) struct buf json = {0};
    owed_status status = fire_encode(subject->type, payload, &json, err);
    if (status != OWED_OK)
        return status;
    return fire_event(tx, subject, buf_view(&json), options, ret_id, err);
}

owed_status
owed_fire(owed_tx *tx, const owed_event_type *type, const void *payload,
    const owed_fire_options *options, int64_t *ret_id, owed_error *err)
{
    const owed_fire_options none = {0};
    struct subject subject = {0};
    owed_status status = fire_ready(tx, err);
    if (status == OWED_OK)
        status = fire_find_type(tx, type, &subject, err);
    if (status == OWED_OK && options != NULL)
        status = fire_options_check(options, err);
    if (status != OWED_OK)
        return status;
    return fire_struct(tx, &subject, payload, options != NULL ? options : &none, ret_id, err);
}

owed_status
fire_name_subject(const owed_tx *tx, const char *name, int32_t version, struct subject *ret_subject,
    owed_error *err)
{
    owed_error why;
    if (check_name("event name", name, &why) != OWED_OK)
        return fail(err, OWED_INVALID, "%s", why.text);
    if (version < 0 || version > LIMIT_VERSION)
        return fail(err, OWED_INVALID, "event %s: version %d is out of range: 1 to %d", name,
            (int)version, LIMIT_VERSION);
    const owed_event_type *type = registry_type(tx->owed->registry, name);
    if (version == 0 && type != NULL)
        version = type->version;
    *ret_subject =
        (struct subject){.type = type, .name = name, .version = version != 0 ? version : 1};
    return OWED_OK;
}

owed_status
owed_fire_json(owed_tx *tx, const char *name, int32_t version, const void *json, size_t json_len,
    const owed_fire_options *options, int64_t *ret_id, owed_error *err)
{
    const owed_fire_options none = {0};
    struct subject subject = {0};
    struct str text = {json, json_len};
    owed_status status = fire_ready(tx, err);
    if (status == OWED_OK)
        status = fire_name_subject(tx, name, version, &subject, err);
    if (status == OWED_OK && options != NULL)
        status = fire_options_check(options, err);
    if (status == OWED_OK)
        status = fire_check_text(name, text, err);
    if (status != OWED_OK)
        return status;
    return fire_event(tx, &subject, text, options != NULL ? options : &none, ret_id, err);
}
