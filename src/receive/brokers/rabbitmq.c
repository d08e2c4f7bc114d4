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
    bool is_closed; // the channel is, for what was published
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
ask_for_confirms(struct rabbit *rabbit, owed_error *err)
{
    amqp_confirm_select(rabbit->state, RABBITMQ_CHANNEL);
    amqp_rpc_reply_t reply = amqp_get_rpc_reply(rabbit->state);
    rabbit->last_tag = 0;
    return rabbitmq_check(&reply, "it confirms nothing", err);
}

static owed_status
rabbitmq_open(const struct broker_place *place, void **ret_connection, owed_error *err)
{
    struct rabbit *rabbit = calloc(1, sizeof *rabbit);
    if (rabbit == NULL)
        return fail_memory(err);
    rabbit->limit = rabbitmq_limit(place->timeout_us);
    owed_status status = rabbitmq_connect(place, 0, &rabbit->state, err);
    if (status == OWED_OK)
        status = ask_for_confirms(rabbit, err);
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
            answer(rabbit->window[i], with,
                with == BROKER_ACKED ? "" : "it cannot take it now (nack): its queue may be full");
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

static void
answer_all(struct rabbit *rabbit, enum broker_answer with, const char *text)
{
    for (size_t i = 0; i < rabbit->count; i++)
        answer(rabbit->window[i], with, text);
}

/* take_channel_close: it is closed for what was published. Where that may be one of many, which is not told,
 * each goes alone later; an exchange that is not there is that of all. */
static void
take_channel_close(struct rabbit *rabbit, const amqp_channel_close_t *closed)
{
    char text[BROKER_TEXT_BYTES];
    rabbitmq_text(text, sizeof text, closed->reply_text);
    if (rabbit->count == 1 || closed->reply_code == AMQP_NOT_FOUND)
        answer_all(rabbit, BROKER_FAILED, text);
    rabbit->is_closed = true;
}

static bool
take_connection_close(const amqp_connection_close_t *closed, owed_error *err)
{
    char text[BROKER_TEXT_BYTES];
    rabbitmq_text(text, sizeof text, closed->reply_text);
    fail(err, OWED_UNAVAILABLE, "%s", text);
    return false;
}

/* take_blocked: it reads no more from whoever publishes, until it has room again. */
static bool
take_blocked(struct rabbit *rabbit, const amqp_connection_blocked_t *blocked, owed_error *err)
{
    char reason[BROKER_TEXT_BYTES / 2];
    char text[BROKER_TEXT_BYTES];
    rabbitmq_text(reason, sizeof reason, blocked->reason);
    snprintf(text, sizeof text, "it takes nothing at the moment: %s", reason);
    answer_all(rabbit, BROKER_AWAY, text);
    fail(err, OWED_UNAVAILABLE, "%s", text);
    return false;
}

/* take_method reads a method; false: the connection is at its end. */
static bool
take_method(struct rabbit *rabbit, const amqp_method_t *method, owed_error *err)
{
    const amqp_basic_ack_t *ack = method->decoded;
    const amqp_basic_nack_t *nack = method->decoded;
    if (method->id == AMQP_CONNECTION_CLOSE_METHOD)
        return take_connection_close(method->decoded, err);
    if (method->id == AMQP_CONNECTION_BLOCKED_METHOD)
        return take_blocked(rabbit, method->decoded, err);
    if (method->id == AMQP_CHANNEL_CLOSE_METHOD)
        take_channel_close(rabbit, method->decoded);
    else if (method->id == AMQP_BASIC_ACK_METHOD)
        confirm(rabbit, ack->delivery_tag, ack->multiple, BROKER_ACKED);
    else if (method->id == AMQP_BASIC_NACK_METHOD)
        confirm(rabbit, nack->delivery_tag, nack->multiple, BROKER_AWAY);
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
    while (goes_on && !rabbit->is_closed && !is_confirmed(rabbit)) {
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

/* reopen opens the channel that was closed for what was published. */
static bool
reopen(struct rabbit *rabbit, owed_error *err)
{
    amqp_channel_close_ok_t ok = {0};
    amqp_send_method(rabbit->state, RABBITMQ_CHANNEL, AMQP_CHANNEL_CLOSE_OK_METHOD, &ok);
    amqp_channel_open(rabbit->state, RABBITMQ_CHANNEL);
    amqp_rpc_reply_t reply = amqp_get_rpc_reply(rabbit->state);
    rabbit->is_closed = false;
    return rabbitmq_check(&reply, "no channel can be opened", err) == OWED_OK &&
        ask_for_confirms(rabbit, err) == OWED_OK;
}

/* send_window publishes so many of the list as have no answer, and returns the rest once they are confirmed;
 * false: broken. */
static bool
send_window(struct rabbit *rabbit, struct broker_message **messages, size_t most, owed_error *err)
{
    size_t bytes = 0;
    rabbit->count = 0;
    while (*messages != NULL && rabbit->count < most && bytes < WINDOW_BYTES) {
        struct broker_message *message = *messages;
        *messages = message->next;
        if (message->answer != BROKER_SILENT)
            continue;
        int failed = publish(rabbit, message);
        if (failed != AMQP_STATUS_OK) {
            fail(err, OWED_UNAVAILABLE, "it takes nothing: %s", amqp_error_string2(failed));
            return false;
        }
        rabbit->window[rabbit->count++] = message;
        rabbit->last_tag++;
        bytes += message->payload.len;
    }
    return wait_for_window(rabbit, err) && (!rabbit->is_closed || reopen(rabbit, err));
}

static void
send_all(struct rabbit *rabbit, struct broker_message *messages, size_t window, owed_error *err)
{
    while (messages != NULL && !rabbit->is_broken)
        rabbit->is_broken = !send_window(rabbit, &messages, window, err);
}

static bool
rabbitmq_send(void *connection, struct broker_message *messages, owed_error *err)
{
    struct rabbit *rabbit = connection;
    send_all(rabbit, messages, WINDOW_MESSAGES, err);
    send_all(rabbit, messages, 1, err);
    return !rabbit->is_broken;
}

OWED_API extern const struct broker_kind broker_rabbitmq;
const struct broker_kind broker_rabbitmq = {rabbitmq_open, rabbitmq_send, rabbitmq_close};
