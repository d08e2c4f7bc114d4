/* SPDX-License-Identifier: MIT
 *
 * redis_tasks.c - a task queue is a stream with a consumer group.
 *
 * All workers are one consumer of it: Redis keeps the state of each message, and has not to know who a worker
 * is, so that nothing is left behind by one that died.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "receive/brokers/redis.h"

#define GROUP STR("owed")
#define CONSUMER STR("worker")
#define FIRST "0-0"
#define CURSOR_BYTES 64
#define PREFETCH 32
#define QUICK_US (20 * US_PER_MS)         // a message that takes no longer is taken with others
#define SLOW_US (200 * US_PER_MS)         // one that takes longer has others go back
#define LEFT_IDLE_MS "60000"              // a worker that has been silent for so long has died
#define GIVEN_IDLE_MS "86400000"          // as if it had been
#define LOOK_EVERY_US (5 * US_PER_SECOND) // for what was left or given back
#define ANSWERS_MAX 256                   // that nobody waited for
#define NUMBER_BYTES 24

struct taker {
    redisContext *redis;
    char *topic;
    redisReply *reply;         // that holds the entries
    const redisReply *entries; // NULL: there are none
    size_t count, next;
    bool is_in_hand;       // the one before next is not done
    bool is_left;          // a worker before has had these entries
    bool is_quick;         // what was taken last was soon done with
    int answers;           // still to be read
    int64_t taken_mono_us; // when reply came
    int64_t begun_mono_us; // when the one in hand was given
    int64_t look_mono_us;  // when to look next for what was left
};

/* say has a command answered; NULL, and the status in err: the connection is of no use, or Redis refused it with
 * another word than but. */
static redisReply *
say(redisContext *redis, const struct redis_words *words, const char *but, owed_error *err)
{
    redisReply *reply = redis_say(redis, words, err);
    if (reply == NULL || reply->type != REDIS_REPLY_ERROR || redis_is_error(reply, but))
        return reply;
    fail(err, redis_is_error(reply, "NOPERM") ? OWED_STORE : OWED_UNAVAILABLE, "%s: %s",
        words->texts[0], reply->str);
    freeReplyObject(reply);
    return NULL;
}

static owed_status
make_group(redisContext *redis, const char *topic, owed_error *err)
{
    struct redis_words make = {.count = 0};
    redis_add(&make, STR("XGROUP"));
    redis_add(&make, STR("CREATE"));
    redis_add(&make, str_of(topic));
    redis_add(&make, GROUP);
    redis_add(&make, STR("0"));
    redis_add(&make, STR("MKSTREAM"));
    redisReply *reply = say(redis, &make, "BUSYGROUP", err);
    freeReplyObject(reply);
    return reply == NULL ? err->status : OWED_OK;
}

static owed_status
redis_make(void *connection, const char *topic, owed_error *err)
{
    return make_group(connection, topic, err);
}

static void
free_taker(struct taker *taker)
{
    if (taker->redis != NULL)
        redisFree(taker->redis);
    freeReplyObject(taker->reply);
    free(taker->topic);
    free(taker);
}

static owed_status
taker_open(const struct broker_place *place, const char *topic, void **ret_taker, owed_error *err)
{
    struct taker *taker = calloc(1, sizeof *taker);
    if (taker == NULL)
        return fail_memory(err);
    taker->topic = strdup(topic);
    void *redis = NULL;
    // The group is made when it is missed: a Redis that is full makes none, and is to be emptied all the same.
    owed_status status = taker->topic == NULL ? fail_memory(err) : redis_open(place, &redis, err);
    taker->redis = redis;
    if (status != OWED_OK)
        free_taker(taker);
    else
        *ret_taker = taker;
    return status;
}

/* hear reads the answers to what was said without waiting for one. */
static owed_status
hear(struct taker *taker, owed_error *err)
{
    for (; taker->answers > 0; taker->answers--) {
        redisReply *reply = redis_read(taker->redis, err);
        if (reply == NULL)
            return OWED_UNAVAILABLE;
        freeReplyObject(reply);
    }
    return OWED_OK;
}

static void
hold(struct taker *taker, redisReply *reply, const redisReply *entries)
{
    taker->reply = reply;
    taker->entries = entries;
    taker->count = entries->elements;
    taker->next = 0;
    taker->is_left = false;
    taker->taken_mono_us = clock_monotonic_us(&clock_system);
}

