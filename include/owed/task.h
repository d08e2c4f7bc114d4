/* SPDX-License-Identifier: MIT
 *
 * task.h - receivers that run at a task site: the way to a queue, and back from it.
 *
 * A receiver of OWED_SITE_TASK is not run by the relay that claims its delivery. The relay gives the
 * row its full lease, hands the delivery's id and the claim to the task backend, and goes on. Whoever
 * gets that message calls owed_take_and_deliver with what it says. The row is taken under the claim
 * before its receiver runs, so that a message that comes twice, or late, runs nothing; one that is
 * lost costs a lease. A queue says where a receiver runs, not when: modes, attempts and their ends are
 * the same.
 */
#ifndef OWED_TASK_H
#define OWED_TASK_H

#include <owed/owed.h>

OWED_BEGIN_DECLS

/*
 * A task backend. enqueue keeps the message for good before it answers OWED_OK: all three values,
 * claimed_by as the text it is. It is called on the relay's own thread (or, for eager receivers, on
 * the one that commits), in no transaction, and must leave none open; nothing else is handed on while
 * it runs. Anything but OWED_OK says that the message is not kept, with a sentence in err: no attempt
 * is spent, the row is failed with that sentence, and hand-offs rest for 1, 2, 4, 8, then 15 seconds.
 */
typedef struct owed_task_backend {
    owed_status (*enqueue)(void *state, int64_t delivery_id, const char *claimed_by,
        int64_t claimed_at_us, owed_error *err);
    void *state;
} owed_task_backend;

/*
 * owed_set_task_backend sets where this handle's relay, and its eager receivers, hand on, in place of
 * its registry's; NULL: that one again. backend is copied. Without any, rows of OWED_SITE_TASK are
 * never run here instead: they fail as above, for want of configuration, and all others go on; what is
 * eager is left to a relay.
 * owed_registry_set_task_backend sets it for every handle that is opened with this registry, as a
 * module does for owed relay. INVALID: no enqueue.
 */
OWED_API OWED_MUSTUSE owed_status owed_set_task_backend(
    owed *owed, const owed_task_backend *backend, owed_error *err);
OWED_API OWED_MUSTUSE owed_status owed_registry_set_task_backend(
    owed_registry *registry, const owed_task_backend *backend, owed_error *err);

/*
 * owed_take_and_deliver takes a row under the claim that a message carries, and runs its receiver
 * here, with all that goes with an attempt. The take is one update that commits by itself: it moves
 * the claim, under a full lease, so that of all who come with the same message one runs.
 *
 * *ret_status (may be NULL) is what the row was recorded as ("succeeded", "failed", "dead", or
 * "pending", not yet due), or NULL where nothing was: the claim is no longer held, there is no such
 * row, the claim is none at all, or the receiver is not declared here. The log has a warning then, the
 * call is OK, and the message has done its duty: drop it. So it has with any other status that is
 * OK. A failed receiver's row is handed on again when its wait is over: never let the queue retry.
 *
 * A deferral is recorded and pauses nothing. The lease is renewed as long as the receiver runs: for a
 * function by a thread of the library's, on a connection of its own that it opens once half of the lease
 * is spent.
 * INVALID: from inside a receiver, while a relay is at work on the handle, or in a transaction. BUSY,
 * UNAVAILABLE, UNSURE, STORE: the store failed; what was claimed comes back when its lease is over.
 */
OWED_API OWED_MUSTUSE owed_status owed_take_and_deliver(owed *owed, int64_t delivery_id,
    const char *claimed_by, int64_t claimed_at_us, const char **ret_status, owed_error *err);

OWED_END_DECLS

#endif
