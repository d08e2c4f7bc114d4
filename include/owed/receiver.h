/* SPDX-License-Identifier: MIT
 *
 * receiver.h - receivers, the delivery they are handed, and what an attempt can come to.
 */
#ifndef OWED_RECEIVER_H
#define OWED_RECEIVER_H

#include <owed/event.h>

OWED_BEGIN_DECLS

typedef struct owed owed;                   /* a handle, see owed.h */
typedef struct owed_delivery owed_delivery; /* one attempt, valid while the receiver runs */
typedef struct owed_registry owed_registry; /* what an application declares */
typedef struct owed_tx owed_tx;             /* an open transaction, see owed.h */

#define OWED_SECONDS(n) ((int64_t)(n)*1000000)
#define OWED_MINUTES(n) (OWED_SECONDS(n) * 60)
#define OWED_HOURS(n) (OWED_MINUTES(n) * 60)

/* When a receiver runs, and what it is promised. */
typedef enum owed_mode {
    OWED_DURABLE = 0, /* a row, at least once, retried, dead-lettered; run by a relay */
    OWED_ON_COMMIT,   /* after the commit, in the firing process, best effort, no row */
    OWED_INLINE       /* inside the firing transaction; anything but done makes its commit fail */
} owed_mode;

/* Where a durable receiver runs. It changes neither when nor what it is promised. */
typedef enum owed_site {
    OWED_SITE_RELAY = 0, /* in the relay that claimed the delivery */
    OWED_SITE_TASK       /* where a task backend brings it: see task.h */
} owed_site;

/* What a relay leaves alone after a deferral: it starts nothing there for as long as was asked, gives
 * back what it has claimed, and then tries one row at a time until one comes to anything else. */
typedef enum owed_pause {
    OWED_PAUSE_LANE = 0, /* the receiver's lane */
    OWED_PAUSE_TARGET    /* the delivery's target alone */
} owed_pause;

/* What one attempt came to: made by the functions below, never by hand. */
typedef enum owed_verdict {
    OWED_VERDICT_DONE = 1,
    OWED_VERDICT_FAILED,
    OWED_VERDICT_PERMANENT,
    OWED_VERDICT_RETRY_AFTER,
    OWED_VERDICT_DEFER,
    OWED_VERDICT_NOT_YET
} owed_verdict;

typedef struct owed_outcome {
    owed_verdict verdict;
    int64_t wait_us;  /* RETRY_AFTER, DEFER */
    int64_t until_us; /* NOT_YET */
} owed_outcome;

/* owed_done: the receiver did its work. */
OWED_API owed_outcome owed_done(void);

/*
 * owed_failed: it did not work this time. The attempt counts; the row is tried again on the
 * receiver's curve until its attempts are used up, then it is dead. The text, cut to the setting
 * error-length, becomes last_error.
 */
OWED_API owed_outcome owed_failed(owed_delivery *delivery, const char *format, ...)
    OWED_PRINTF(2, 3);

/* owed_permanent: it will never work. The row is dead at once, whatever attempts are left. */
OWED_API owed_outcome owed_permanent(owed_delivery *delivery, const char *format, ...)
    OWED_PRINTF(2, 3);

/*
 * owed_retry_after: the destination said when to come back. The attempt counts; the next one is
 * due in seconds (0 allowed; more than max-retry-delay is cut, with a warning), without jitter.
 * A negative or NaN wait is an ordinary failure that says so.
 */
OWED_API owed_outcome owed_retry_after(
    owed_delivery *delivery, double seconds, const char *format, ...) OWED_PRINTF(3, 4);

/*
 * owed_defer: the destination is busy or a quota is spent, which is no failure of this delivery. No
 * attempt is spent; the next one is due in between seconds and twice that, so that rows deferred
 * together do not come back together, but in max-retry-delay at the latest. Once the delivery has
 * been owed for the receiver's give_up_after_us it is dead instead; a receiver that declares none
 * has its deferrals counted as owed_retry_after, with a warning once per process. For as long as was
 * asked (max-retry-delay at most) the relay starts nothing more in the receiver's lane: see owed_pause.
 * A wait of 0, a negative or a NaN one is an ordinary failure that says so.
 */
