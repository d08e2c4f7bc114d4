/* SPDX-License-Identifier: MIT
 *
 * broker_url.h - where a receiver publishes: redis://user@host:6379/0, amqp://user@host:5672/vhost,
 * nats://user@host:4222, kafka://user@host:9092; amqps, tls and kafka+tls are the same by TLS.
 */
#ifndef DECLARE_BROKER_URL_H
#define DECLARE_BROKER_URL_H

#include <owed/error.h>

#include "base/arena.h"

/* A kind of broker; its client library is loaded with the library of ours that uses it. */
struct broker_scheme {
    const char *scheme;
    int port; // where the URL has none
    const char *soname;
    const char *symbol;
    const char *taker; // the symbol of its task queues; NULL: it has none
    const char *root;  // the path that none stands for; NULL: none
    bool has_exchange;
    bool is_secure;
    bool has_no_path;
    bool has_sockets;     // of Unix, too: a host that is a path, its / written %2F
    bool has_credentials; // in files of their own
    const char *refusal;  // why it is none here, as the end of a sentence

    /* These say what is wrong with a topic, or with the path, as the end of a sentence; NULL: nothing. Without
     * them any text is one. */
    const char *(*topic_problem)(const char *topic);
    const char *(*path_problem)(const char *path);
};

/* A URL taken apart; the texts are NUL-ended, "" where there is none. */
struct broker_url {
    const struct broker_scheme *scheme;
    const char *user;
    const char *host; // without the brackets of an IPv6 address
    int port;
    const char *path; // without its first "/", %XX decoded
};

/* What a broker is wanted for: some have no task queues, and owed.conf has other words for them. */
enum broker_use { BROKER_HAS_FEEDS, BROKER_HAS_TASKS };

/* broker_url_read: CONFIG, and err says what is wrong as the end of a sentence. */
owed_status broker_url_read(const char *url, enum broker_use use, struct arena *arena,
    struct broker_url *ret_url, owed_error *err);

/* broker_url_is_same tells whether both lead to the same place of the same broker, whoever comes: a host has several
 * names for itself, and a port and a path may be left out. */
bool broker_url_is_same(const struct broker_url *a, const struct broker_url *b);

#endif
