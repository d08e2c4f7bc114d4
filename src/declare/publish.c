/* SPDX-License-Identifier: MIT
 *
 * publish.c - declarations as rows of the catalogue.
 *
 * The catalogue is read by people and by other services: no secret goes there, and of a URL nothing
 * after its path, where tokens stand.
 */
#include "declare/publish.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/json.h"
#include "base/limits.h"
#include "declare/codec.h"
#include "declare/url.h"

#define LIMIT_FIELDS_BYTES ((size_t)1024 * 1024) // of a type's description
#define LIMIT_OPTIONS_BYTES LIMIT_PAYLOAD_BYTES

/* copied ends a text of the catalogue in the arena; NULL: no memory, or too long. */
static const char *
copied(const struct buf *text, struct arena *arena)
{
    return text->failed ? NULL : arena_copy(arena, buf_view(text));
}

static void
write_member(struct buf *json, const char *key, struct str value)
{
    buf_printf(json, "{\"%s\":", key);
    json_write_string(json, value);
}

/* options_of says what a receiver is, where it is no function: {"webhook":"https://host/path"}. */
static const char *
options_of(const struct receiver *receiver, struct arena *arena)
{
    CLEANUP(buf_done) struct buf json;
    const owed_receiver *declared = &receiver->declared;
    buf_init(&json, LIMIT_OPTIONS_BYTES);
    if (declared->webhook != NULL) {
        write_member(&json, "webhook", url_without_query(declared->webhook));
        bool signs = declared->secret != NULL || declared->secret_file != NULL;
        buf_printf(&json, ",\"signed\":%s", signs ? "true" : "false");
    } else if (declared->endpoints != NULL) {
        const char *tenant_key = or_empty(declared->endpoints->tenant_key);
        buf_puts(&json, "{\"endpoints\":true");
        if (tenant_key[0] != '\0')
            buf_printf(&json, ",\"tenant_key\":\"%s\"", tenant_key);
    } else if (declared->exec != NULL) {
        write_member(&json, "exec", str_of(declared->exec));
    } else if (declared->pipe != NULL) {
        write_member(&json, "pipe", str_of(declared->pipe));
    } else if (declared->publish != NULL) {
        write_member(&json, "publish", str_of(declared->publish));
        if (declared->topic != NULL) {
            buf_puts(&json, ",\"topic\":");
            json_write_string(&json, str_of(declared->topic));
        }
        if (declared->exchange != NULL) {
            buf_puts(&json, ",\"exchange\":");
            json_write_string(&json, str_of(declared->exchange));
        }
    } else if (declared->file != NULL) {
        write_member(&json, "file", str_of(declared->file));
    } else {
        buf_puts(&json, declared->discard ? "{\"discard\":true" : "{");
    }
    buf_putc(&json, '}');
    return copied(&json, arena);
}

static const char *
mode_name(owed_mode mode)
{
    static const char *const names[] = {
        [OWED_DURABLE] = "durable", [OWED_ON_COMMIT] = "on_commit", [OWED_INLINE] = "inline"};
    return names[mode];
}

static const char *
targets_name(const owed_receiver *declared)
{
    if (declared->endpoints != NULL)
        return "endpoints";
    return declared->targets != NULL ? "callback" : "none";
}

static owed_status
receiver_row(const owed_registry *registry, const struct receiver *receiver,
    const struct publication *publication, struct arena *arena, struct catalogue_receiver *ret_row,
    owed_error *err)
{
    const owed_receiver *declared = &receiver->declared;
    bool durable = declared->mode == OWED_DURABLE;
    *ret_row = (struct catalogue_receiver){
        .key = declared->key,
        .app = publication->app,
        .event_name = receiver->any_event ? owed_any_event.name : receiver->type->name,
        .mode = mode_name(declared->mode),
        .site = declared->site == OWED_SITE_TASK ? "task" : "relay",
        .kind = receiver->kind,
        .lane = receiver->lane,
        .max_attempts = durable ? receiver_max_attempts(registry, receiver) : 0,
        .backoff_base_us = declared->backoff_base_us,
        .backoff_cap_us = declared->backoff_cap_us,
        .lease_us = declared->lease_us,
        .timeout_us = declared->timeout_us,
        .due_us = declared->due_us,
        .give_up_after_us = declared->give_up_after_us,
        .pause = declared->pause == OWED_PAUSE_TARGET ? "target" : "lane",
        .targets = targets_name(declared),
        .eager = declared->eager,
        .database_only = declared->database_only,
        .options = options_of(receiver, arena),
        .release = publication->release,
        .published_at_us = publication->now_us,
    };
    return ret_row->options == NULL ? fail_memory(err) : OWED_OK;
}

static owed_status
event_row(const struct declared_type *declared, const struct publication *publication,
    struct arena *arena, struct catalogue_event *ret_row, owed_error *err)
{
    const owed_event_type *type = declared->type;
    struct keeping keeping = declared_keeping(declared);
    CLEANUP(buf_done) struct buf fields;
    buf_init(&fields, LIMIT_FIELDS_BYTES);
    codec_describe(type, declared->secret, &fields);
    *ret_row = (struct catalogue_event){
        .app = publication->app,
        .name = type->name,
        .version = type->version == 0 ? 1 : type->version,
        .fields = copied(&fields, arena),
        .retention_seconds = keeping.retention_us / US_PER_SECOND,
        .delete_when = delete_when_name(keeping.delete_when),
        .release = publication->release,
        .published_at_us = publication->now_us,
    };
    if (fields.failed)
        return fail(err, OWED_LIMIT,
            "event \"%s\": its fields take more than %zu bytes to describe", type->name,
            LIMIT_FIELDS_BYTES);
    return ret_row->fields == NULL ? fail_memory(err) : OWED_OK;
}

static owed_status
fill(const owed_registry *registry, struct publication *publication, struct arena *arena,
    struct catalogue_event **ret_events, struct catalogue_receiver **ret_receivers, owed_error *err)
{
    struct catalogue_event *events = arena_alloc(arena, registry->type_count * sizeof *events);
    struct catalogue_receiver *receivers =
        arena_alloc(arena, registry->receiver_count * sizeof *receivers);
    if (events == NULL || receivers == NULL)
        return fail_memory(err);
    publication->events = *ret_events = events;
    publication->receivers = *ret_receivers = receivers;

    owed_status status = OWED_OK;
    for (const struct declared_type *t = registry->types; t != NULL && status == OWED_OK;
         t = t->next)
        status = event_row(t, publication, arena, &events[publication->event_count++], err);
    for (const struct receiver *r = registry->receivers; r != NULL && status == OWED_OK;
         r = r->next)
        status = receiver_row(
            registry, r, publication, arena, &receivers[publication->receiver_count++], err);
    return status;
}

owed_status
publish_describe(const owed_registry *registry, struct arena *arena,
    struct catalogue_event **ret_events, struct catalogue_receiver **ret_receivers, owed_error *err)
{
    struct publication publication = {.app = registry->app};
    return fill(registry, &publication, arena, ret_events, ret_receivers, err);
}

owed_status
publish_registry(struct db *db, const owed_registry *registry, int64_t release, int64_t now_us,
    int64_t *ret_changed, owed_error *err)
{
    CLEANUP(arena_done) struct arena arena;
    arena_init(&arena, 0);
    struct publication publication = {.app = registry->app, .release = release, .now_us = now_us};
    struct catalogue_event *events;
    struct catalogue_receiver *receivers;
    owed_status status = fill(registry, &publication, &arena, &events, &receivers, err);
    return status == OWED_OK ? store_publish(db, &publication, ret_changed, err) : status;
}
