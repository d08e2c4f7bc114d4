/* SPDX-License-Identifier: MIT
 *
 * scope.h - what is said once of all events that are fired in a block: who, for what, and why.
 *
 * A block belongs to the thread that began it. Blocks nest, and end in the reverse order of their
 * beginning; what a receiver, or the function of owed_with_scope, leaves open is ended for it. owed_fire
 * and its kin take from the innermost block what their options do not say, and keep a copy.
 *
 * Every receiver runs in a block of its own, whose cause is the event that it is handed: what it fires has
 * that event as its causation_id, and where nothing else is said its correlation_id and its traceparent. An
 * INLINE receiver, and the function that names targets, run inside the fire, and so inside the caller's
 * blocks as well. All others see none of the thread that happens to run them: what a delivery comes to does
 * not depend on who delivers it.
 */
#ifndef OWED_SCOPE_H
#define OWED_SCOPE_H

#include <owed/error.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

OWED_BEGIN_DECLS

typedef struct owed_scope owed_scope;                   /* an open block */
typedef struct owed_captured_scope owed_captured_scope; /* a copy for another thread */

/* What a block says. Start from {0}; NULL and "" say nothing, and what the block around says holds. */
typedef struct owed_attribution {
    const char *actor_key; /* who does it, at most 255 bytes. Key and label are one: a block that
                                   names either takes neither from the block around it */
    const char
        *actor_label; /* how that one is called, at most 255 bytes; the key where none is given */
    const char
        *correlation_id; /* what it belongs to, at most 255 bytes. Where neither the blocks around
                                   nor the event that is being delivered have one, a new UUID is made */
    const char *facts;   /* a JSON object, at most 64 KiB and 1,000 keys with those of the blocks
                                   around: an inner key goes before an outer one of the same name */
    const char *traceparent; /* W3C Trace Context */
} owed_attribution;

/*
 * owed_scope_begin begins a block on this thread. Everything is copied.
 * INVALID: a text that is too long or no UTF-8, facts that are no JSON object, a malformed traceparent.
 *
 * owed_scope_end ends it, and what the block around it says holds again. NULL is fine.
 * INVALID: a block inside it is still open, or it is not open on this thread (it was ended before, or
 * began on another one); nothing is ended then.
 */
OWED_API OWED_MUSTUSE owed_status owed_scope_begin(
    const owed_attribution *attribution, owed_scope **ret_scope, owed_error *err);
OWED_API owed_status owed_scope_end(owed_scope *scope, owed_error *err);

/* What a block keeps from being owed. */
typedef struct owed_suppression {
    const char *reason;        /* needed, at most 255 bytes; it is kept with the events */
    const char *const *events; /* NULL-ended list of names; NULL: every event */
    bool discard;              /* what is fired is not even recorded */
} owed_suppression;

/*
 * owed_scope_begin_suppressed begins a block whose events are recorded with the reason and owed to nobody,
 * now or when they are replayed; no INLINE, ON_COMMIT or eager receiver runs for them. Of blocks inside one
 * another the innermost that means an event gives the reason; where one of them discards it, nothing is
 * written, and the fire is OWED_OK with the id 0. It is ended by owed_scope_end. What is checked of a fire
 * is checked all the same. INVALID: no reason, a text as above, a name that no event can have.
 */
OWED_API OWED_MUSTUSE owed_status owed_scope_begin_suppressed(
    const owed_suppression *suppression, owed_scope **ret_scope, owed_error *err);

/*
 * owed_with_scope calls function in a block, which is over when it returns, with all that function left
 * open in it. It returns what function returned, or why the block could not begin.
 */
typedef owed_status (*owed_scope_function)(void *state, owed_error *err);
OWED_API OWED_MUSTUSE owed_status owed_with_scope(const owed_attribution *attribution,
    owed_scope_function function, void *state, owed_error *err);

/* owed_with_suppression is the same with owed_scope_begin_suppressed. */
OWED_API OWED_MUSTUSE owed_status owed_with_suppression(const owed_suppression *suppression,
    owed_scope_function function, void *state, owed_error *err);

/* OWED_SCOPED owed_scope *scope = NULL; ends the block on every way out of the variable's own. */
static inline void
owed_scope_end_scoped(owed_scope **scope)
{
    (void)owed_scope_end(*scope, NULL);
}
#if defined(__GNUC__)
#define OWED_SCOPED __attribute__((cleanup(owed_scope_end_scoped)))
#endif

/* owed_scope_current fills in what holds on this thread now. Its texts are never NULL, facts is "{}" where
 * there are none, and all of it lives until the innermost block ends. */
OWED_API void owed_scope_current(owed_attribution *ret_attribution);

/*
 * owed_scope_begin_cause begins a block in which events are caused by event_id, for linking by hand what
 * came from elsewhere, such as a message that an event had sent. correlation_id and traceparent are that
 * event's, or NULL. INVALID: event_id is below 1, a text as above.
 *
 * owed_scope_cause returns the id of the event that is the cause of what is fired now; 0: none.
 */
OWED_API OWED_MUSTUSE owed_status owed_scope_begin_cause(int64_t event_id,
    const char *correlation_id, const char *traceparent, owed_scope **ret_scope, owed_error *err);
OWED_API int64_t owed_scope_cause(void);

/*
 * owed_scope_capture copies what holds on this thread, the cause and what is suppressed included. owed_scope_resume begins a
 * block with that copy on whatever thread calls it, in place of what holds there, and as often as it is
 * wanted, on several threads at once too. Free the copy once no resume will follow; blocks that are
 * open do not need it.
 */
OWED_API OWED_MUSTUSE owed_status owed_scope_capture(
    owed_captured_scope **ret_captured, owed_error *err);
OWED_API OWED_MUSTUSE owed_status owed_scope_resume(
    const owed_captured_scope *captured, owed_scope **ret_scope, owed_error *err);
OWED_API void owed_captured_scope_free(owed_captured_scope *captured);

OWED_END_DECLS

#endif