OWED_API owed_outcome owed_defer(owed_delivery *delivery, double seconds, const char *format, ...)
    OWED_PRINTF(3, 4);

/*
 * owed_not_yet: the work is not due until until_us, as the application itself knows. The row is
 * pending again and due then; no attempt is spent, nothing is cut or jittered, last_error stays.
 * A moment that is not in the future is an ordinary failure that says so.
 */
OWED_API owed_outcome owed_not_yet(
    owed_delivery *delivery, int64_t until_us, const char *format, ...) OWED_PRINTF(3, 4);

/* The facts of a delivery, all read from its rows. Strings live while the receiver runs; those
 * that may be absent are "" then. For INLINE and ON_COMMIT the delivery's id is 0. */
OWED_API int64_t owed_delivery_id(const owed_delivery *delivery);
OWED_API int64_t owed_delivery_event_id(const owed_delivery *delivery);
OWED_API const char *owed_delivery_event_name(const owed_delivery *delivery);
OWED_API int32_t owed_delivery_event_version(const owed_delivery *delivery);
OWED_API const char *owed_delivery_receiver_key(const owed_delivery *delivery);
OWED_API const char *owed_delivery_target(const owed_delivery *delivery);
OWED_API int32_t owed_delivery_attempt(const owed_delivery *delivery); /* from 1 */
OWED_API int64_t owed_delivery_due_at_us(const owed_delivery *delivery);
OWED_API int64_t owed_delivery_occurred_at_us(const owed_delivery *delivery);
OWED_API const char *owed_delivery_actor_key(const owed_delivery *delivery);
OWED_API const char *owed_delivery_actor_label(const owed_delivery *delivery);
OWED_API const char *owed_delivery_scope(const owed_delivery *delivery); /* a JSON object */
OWED_API const char *owed_delivery_correlation_id(const owed_delivery *delivery);
OWED_API const char *owed_delivery_traceparent(const owed_delivery *delivery);

/* "owed_" and 32 hex digits: the same for every attempt, made of the event's uid, the receiver's
 * key and the target. Give it to whatever can drop duplicates. */
OWED_API const char *owed_delivery_idempotency_key(const owed_delivery *delivery);

/* The payload as it was fired, byte for byte. */
OWED_API owed_bytes owed_delivery_payload(const owed_delivery *delivery);

/*
 * owed_delivery_lost tells whether the row is known to be somebody else's by now: its lease was over
 * and it was taken. Nothing that this attempt does will be recorded then, and the other one runs.
 * Under owed relay, and in a task, a lease is renewed as long as the receiver runs, so that this happens only to a
 * relay that was cut off from its store or stood still; a long receiver may ask now and then. Of a
 * delivery that start was handed it tells whether anybody still waits for it.
 */
OWED_API bool owed_delivery_lost(const owed_delivery *delivery);

/* The pointer that the receiver was declared with. */
OWED_API void *owed_delivery_state(const owed_delivery *delivery);

/*
 * owed_delivery_tx returns the transaction that carries the acknowledgement (INLINE: the caller's),
 * for firing further events; what the receiver writes or fires is kept only if it returns done.
 * The first call, or the first of a store's own (owed_delivery_sqlite), begins it: a receiver that
 * never asks holds none. NULL for OWED_ON_COMMIT, for an outside receiver, and when the
 * transaction could not begin: return owed_failed then, and the real reason is recorded.
 * It must not be ended: a receiver that commits it or rolls it back has failed.
 */
OWED_API owed_tx *owed_delivery_tx(owed_delivery *delivery);

/*
 * A receiver in C. payload is the decoded struct of the event's type (opaque types: a
 * const owed_bytes *), valid during the call. A receiver needs no thread safety; one that crashes
 * under owed relay has failed an attempt.
 */
typedef owed_outcome (*owed_run)(owed_delivery *delivery, const void *payload);

