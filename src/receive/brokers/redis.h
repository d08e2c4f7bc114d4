/* SPDX-License-Identifier: MIT
 *
 * redis.h - a connection to Redis, and the words of a command.
 */
#ifndef RECEIVE_BROKERS_REDIS_H
#define RECEIVE_BROKERS_REDIS_H

#include <hiredis/hiredis.h>
#include <string.h>

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

/* redis_is_error: an error that begins with word. */
static inline bool
redis_is_error(const redisReply *reply, const char *word)
{
    return reply->type == REDIS_REPLY_ERROR && strncmp(reply->str, word, strlen(word)) == 0;
}

/* redis_read has the next answer, which has to be whole within the connection's time limit, and redis_say that to a
 * command. NULL: there is none, the connection is of no use any more, and err says why. */
redisReply *redis_read(redisContext *redis, owed_error *err);
redisReply *redis_say(redisContext *redis, const struct redis_words *words, owed_error *err);

owed_status redis_open(const struct broker_place *place, void **ret_connection, owed_error *err);

#endif
