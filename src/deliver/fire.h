/* SPDX-License-Identifier: MIT
 *
 * fire.h - the steps of a fire, for one event and for many.
 */
#ifndef DELIVER_FIRE_H
#define DELIVER_FIRE_H

#include "base/buf.h"
#include "deliver/handle.h"

/* What is fired: the type is NULL for a name that nobody declared. */
struct subject {
    const owed_event_type *type;
    const char *name;
    int32_t version;
};

/* --- what is refused before anything is written: fire.c --- */

/* fire_ready refuses what has nothing to do with the payload. */
owed_status fire_ready(owed_tx *tx, owed_error *err);

/* fire_find_type refuses a descriptor other than the one that was declared under its name. */
owed_status fire_find_type(
    const owed_tx *tx, const owed_event_type *type, struct subject *ret_subject, owed_error *err);

/* fire_name_subject reads a name and version that need not be declared. */
owed_status fire_name_subject(const owed_tx *tx, const char *name, int32_t version,
    struct subject *ret_subject, owed_error *err);

owed_status fire_check_text(const char *name, struct str text, owed_error *err);

/* fire_encode writes a struct as JSON into a buffer that it begins. */
owed_status fire_encode(
    const owed_event_type *type, const void *payload, struct buf *json, owed_error *err);

/* --- writing: fire.c --- */

struct new_event fire_make_event(const owed_tx *tx, const struct subject *subject,
    struct str payload, const owed_fire_options *options);

/* fire_prepare completes an event with what its block says, and refuses a dedupe key that would not protect. Where
 * the block has it discarded there is nothing to write. */
owed_status fire_prepare(
    owed_tx *tx, struct new_event *event, struct arena *arena, bool *ret_discard, owed_error *err);

/* fire_runs_code tells whether code of the application runs while such an event is fired. */
bool fire_runs_code(const owed_registry *registry, const char *event_name);

/* fire_owes tells whether an event is owed to a receiver that this process declares. */
bool fire_owes(const struct receiver *receiver, const char *event_name);

/* fire_write writes one event, prepared, with all that is owed for it and all that runs for it. */
owed_status fire_write(owed_tx *tx, const owed_event_type *type, struct new_event *event,
    struct arena *arena, int64_t *ret_id, owed_error *err);

/* fire_half_written ends a transaction that holds an event but not all that is owed for it. */
owed_status fire_half_written(
    owed_tx *tx, const char *name, owed_status status, const owed_error *why, owed_error *err);

/* --- many: fire_many.c --- */

/* One event by its name, as owed_fire_json takes it. */
struct fire_json {
    const char *name;
    int32_t version;
    struct str json;
    const owed_fire_options *options; // NULL: none
};

/* fire_json_many fires as owed_fire_json would one after the other, and goes on after duplicates. The
 * first refusal ends it; *ret_fired says how many came before. ids and is_duplicate take count each. */
owed_status fire_json_many(owed_tx *tx, const struct fire_json *events, size_t count, int64_t *ids,
    bool *is_duplicate, size_t *ret_fired, owed_error *err);

#endif