/*
 * A receiver that only starts its work, many at once: start returns at once, on the relay's own
 * thread and in no transaction; owed_finish says later, from any thread, what the attempt came to.
 * payload, and the delivery with its facts, are the receiver's until it calls owed_delivery_release,
 * once and last: from the thread that finishes, as a rule. Only one thread at a time may use a
 * delivery, but for the four functions below, which may be called from several.
 *
 * The lease is renewed as long as the attempt is in flight and the relay lives. Past its timeout_us
 * it has failed; a relay that stops waits for it that long, or for one lease where there is no
 * timeout, and then it has failed, too. So has what is released unfinished.
 */
typedef void (*owed_start)(owed_delivery *delivery, const void *payload);

/*
 * owed_finish hands the outcome to the relay, which records it.
 * INVALID: it was finished before, or is no delivery of a start function. LOST: nobody waits for it
 * any more, since its time or its lease was over or the relay ended. What is said then (owed_failed
 * and the like) changes nothing.
 */
OWED_API OWED_MUSTUSE owed_status owed_finish(
    owed_delivery *delivery, owed_outcome outcome, owed_error *err);

/*
 * owed_finish_with has the relay call function on its own thread, with the delivery in a state in
 * which owed_delivery_tx gives the transaction that carries the acknowledgement; what function
 * returns is what the attempt came to. It may be called again where that transaction could not be
 * committed, and not at all where the relay ends first: state must outlive the relay. The statuses
 * are those of owed_finish.
 */
typedef owed_outcome (*owed_finish_function)(owed_delivery *delivery, void *state);
OWED_API OWED_MUSTUSE owed_status owed_finish_with(
    owed_delivery *delivery, owed_finish_function function, void *state, owed_error *err);

/* owed_delivery_release gives back what start was handed. One that was not finished has failed. */
OWED_API void owed_delivery_release(owed_delivery *delivery);

/* What is known of a failed attempt, by the time it has been recorded. Absent strings are "". */
typedef struct owed_failure {
    int64_t delivery_id;
    int64_t event_id;
    const char *event_name;
    const char *receiver_key;
    const char *target;
    int32_t attempt;
    const char *status; /* what the row is now: "failed" or "dead" */
    const char *kind;   /* why: "failed", "permanent", "retry_after", "deferred", "gave_up",
                           "died", "hook" */
    const char *error;  /* last_error, as it is stored */
} owed_failure;

/*
 * A receiver's on_failure is told of each failed attempt of its deliveries, once the record is
 * committed, in no transaction: what it writes is kept, where a receiver's own writes were rolled
 * back. It is told of failed and of dead rows, of crashes too; not of a payload that cannot be
 * decoded, of an orphaned row, nor by a worker that had lost the row. What goes wrong in it changes
 * nothing; a transaction that it leaves open is rolled back. A relay that ends between the record
 * and the call does not make up for it. handle is in no transaction, failure lives during the call,
 * and state is the receiver's.
 */
typedef void (*owed_on_failure)(owed *handle, const owed_failure *failure, void *state);

/*
 * A hook around each attempt of a durable delivery, wherever it runs: for a log context, tracing, a
 * tenant. It is read at each delivery.
 *
 * enter is called once the payload is decoded, before the receiver and outside the transaction that
 * carries the acknowledgement. Where it does not return owed_done, the receiver does not run, and
 * the attempt came to what it returned: owed_failed counts and is recorded as "hook", the others
 * keep their meaning. What it leaves in ret_attempt_state comes back in leave.
 *
 * leave (may be NULL) is called once for each attempt that was entered, after its outcome was
 * recorded: with the outcome, which it cannot change, and its text. For one that could not be
 * recorded, since the row was lost or the store was away, it is told of a failure that says so.
 * What it returns is logged at level error where it is not OWED_OK, with the text in err.
 *
 * The failure's log line and on_failure come before leave. Neither function may leave a transaction
 * open: it is rolled back, and the attempt has failed, or, in leave, it is logged. What they write
 * in transactions of their own does not go with the receiver's work. Never wrapped: INLINE and
 * ON_COMMIT receivers, and rows that do not reach their receiver; one at a task site is wrapped where it
 * runs, not where it is handed on. With a hook no two receivers share
 * a transaction. Both run on the relay's own thread.
 */