/* let_go forgets entries that were all taken, and notes how quickly they were. */
static void
let_go(struct taker *taker)
{
    if (taker->reply == NULL)
        return;
    int64_t took_us = clock_monotonic_us(&clock_system) - taker->taken_mono_us;
    taker->is_quick = took_us < QUICK_US * (int64_t)(taker->count + 1);
    freeReplyObject(taker->reply);
    taker->reply = NULL;
    taker->entries = NULL;
    taker->count = taker->next = 0;
}

static void
add_count(const struct taker *taker, struct redis_words *words, char number[NUMBER_BYTES])
{
    snprintf(number, NUMBER_BYTES, "%d", taker->is_quick ? PREFETCH : 1);
    redis_add(words, STR("COUNT"));
    redis_add(words, str_of(number));
}

static bool
has_entries(const redisReply *entries)
{
    return entries->type == REDIS_REPLY_ARRAY && entries->elements > 0;
}

static struct str
text_of(const redisReply *reply)
{
    return reply->type == REDIS_REPLY_STRING ? (struct str){reply->str, reply->len} : STR("");
}

static redisReply *
ask_left(struct taker *taker, const char *from, owed_error *err)
{
    char number[NUMBER_BYTES];
    struct redis_words claim = {.count = 0};
    redis_add(&claim, STR("XAUTOCLAIM"));
    redis_add(&claim, str_of(taker->topic));
    redis_add(&claim, GROUP);
    redis_add(&claim, CONSUMER);
    redis_add(&claim, STR(LEFT_IDLE_MS));
    redis_add(&claim, str_of(from));
    add_count(taker, &claim, number);
    return say(taker->redis, &claim, "NOGROUP", err);
}

/* take_left takes what a worker left that died, or gave back; it may stand behind much that others have in hand,
 * of which Redis looks at some at a time. */
static owed_status
take_left(struct taker *taker, owed_error *err)
{
    int64_t now_us = clock_monotonic_us(&clock_system);
    char from[CURSOR_BYTES] = FIRST;
    if (now_us < taker->look_mono_us)
        return OWED_OK;
    do {
        redisReply *reply = ask_left(taker, from, err);
        if (reply == NULL)
            return err->status;
        bool is_answer = reply->type == REDIS_REPLY_ARRAY && reply->elements >= 2;
        // Where there is one there may be more.
        if (is_answer && has_entries(reply->element[1])) {
            hold(taker, reply, reply->element[1]);
            taker->is_left = true;
            return OWED_OK;
        }
        snprintf(from, sizeof from, "%s", is_answer ? text_of(reply->element[0]).p : FIRST);
        freeReplyObject(reply);
    } while (strcmp(from, FIRST) != 0);
    taker->look_mono_us = now_us + LOOK_EVERY_US;
    return OWED_OK;
}

static owed_status
take_new(struct taker *taker, int64_t wait_us, owed_error *err)
{
    char number[NUMBER_BYTES];
    char wait[NUMBER_BYTES];
    snprintf(wait, sizeof wait, "%lld", (long long)(wait_us / US_PER_MS) + 1); // 0 is for ever
    struct redis_words read = {.count = 0};
    redis_add(&read, STR("XREADGROUP"));
    redis_add(&read, STR("GROUP"));
    redis_add(&read, GROUP);
    redis_add(&read, CONSUMER);
    add_count(taker, &read, number);
    redis_add(&read, STR("BLOCK"));
    redis_add(&read, str_of(wait));
    redis_add(&read, STR("STREAMS"));
    redis_add(&read, str_of(taker->topic));
    redis_add(&read, STR(">"));
    redisReply *reply = say(taker->redis, &read, "NOGROUP", err);
    if (reply == NULL)
        return err->status;
    // The stream was deleted, or Redis came back without its data.
    if (reply->type == REDIS_REPLY_ERROR) {
        freeReplyObject(reply);
        return make_group(taker->redis, taker->topic, err);
    }
    if (reply->type == REDIS_REPLY_ARRAY && reply->elements == 1 &&
        reply->element[0]->elements == 2 && has_entries(reply->element[0]->element[1]))
        hold(taker, reply, reply->element[0]->element[1]);
    else
        freeReplyObject(reply);
    return OWED_OK;
}

/* payload_of finds the field; "" where an entry has none, or was deleted meanwhile. */
static struct str
payload_of(const redisReply *entry)
{
    const redisReply *fields = entry->elements == 2 ? entry->element[1] : NULL;
    for (size_t i = 0; fields != NULL && i + 1 < fields->elements; i += 2) {
        if (strcmp(text_of(fields->element[i]).p, "payload") == 0)
            return text_of(fields->element[i + 1]);
    }
    return STR("");
}

