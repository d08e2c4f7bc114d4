/* SPDX-License-Identifier: MIT
 *
 * catalogue_markdown.c - the catalogue for people.
 */
#include "operate/catalogue.h"

#include <inttypes.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/moment.h"

/* put_cell writes a text so that it neither ends its cell nor its line. */
static void
put_cell(struct buf *text, struct str cell)
{
    for (size_t i = 0; i < cell.len; i++) {
        char c = cell.p[i];
        if (c == '|' || c == '\\' || c == '<' || c == '`' || c == '*')
            buf_putc(text, '\\');
        buf_putc(text, (unsigned char)c < 0x20 ? ' ' : c);
    }
}

static void
put_word(struct buf *text, const char *word)
{
    put_cell(text, str_of(word));
}

static void
put_duration(struct buf *text, const char *before, int64_t us, const char *after)
{
    char duration[MOMENT_BYTES];
    buf_printf(text, "%s%s%s", before, duration_write(us, duration), after);
}

/* --- fields --- */

static bool
member_text(struct json field, const char *key, struct arena *arena, struct str *ret_text)
{
    struct json value;
    return json_member(field, key, &value) && value.type == JSON_STRING &&
        json_read_string(value, arena, ret_text, NULL) == OWED_OK;
}

static bool
member_is_true(struct json object, const char *key)
{
    struct json value;
    return json_member(object, key, &value) && value.type == JSON_TRUE;
}

static void
put_words(struct buf *text, struct json words, struct arena *arena)
{
    struct json_walk walk = json_walk(words);
    struct json word;
    struct str plain;
    const char *before = ": ";
    while (json_next(&walk, NULL, &word)) {
        if (word.type != JSON_STRING || json_read_string(word, arena, &plain, NULL) != OWED_OK)
            continue;
        buf_puts(text, before);
        put_cell(text, plain);
        before = ", ";
    }
}

static void put_fields(struct buf *text, struct json fields, const char *path, struct arena *arena);

static void
put_field(struct buf *text, struct json field, const char *path, struct arena *arena)
{
    struct str name = STR("?"), kind = STR("?"), element = STR(""), fallback;
    struct json inner;
    if (field.type != JSON_OBJECT)
        return;
    member_text(field, "name", arena, &name);
    member_text(field, "kind", arena, &kind);
    bool is_array = member_text(field, "element", arena, &element);
    const char *full = arena_printf(arena, "%s%.*s", path, (int)name.len, name.p);
    buf_puts(text, "| ");
    put_word(text, full);
    buf_puts(text, " | ");
    put_cell(text, kind);
    buf_puts(text, is_array ? " of " : "");
    put_cell(text, element);
    if (json_member(field, "words", &inner) && inner.type == JSON_ARRAY)
        put_words(text, inner, arena);
    buf_puts(text, member_is_true(field, "secret") ? " (secret) | " : " | ");
    bool is_pointer = str_is(kind, "pointer"); // to what is secret, wherever there is such a thing
    buf_puts(text, member_is_true(field, "optional") || is_pointer ? "no | " : "yes | ");
    if (member_text(field, "fallback", arena, &fallback))
        put_cell(text, fallback);
    buf_puts(text, " |\n");
    if (json_member(field, "fields", &inner) && inner.type == JSON_ARRAY)
        put_fields(text, inner, arena_printf(arena, "%s%s.", full, is_array ? "[]" : ""), arena);
}

static void
put_fields(struct buf *text, struct json fields, const char *path, struct arena *arena)
{
    struct json_walk walk = json_walk(fields);
    struct json field;
    while (json_next(&walk, NULL, &field))
        put_field(text, field, path, arena);
}

static void
put_field_table(struct buf *text, const char *fields, struct arena *arena)
{
    if (json_check(str_of(fields), LIMIT_PAYLOAD_DEPTH, NULL) != OWED_OK)
        return;
    struct json root = json_root(str_of(fields));
    struct json_walk walk = json_walk(root);
    struct json first;
    if (root.type != JSON_ARRAY || !json_next(&walk, NULL, &first))
        return;
    buf_puts(
        text, "\n| Field | Kind | Required | Where it is absent |\n| --- | --- | --- | --- |\n");
    put_fields(text, root, "", arena);
}

static void
put_declaration(struct buf *text, const struct catalogue_event *event, struct arena *arena)
{
    buf_puts(text, "\nDeclared by ");
    put_word(text, event->app);
    buf_printf(text, ", version %" PRId32 ".", event->version);
    if (strcmp(event->delete_when, "succeeded") == 0)
        buf_puts(text, " Deleted as soon as all that was owed for it has succeeded.");
    else if (strcmp(event->delete_when, "settled") == 0)
        buf_puts(text, " Deleted as soon as all that was owed for it has ended.");
    else if (event->retention_seconds != 0)
        put_duration(text, " Kept ", event->retention_seconds * US_PER_SECOND,
            " once all that was owed for it has ended.");
    buf_putc(text, '\n');
    put_field_table(text, event->fields, arena);
}

/* --- receivers --- */

/* put_half names one half of a curve, or the setting that it follows. */
static void
put_half(struct buf *text, int64_t declared_us, const char *setting, int64_t us)
{
    if (declared_us > 0) {
        put_duration(text, "", us, "");
        return;
    }
    buf_puts(text, setting);
    put_duration(text, " (", us, ")");
}

