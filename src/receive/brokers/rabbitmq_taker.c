/* SPDX-License-Identifier: MIT
 *
 * rabbitmq_taker.c - task queues as durable queues of RabbitMQ.
 *
 * The broker pushes one message at a time, or some where they are quickly done with, and has whatever was
 * not acknowledged back as soon as the connection ends. While a message is in hand nobody reads the
 * connection, however long that takes, so a thread sends the heartbeats then.
 */
#include "receive/brokers/rabbitmq.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/error.h"

#define HEARTBEAT_S 60
#define ALONE 1
#define TOGETHER 16
#define QUICK_US (20 * US_PER_MS)
#define SLOW_US (200 * US_PER_MS)
#define QUICK_RUN 16 // so many quick ones in a row, and some are taken together
#define NAME_BYTES 32
#define PLACE_BYTES 48

struct taker {
    amqp_connection_state_t state;
    struct timeval limit; // of any one answer
    char *topic;
    bool is_broken;

    // How many are pushed before the first is acknowledged. Each change makes a new consumer.
    int prefetch;
    int quick_run;
    uint64_t consumers;
    char consumer[NAME_BYTES];

    // The message that comes:
    uint64_t tag;
    bool is_coming; // what follows of it is still to be read
    bool is_stale;  // it was pushed to a consumer before, and has gone back
    bool is_in_hand;
    bool is_again; // the broker has pushed it to somebody before
    uint64_t left; // bytes
    size_t kept;
    int64_t taken_us; // monotonic
    char bytes[BROKER_TASK_BYTES +
        1]; // one more than a message of ours may have tells that it is none
    char place[PLACE_BYTES];

    // The thread that sends heartbeats; the lock is on all above.
    pthread_mutex_t lock;
    pthread_cond_t ended;
    pthread_t thread;
    bool is_started, is_over;
};

/* --- the queue --- */

static owed_status
rabbitmq_make(void *connection, const char *topic, owed_error *err)
{
    return rabbitmq_make_queue(rabbitmq_state_of(connection), topic, err);
}

/* --- heartbeats --- */

static void *
beat(void *state)
{
    struct taker *taker = state;
    pthread_mutex_lock(&taker->lock);
    int64_t every_us = amqp_get_heartbeat(taker->state) * US_PER_SECOND / 2;
    while (!taker->is_over) {
        struct timespec until;
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_sec += every_us / US_PER_SECOND;
        until.tv_nsec += every_us % US_PER_SECOND * 1000;
        if (until.tv_nsec >= 1000000000) {
            until.tv_sec++;
            until.tv_nsec -= 1000000000;
        }
        int failed = pthread_cond_timedwait(&taker->ended, &taker->lock, &until);
        const amqp_frame_t heartbeat = {.frame_type = AMQP_FRAME_HEARTBEAT};
        if (failed == ETIMEDOUT && taker->is_in_hand && !taker->is_broken)
            amqp_send_frame(taker->state, &heartbeat);
    }
    pthread_mutex_unlock(&taker->lock);
    return NULL;
}

static owed_status
start_beating(struct taker *taker, owed_error *err)
{
    sigset_t all;
    sigset_t before;
    if (amqp_get_heartbeat(taker->state) == 0)
        return OWED_OK;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    taker->is_started = pthread_create(&taker->thread, NULL, beat, taker) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return taker->is_started ? OWED_OK : fail_memory(err);
}

static void
stop_beating(struct taker *taker)
{
    pthread_mutex_lock(&taker->lock);
    taker->is_over = true;
    pthread_cond_signal(&taker->ended);
    pthread_mutex_unlock(&taker->lock);
    if (taker->is_started)
        pthread_join(taker->thread, NULL);
}

/* --- opening --- */

/* consume has messages pushed from now on, so many at once. */
static owed_status
consume(struct taker *taker, int prefetch, owed_error *err)
{
    taker->prefetch = prefetch;
    taker->quick_run = 0;
    snprintf(taker->consumer, sizeof taker->consumer, "owed-%llu",
        (unsigned long long)++taker->consumers);
    amqp_basic_qos(taker->state, RABBITMQ_CHANNEL, 0, (uint16_t)prefetch, 0);
    amqp_rpc_reply_t reply = amqp_get_rpc_reply(taker->state);
    owed_status status = rabbitmq_check(&reply, "no limit can be set", err);
    if (status != OWED_OK)
        return status;
    amqp_basic_consume(taker->state, RABBITMQ_CHANNEL, amqp_cstring_bytes(taker->topic),
        amqp_cstring_bytes(taker->consumer), 0, 0, 0, amqp_empty_table);
    reply = amqp_get_rpc_reply(taker->state);
    return rabbitmq_check(&reply, "its queue cannot be read", err);
}

