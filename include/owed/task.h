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

/* What is handed on of a row. */
typedef struct owed_task_message {
    int64_t delivery_id;
    const char *claimed_by;
    int64_t claimed_at_us;
    bool is_kept; // for enqueue_many to say
} owed_task_message;

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
    // Optional: many at once, with one wait for them all. is_kept says it of each; where it is not of all, the
    // answer is why. What comes first of those that are not is failed as above, the others keep their place.
    owed_status (*enqueue_many)(
        void *state, owed_task_message *messages, size_t count, owed_error *err);
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

/*
 * A task queue on a broker: a Redis stream (redis://host:6379/0), a durable queue of RabbitMQ
 * (amqp://user@host/vhost), or a stream of NATS JetStream (nats://host:4222); amqps:// and tls:// are the same by TLS. What is handed on is one
 * small JSON object, kept by the broker until a worker is done with it. Each store and app needs a topic
 * of its own: a message that comes to the wrong worker is dropped, and its delivery comes back when the
 * lease is over.
 */
typedef struct owed_task_queue owed_task_queue;

typedef struct owed_task_queue_settings {
    const char *topic;            // name of the stream, queue or subject; NULL: owed.tasks
    const char *password_file;    // holds the broker's password, one line; NULL: none
    const char *ca_file;          // by TLS: the authorities that are trusted; NULL: the host's
    const char *credentials_file; // of NATS: a .creds file, or the seed of an NKey; NULL: none
    int64_t timeout_us;           // of any one wait for the broker's answer; 0: 5 seconds
} owed_task_queue_settings;

/*
 * owed_task_queue_open checks the words and connects to nothing yet: the first use does, and makes the
 * queue at the broker where there is none. settings may be NULL.
 * CONFIG: the URL or the topic is none, or brokers of its kind have no task queues.
 * owed_task_queue_close gives back what was taken and not done, and must come after the handle's that
 * hands on to it.
 */
OWED_API OWED_MUSTUSE owed_status owed_task_queue_open(const char *url,
    const owed_task_queue_settings *settings, owed_task_queue **ret_queue, owed_error *err);
OWED_API void owed_task_queue_close(owed_task_queue *queue);

/* owed_task_queue_backend is the queue as a task backend. enqueue waits for the broker's own
 * acknowledgement; UNAVAILABLE says that there was none. */
OWED_API owed_task_backend owed_task_queue_backend(owed_task_queue *queue);

typedef struct owed_task_worker_settings {
    // Of these: worker_id, "task" unless told, and all that an attempt goes by. once ends it when the queue
    // has given nothing for a second, or broker or store has failed five times; limit, after so many messages.
    const owed_relay_settings *relay;
    // Called between messages, and a few times a second while there are none; NULL: nothing is.
    void (*beat)(void *state, bool is_connected);
    void *beat_state;
} owed_task_worker_settings;

/*
 * owed_task_queue_run takes messages and delivers them with owed_take_and_deliver, until
 * owed_relay_stop(owed) asks it to stop: the delivery in hand is finished, and what was taken beyond it
 * goes back. A message is acknowledged once its delivery has ended here; one that is none of ours is
 * logged and dropped. A broker or a store that is away is waited for, 1, 2, 4, 8, then 15 seconds, and
 * what was in hand goes back to the queue. settings and ret_counts (what was recorded) may be NULL.
 * OK: it was stopped, or settings wanted no more. CONFIG: the broker's library or the password is not to be
 * had. What owed_take_and_deliver refuses for another reason than a store that failed ends it, too.
 */
OWED_API OWED_MUSTUSE owed_status owed_task_queue_run(owed_task_queue *queue, owed *owed,
    const owed_task_worker_settings *settings, owed_relay_counts *ret_counts, owed_error *err);

OWED_END_DECLS

#endif