typedef struct owed_around {
    owed_outcome (*enter)(owed_delivery *delivery, void *state, void **ret_attempt_state);
    owed_status (*leave)(owed_delivery *delivery, owed_outcome outcome, const char *text,
        void *attempt_state, void *state, owed_error *err);
    void *state;
} owed_around;

/*
 * owed_delivery_note adds a pair to the log lines about this attempt; the same key again takes the
 * place of the first. 16 pairs are kept, values are cut to 200 bytes, and what is no letter, digit,
 * "_", "." or "-" in a key becomes "_".
 */
OWED_API void owed_delivery_note(owed_delivery *delivery, const char *key, const char *value);

/*
 * A receiver with targets is owed one delivery for each of them, with attempts, waits and an end of
 * its own; it reads which one it has with owed_delivery_target. The function names them when the
 * event is fired: in the firing process, inside the transaction that fires, which
 * owed_delivery_tx gives it to look things up, and with the facts of the event (attempt 1, no
 * target). Targets are texts of UTF-8, up to 64 KiB long, up to 10,000 for one event; the same one again
 * is dropped; none at all owes nothing. Anything but OWED_OK, or a target that was refused, fails
 * the fire, whose transaction can then only be rolled back.
 *
 * An event fired where the function is not at hand, in SQL or by another application, owes one row of
 * kind "expand" meanwhile. The first relay that has the function calls it, in the transaction that puts
 * the targets in the place of that row; what fails there is an ordinary failed attempt of it. What was
 * owed before a receiver had targets is delivered as it is, with the target "".
 */
typedef struct owed_target_list owed_target_list;
typedef owed_status (*owed_targets)(
    owed_delivery *delivery, const void *payload, owed_target_list *list, owed_error *err);

/* owed_target_add copies target. INVALID: NULL, empty, not UTF-8. LIMIT: too long, too many. */
OWED_API owed_status owed_target_add(owed_target_list *list, const char *target, owed_error *err);

/*
 * A receiver that is eager saves the way to a relay. Once owed_commit or owed_committed has committed,
 * and before it returns, the firing process attempts what it fired for its own eager receivers, once:
 * under a claim of its own ("eager.", a number), outside any relay's lanes, with all that goes with
 * an attempt. What is due later is left alone, and so is what somebody else claimed first. Whatever
 * this attempt does not finish, be it that it failed or that the process died, is owed to a relay
 * like any other delivery; the commit is OK all the same. What is fired while a relay or an eager
 * attempt of the same handle runs is not attempted eagerly, nor what was fired in SQL.
 */

/*
 * A receiver that is database_only may share a transaction with its neighbours. Where that is undone, since
 * one of them failed or met a lock, each of them is called again, in the same attempt: nothing is left
 * of what it wrote and fired before, and nothing is counted or reported for it.
 */