static struct taker *
new_taker(const char *topic)
{
    struct taker *taker = calloc(1, sizeof *taker);
    pthread_condattr_t monotonic;
    if (taker == NULL)
        return NULL;
    taker->topic = strdup(topic);
    pthread_mutex_init(&taker->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&taker->ended, &monotonic);
    pthread_condattr_destroy(&monotonic);
    return taker;
}

/* taker_close: what was pushed and not acknowledged goes back by itself. */
static void
taker_close(void *state)
{
    struct taker *taker = state;
    stop_beating(taker);
    if (taker->state != NULL && !taker->is_broken)
        amqp_connection_close(taker->state, AMQP_REPLY_SUCCESS);
    if (taker->state != NULL)
        amqp_destroy_connection(taker->state);
    pthread_cond_destroy(&taker->ended);
    pthread_mutex_destroy(&taker->lock);
    free(taker->topic);
    free(taker);
}

static owed_status
taker_open(const struct broker_place *place, const char *topic, void **ret_taker, owed_error *err)
{
    struct taker *taker = new_taker(topic);
    if (taker == NULL)
        return fail_memory(err);
    taker->limit = rabbitmq_limit(place->timeout_us);
    owed_status status = taker->topic == NULL
        ? fail_memory(err)
        : rabbitmq_connect(place, HEARTBEAT_S, &taker->state, err);
    if (status == OWED_OK)
        status = rabbitmq_make_queue(taker->state, topic, err);
    if (status == OWED_OK)
        status = consume(taker, ALONE, err);
    if (status == OWED_OK)
        status = start_beating(taker, err);
    taker->is_broken = status != OWED_OK;
    if (status != OWED_OK)
        taker_close(taker);
    else
        *ret_taker = taker;
    return status;
}

/* --- the pace --- */

/* change has another number pushed at once; what was pushed and not taken goes back, to whoever is idle. */
static owed_status
change(struct taker *taker, int prefetch, owed_error *err)
{
    amqp_basic_cancel(taker->state, RABBITMQ_CHANNEL, amqp_cstring_bytes(taker->consumer));
    amqp_rpc_reply_t reply = amqp_get_rpc_reply(taker->state);
    owed_status status = rabbitmq_check(&reply, "its consumer cannot be ended", err);
    if (status != OWED_OK)
        return status;
    amqp_basic_recover(taker->state, RABBITMQ_CHANNEL, 1);
    reply = amqp_get_rpc_reply(taker->state);
    status = rabbitmq_check(&reply, "nothing can be given back", err);
    return status == OWED_OK ? consume(taker, prefetch, err) : status;
}

/* keep_pace looks how long the message took that was in hand. */
static owed_status
keep_pace(struct taker *taker, owed_error *err)
{
    if (taker->taken_us == 0 || taker->is_coming)
        return OWED_OK;
    int64_t took_us = clock_monotonic_us(&clock_system) - taker->taken_us;
    taker->taken_us = 0;
    taker->quick_run = took_us < QUICK_US ? taker->quick_run + 1 : 0;
    if (taker->prefetch == ALONE && taker->quick_run >= QUICK_RUN)
        return change(taker, TOGETHER, err);
    return taker->prefetch != ALONE && took_us > SLOW_US ? change(taker, ALONE, err) : OWED_OK;
}

/* --- taking --- */

static owed_status
take_end(const amqp_method_t *method, owed_error *err)
{
    char text[BROKER_TEXT_BYTES] = "its queue is gone";
    if (method->id == AMQP_CHANNEL_CLOSE_METHOD)
        rabbitmq_text(
            text, sizeof text, ((const amqp_channel_close_t *)method->decoded)->reply_text);
    if (method->id == AMQP_CONNECTION_CLOSE_METHOD)
        rabbitmq_text(
            text, sizeof text, ((const amqp_connection_close_t *)method->decoded)->reply_text);
    return fail(err, OWED_UNAVAILABLE, "%s", text);
}

static owed_status
take_method(struct taker *taker, const amqp_method_t *method, owed_error *err)
{
    const amqp_basic_deliver_t *deliver = method->decoded;
    if (method->id == AMQP_BASIC_CANCEL_METHOD || method->id == AMQP_CHANNEL_CLOSE_METHOD ||
        method->id == AMQP_CONNECTION_CLOSE_METHOD)
        return take_end(method, err);
    if (method->id != AMQP_BASIC_DELIVER_METHOD)
        return OWED_OK;
    taker->tag = deliver->delivery_tag;
    taker->is_coming = true;
    taker->is_again = deliver->redelivered != 0;
    taker->is_stale = deliver->consumer_tag.len != strlen(taker->consumer) ||
        memcmp(deliver->consumer_tag.bytes, taker->consumer, deliver->consumer_tag.len) != 0;
    return OWED_OK;
}

