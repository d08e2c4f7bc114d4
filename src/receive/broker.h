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
    owed_status (*open)(const struct broker_place *place, void **ret_connection, owed_error *err);

    /* send hands over a list, and returns once each message has been answered; false: the connection
     * is of no use any more, and err says why. */
    bool (*send)(void *connection, struct broker_message *messages, owed_error *err);
    void (*close)(void *connection);
};

#endif
