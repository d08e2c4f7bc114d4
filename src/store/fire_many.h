/* SPDX-License-Identifier: MIT
 *
 * fire_many.h - the ways in which dialects write several events at once.
 */
#ifndef STORE_FIRE_MANY_H
#define STORE_FIRE_MANY_H

#include "store/events.h"
#include "store/verbs.h"

/* fire_arrays.c: one statement over arrays. */
owed_status insert_arrays(struct db *db, const struct new_events *events,
    struct written_event *ret_written, bool *ret_is_torn, owed_error *err);

/* fire_json.c: a statement that writes the events, and one that writes what is owed. */
owed_status insert_json(struct db *db, const struct new_events *events,
    struct written_event *ret_written, bool *ret_is_torn, owed_error *err);

/* fire.c: what the statements take that write one event, or some. */
#define EVENT_ARGS 14
void event_args(const struct new_event *event, struct value ret_args[static EVENT_ARGS]);

/* find_by_dedupe_key finds the event that has a key which is taken. */
owed_status find_by_dedupe_key(struct db *db, const char *key, int64_t *ret_id, owed_error *err);
owed_status fail_key_without_event(const char *key, owed_error *err);

#endif
