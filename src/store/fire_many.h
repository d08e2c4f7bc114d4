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

owed_status fail_key_without_event(const char *key, owed_error *err);

#endif