static void
put_waits(struct buf *text, const struct catalogue *catalogue, const struct catalogue_receiver *r)
{
    struct waits waits = waits_of(catalogue, r);
    if (r->max_attempts < 2) {
        buf_puts(text, "none");
        return;
    }
    put_half(text, r->backoff_base_us, "backoff-base", waits.curve.base_us);
    buf_puts(text, ", doubling up to ");
    put_half(text, r->backoff_cap_us, "backoff-cap", waits.curve.cap_us);
    put_duration(text, ": at most ", waits.longest_us, " in all");
    put_duration(text, ", ", waits.mean_us, " on average");
}

/* How a receiver that needs no C is run, by the member of its options. */
static const struct {
    const char *option;
    const char *words;
} ways[] = {
    {"webhook", "POST to "},
    {"exec", "runs "},
    {"pipe", "keeps running "},
    {"publish", "publishes to "},
    {"file", "appends to "},
};

static void
put_way(struct buf *text, const char *options, struct arena *arena)
{
    struct str value;
    if (json_check(str_of(options), LIMIT_PAYLOAD_DEPTH, NULL) != OWED_OK)
        return;
    struct json root = json_root(str_of(options));
    if (root.type != JSON_OBJECT)
        return;
    if (member_is_true(root, "discard"))
        buf_puts(text, "does nothing; ");
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        if (!member_text(root, ways[i].option, arena, &value))
            continue;
        buf_puts(text, ways[i].words);
        put_cell(text, value);
        buf_puts(text, member_is_true(root, "signed") ? ", signed; " : "; ");
    }
}

static void
put_rules(struct buf *text, const struct catalogue_receiver *r)
{
    if (r->due_us > 0)
        put_duration(text, "due ", r->due_us, " after the event; ");
    if (r->give_up_after_us > 0)
        put_duration(text, "deferred for ", r->give_up_after_us, " at most; ");
    if (r->lease_us > 0)
        put_duration(text, "lease ", r->lease_us, "; ");
    if (r->timeout_us > 0)
        put_duration(text, "timeout ", r->timeout_us, "; ");
    if (strcmp(r->targets, "none") != 0)
        buf_puts(text, "one delivery for each target; ");
    if (strcmp(r->pause, "target") == 0)
        buf_puts(text,
            strcmp(r->targets, "none") == 0 ? "a deferral pauses it alone; "
                                            : "a deferral pauses its target alone; ");
    if (r->eager)
        buf_puts(text, "eager; ");
    if (r->database_only)
        buf_puts(text, "touches the database only; ");
}

static void
put_receiver(struct buf *text, const struct catalogue *catalogue,
    const struct catalogue_receiver *r, struct arena *arena)
{
    bool durable = is_durable(r);
    const char *const words[] = {r->key, r->app,
        strcmp(r->mode, "on_commit") == 0 ? "on commit" : r->mode, durable ? r->site : "-",
        durable ? r->lane : "-"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        buf_puts(text, "| ");
        put_word(text, words[i]);
        buf_putc(text, ' ');
    }
    if (durable) {
        buf_printf(text, "| %" PRId32 " | ", r->max_attempts);
        put_waits(text, catalogue, r);
    } else {
        buf_puts(text, "| - | -");
    }
    buf_puts(text, " | ");
    size_t before = text->len;
    put_way(text, r->options, arena);
    if (durable)
        put_rules(text, r);
    if (!text->failed && text->len > before)
        text->len -= strlen("; "); // behind the last
    buf_puts(text, " |\n");
}

static size_t
put_receivers(struct buf *text, const struct catalogue *catalogue, const char *event_name,
    struct arena *arena)
{
    size_t count = 0;
    for (size_t i = 0; i < catalogue->receiver_count; i++) {
        if (strcmp(catalogue->receivers[i].event_name, event_name) != 0)
            continue;
        if (count++ == 0)
            buf_puts(text,
                "\n| Receiver | App | Mode | Site | Lane | Attempts | Waits between them | More |\n"
                "| --- | --- | --- | --- | --- | --- | --- | --- |\n");
        put_receiver(text, catalogue, &catalogue->receivers[i], arena);
    }
    return count;
}

static bool
has_any_event(const struct catalogue *catalogue)
{
    for (size_t i = 0; i < catalogue->receiver_count; i++)
        if (strcmp(catalogue->receivers[i].event_name, "*") == 0)
            return true;
    return false;
}

static void
put_event(
    struct buf *text, const struct catalogue *catalogue, const char *name, struct arena *arena)
{
    bool is_declared = false;
    buf_puts(text, "\n## ");
    put_word(text, name);
    buf_putc(text, '\n');
    for (size_t i = 0; i < catalogue->event_count; i++) {
        if (strcmp(catalogue->events[i].name, name) != 0)
            continue;
        is_declared = true;
        put_declaration(text, &catalogue->events[i], arena);
    }
    if (!is_declared)
        buf_puts(text, "\nNobody declares it.\n");
    if (put_receivers(text, catalogue, name, arena) == 0)
        buf_printf(text, "\nNobody listens to it%s.\n",
            has_any_event(catalogue) ? " but the receivers of any event" : "");
}

void
catalogue_markdown(const struct catalogue *catalogue, struct buf *text)
{
    CLEANUP(arena_done) struct arena arena;
    arena_init(&arena, 0);
    buf_puts(text, "# Catalogue\n");
    if (has_any_event(catalogue)) {
        buf_puts(text, "\n## Any event\n");
        put_receivers(text, catalogue, "*", &arena);
    }
    for (size_t i = 0; i < catalogue->name_count; i++)
        put_event(text, catalogue, catalogue->names[i], &arena);
}
