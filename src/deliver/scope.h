/* SPDX-License-Identifier: MIT
 *
 * scope.h - the blocks of a thread, as the engine sees them.
 */
#ifndef DELIVER_SCOPE_H
#define DELIVER_SCOPE_H

#include <owed/scope.h>

#include "deliver/handle.h"

/* An event whose receiver is running. */
struct cause {
    int64_t event_id; // 0: none
    const char *correlation_id;
    const char *traceparent;
    const char *url; // of its store; NULL: of any
};

/* What a block suppresses, and those around it. */
struct suppression {
    const struct suppression *outer;
    const char *reason;
    const char *const *events; // NULL: every one
    bool discard;
};

/* A block. What it says is complete: what the blocks around it say is in it. */
struct owed_scope {
    struct owed_scope *outer;
    owed_attribution says;
    struct cause cause;
    const struct suppression *suppressions; // the innermost first
    struct arena arena;                     // of the texts that are its own
    bool is_engines;                        // on the stack of whoever runs a receiver
};

/* scope_new makes a block that says what the one around it says; it is not open yet. NULL: memory is out.
 * scope_free is for one that is not open, or no longer. */
const struct owed_scope *scope_innermost(void); // NULL: none is open on this thread
struct owed_scope *scope_new(const struct owed_scope *outer);
void scope_open(struct owed_scope *scope);
void scope_free(struct owed_scope *scope);

/* scope_keep_suppressions makes those of a block its own, which were another's; false: memory is out. */
bool scope_keep_suppressions(struct owed_scope *scope);

/* cause_of is that of a row: its texts are borrowed. */
static inline struct cause
cause_of(const owed *handle, const struct claimed *row)
{
    return (struct cause){row->event_id, row->correlation_id, row->traceparent, handle->url};
}

/*
 * scope_enter puts a block around the call of a receiver, which scope_leave ends, with all that was left
 * open in it. The block is the caller's, and cause is borrowed meanwhile. is_apart: what the thread's
 * other blocks say does not hold in it.
 */
void scope_enter(struct owed_scope *block, const struct cause *cause, bool is_apart);
void scope_leave(struct owed_scope *block);

/* scope_suppresses tells why an event of that name is owed to nobody now; NULL: it is not suppressed. */
const char *scope_suppresses(const char *event_name, bool *ret_discard);

/* scope_fill completes an event with what holds on this thread. Merged facts go to the arena. */
owed_status scope_fill(
    struct new_event *event, const owed *handle, struct arena *arena, owed_error *err);

#endif
