/* SPDX-License-Identifier: MIT
 *
 * owed.h - the handle, transactions, firing events, and the relay in your own process.
 */
#ifndef OWED_OWED_H
#define OWED_OWED_H

#include <owed/error.h>
#include <owed/event.h>
#include <owed/receiver.h>
#include <owed/scope.h>

OWED_BEGIN_DECLS

/* Times are microseconds since 1970-01-01 UTC. NULL functions: the system's clock. */
typedef struct owed_clock {
    int64_t (*now_us)(void *state);
    int64_t (*monotonic_us)(void *state); /* never goes back; its start means nothing */
    void *state;
} owed_clock;

/* 64 random bits a call. NULL: the system's generator, seeded by the kernel. */
typedef struct owed_dice {
    uint64_t (*next)(void *state);
    void *state;
} owed_dice;

typedef enum owed_log_level {
    OWED_LOG_DEBUG,
    OWED_LOG_INFO,
    OWED_LOG_WARNING,
    OWED_LOG_ERROR
} owed_log_level;

/* Called with one line, without a line end, as the setting log-format has it. */
typedef void (*owed_log_function)(void *state, owed_log_level level, const char *line);

/* Start from {0}: zero means the default everywhere. Borrowed for the call, but registry. */
typedef struct owed_settings {
    const char *url;               /* "sqlite:shop.db" */
    const owed_registry *registry; /* outlives the handle; NULL: declares nothing */
    int64_t release;               /* grows with every deployment; an older one never removes what
                                      a newer one declared. 0: the registry's app is published
                                      without removing anything */
    bool no_publish;               /* do not write the declarations to the catalogue at open */
    int64_t busy_timeout_us;       /* 5 s: how long a writer waits for another */
    owed_clock clock;
    owed_dice dice;
    owed_log_function log; /* NULL: nothing is logged */
    void *log_state;
} owed_settings;

/*
 * owed_open connects to a store whose tables exist (owed init), and publishes the registry to the
 * catalogue. CONFIG: a bad URL. UNAVAILABLE: no such file or server. SCHEMA: no tables, or of
 * another version. BUSY, STORE.
 */
OWED_API OWED_MUSTUSE owed_status owed_open(
    const owed_settings *settings, owed **ret_owed, owed_error *err);
OWED_API void owed_close(owed *owed);

/* owed_init makes the tables of a new store, or brings them up to date. What it did not need to do
 * it leaves alone. The same statuses as owed_open. */
OWED_API OWED_MUSTUSE owed_status owed_init(const char *url, owed_error *err);

/*
 * owed_begin opens a transaction on the handle's connection (SQLite: BEGIN IMMEDIATE). One at a
 * time: INVALID while another is open. BUSY, UNAVAILABLE, STORE.
 * owed_commit ends it and frees tx, whatever it returns but INVALID: that says that tx is not one of
 * owed_begin's, and leaves it alone. VETOED: an inline receiver was not done. ABORTED: a fire broke
 * off half way, or somebody else ended the transaction. After both, and BUSY, nothing was kept.
 * UNSURE: the connection was lost while the answer was awaited. After OK eager receivers were
 * attempted, relays have been woken, and the ON_COMMIT receivers of what was fired have run, each for
 * itself.
 * owed_rollback undoes it and frees tx.
 */
OWED_API OWED_MUSTUSE owed_status owed_begin(owed *owed, owed_tx **ret_tx, owed_error *err);
OWED_API OWED_MUSTUSE owed_status owed_commit(owed_tx *tx, owed_error *err);
OWED_API void owed_rollback(owed_tx *tx);

/*
 * owed_committed ends what a store's join function (owed_join_sqlite) began: call it after your own
 * COMMIT succeeded. Eager and ON_COMMIT receivers run for what is really there, relays are
 * woken, tx is freed. INVALID: the transaction is still open, or was not joined; tx stays. After your own ROLLBACK
 * call owed_rollback, which touches nothing of yours.
 */
OWED_API OWED_MUSTUSE owed_status owed_committed(owed_tx *tx, owed_error *err);

/* What may be said of one event. Start from {0}. */
typedef struct owed_fire_options {
    const char *dedupe_key;     /* at most 255 bytes; unique over all events that are kept */
    int64_t due_at_us;          /* not before this moment; 0: at once */
    int64_t occurred_at_us;     /* when it happened; 0: now */
    const char *actor_key;      /* who did it, at most 255 bytes */
    const char *actor_label;    /* how that one is called, at most 255 bytes */
    const char *correlation_id; /* at most 255 bytes */
    int64_t causation_id;       /* id of the event that led to this one */
    const char *traceparent;    /* W3C Trace Context */
    const char *scope;          /* a JSON object */
} owed_fire_options;

/*
 * owed_fire writes an event and what is owed for it, inside tx: it exists if and only if tx
 * commits. Inline receivers run at once. options and ret_id may be NULL.
 *
 * INVALID: an option out of range. NOT_FOUND: the type was not declared in the handle's registry.
 * CONFIG: a value that the codec cannot write, naming event, field and reason. LIMIT: a payload
 * over 16 MiB. DUPLICATE: the dedupe key is taken; *ret_id is the existing event, nothing was
 * written, the transaction goes on. VETOED: an inline receiver was not done; tx can only be rolled
 * back. BUSY, UNAVAILABLE, STORE: nothing was written and the transaction goes on, or, where that
 * could not be had, it can only be rolled back: the next fire and the commit say ABORTED.
 *
 * On servers the first event of a transaction may be sent together with its commit, or with whatever is done in it
 * before that: where ret_id is NULL, there is no dedupe key, nothing of this process runs for it, and the handle's
 * connection was never lent (owed_tx_postgres, owed_tx_mariadb). What the server refuses is then said by owed_commit
 * (ABORTED, BUSY or UNAVAILABLE), or by what was done before that, and nothing was kept. Give ret_id to be told at
 * once.
 */
