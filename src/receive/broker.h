/* SPDX-License-Identifier: MIT
 *
 * broker.h - what a library for one kind of broker fills in.
 *
 * It is loaded on first use, and called from one thread for each connection, which may wait.
 */
#ifndef RECEIVE_BROKER_H
#define RECEIVE_BROKER_H

#include <stdbool.h>
#include <stdint.h>

#include <owed/error.h>

#include "base/str.h"

#define BROKER_FIELDS 10
#define BROKER_TEXT_BYTES 512

enum broker_answer {
    BROKER_SILENT, // nothing yet: where the connection ends so, it is sent again
    BROKER_ACKED,  // the broker has it
    BROKER_AWAY,   // not now: no attempt is spent
    BROKER_BARRED, // it lets nobody in who comes so: likewise
    BROKER_FAILED, // an attempt that may do better later
    BROKER_REFUSED // never
};

struct broker_field {
    const char *name;
    const char *value;
};

/* A message as brokers have it; texts are never NULL. */
struct broker_message {
    const char *id; // the idempotency key
    const char *topic;
    const char *exchange;
    const char *event;
    const char *correlation_id;
    int64_t occurred_at_us;
    struct str payload;
    struct broker_field fields[BROKER_FIELDS]; // the facts beside it
    size_t field_count;

    enum broker_answer answer;
    char text[BROKER_TEXT_BYTES]; // of all but ACKED
    struct broker_message *next;
};

/* Where it is, and how long any one wait for it may take. */
struct broker_place {
    const char *host; // a path, with Redis: a Unix socket
    int port;
    const char *user;     // ""
    const char *password; // ""
    const char *path;     // ""
    int64_t timeout_us;
    bool is_secure;               // by TLS, its certificate checked
    const char *ca_file;          // whose authorities are trusted; NULL: the host's
    const char *credentials_file; // where the scheme knows some; NULL: none
};

struct broker_kind {
    /* open: UNAVAILABLE, it is away; STORE, it is there and refuses who comes, or where to: its user, password,
     * database or vhost. */
    owed_status (*open)(const struct broker_place *place, void **ret_connection, owed_error *err);

    /* send hands over a list, and returns once each message has been answered; false: the connection
     * is of no use any more, and err says why. */
    bool (*send)(void *connection, struct broker_message *messages, owed_error *err);
    void (*close)(void *connection);
};

#define BROKER_TASK_BYTES 4096 // of a task message; what is longer is none

/* A message that was taken from a queue. */
struct broker_task {
    struct str bytes;  // until the next take, or close; p NULL: there was none
    const char *place; // likewise: how the broker names it, for a line of the log
    uint64_t tag;      // the taker's own
    bool is_again;     // the broker has given it to somebody before
    bool is_foreign;   // no message of ours: done may leave it where others find it
};

/*
 * The way out of a queue, for a worker at a task site: the symbol of a library's kind with _taker behind.
 * A queue keeps its messages for good, and gives each to one worker until it is done with it.
 */
struct broker_taker_kind {
    /* make makes the queue of a topic where there is none, before anything is sent to it; connection is one
     * that broker_kind opened. */
    owed_status (*make)(void *connection, const char *topic, owed_error *err);

    /* open: as that of broker_kind. */
    owed_status (*open)(
        const struct broker_place *place, const char *topic, void **ret_taker, owed_error *err);

    /* take waits for so long at most (up to a second, so that a stop is heard), and gives the next message
     * or none. Anything but OK: this taker is of no use any more. */
    owed_status (*take)(
        void *taker, int64_t wait_us, struct broker_task *ret_task, owed_error *err);

    /* done has the broker forget the message that was taken last. It need not wait for the answer: one
     * that comes again does no harm. */
    owed_status (*done)(void *taker, const struct broker_task *task, owed_error *err);

    /* close gives back at once, to any other worker, what was taken and is not done. */
    void (*close)(void *taker);
};

#endif
