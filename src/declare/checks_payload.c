/* SPDX-License-Identifier: MIT
 *
 * checks_payload.c - what is owed and cannot be read, found before a relay gives it up.
 */
#include <inttypes.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/json.h"
#include "base/limits.h"
#include "declare/checks.h"
#include "declare/codec.h"
#include "declare/mask.h"
#include "store/look.h"

#define PAGE_ROWS 100
#define FIRST_IDS 3
#define MOST_TROUBLES 100 // that are told apart
#define KEYS_BYTES ((size_t)16 * 1024 * 1024)

/* Deliveries that cannot be read for one reason. */
struct trouble {
    const char *reason;   // event, version and field, without what was found there
    const char *sentence; // of the first
    int64_t count;
    int64_t ids[FIRST_IDS];
    struct trouble *next;
};

struct reading {
    const owed_registry *registry;
    struct catalogue_event *published; // what is secret in the eyes of other applications
    size_t published_count;
    struct arena arena; // of troubles and of what was published
    struct trouble *first;
    struct trouble **end;
    size_t count;
};

/* is_typed tells whether a receiver's rows may be unreadable. */
static bool
is_typed(const struct receiver *receiver)
{
    return receiver->declared.mode == OWED_DURABLE &&
        (receiver->type->fields != NULL || receiver->type->before != NULL);
}

/* write_keys lists the receivers to look at; false: there is none. */
static bool
write_keys(const owed_registry *registry, struct buf *keys)
{
    size_t count = 0;
    buf_putc(keys, '[');
    for (const struct receiver *r = registry->receivers; r != NULL; r = r->next) {
        if (!is_typed(r))
            continue;
        buf_puts(keys, count++ > 0 ? "," : "");
        json_write_string(keys, str_of(r->declared.key));
    }
    buf_putc(keys, ']');
    return count > 0 && !keys->failed;
}

/* reason_of cuts a sentence of the codec where it begins to speak of one value, and leaves out the
 * indexes of arrays. */
static const char *
reason_of(struct arena *arena, const char *sentence)
{
    static const char *const ends[] = {": expected ", " failed: ", " what cannot be: "};
    struct str view = str_of(sentence);
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        const char *end = strstr(sentence, ends[i]);
        if (end != NULL && (size_t)(end - sentence) < view.len)
            view.len = (size_t)(end - sentence);
    }
    char *reason = arena_copy(arena, view);
    if (reason == NULL)
        return NULL;
    char *to = reason;
    for (const char *from = reason; *from != '\0'; from++) {
        *to++ = *from;
        if (*from == '[')
            from += strspn(from + 1, "0123456789");
    }
    *to = '\0';
    return reason;
}

static owed_status
note_trouble(struct reading *reading, int64_t id, const char *sentence, owed_error *err)
{
    const char *reason = reason_of(&reading->arena, sentence);
    struct trouble *trouble = reading->first;
    while (trouble != NULL && reason != NULL && strcmp(trouble->reason, reason) != 0)
        trouble = trouble->next;
    if (trouble == NULL && reading->count == MOST_TROUBLES)
        return OWED_OK;
    if (trouble == NULL) {
        trouble = arena_alloc(&reading->arena, sizeof *trouble);
        if (trouble == NULL || reason == NULL)
            return fail_memory(err);
        trouble->reason = reason;
        trouble->sentence = arena_strdup(&reading->arena, sentence);
        if (trouble->sentence == NULL)
            return fail_memory(err);
        *reading->end = trouble;
        reading->end = &trouble->next;
        reading->count++;
    }
    if (trouble->count < FIRST_IDS)
        trouble->ids[trouble->count] = id;
    trouble->count++;
    return OWED_OK;
}

/* shown is the sentence without the secrets of the payload that it is about. */
static const char *
shown(const struct reading *reading, const struct owed_payload *row, const char *sentence,
    struct arena *arena)
{
    struct mask mask = {0};
    registry_mask(reading->registry, row->event_name, &mask);
    for (size_t i = 0; i < reading->published_count; i++)
        if (strcmp(reading->published[i].name, row->event_name) == 0)
            mask_add(&mask, reading->published[i].fields);
    return mask.count == 0 ? sentence : mask_text(&mask, row->payload, sentence, arena);
}

static owed_status
read_row(struct reading *reading, const struct owed_payload *row, owed_error *err)
{
    CLEANUP(arena_done) struct arena arena;
    arena_init(&arena, 0);
    const struct receiver *receiver = registry_receiver(reading->registry, row->receiver_key);
    const void *payload = NULL;
    owed_error why = {0};
    if (receiver == NULL || !receiver_wants(receiver, row->event_name))
        return OWED_OK;
    owed_status status =
        codec_decode(receiver->type, row->version, row->payload, &arena, &payload, &why);
    if (status == OWED_OK)
        return OWED_OK;
    if (status != OWED_INVALID && status != OWED_LIMIT && status != OWED_CONFIG)
        return fail(err, status, "%s", why.text);
    const char *sentence = shown(reading, row, why.text, &arena);
    return sentence == NULL ? fail_memory(err) : note_trouble(reading, row->id, sentence, err);
}

/* read_page reads the next rows; *after_id is left as it was at the end. */
static owed_status
read_page(struct reading *reading, struct db *db, const char *keys, int64_t *after_id,
    size_t *ret_count, owed_error *err)
{
    CLEANUP(arena_done) struct arena arena;
    arena_init(&arena, 0);
    struct owed_payload *rows = NULL;
    owed_status status =
        store_owed_payloads(db, keys, *after_id, PAGE_ROWS, &arena, &rows, ret_count, err);
    for (size_t i = 0; i < *ret_count && status == OWED_OK; i++) {
        status = read_row(reading, &rows[i], err);
        *after_id = rows[i].id;
    }
    return status;
}

static void
tell(const struct trouble *trouble, checks_print print, void *state)
{
    CLEANUP(buf_done) struct buf sentence;
    buf_init(&sentence, LIMIT_ERROR_BYTES);
    buf_printf(&sentence,
        trouble->count == 1 ? "%" PRId64 " delivery that is owed cannot be read ("
                            : "%" PRId64 " deliveries that are owed cannot be read (",
        trouble->count);
    for (int64_t i = 0; i < trouble->count && i < FIRST_IDS; i++)
        buf_printf(&sentence, "%s%" PRId64, i == 0 ? "" : ", ", trouble->ids[i]);
    buf_printf(&sentence, "%s): %s", trouble->count > FIRST_IDS ? ", ..." : "", trouble->sentence);
    print(state, FINDING_ERROR, buf_text(&sentence));
}

owed_status
checks_payloads(struct db *db, const owed_registry *registry, checks_print print, void *state,
    size_t *ret_count, owed_error *err)
{
    CLEANUP(buf_done) struct buf keys;
    struct reading reading = {.registry = registry};
    owed_status status = OWED_OK;
    buf_init(&keys, KEYS_BYTES);
    *ret_count = 0;
    if (!write_keys(registry, &keys))
        return keys.failed ? fail_memory(err) : OWED_OK;
    arena_init(&reading.arena, 0);
    reading.end = &reading.first;
    int64_t after_id = 0;
    size_t count = 0;
    status = store_catalogue_events(
        db, &reading.arena, &reading.published, &reading.published_count, err);
    while (status == OWED_OK) {
        status = read_page(&reading, db, buf_text(&keys), &after_id, &count, err);
        if (count == 0)
            break;
    }
    for (const struct trouble *t = reading.first; t != NULL && status == OWED_OK; t = t->next)
        tell(t, print, state);
    *ret_count = reading.count;
    arena_done(&reading.arena);
    return status;
}
