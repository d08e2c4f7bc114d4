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

/* A block. What it says is complete: what the blocks around it say is in it. */
struct owed_scope {
    struct owed_scope *outer;
    owed_attribution says;
    struct cause cause;
    struct arena arena; // of the texts that are its own
    bool is_engines;    // on the stack of whoever runs a receiver
};

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

/* scope_fill completes an event with what holds on this thread. Merged facts go to the arena. */
owed_status scope_fill(
    struct new_event *event, const owed *handle, struct arena *arena, owed_error *err);

#endif
