/* SPDX-License-Identifier: MIT
 *
 * nats_taker.c - task queues as streams of NATS JetStream, with one durable consumer for all workers.
 *
 * A worker asks for one message, or for some where they are quickly done with, and the request stands
 * for a while. What it does not acknowledge in time comes to another one: a receiver that takes longer
 * costs a message that runs nothing. A stream or a consumer that somebody made with settings of their own
 * is used as it is.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/limits.h"
#include "receive/brokers/nats.h"

#define CONSUMER "owed"
#define ACK_WAIT_NS INT64_C(60000000000)
#define MAX_WORKERS 4096
#define MAX_UNDONE 65536
#define QUICK_BATCH 32
#define QUICK_US (20 * US_PER_MS)      // what takes no longer is taken with others
#define REQUEST_US (5 * US_PER_SECOND) // how long a request stands
#define OVERDUE_US (7 * US_PER_SECOND) // nobody has said that it is over
#define GIVE_BACK_MS 50
#define NAME_BYTES (LIMIT_KEY_BYTES + 1)
#define SUBJECT_BYTES (NAME_BYTES + 64)
#define TEXT_BYTES 256

struct taker {
    natsConnection *connection;
    natsSubscription *inbox;
    char reply[64];
    char ask[SUBJECT_BYTES];
    int64_t timeout_ms;
    natsMsg *message; // the one that was taken last
    bool is_in_hand;  // and is not done
    bool is_quick;    // the one before was soon done with
    int asked;        // so many of them have not come
    int64_t asked_us; // monotonic
    int64_t taken_us; // likewise
    char place[TEXT_BYTES];
};

/* --- the stream and the consumer --- */