static const char *
id_of(const redisReply *entry)
{
    const redisReply *id =
        entry->type == REDIS_REPLY_ARRAY && entry->elements > 0 ? entry->element[0] : entry;
    return text_of(id).p;
}

/* give_back makes one look as if it had been taken long ago, so that others take it when they look next. */
static void
give_back(struct taker *taker, const redisReply *entry)
{
    struct redis_words claim = {.count = 0};
    redis_add(&claim, STR("XCLAIM"));
    redis_add(&claim, str_of(taker->topic));
    redis_add(&claim, GROUP);
    redis_add(&claim, CONSUMER);
    redis_add(&claim, STR("0"));
    redis_add(&claim, str_of(id_of(entry)));
    redis_add(&claim, STR("IDLE"));
    redis_add(&claim, STR(GIVEN_IDLE_MS));
    redis_add(&claim, STR("JUSTID"));
    redisAppendCommandArgv(taker->redis, claim.count, claim.texts, claim.lengths);
    taker->answers++;
}

/* keep_pace gives back, to whoever is idle, what waits behind one that was slow; this worker goes on one by one. */
static void
keep_pace(struct taker *taker)
{
    int64_t took_us = clock_monotonic_us(&clock_system) - taker->begun_mono_us;
    if (taker->next == taker->count || taker->next == 0 || took_us <= SLOW_US)
        return;
    for (size_t i = taker->next; i < taker->count; i++)
        give_back(taker, taker->entries->element[i]);
    taker->count = taker->next;
    let_go(taker);
    taker->is_quick = false;
    taker->look_mono_us = 0; // nobody else may be idle
}

static owed_status
taker_take(void *state, int64_t wait_us, struct broker_task *ret_task, owed_error *err)
{
    struct taker *taker = state;
    owed_status status = OWED_OK;
    keep_pace(taker);
    if (taker->next == taker->count) {
        let_go(taker);
        status = hear(taker, err);
        if (status == OWED_OK)
            status = take_left(taker, err);
        if (status == OWED_OK && taker->count == 0)
            status = take_new(taker, wait_us, err);
    }
    *ret_task = (struct broker_task){.place = ""};
    if (status != OWED_OK || taker->next == taker->count)
        return status;
    const redisReply *entry = taker->entries->element[taker->next++];
    taker->is_in_hand = true;
    taker->begun_mono_us = clock_monotonic_us(&clock_system);
    *ret_task = (struct broker_task){
        .bytes = payload_of(entry), .place = id_of(entry), .is_again = taker->is_left};
    return OWED_OK;
}

static owed_status
taker_done(void *state, const struct broker_task *task, owed_error *err)
{
    static const char *const words[] = {"XACK", "XDEL"};
    struct taker *taker = state;
    taker->is_in_hand = false;
    // A stream may have other readers, and what is not ours is not ours to delete.
    size_t count = task->is_foreign ? 1 : sizeof words / sizeof words[0];
    for (size_t i = 0; i < count; i++) {
        struct redis_words forget = {.count = 0};
        redis_add(&forget, str_of(words[i]));
        redis_add(&forget, str_of(taker->topic));
        if (i == 0)
            redis_add(&forget, GROUP);
        redis_add(&forget, str_of(task->place));
        redisAppendCommandArgv(taker->redis, forget.count, forget.texts, forget.lengths);
        taker->answers++;
    }
    int is_written = 0;
    while (!is_written) {
        if (redisBufferWrite(taker->redis, &is_written) != REDIS_OK)
            return fail(err, OWED_UNAVAILABLE, "it cannot be told: %s", taker->redis->errstr);
    }
    return taker->answers < ANSWERS_MAX ? OWED_OK : hear(taker, err);
}

static void
taker_close(void *state)
{
    struct taker *taker = state;
    size_t first = taker->is_in_hand ? taker->next - 1 : taker->next;
    if (taker->redis->err == 0) {
        for (size_t i = first; i < taker->count; i++)
            give_back(taker, taker->entries->element[i]);
        (void)hear(taker, NULL);
    }
    free_taker(taker);
}

OWED_API extern const struct broker_taker_kind broker_redis_taker;
const struct broker_taker_kind broker_redis_taker = {
    .make = redis_make,
    .open = taker_open,
    .take = taker_take,
    .done = taker_done,
    .close = taker_close,
};