/* Where 0 or NULL stands, nothing is declared and the relay's setting holds. Negative: refused. */
typedef struct owed_receiver {
    const char *key;              /* "app.name", unique; at most 255 bytes of [A-Za-z0-9_.-] */
    const owed_event_type *event; /* or: */
    const char *event_name;       /* the name alone, payload opaque; "*" for any event */
    owed_mode mode;

    /* Exactly one of these. All but run are outside receivers by nature. */
    owed_run run;
    owed_start start;
    const char
        *webhook;     /* URL, http or https: POST of the payload, signed when there is a secret */
    const char *exec; /* absolute path of a program */
    const char *file; /* path of a file: one JSON line is appended for each delivery */
    bool discard;     /* takes everything, does nothing: for tests and benchmarks */

    const char *secret;      /* webhook: "whsec_..." or base64 of 24 to 64 bytes; or: */
    const char *secret_file; /* a file that holds it */

    void *state;          /* handed to run by owed_delivery_state */
    const char *lane;     /* "default"; [a-z0-9_.-]{1,64}. Below here: OWED_DURABLE only */
    bool outside;         /* run: holds no transaction while it runs */
    bool database_only;   /* run: touches this database and nothing else; see below */
    int32_t max_attempts; /* 0: 5; copied to what is owed when an event is fired */
    int64_t backoff_base_us;
    int64_t backoff_cap_us; /* not below the base, where both are declared */
    int64_t lease_us;       /* how long a row is held without a sign of life; see owed_relay_run */
    int64_t timeout_us;     /* of one attempt; past it the attempt has failed */
    int64_t due_us;         /* how long after the event, or after the moment it was fired for */
    int64_t give_up_after_us; /* deferrals end that long after the delivery became due: then it is
                                 dead. Needed for owed_defer not to spend attempts; publish: 7 days
                                 unless told */
    owed_pause pause;         /* OWED_PAUSE_TARGET: only with targets; publish: itself alone */
    owed_on_failure on_failure;
    bool eager; /* run: attempted once as soon as the commit has succeeded, by the process that
                   fired; see below */
    owed_targets targets; /* NULL: one delivery for each event, without a target */
    owed_site site;       /* OWED_SITE_TASK: not with start, nor run with a timeout, which nobody
                             enforces there; eager: handed on as soon as the commit has succeeded */
    const char *pipe;     /* one of those above: a program that stays, and its arguments with blanks
                             between them; it is given deliveries as lines of JSON */
    int32_t in_flight;    /* so many before the first is answered; 0: 16 of pipe, 500 of publish */
    const char *publish;  /* one of those above: the URL of a broker, redis://, amqp://, nats:// or
                             kafka:// */
    const char *topic;    /* publish: stream, routing key or subject; NULL: the event's name */
    const char *exchange; /* publish to amqp: NULL is the one whose routing keys are queues */
    const char *password_file; /* publish: a file with the broker's password */
    const char *ca_file; /* publish by TLS (amqps://, tls://): a file with the authorities that are
                            trusted; NULL: the host's */
    const char *credentials_file; /* publish to NATS: a .creds file, or the seed of the NKey that is
                                     the URL's user */
    const struct owed_endpoint_settings
        *endpoints; /* one of those above: POST to every endpoint that
 has subscribed; see endpoint.h */
} owed_receiver;

/*
 * owed_registry_new makes an empty registry for an application; app matches [a-z0-9_.-]{1,64}.
 * A registry is written before the handle is opened and only read after. Free it after the handle.
 */
OWED_API OWED_MUSTUSE owed_status owed_registry_new(
    const char *app, owed_registry **ret_registry, owed_error *err);
OWED_API void owed_registry_free(owed_registry *registry);
OWED_API const char *owed_registry_app(const owed_registry *registry);

/*
 * owed_declare_event adds a type. The descriptor must outlive the registry.
 * CONFIG: a bad name, version, field or fallback; another type of that name. The same again is fine.
 */
OWED_API OWED_MUSTUSE owed_status owed_declare_event(
    owed_registry *registry, const owed_event_type *type, owed_error *err);

/*
 * owed_declare_receiver adds a receiver, and its event's type where that is new. Everything is
 * copied but event, run, start, on_failure, targets and state, which must outlive the registry.
 * CONFIG: whatever is contradictory, out of range, or only for durable receivers; a second
 * receiver under the key. The same declaration again is fine.
 */
OWED_API OWED_MUSTUSE owed_status owed_declare_receiver_sized(
    owed_registry *registry, const owed_receiver *receiver, size_t size, owed_error *err);

/* size is that of the struct as the caller was compiled with it: a module of an older release has
 * not declared what came later, and one of a newer release is refused (CONFIG). */
static inline OWED_MUSTUSE owed_status
owed_declare_receiver(owed_registry *registry, const owed_receiver *receiver, owed_error *err)
{
    return owed_declare_receiver_sized(registry, receiver, sizeof *receiver, err);
}

/* owed_registry_set_around sets the hook for every handle that is opened with this registry, as a
 * module does for owed relay; owed_set_around goes before it. NULL: none. around is copied.
 * INVALID: no enter. */
OWED_API OWED_MUSTUSE owed_status owed_registry_set_around(
    owed_registry *registry, const owed_around *around, owed_error *err);

/* The one symbol of a module for owed relay --module. It declares on the program's registry. */
typedef owed_status (*owed_module_init_function)(owed_registry *registry, owed_error *err);
#define OWED_MODULE_INIT "owed_module_init"

OWED_END_DECLS

#endif
