/* SPDX-License-Identifier: MIT
 *
 * rabbitmq.c - persistent messages with publisher confirms, some hundreds before the first is confirmed.
 *
 * RabbitMQ confirms what no queue takes, too: so each message is mandatory, and comes back first. One
 * confirmation may stand for all before it.
 */
#include "receive/brokers/rabbitmq.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

#define WINDOW_MESSAGES 250
#define WINDOW_BYTES ((size_t)1024 * 1024) // while they are sent nothing is read
#define MICROSECONDS 1000000

struct rabbit {
    amqp_connection_state_t state;
    struct timeval limit; // of any one wait
    uint64_t last_tag;    // of what was published
    bool is_broken;
    // What is not confirmed yet; its first has the tag last_tag - count + 1.
    struct broker_message *window[WINDOW_MESSAGES];
    size_t count;
    char returned[BROKER_TEXT_BYTES]; // why the message whose properties come next does
};

static amqp_bytes_t
bytes_of(const char *text)
{
    return amqp_cstring_bytes(text);
}

/* --- opening --- */

amqp_connection_state_t
rabbitmq_state_of(const void *opened)
{
    const struct rabbit *rabbit = opened;
    return rabbit->state;
}

static void
rabbitmq_close(void *connection)
{
    struct rabbit *rabbit = connection;
    if (rabbit->state != NULL && !rabbit->is_broken)
        amqp_connection_close(rabbit->state, AMQP_REPLY_SUCCESS);
    if (rabbit->state != NULL)
        amqp_destroy_connection(rabbit->state);
    free(rabbit);
}

static owed_status
rabbitmq_open(const struct broker_place *place, void **ret_connection, owed_error *err)
{
    struct rabbit *rabbit = calloc(1, sizeof *rabbit);
    if (rabbit == NULL)
        return fail_memory(err);
    rabbit->limit = rabbitmq_limit(place->timeout_us);
    owed_status status = rabbitmq_connect(place, 0, &rabbit->state, err);
    if (status == OWED_OK) {
        amqp_confirm_select(rabbit->state, RABBITMQ_CHANNEL);
        amqp_rpc_reply_t reply = amqp_get_rpc_reply(rabbit->state);
        status = rabbitmq_check(&reply, "it confirms nothing", err);
    }
    if (status == OWED_OK) {
        *ret_connection = rabbit;
        return OWED_OK;
    }
    rabbit->is_broken = true;
    rabbitmq_close(rabbit);
    return status;
}

/* --- what it says of messages --- */

static void
answer(struct broker_message *message, enum broker_answer answer, const char *text)
{
    if (message->answer != BROKER_SILENT)
        return;
    message->answer = answer;
    snprintf(message->text, sizeof message->text, "%s", text);
}

/* confirm answers for a tag, or for all up to it. */
static void
confirm(struct rabbit *rabbit, uint64_t tag, bool is_multiple, enum broker_answer with)
{
    uint64_t first = rabbit->last_tag - rabbit->count + 1;
    for (size_t i = 0; i < rabbit->count; i++) {
        uint64_t own = first + i;
        if (own == tag || (is_multiple && own < tag))
            answer(
                rabbit->window[i], with, with == BROKER_ACKED ? "" : "it could not take it (nack)");
    }
}

static void
note_returned(struct rabbit *rabbit, const amqp_basic_return_t *returned)
{
    char why[BROKER_TEXT_BYTES / 2];
    rabbitmq_text(why, sizeof why, returned->reply_text);
    snprintf(rabbit->returned, sizeof rabbit->returned, "no queue takes it: %d %s",
        returned->reply_code, why);
}

/* take_properties finds out which message has come back. */
static void
take_properties(struct rabbit *rabbit, const amqp_basic_properties_t *properties)
{
    for (size_t i = 0; i < rabbit->count; i++) {
        const char *id = rabbit->window[i]->id;
        if (properties->message_id.len == strlen(id) &&
            memcmp(properties->message_id.bytes, id, strlen(id)) == 0)
            answer(rabbit->window[i], BROKER_FAILED, rabbit->returned);
    }
}

/* take_close: a channel is closed for what was published, a connection for reasons of the broker's own. */
static bool
take_close(struct rabbit *rabbit, const amqp_method_t *method, owed_error *err)
{
    char text[BROKER_TEXT_BYTES];
    bool is_channel = method->id == AMQP_CHANNEL_CLOSE_METHOD;
    rabbitmq_text(text, sizeof text,
        is_channel ? ((const amqp_channel_close_t *)method->decoded)->reply_text
                   : ((const amqp_connection_close_t *)method->decoded)->reply_text);
    for (size_t i = 0; is_channel && i < rabbit->count; i++)
        answer(rabbit->window[i], BROKER_FAILED, text);
    fail(err, OWED_UNAVAILABLE, "%s", text);
    return false;
}