/* name_of makes a stream's name of a topic: there are no dots in one. */
static void
name_of(const char *topic, char name[static NAME_BYTES])
{
    static const char good[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    snprintf(name, NAME_BYTES, "%s", topic);
    for (char *p = name; *p != '\0'; p++)
        if (strchr(good, *p) == NULL)
            *p = '-';
}

/* find_stream names the stream that takes a topic; "": none does. */
static natsStatus
find_stream(jsCtx *js, const char *topic, char name[static NAME_BYTES])
{
    jsOptions options;
    jsStreamNamesList *names = NULL;
    jsErrCode code = 0;
    jsOptions_Init(&options);
    options.Stream.Info.SubjectsFilter = topic;
    name[0] = '\0';
    natsStatus status = js_StreamNames(&names, js, &options, &code);
    if (status == NATS_OK && names->Count > 0)
        snprintf(name, NAME_BYTES, "%s", names->List[0]);
    jsStreamNamesList_Destroy(names);
    return status == NATS_NOT_FOUND ? NATS_OK : status;
}

static natsStatus
make_stream(jsCtx *js, const char *topic, char name[static NAME_BYTES])
{
    jsStreamConfig config;
    jsErrCode code = 0;
    natsStatus status = find_stream(js, topic, name);
    if (status != NATS_OK || name[0] != '\0')
        return status;
    name_of(topic, name);
    jsStreamConfig_Init(&config);
    config.Name = name;
    config.Subjects = &topic;
    config.SubjectsLen = 1;
    config.Retention = js_WorkQueuePolicy;
    return js_AddStream(NULL, js, &config, NULL, &code);
}

static natsStatus
make_consumer(jsCtx *js, const char *topic, const char *stream)
{
    jsConsumerConfig config;
    jsConsumerInfo *info = NULL;
    jsErrCode code = 0;
    natsStatus status = js_GetConsumerInfo(&info, js, stream, CONSUMER, NULL, &code);
    jsConsumerInfo_Destroy(info);
    if (status != NATS_NOT_FOUND)
        return status;
    jsConsumerConfig_Init(&config);
    config.Durable = CONSUMER;
    config.AckPolicy = js_AckExplicit;
    config.AckWait = ACK_WAIT_NS;
    config.MaxWaiting = MAX_WORKERS;
    config.MaxAckPending = MAX_UNDONE;
    config.FilterSubject = topic;
    return js_AddConsumer(NULL, js, stream, &config, NULL, &code);
}

/* make makes what is missing; with_consumer: for one who takes. */
static owed_status
make(natsConnection *connection, int64_t timeout_ms, const char *topic, bool with_consumer,
    char stream[static NAME_BYTES], owed_error *err)
{
    jsCtx *js = NULL;
    jsOptions options;
    jsOptions_Init(&options);
    options.Wait = timeout_ms;
    natsStatus status = natsConnection_JetStream(&js, connection, &options);
    if (status == NATS_OK)
        status = make_stream(js, topic, stream);
    if (status == NATS_OK && with_consumer)
        status = make_consumer(js, topic, stream);
    jsCtx_Destroy(js);
    if (status == NATS_OK)
        return OWED_OK;
    if (status == NATS_NO_RESPONDERS)
        return fail(err, OWED_UNAVAILABLE, "JetStream is not enabled there, or not ready");
    return fail(err, OWED_UNAVAILABLE,
        "no stream for %s with a consumer " CONSUMER " can be made: %s", topic,
        nats_reason(status, connection));
}

static owed_status
nats_make(void *connection, const char *topic, owed_error *err)
{
    int64_t timeout_ms;
    char stream[NAME_BYTES];
    natsConnection *plain = nats_connection_of(connection, &timeout_ms);
    return make(plain, timeout_ms, topic, false, stream, err);
}

/* --- opening --- */

static owed_status
listen_for_messages(struct taker *taker, owed_error *err)
{
    natsInbox *inbox = NULL;
    natsStatus status = natsInbox_Create(&inbox);
    if (status == NATS_OK) {
        snprintf(taker->reply, sizeof taker->reply, "%s", (const char *)inbox);
        status = natsConnection_SubscribeSync(&taker->inbox, taker->connection, inbox);
    }
    natsInbox_Destroy(inbox);
    if (status == NATS_OK)
        return OWED_OK;
    return fail(err, OWED_UNAVAILABLE, "it cannot be asked for messages: %s",
        nats_reason(status, taker->connection));
}

static void
free_taker(struct taker *taker)
{
    natsMsg_Destroy(taker->message);
    natsSubscription_Destroy(taker->inbox);
    natsConnection_Destroy(taker->connection);
    free(taker);
}

static owed_status
taker_open(const struct broker_place *place, const char *topic, void **ret_taker, owed_error *err)
{
    char stream[NAME_BYTES];
    struct taker *taker = calloc(1, sizeof *taker);
    if (taker == NULL)
        return fail_memory(err);
    taker->timeout_ms = place->timeout_us < US_PER_MS ? 1 : place->timeout_us / US_PER_MS;
    owed_status status = nats_connect(place, &taker->connection, err);
    if (status == OWED_OK)
        status = make(taker->connection, taker->timeout_ms, topic, true, stream, err);
    if (status == OWED_OK)
        status = listen_for_messages(taker, err);
    if (status != OWED_OK) {
        free_taker(taker);
        return status;
    }
    snprintf(taker->ask, sizeof taker->ask, "$JS.API.CONSUMER.MSG.NEXT.%s." CONSUMER, stream);
    *ret_taker = taker;
    return OWED_OK;
}

/* --- taking --- */

/* ask asks for more once all that was asked for has come. */
static owed_status
ask(struct taker *taker, owed_error *err)
{
    char request[TEXT_BYTES];
    if (taker->asked > 0)
        return OWED_OK;
    taker->asked = taker->is_quick ? QUICK_BATCH : 1;
    taker->asked_us = clock_monotonic_us(&clock_system);
    snprintf(request, sizeof request, "{\"batch\":%d,\"expires\":%" PRId64 "}", taker->asked,
        REQUEST_US * 1000);
    natsStatus status =
        natsConnection_PublishRequestString(taker->connection, taker->ask, taker->reply, request);
    if (status == NATS_OK)
        return OWED_OK;
    return fail(
        err, OWED_UNAVAILABLE, "it cannot be asked: %s", nats_reason(status, taker->connection));
}

/* word_of cuts a word out of the subject by which a message is acknowledged:
 * $JS.ACK.STREAM.CONSUMER.DELIVERED.NUMBER. and more, its number being that in the stream. */
static struct str
word_of(const char *reply, int dots)
{
    while (dots-- > 0) {
        reply = strchr(reply, '.');
        if (reply == NULL)
            return STR("");
        reply++;
    }
    return (struct str){reply, strcspn(reply, ".")};
}

static const char *
reply_of(const natsMsg *msg)
{
    const char *reply = natsMsg_GetReply(msg);
    return reply != NULL && reply[0] == '$' ? reply : NULL;
}

/* take_status: a request is over, or says what has happened to the consumer. */
static owed_status
take_status(struct taker *taker, natsMsg *msg, owed_error *err)
{
    const char *number = NULL;
    const char *text = NULL;
    if (natsMsgHeader_Get(msg, "Status", &number) != NATS_OK)
        return OWED_OK; // somebody's who has guessed the inbox
    if (strcmp(number, "404") == 0 || strcmp(number, "408") == 0) {
        taker->asked = 0;
        return OWED_OK;
    }
    if (natsMsgHeader_Get(msg, "Description", &text) != NATS_OK)
        text = "it gives nothing, and no reason";
    return fail(err, OWED_UNAVAILABLE, "%s %s", number, text);
}

static void
forget_last(struct taker *taker)
{
    if (taker->message == NULL)
        return;
    taker->is_quick = clock_monotonic_us(&clock_system) - taker->taken_us < QUICK_US;
    natsMsg_Destroy(taker->message);
    taker->message = NULL;
    taker->is_in_hand = false;
}

static owed_status
next(struct taker *taker, int64_t wait_us, natsMsg **ret_msg, owed_error *err)
{
    natsStatus status = natsSubscription_NextMsg(ret_msg, taker->inbox, wait_us / US_PER_MS + 1);
    if (status == NATS_OK)
        return OWED_OK;
    if (status == NATS_TIMEOUT)
        return clock_monotonic_us(&clock_system) - taker->asked_us < OVERDUE_US
            ? OWED_OK
            : fail(err, OWED_UNAVAILABLE, "it has not answered");
    if (status == NATS_NO_RESPONDERS)
        return fail(err, OWED_UNAVAILABLE, "its stream or its consumer is gone, or not ready");
    return fail(err, OWED_UNAVAILABLE, "it has gone: %s", nats_reason(status, taker->connection));
}

static owed_status
taker_take(void *state, int64_t wait_us, struct broker_task *ret_task, owed_error *err)
{
    struct taker *taker = state;
    natsMsg *msg = NULL;
    *ret_task = (struct broker_task){.place = ""};
    forget_last(taker);
    owed_status status = ask(taker, err);
    if (status == OWED_OK)
        status = next(taker, wait_us, &msg, err);
    if (status != OWED_OK || msg == NULL)
        return status;
    const char *reply = reply_of(msg);
    if (reply == NULL) {
        status = take_status(taker, msg, err);
        natsMsg_Destroy(msg);
        return status;
    }
    taker->asked -= taker->asked > 0;
    taker->message = msg;
    taker->is_in_hand = true;
    taker->taken_us = clock_monotonic_us(&clock_system);
    struct str delivered = word_of(reply, 4);
    struct str number = word_of(reply, 5);
    snprintf(taker->place, sizeof taker->place, "%.*s", (int)number.len, number.p);
    const char *data = natsMsg_GetData(msg);
    ret_task->bytes = (struct str){data == NULL ? "" : data, (size_t)natsMsg_GetDataLength(msg)};
    ret_task->place = taker->place;
    ret_task->is_again = delivered.len != 1 || delivered.p[0] != '1';
    return OWED_OK;
}

/* --- ending --- */

static owed_status
taker_done(void *state, const struct broker_task *task, owed_error *err)
{
    struct taker *taker = state;
    (void)task;
    taker->is_in_hand = false;
    natsStatus status =
        natsConnection_PublishString(taker->connection, natsMsg_GetReply(taker->message), "+ACK");
    if (status == NATS_OK)
        return OWED_OK;
    return fail(
        err, OWED_UNAVAILABLE, "it cannot be told: %s", nats_reason(status, taker->connection));
}

static void
give_back(struct taker *taker, const natsMsg *msg)
{
    const char *reply = reply_of(msg);
    if (reply != NULL)
        natsConnection_PublishString(taker->connection, reply, "-NAK");
}

/* give_back_coming gives back what has come, or is on its way. */
static void
give_back_coming(struct taker *taker)
{
    natsMsg *msg = NULL;
    if (taker->asked == 0 || natsSubscription_Drain(taker->inbox) != NATS_OK)
        return;
    while (natsSubscription_NextMsg(&msg, taker->inbox, GIVE_BACK_MS) == NATS_OK) {
        give_back(taker, msg);
        natsMsg_Destroy(msg);
    }
}

static void
taker_close(void *state)
{
    struct taker *taker = state;
    if (taker->is_in_hand)
        give_back(taker, taker->message);
    give_back_coming(taker);
    natsConnection_FlushTimeout(taker->connection, taker->timeout_ms);
    free_taker(taker);
}

OWED_API extern const struct broker_taker_kind broker_nats_taker;
const struct broker_taker_kind broker_nats_taker = {
    .make = nats_make,
    .open = taker_open,
    .take = taker_take,
    .done = taker_done,
    .close = taker_close,
};
