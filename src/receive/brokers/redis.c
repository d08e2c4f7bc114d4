/* SPDX-License-Identifier: MIT
 *
 * redis.c - messages as entries of Redis streams, a batch in one go.
 *
 * Redis has an entry once it answers with its id; whether that outlives a crash of Redis is a matter of its
 * own settings (appendfsync). It drops no duplicates: consumers do, by the field id.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/moment.h"
#include "receive/brokers/redis.h"

#define MICROSECONDS 1000000

/* limit_us: that of a connection is there since it was made. */
static int64_t
limit_us(const redisContext *redis)
{
    const struct timeval *limit = redis->timeout;
    return limit == NULL ? 0 : (int64_t)limit->tv_sec * MICROSECONDS + limit->tv_usec;
}

/* read_whole: the library knows a time limit for each piece of an answer alone. NULL: it has not come. */
static redisReply *
read_whole(redisContext *redis, int64_t until_us)
{
    void *reply = NULL;
    int is_sent = 0;
    while (!is_sent)
        if (redisBufferWrite(redis, &is_sent) != REDIS_OK)
            return NULL;
    while (redisGetReplyFromReader(redis, &reply) == REDIS_OK && reply == NULL)
        if (clock_monotonic_us(&clock_system) > until_us || redisBufferRead(redis) != REDIS_OK)
            return NULL;
    return reply;
}

redisReply *
redis_read(redisContext *redis, owed_error *err)
{
    char limit[MOMENT_BYTES];
    int64_t until_us = clock_monotonic_us(&clock_system) + limit_us(redis);
    redisReply *reply = read_whole(redis, until_us);
    if (reply != NULL)
        return reply;
    if (clock_monotonic_us(&clock_system) >= until_us)
        fail(err, OWED_UNAVAILABLE, "it has not answered within %s",
            duration_rough(limit_us(redis), limit));
    else
        fail(err, OWED_UNAVAILABLE, "it has not answered: %s", redis->errstr);
    return NULL;
}

redisReply *
redis_say(redisContext *redis, const struct redis_words *words, owed_error *err)
{
    const char **texts = (const char **)(uintptr_t)words->texts;
    redisAppendCommandArgv(redis, words->count, texts, words->lengths);
    return redis_read(redis, err);
}

/* ask sends a command of the session's beginning; what begins with refusal is no good answer. */
static owed_status
ask(redisContext *redis, const struct redis_words *words, const char *refusal, const char *what,
    owed_error *err)
{
    redisReply *reply = redis_say(redis, words, err);
    if (reply == NULL)
        return OWED_UNAVAILABLE;
    owed_status status = redis_is_error(reply, refusal)
        ? fail(err, OWED_STORE, "%s: %s", what, reply->str)
        : OWED_OK;
    freeReplyObject(reply);
    return status;
}

static owed_status
greet(redisContext *redis, const struct broker_place *place, owed_error *err)
{
    struct redis_words hello = {.count = 0};
    struct redis_words choose = {.count = 0};
    char what[BROKER_TEXT_BYTES / 2] = "the password is refused";
    bool has_password = place->password[0] != '\0';
    bool has_user = place->user[0] != '\0';
    if (has_user)
        snprintf(what, sizeof what, "user %s or its password is refused", place->user);
    redis_add(&hello, has_password ? STR("AUTH") : STR("PING"));
    if (has_password && has_user)
        redis_add(&hello, str_of(place->user));
    if (has_password)
        redis_add(&hello, str_of(place->password));
    owed_status status = has_password ? ask(redis, &hello, "", what, err)
                                      : ask(redis, &hello, "NOAUTH", "it wants a password", err);
    if (status != OWED_OK || place->path[0] == '\0')
        return status;
    snprintf(what, sizeof what, "its database %s is refused", place->path);
    redis_add(&choose, STR("SELECT"));
    redis_add(&choose, str_of(place->path));
    return ask(redis, &choose, "", what, err);
}

owed_status
redis_open(const struct broker_place *place, void **ret_connection, owed_error *err)
{
    const struct timeval limit = {
        .tv_sec = place->timeout_us / MICROSECONDS, .tv_usec = place->timeout_us % MICROSECONDS};
    bool is_here = place->host[0] == '/';
    redisContext *redis = is_here ? redisConnectUnixWithTimeout(place->host, limit)
                                  : redisConnectWithTimeout(place->host, place->port, limit);
    if (redis == NULL)
        return fail_memory(err);
    owed_status status = OWED_OK;
    if (redis->err != 0)
        status = fail(err, OWED_UNAVAILABLE, "it cannot be reached: %s", redis->errstr);
    else if (redisSetTimeout(redis, limit) != REDIS_OK)
        status = fail(err, OWED_UNAVAILABLE, "no time limit can be set: %s", redis->errstr);
    else
        status = greet(redis, place, err);
    if (status != OWED_OK) {
        redisFree(redis);
        return status;
    }
    if (!is_here)
        redisEnableKeepAlive(redis);
    *ret_connection = redis;
    return OWED_OK;
}

static void
append(redisContext *redis, const struct broker_message *message)
{
    struct redis_words entry = {.count = 0};
    redis_add(&entry, STR("XADD"));
    redis_add(&entry, str_of(message->topic));
    redis_add(&entry, STR("*"));
    redis_add(&entry, STR("id"));
    redis_add(&entry, str_of(message->id));
    for (size_t i = 0; i < message->field_count; i++) {
        redis_add(&entry, str_of(message->fields[i].name));
        redis_add(&entry, str_of(message->fields[i].value));
    }
    redis_add(&entry, STR("payload"));
    redis_add(&entry, message->payload);
    redisAppendCommandArgv(redis, entry.count, entry.texts, entry.lengths);
}

/* is_away: what Redis says while it is not itself. */
static bool
is_away(const char *text)
{
    static const char *const words[] = {"LOADING ", "BUSY ", "OOM ", "MISCONF ", "READONLY ",
        "MASTERDOWN ", "CLUSTERDOWN ", "TRYAGAIN ", "NOREPLICAS "};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strncmp(text, words[i], strlen(words[i])) == 0)
            return true;
    }
    return false;
}

static void
take(struct broker_message *message, const redisReply *reply)
{
    bool is_entry = reply->type == REDIS_REPLY_STRING;
    bool is_error = reply->type == REDIS_REPLY_ERROR;
    message->answer = is_entry            ? BROKER_ACKED
        : is_error && is_away(reply->str) ? BROKER_AWAY
                                          : BROKER_FAILED;
    if (!is_entry)
        snprintf(message->text, sizeof message->text, "stream %s: %s", message->topic,
            is_error ? reply->str : "an answer that is no id");
}

static bool
redis_send(void *connection, struct broker_message *messages, owed_error *err)
{
    redisContext *redis = connection;
    for (const struct broker_message *m = messages; m != NULL; m = m->next)
        append(redis, m);
    for (struct broker_message *m = messages; m != NULL; m = m->next) {
        redisReply *reply = redis_read(redis, err);
        if (reply == NULL)
            return false;
        take(m, reply);
        freeReplyObject(reply);
    }
    return true;
}

static void
redis_close(void *connection)
{
    redisFree(connection);
}

OWED_API extern const struct broker_kind broker_redis;
const struct broker_kind broker_redis = {redis_open, redis_send, redis_close};
