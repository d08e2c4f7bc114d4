/* SPDX-License-Identifier: MIT
 *
 * redis.h - a connection to Redis, and the words of a command.
 */
#ifndef RECEIVE_BROKERS_REDIS_H
#define RECEIVE_BROKERS_REDIS_H

#include <hiredis/hiredis.h>

#include "receive/broker.h"

#define REDIS_WORDS (3 + 2 + 2 + 2 * BROKER_FIELDS)

struct redis_words {
    const char *texts[REDIS_WORDS];
    size_t lengths[REDIS_WORDS];
    int count;
};

static inline void
redis_add(struct redis_words *words, struct str text)
{
    words->texts[words->count] = text.p;
    words->lengths[words->count] = text.len;
    words->count++;
}

owed_status redis_open(const struct broker_place *place, void **ret_connection, owed_error *err);

#endif
