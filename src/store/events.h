/* SPDX-License-Identifier: MIT
 *
 * events.h - writing several events at once: fire_many.c.
 */
#ifndef STORE_EVENTS_H
#define STORE_EVENTS_H

#include "store/store.h"

/* A receiver that the firing process declares, and that the catalogue may not know, for events of a
 * name; it names no targets. */
struct own_receiver {
    const char *event_name;
    const char *key;
    const char *lane; // qualified
    const char *kind;
    int32_t max_attempts;
    int64_t due_us; // after the event's
};
struct new_events {
    const struct new_event *events; // none of them suppressed; their own is not looked at
    size_t count;
    const struct own_receiver *own;
    size_t own_count;
};
struct written_event {
    int64_t id;
    bool is_new; // else its dedupe key is taken, and this is the event that has it
};
/*
 * store_insert_events writes events in order, as store_insert_event would one by one, with all that is owed
 * for them, in the open transaction. Where it fails, of as many as *ret_count says all is written; what
 * else of them may be there is to be rolled back where *ret_is_torn is set, and else there is nothing.
 */
owed_status store_insert_events(struct db *db, const struct new_events *events,
    struct written_event *ret_written, size_t *ret_count, bool *ret_is_torn, owed_error *err);
/* store_outlives_failure tells whether a statement that failed leaves the transaction as it was. */
bool store_outlives_failure(const struct db *db);

#endif
