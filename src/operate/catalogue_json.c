/* SPDX-License-Identifier: MIT
 *
 * catalogue_json.c - the catalogue for programs.
 */
#include "operate/catalogue.h"

#include <inttypes.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/limits.h"

static void
put_key(struct buf *json, const char *key)
{
    if (json->len > 0 && json->p[json->len - 1] != '{')
        buf_putc(json, ',');
    buf_printf(json, "\"%s\":", key);
}

static void
put_text(struct buf *json, const char *key, const char *text)
{
    put_key(json, key);
    json_write_string(json, str_of(text));
}

static void
put_bool(struct buf *json, const char *key, bool value)
{
    put_key(json, key);
    buf_puts(json, value ? "true" : "false");
}

/* put_seconds writes microseconds as seconds; null where there are none. */
static void
put_seconds(struct buf *json, const char *key, int64_t us)
{
    put_key(json, key);
    if (us == 0)
        buf_puts(json, "null");
    else if (us % US_PER_SECOND == 0)
        buf_int(json, us / US_PER_SECOND);
    else
        json_write_double(json, (double)us / US_PER_SECOND);
}

/* put_json takes JSON as it stands in the store, where an application may have written anything. */
static void
put_json(struct buf *json, const char *key, const char *text)
{
    put_key(json, key);
    if (json_check(str_of(text), LIMIT_PAYLOAD_DEPTH, NULL) == OWED_OK)
        buf_puts(json, text);
    else
        json_write_string(json, str_of(text));
}

static void
put_curve(struct buf *json, const struct catalogue *catalogue, const struct catalogue_receiver *r)
{
    struct waits waits = waits_of(catalogue, r);
    put_key(json, "max_attempts");
    buf_int(json, r->max_attempts);
    put_seconds(json, "backoff_base_seconds", r->backoff_base_us);
    put_seconds(json, "backoff_cap_seconds", r->backoff_cap_us);
    put_seconds(json, "longest_wait_seconds", waits.longest_us);
    put_seconds(json, "mean_wait_seconds", waits.mean_us);
}

static void
put_receiver(
    struct buf *json, const struct catalogue *catalogue, const struct catalogue_receiver *r)
{
    buf_putc(json, '{');
    put_text(json, "key", r->key);
    put_text(json, "app", r->app);
    put_text(json, "mode", r->mode);
    if (is_durable(r)) {
        put_text(json, "site", r->site);
        put_text(json, "kind", r->kind);
        put_text(json, "lane", r->lane);
        put_curve(json, catalogue, r);
        put_seconds(json, "lease_seconds", r->lease_us);
        put_seconds(json, "timeout_seconds", r->timeout_us);
        put_seconds(json, "due_seconds", r->due_us);
        put_seconds(json, "give_up_after_seconds", r->give_up_after_us);
        put_bool(json, "eager", r->eager);
        put_bool(json, "database_only", r->database_only);
        put_text(json, "targets", r->targets);
        put_text(json, "pause", r->pause);
    }
    put_json(json, "options", r->options);
    buf_putc(json, '}');
}

static void
put_receivers(
    struct buf *json, const struct catalogue *catalogue, const char *key, const char *event_name)
{
    size_t count = 0;
    put_key(json, key);
    buf_putc(json, '[');
    for (size_t i = 0; i < catalogue->receiver_count; i++) {
        if (strcmp(catalogue->receivers[i].event_name, event_name) != 0)
            continue;
        buf_puts(json, count++ == 0 ? "" : ",");
        put_receiver(json, catalogue, &catalogue->receivers[i]);
    }
    buf_putc(json, ']');
}

static void
put_declaration(struct buf *json, const struct catalogue_event *event)
{
    buf_putc(json, '{');
    put_text(json, "app", event->app);
    put_key(json, "version");
    buf_int(json, event->version);
    put_key(json, "retention_seconds");
    if (event->retention_seconds == 0)
        buf_puts(json, "null");
    else
        buf_int(json, event->retention_seconds);
    put_key(json, "delete_when");
    if (is_empty(event->delete_when))
        buf_puts(json, "null");
    else
        json_write_string(json, str_of(event->delete_when));
    put_json(json, "fields", event->fields);
    buf_putc(json, '}');
}

static void
put_event(struct buf *json, const struct catalogue *catalogue, const char *name)
{
    size_t count = 0;
    buf_putc(json, '{');
    put_text(json, "name", name);
    put_key(json, "declared");
    buf_putc(json, '[');
    for (size_t i = 0; i < catalogue->event_count; i++) {
        if (strcmp(catalogue->events[i].name, name) != 0)
            continue;
        buf_puts(json, count++ == 0 ? "" : ",");
        put_declaration(json, &catalogue->events[i]);
    }
    buf_putc(json, ']');
    put_receivers(json, catalogue, "receivers", name);
    buf_putc(json, '}');
}

void
catalogue_json(const struct catalogue *catalogue, struct buf *json)
{
    CLEANUP(buf_done) struct buf packed;
    buf_init(&packed, json->max);
    buf_putc(&packed, '{');
    put_key(&packed, "settings");
    buf_putc(&packed, '{');
    put_seconds(&packed, "backoff_base_seconds", catalogue->curve.base_us);
    put_seconds(&packed, "backoff_cap_seconds", catalogue->curve.cap_us);
    buf_putc(&packed, '}');
    put_receivers(&packed, catalogue, "any_event", "*");
    put_key(&packed, "events");
    buf_putc(&packed, '[');
    for (size_t i = 0; i < catalogue->name_count; i++) {
        buf_puts(&packed, i == 0 ? "" : ",");
        put_event(&packed, catalogue, catalogue->names[i]);
    }
    buf_puts(&packed, "]}");
    json->failed |= packed.failed;
    json_pretty(buf_view(&packed), json);
    buf_putc(json, '\n');
}
