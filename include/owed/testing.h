/* SPDX-License-Identifier: MIT
 *
 * testing.h - for the tests of an application: deliver what is owed now, and read back what was fired.
 *
 * These calls claim, decode, run and acknowledge as a relay does, on the calling thread, and return. All
 * of them also work while a transaction is open on the handle, begun by owed_begin or joined: then
 * what a receiver does stands in a savepoint of that transaction and nothing is ever committed, so a test
 * can roll everything back at its end. What runs outside any transaction (webhooks, programs, files,
 * receivers declared outside), or at a task site, is left then, with a line in the log; ON_COMMIT receivers of what a
 * receiver fires run after the transaction's own commit.
 *
 * Not from inside a receiver, and not while a relay is at work on the handle: INVALID. A receiver's
 * timeout is not enforced here.
 */
#ifndef OWED_TESTING_H
#define OWED_TESTING_H

#include <owed/owed.h>
#include <owed/task.h>

OWED_BEGIN_DECLS

/* Start from {0}. */
typedef struct owed_pending_settings {
    int64_t limit; /* one claim, of at most so many rows (10000); 0: claim after claim, until one
                            comes back empty */
    int32_t batch_size;  /* 50: rows of one claim; not together with limit */
    const char *lane;    /* that one alone; NULL: every lane of the app */
    bool ignore_backoff; /* failed rows too, whatever they wait for; what is due later is left */
    int64_t now_us;      /* for the claims alone: what is due by then; 0: the handle's clock */
} owed_pending_settings;

/*
 * owed_deliver_pending delivers what is owed, once or until nothing is left. After a deferral its lane
 * (or target, where the receiver says so) is set aside for the rest of the call: what had not begun is
 * handed back, the others go on. A delivery that was deferred, or says it is not yet due, is left for the
 * rest of the call. So the call ends, whatever receivers say. settings and ret_counts may be NULL.
 * INVALID: limit with batch_size, a number out of range, an unknown lane (the known ones are named).
 * ABORTED: the transaction that was open is over, or can only be rolled back.
 */
OWED_API OWED_MUSTUSE owed_status owed_deliver_pending(owed *owed,
    const owed_pending_settings *settings, owed_relay_counts *ret_counts, owed_error *err);

/*
 * owed_drain delivers all that is owed, of every lane, and does not wait for retries: a receiver that
 * always fails is driven to its dead letter in one call. A delivery is never run before it is due; now_us
 * (0: the handle's clock) moves that moment, for the claims alone: receivers see the handle's clock.
 */
OWED_API OWED_MUSTUSE owed_status owed_drain(
    owed *owed, int64_t now_us, owed_relay_counts *ret_counts, owed_error *err);

/*
 * owed_deliver_one delivers one row. *ret_status (may be NULL) is what it was recorded as: "succeeded",
 * "failed", "dead", "pending" (not yet due), or NULL: nothing was recorded, or the row is gone, since its
 * targets took its place; the log says which. A row
 * that has ended, is not due, waits for its retry, or is held by somebody else is left alone. It is run
 * here, whatever its site.
 * A deferral is recorded and pauses nothing. NOT_FOUND: there is no such row.
 */
OWED_API OWED_MUSTUSE owed_status owed_deliver_one(
    owed *owed, int64_t delivery_id, const char **ret_status, owed_error *err);

/* One event, as it was fired. */
typedef struct owed_fired_event {
    int64_t id;
    int32_t version;
    const void *payload; /* the struct of its type; opaque types: a const owed_bytes * */
    owed_bytes json;     /* the text itself */
} owed_fired_event;

typedef struct owed_fired_list {
    size_t count;
    const owed_fired_event *events; /* in the order in which they were fired */
} owed_fired_list;

/*
 * owed_fired reads from the log the events of a type, decoded; in an open transaction also those that it
 * has fired. Free the list with owed_fired_free.
 * NOT_FOUND: the type was not declared in the handle's registry. INVALID: an event that cannot be
 * decoded.
 */
OWED_API OWED_MUSTUSE owed_status owed_fired(
    owed *owed, const owed_event_type *type, owed_fired_list **ret_list, owed_error *err);
OWED_API void owed_fired_free(owed_fired_list *list);

/*
 * A task backend that keeps what it is handed in this process. Set owed_test_queue_backend of it on the
 * handle, deliver what is owed (a drain hands on what is for a task site), and then either run what was
 * handed on, or take single messages with owed_take_and_deliver: twice, late, or not at all, as a queue
 * may. It must outlive the handle.
 */
typedef struct owed_test_queue owed_test_queue;
typedef struct owed_test_message {
    int64_t delivery_id;
    const char *claimed_by; /* lives as long as the queue */
    int64_t claimed_at_us;
} owed_test_message;

OWED_API OWED_MUSTUSE owed_status owed_test_queue_new(owed_test_queue **ret_queue, owed_error *err);
OWED_API void owed_test_queue_free(owed_test_queue *queue);
OWED_API owed_task_backend owed_test_queue_backend(owed_test_queue *queue);

/* owed_test_queue_count counts the messages that nobody has run; owed_test_queue_message gives one of
 * them, the first being 0, or NULL where there are not as many. */
OWED_API size_t owed_test_queue_count(const owed_test_queue *queue);
OWED_API const owed_test_message *owed_test_queue_message(
    const owed_test_queue *queue, size_t place);

/* owed_test_queue_refuse has it refuse what it is handed from now on, for that reason, as a queue that
 * is away would; NULL: it takes everything again. */
OWED_API void owed_test_queue_refuse(owed_test_queue *queue, const char *why);

/*
 * owed_test_queue_run takes and delivers every message, first come first served, and forgets it.
 * ret_counts (may be NULL) says how those ended that were recorded. What owed_take_and_deliver refuses
 * ends it, with its status; the message stays.
 */
OWED_API OWED_MUSTUSE owed_status owed_test_queue_run(
    owed_test_queue *queue, owed *owed, owed_relay_counts *ret_counts, owed_error *err);

OWED_END_DECLS

#endif