/* take_method reads a method; false: the connection is at its end. */
static bool
take_method(struct rabbit *rabbit, const amqp_method_t *method, owed_error *err)
{
    const amqp_basic_ack_t *ack = method->decoded;
    const amqp_basic_nack_t *nack = method->decoded;
    if (method->id == AMQP_CHANNEL_CLOSE_METHOD || method->id == AMQP_CONNECTION_CLOSE_METHOD)
        return take_close(rabbit, method, err);
    if (method->id == AMQP_BASIC_ACK_METHOD)
        confirm(rabbit, ack->delivery_tag, ack->multiple, BROKER_ACKED);
    else if (method->id == AMQP_BASIC_NACK_METHOD)
        confirm(rabbit, nack->delivery_tag, nack->multiple, BROKER_FAILED);
    else if (method->id == AMQP_BASIC_RETURN_METHOD)
        note_returned(rabbit, method->decoded);
    return true;
}

static bool
is_confirmed(const struct rabbit *rabbit)
{
    for (size_t i = 0; i < rabbit->count; i++)
        if (rabbit->window[i]->answer == BROKER_SILENT)
            return false;
    return true;
}

static bool
wait_for_window(struct rabbit *rabbit, owed_error *err)
{
    bool goes_on = true;
    while (goes_on && !is_confirmed(rabbit)) {
        amqp_frame_t frame;
        struct timeval limit = rabbit->limit;
        int failed = amqp_simple_wait_frame_noblock(rabbit->state, &frame, &limit);
        if (failed != AMQP_STATUS_OK) {
            fail(err, OWED_UNAVAILABLE, "it has not answered: %s", amqp_error_string2(failed));
            return false;
        }
        if (frame.frame_type == AMQP_FRAME_METHOD)
            goes_on = take_method(rabbit, &frame.payload.method, err);
        else if (frame.frame_type == AMQP_FRAME_HEADER)
            take_properties(rabbit, frame.payload.properties.decoded);
        amqp_maybe_release_buffers(rabbit->state);
    }
    return goes_on;
}

/* --- sending --- */

static int
publish(const struct rabbit *rabbit, const struct broker_message *message)
{
    amqp_table_entry_t entries[BROKER_FIELDS];
    for (size_t i = 0; i < message->field_count; i++) {
        entries[i] = (amqp_table_entry_t){.key = bytes_of(message->fields[i].name)};
        entries[i].value.kind = AMQP_FIELD_KIND_UTF8;
        entries[i].value.value.bytes = bytes_of(message->fields[i].value);
    }
    amqp_basic_properties_t properties = {
        ._flags = AMQP_BASIC_CONTENT_TYPE_FLAG | AMQP_BASIC_DELIVERY_MODE_FLAG |
            AMQP_BASIC_MESSAGE_ID_FLAG | AMQP_BASIC_TIMESTAMP_FLAG | AMQP_BASIC_TYPE_FLAG |
            AMQP_BASIC_HEADERS_FLAG,
        .content_type = bytes_of("application/json"),
        .delivery_mode = RABBITMQ_PERSISTENT,
        .message_id = bytes_of(message->id),
        .timestamp = (uint64_t)(message->occurred_at_us / MICROSECONDS),
        .type = bytes_of(message->event),
        .headers = {.num_entries = (int)message->field_count, .entries = entries},
    };
    if (message->correlation_id[0] != '\0') {
        properties._flags |= AMQP_BASIC_CORRELATION_ID_FLAG;
        properties.correlation_id = bytes_of(message->correlation_id);
    }
    amqp_bytes_t body = {message->payload.len, (void *)(uintptr_t)message->payload.p};
    return amqp_basic_publish(rabbit->state, RABBITMQ_CHANNEL, bytes_of(message->exchange),
        bytes_of(message->topic), 1, 0, &properties, body);
}

/* send_window publishes a part of the list and returns the rest once it is confirmed; false: broken. */
static bool
send_window(struct rabbit *rabbit, struct broker_message **messages, owed_error *err)
{
    size_t bytes = 0;
    rabbit->count = 0;
    while (*messages != NULL && rabbit->count < WINDOW_MESSAGES && bytes < WINDOW_BYTES) {
        struct broker_message *message = *messages;
        int failed = publish(rabbit, message);
        if (failed != AMQP_STATUS_OK) {
            fail(err, OWED_UNAVAILABLE, "it takes nothing: %s", amqp_error_string2(failed));
            return false;
        }
        rabbit->window[rabbit->count++] = message;
        rabbit->last_tag++;
        bytes += message->payload.len;
        *messages = message->next;
    }
    return wait_for_window(rabbit, err);
}

static bool
rabbitmq_send(void *connection, struct broker_message *messages, owed_error *err)
{
    struct rabbit *rabbit = connection;
    while (messages != NULL && !rabbit->is_broken)
        rabbit->is_broken = !send_window(rabbit, &messages, err);
    return !rabbit->is_broken;
}

OWED_API extern const struct broker_kind broker_rabbitmq;
const struct broker_kind broker_rabbitmq = {rabbitmq_open, rabbitmq_send, rabbitmq_close};
