/* SPDX-License-Identifier: MIT
 *
 * fire_many.c - events one after the other, written a batch at a time.
 *
 * What runs code of the application while it is fired goes by itself, in its turn: an event of an INLINE
 * receiver, or of one that names its targets. So does one that its block suppresses. What is refused ends the run after all before it is written.
 */
#include "deliver/fire.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "declare/codec.h"
#include "deliver/local.h"
#include "store/events.h"

#define BATCH_EVENTS 500
#define BATCH_BYTES ((size_t)1024 * 1024) // of payloads and scopes; one event may be larger

static const owed_fire_options no_options = {0};

/* An event to come: checked, its payload and texts there until the batch is written. */
struct candidate {
    struct subject subject;
    struct str payload;
    const owed_fire_options *options; // never NULL
};

/* Where the events come from. get refuses, or gives the one at a place; it may use the arena. */
struct source {
    owed_status (*get)(const struct source *source, size_t place, struct arena *arena,
        struct candidate *ret_candidate, owed_error *err);
    owed_tx *tx;
    size_t count;
    const struct fire_json *events; // by name; or
    const owed_event_type *type;    // payloads of one type
    const char *payloads;
    size_t stride;
    const owed_fire_options *options; // NULL, or count of them
};

struct batch {
    owed_tx *tx;
    int64_t *ids;       // of all places; or NULL
    bool *is_duplicate; // or NULL
    size_t fired;       // places that are done with
    size_t count;       // that wait; the last of them
    bool ends_alone;    // goes by itself
    bool ends_nowhere;  // or is discarded
    size_t bytes;
    struct arena arena; // of what waits
    struct buf own;     // array of struct own_receiver
    struct new_event events[BATCH_EVENTS];
    const owed_event_type *types[BATCH_EVENTS];
    struct written_event written[BATCH_EVENTS];
};

static void
batch_free(struct batch **batch)
{
    if (*batch == NULL)
        return;
    arena_done(&(*batch)->arena);
    buf_done(&(*batch)->own);
    free(*batch);
}

bool
fire_runs_code(const owed_registry *registry, const char *event_name)
{
    for (const struct receiver *r = registry->receivers; r != NULL; r = r->next) {
        if (r->declared.mode == OWED_INLINE && receiver_wants(r, event_name))
            return true;
        if (r->declared.targets != NULL && fire_owes(r, event_name))
            return true;
    }
    return false;
}

/* --- writing --- */

static void
note(struct batch *batch, int64_t id, bool is_new)
{
    if (batch->ids != NULL)
        batch->ids[batch->fired] = id;
    if (batch->is_duplicate != NULL)
        batch->is_duplicate[batch->fired] = !is_new;
    batch->fired++;
}

/* write_alone writes one of those that wait, whatever runs for it. */
static owed_status
write_alone(struct batch *batch, size_t place, owed_error *err)
{
    int64_t id = 0;
    owed_status status =
        fire_write(batch->tx, batch->types[place], &batch->events[place], &batch->arena, &id, err);
    if (status != OWED_OK && status != OWED_DUPLICATE)
        return status;
    note(batch, id, status == OWED_OK);
    return OWED_OK;
}

static owed_status
write_each(struct batch *batch, size_t from, size_t count, owed_error *err)
{
    owed_status status = OWED_OK;
    for (size_t i = from; i < count && status == OWED_OK; i++) {
        status = tx_check(batch->tx, err);
        if (status == OWED_OK)
            status = write_alone(batch, i, err);
    }
    return status;
}

static bool
has_own(const struct buf *own, const char *event_name)
{
    const struct own_receiver *each = (const void *)own->p;
    for (size_t i = 0; i < own->len / sizeof *each; i++)
        if (strcmp(each[i].event_name, event_name) == 0)
            return true;
    return false;
}

/* list_own lists what this process declares, for each name of an event that waits. */
static void
list_own(struct batch *batch, size_t count)
{
    const owed_registry *registry = batch->tx->owed->registry;
    const char *last = "";
    buf_clear(&batch->own);
    for (size_t i = 0; i < count; i++) {
        const char *name = batch->events[i].name;
        if (strcmp(name, last) == 0 || has_own(&batch->own, name))
            continue;
        last = name;
        for (const struct receiver *r = registry->receivers; r != NULL; r = r->next) {
            const struct own_receiver own = {name, r->declared.key, r->lane, r->kind,
                receiver_max_attempts(registry, r), r->declared.due_us};
            if (fire_owes(r, name))
                buf_add(&batch->own, &own, sizeof own);
        }
    }
}