OWED_API OWED_MUSTUSE owed_status owed_fire(owed_tx *tx, const owed_event_type *type,
    const void *payload, const owed_fire_options *options, int64_t *ret_id, owed_error *err);

/*
 * owed_fire_many fires count payloads of one type that lie stride bytes apart; options is NULL or
 * an array of count. ret_ids is NULL or takes count ids. The first refusal ends it: what came
 * before is written, *ret_fired (may be NULL) says how many. DUPLICATE is no refusal here: the
 * existing id is taken and the run goes on. Several are written at once: where PostgreSQL refuses one,
 * the transaction can only be rolled back, and *ret_fired says how many were written before those.
 */
OWED_API OWED_MUSTUSE owed_status owed_fire_many(owed_tx *tx, const owed_event_type *type,
    const void *payloads, size_t stride, size_t count, const owed_fire_options *options,
    int64_t *ret_ids, size_t *ret_fired, owed_error *err);

/*
 * owed_fire_json fires JSON text as it stands, byte for byte: valid UTF-8, RFC 8259, at most 16 MiB
 * and 512 levels deep (INVALID names the position). version 0 reads as the declared one, else 1.
 * A name that nobody declared is recorded and owed to whoever the catalogue names.
 */
OWED_API OWED_MUSTUSE owed_status owed_fire_json(owed_tx *tx, const char *name, int32_t version,
    const void *json, size_t json_len, const owed_fire_options *options, int64_t *ret_id,
    owed_error *err);

/* owed_set_around sets the hook around each attempt that this handle makes, in place of the one of
 * its registry; NULL: that one again. It may be called at any time. around is copied.
 * INVALID: no enter. */
OWED_API OWED_MUSTUSE owed_status owed_set_around(
    owed *owed, const owed_around *around, owed_error *err);

/* Settings of a relay. Start from {0}: zero means the default. */
typedef struct owed_relay_settings {
    const char *worker_id; /* "<host>-<pid>"; at most 128 bytes of ASCII, no blanks */
    const char *const *
        lanes; /* NULL-ended list of lanes, side lanes of replays ("+name") too; NULL: "default" alone */
    bool all_lanes;
    bool once;               /* end when a claim comes back empty and nothing is in flight */
    int64_t limit;           /* attempt at most so many rows, each at most once, and end */
    int32_t batch_size;      /* 50, and up to 500 while quick ones wait; set, it is kept to */
    int64_t passes;          /* end after so many claims */
    int64_t lease_us;        /* 5 min */
    int64_t poll_us;         /* 1 s: how long an idle relay waits at most, jittered, growing to 15 s
                            while wake-ups are seen to arrive */
    int64_t backoff_base_us; /* 2 s */
    int64_t backoff_cap_us;  /* 1 h */
    int64_t max_retry_delay_us; /* 1 d: ceiling of owed_retry_after */
    int32_t max_attempts;       /* 5 */
    int64_t orphan_grace_us;    /* 10 min; -1: none */
    int32_t max_losses;         /* 10; -1: no limit */
    int32_t error_length;       /* 2000 bytes */
    int32_t in_flight;          /* 200 requests at once, and so many of each start function */
    int32_t exec_in_flight;     /* 16 programs at once */
    int64_t prune_us; /* 60 s: how often events that nobody needs any more are deleted; -1: never */
    int64_t retention_us; /* 90 d: after it they are, unless their type says another time */
} owed_relay_settings;

/* How many attempts ended how. */
typedef struct owed_relay_counts {
    int64_t succeeded;
    int64_t failed;
    int64_t dead;
    int64_t orphaned;
    int64_t handed_back;
    int64_t handed_on; /* to a task site, which counts how their attempts end */
    /* Of a relay that ended by itself: */
    int64_t
        put_off; /* not attempted, and due later: their destination had no room, or their time had not come */
    int64_t
        next_due_us; /* when the next delivery that it serves is due; 0: nothing is owed there */
} owed_relay_counts;

/*
 * owed_relay_run delivers, on the calling thread, until once, limit or passes are reached, or
 * owed_relay_stop was called. One worker, no supervisor: a receiver that crashes takes the process
 * with it, and its row comes back when its lease lapses. Under owed relay another worker renews the
 * lease of what runs for long; here nobody does, so declare a lease that is longer than the receiver
 * runs: the row may be taken after it, and the result discarded. ret_counts may be NULL.
 * INVALID: contradictory settings, an unknown lane (the known ones are named).
 */
OWED_API OWED_MUSTUSE owed_status owed_relay_run(owed *owed, const owed_relay_settings *settings,
    owed_relay_counts *ret_counts, owed_error *err);

/* owed_relay_stop asks a relay of this handle to finish the delivery in hand, hand back the rest
 * and return. May be called from a signal handler or another thread. */
OWED_API void owed_relay_stop(owed *owed);

OWED_END_DECLS

#endif