static void
take_bytes(struct taker *taker, amqp_bytes_t fragment)
{
    size_t room = sizeof taker->bytes - taker->kept;
    size_t kept = fragment.len < room ? fragment.len : room;
    memcpy(taker->bytes + taker->kept, fragment.bytes, kept);
    taker->kept += kept;
    taker->left -= fragment.len < taker->left ? fragment.len : taker->left;
}

/* take_frame reads one; *ret_is_whole: with it a message has come whole. */
static owed_status
take_frame(struct taker *taker, const amqp_frame_t *frame, bool *ret_is_whole, owed_error *err)
{
    if (frame->frame_type == AMQP_FRAME_METHOD)
        return take_method(taker, &frame->payload.method, err);
    if (!taker->is_coming)
        return OWED_OK;
    if (frame->frame_type == AMQP_FRAME_HEADER) {
        taker->left = frame->payload.properties.body_size;
        taker->kept = 0;
    } else if (frame->frame_type == AMQP_FRAME_BODY) {
        take_bytes(taker, frame->payload.body_fragment);
    } else {
        return OWED_OK;
    }
    taker->is_coming = taker->left > 0;
    *ret_is_whole = !taker->is_coming && !taker->is_stale;
    return OWED_OK;
}

static owed_status
wait_for_message(struct taker *taker, int64_t wait_us, bool *ret_is_whole, owed_error *err)
{
    int64_t until_us = clock_monotonic_us(&clock_system) + wait_us;
    owed_status status = OWED_OK;
    while (status == OWED_OK && !*ret_is_whole) {
        int64_t left_us = until_us - clock_monotonic_us(&clock_system);
        amqp_frame_t frame;
        struct timeval limit = rabbitmq_limit(left_us < 0 ? 0 : left_us);
        int failed = amqp_simple_wait_frame_noblock(taker->state, &frame, &limit);
        if (failed == AMQP_STATUS_TIMEOUT)
            return OWED_OK;
        if (failed != AMQP_STATUS_OK)
            return fail(err, OWED_UNAVAILABLE, "it has gone: %s", amqp_error_string2(failed));
        status = take_frame(taker, &frame, ret_is_whole, err);
        amqp_maybe_release_buffers(taker->state);
    }
    return status;
}

static owed_status
taker_take(void *state, int64_t wait_us, struct broker_task *ret_task, owed_error *err)
{
    struct taker *taker = state;
    bool is_whole = false;
    *ret_task = (struct broker_task){.place = ""};
    pthread_mutex_lock(&taker->lock);
    taker->is_in_hand = false;
    owed_status status = keep_pace(taker, err);
    if (status == OWED_OK)
        status = wait_for_message(taker, wait_us, &is_whole, err);
    taker->is_broken = status != OWED_OK;
    if (status == OWED_OK && is_whole) {
        taker->is_in_hand = true;
        taker->taken_us = clock_monotonic_us(&clock_system);
        snprintf(taker->place, sizeof taker->place, "%s/%llu", taker->consumer,
            (unsigned long long)taker->tag);
        *ret_task = (struct broker_task){.bytes = {taker->bytes, taker->kept},
            .place = taker->place,
            .tag = taker->tag,
            .is_again = taker->is_again};
    }
    pthread_mutex_unlock(&taker->lock);
    return status;
}

static owed_status
taker_done(void *state, const struct broker_task *task, owed_error *err)
{
    struct taker *taker = state;
    pthread_mutex_lock(&taker->lock);
    taker->is_in_hand = false;
    int failed = amqp_basic_ack(taker->state, RABBITMQ_CHANNEL, task->tag, 0);
    taker->is_broken = failed != AMQP_STATUS_OK;
    pthread_mutex_unlock(&taker->lock);
    if (failed == AMQP_STATUS_OK)
        return OWED_OK;
    return fail(err, OWED_UNAVAILABLE, "it cannot be told: %s", amqp_error_string2(failed));
}

OWED_API extern const struct broker_taker_kind broker_rabbitmq_taker;
const struct broker_taker_kind broker_rabbitmq_taker = {
    .make = rabbitmq_make,
    .open = taker_open,
    .take = taker_take,
    .done = taker_done,
    .close = taker_close,
};