/* keep_written notes what was written, and keeps it for what runs after the commit. */
static owed_status
keep_written(struct batch *batch, size_t count, owed_error *err)
{
    for (size_t i = 0; i < count; i++) {
        const struct written_event *written = &batch->written[i];
        owed_error why;
        owed_status status = !written->is_new
            ? OWED_OK
            : on_commit_remember(batch->tx, batch->types[i], &batch->events[i], written->id, &why);
        if (status != OWED_OK)
            return fire_half_written(batch->tx, batch->events[i].name, status, &why, err);
        batch->tx->fired_anything = batch->tx->fired_anything || written->is_new;
        note(batch, written->id, written->is_new);
    }
    return OWED_OK;
}

/* refuse says what became of events that could not be written at once, behind the first done of them. Where
 * nothing else is there, one by one tells which it is. */
static owed_status
refuse(struct batch *batch, size_t count, size_t done, const owed_error *why, owed_error *err)
{
    owed_tx *tx = batch->tx;
    if (store_in_transaction(tx->db) && store_outlives_failure(tx->db))
        return write_each(batch, done, count, err);
    // Who was joined may have a savepoint to go back to.
    if (store_in_transaction(tx->db) && tx->db->adopted)
        return fail_native(err, why->status, why->native, "%s", why->text);
    return fire_half_written(tx, batch->events[done].name, why->status, why, err);
}

static owed_status
write_together(struct batch *batch, size_t count, owed_error *err)
{
    list_own(batch, count);
    if (batch->own.failed)
        return fail_memory(err);
    const struct new_events events = {
        .events = batch->events,
        .count = count,
        .own = (const void *)batch->own.p,
        .own_count = batch->own.len / sizeof(struct own_receiver),
    };
    size_t done = 0;
    bool is_torn = false;
    owed_error why = {0};
    owed_status status =
        store_insert_events(batch->tx->db, &events, batch->written, &done, &is_torn, &why);
    if (status != OWED_OK && is_torn)
        return fire_half_written(batch->tx, batch->events[0].name, status, &why, err);
    owed_status kept = keep_written(batch, done, err);
    return kept != OWED_OK || status == OWED_OK ? kept : refuse(batch, count, done, &why, err);
}

/* flush writes all that wait. */
static owed_status
flush(struct batch *batch, owed_error *err)
{
    size_t together = batch->count - batch->ends_alone;
    owed_status status = OWED_OK;
    if (together == 1)
        status = write_alone(batch, 0, err);
    else if (together > 1)
        status = write_together(batch, together, err);
    if (status == OWED_OK && batch->ends_nowhere)
        note(batch, 0, true);
    else if (status == OWED_OK && batch->ends_alone)
        status = write_alone(batch, together, err);
    batch->count = 0;
    batch->bytes = 0;
    batch->ends_alone = batch->ends_nowhere = false;
    arena_reset(&batch->arena);
    return status;
}

/* --- gathering --- */

static owed_status
take(struct batch *batch, const struct source *source, size_t place, owed_error *err)
{
    owed_tx *tx = batch->tx;
    struct candidate candidate;
    owed_status status = fire_ready(tx, err);
    if (status == OWED_OK)
        status = source->get(source, place, &batch->arena, &candidate, err);
    if (status != OWED_OK)
        return status;
    struct new_event *event = &batch->events[batch->count];
    *event = fire_make_event(tx, &candidate.subject, candidate.payload, candidate.options);
    status = fire_prepare(tx, event, &batch->arena, &batch->ends_nowhere, err);
    if (status != OWED_OK)
        return status;
    batch->types[batch->count++] = candidate.subject.type;
    batch->ends_alone = batch->ends_nowhere || event->suppressed_reason != NULL ||
        fire_runs_code(tx->owed->registry, event->name);
    batch->bytes += candidate.payload.len + strlen(or_empty(event->scope));
    return OWED_OK;
}

/* step takes one event; where it is refused, all before it is written. */
static owed_status
step(struct batch *batch, const struct source *source, size_t place, owed_error *err)
{
    owed_error refusal;
    owed_status refused = take(batch, source, place, &refusal);
    if (refused == OWED_OK) {
        bool is_full = batch->count == BATCH_EVENTS || batch->bytes >= BATCH_BYTES;
        return is_full || batch->ends_alone ? flush(batch, err) : OWED_OK;
    }
    owed_status status = flush(batch, err);
    return status != OWED_OK ? status
                             : fail_native(err, refused, refusal.native, "%s", refusal.text);
}

static owed_status
fire_all(struct batch *batch, const struct source *source, owed_error *err)
{
    owed_status status = OWED_OK;
    for (size_t i = 0; i < source->count && status == OWED_OK; i++)
        status = step(batch, source, i, err);
    return status == OWED_OK ? flush(batch, err) : status;
}

static owed_status
fire_many(owed_tx *tx, const struct source *source, int64_t *ids, bool *is_duplicate,
    size_t *ret_fired, owed_error *err)
{
    *ret_fired = 0;
    CLEANUP(batch_free) struct batch *batch = malloc(sizeof *batch);
    if (batch == NULL)
        return fail_memory(err);
    batch->tx = tx;
    batch->ids = ids;
    batch->is_duplicate = is_duplicate;
    batch->fired = batch->count = batch->bytes = 0;
    batch->ends_alone = batch->ends_nowhere = false;
    arena_init(&batch->arena, 0);
    buf_init(&batch->own, SIZE_MAX);
    owed_status status = fire_all(batch, source, err);
    *ret_fired = batch->fired;
    return status;
}

/* --- payloads of one type --- */

static owed_status
get_struct(const struct source *source, size_t place, struct arena *arena,
    struct candidate *ret_candidate, owed_error *err)
{
    const void *payload =
        source->payloads == NULL ? NULL : source->payloads + place * source->stride;
    struct candidate candidate = {.options = &no_options};
    owed_status status = fire_find_type(source->tx, source->type, &candidate.subject, err);
    if (status == OWED_OK && source->options != NULL) {
        candidate.options = &source->options[place];
        status = fire_options_check(candidate.options, err);
    }
    if (status != OWED_OK)
        return status;
    CLEANUP(buf_done) struct buf json = {0};
    if (source->type->fields == NULL && payload != NULL) {
        const owed_bytes *bytes = payload;
        candidate.payload = (struct str){bytes->data, bytes->len};
        status = fire_check_text(candidate.subject.name, candidate.payload, err);
    } else {
        status = fire_encode(source->type, payload, &json, err);
        candidate.payload = buf_view(&json);
    }
    if (status == OWED_OK && json.p != NULL)
        candidate.payload.p = arena_copy(arena, candidate.payload);
    if (status == OWED_OK && candidate.payload.p == NULL && candidate.payload.len > 0)
        return fail_memory(err);
    *ret_candidate = candidate;
    return status;
}

owed_status
owed_fire_many(owed_tx *tx, const owed_event_type *type, const void *payloads, size_t stride,
    size_t count, const owed_fire_options *options, int64_t *ret_ids, size_t *ret_fired,
    owed_error *err)
{
    const struct source source = {.get = get_struct,
        .tx = tx,
        .count = count,
        .type = type,
        .payloads = payloads,
        .stride = stride,
        .options = options};
    size_t fired = 0;
    return fire_many(tx, &source, ret_ids, NULL, ret_fired != NULL ? ret_fired : &fired, err);
}

/* --- texts by name --- */

static owed_status
get_json(const struct source *source, size_t place, struct arena *arena,
    struct candidate *ret_candidate, owed_error *err)
{
    (void)arena;
    const struct fire_json *event = &source->events[place];
    struct candidate candidate = {.options = event->options, .payload = event->json};
    owed_status status =
        fire_name_subject(source->tx, event->name, event->version, &candidate.subject, err);
    if (status == OWED_OK && candidate.options != NULL)
        status = fire_options_check(candidate.options, err);
    if (status == OWED_OK)
        status = fire_check_text(event->name, event->json, err);
    if (candidate.options == NULL)
        candidate.options = &no_options;
    *ret_candidate = candidate;
    return status;
}

owed_status
fire_json_many(owed_tx *tx, const struct fire_json *events, size_t count, int64_t *ids,
    bool *is_duplicate, size_t *ret_fired, owed_error *err)
{
    const struct source source = {.get = get_json, .tx = tx, .count = count, .events = events};
    return fire_many(tx, &source, ids, is_duplicate, ret_fired, err);
}
