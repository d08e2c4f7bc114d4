/* SPDX-License-Identifier: MIT
 *
 * rabbitmq_connect.c - connections to RabbitMQ, by TLS where that is asked for, and queues there.
 */
#include "receive/brokers/rabbitmq.h"

#include <amqp_ssl_socket.h>
#include <amqp_tcp_socket.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "base/error.h"

#define FRAME_BYTES 131072
#define MAKING_CHANNEL 2 // a queue that is there as somebody else wants it closes its channel
#define MICROSECONDS 1000000

struct timeval
rabbitmq_limit(int64_t us)
{
    return (struct timeval){.tv_sec = us / MICROSECONDS, .tv_usec = us % MICROSECONDS};
}

void
rabbitmq_text(char *ret, size_t size, amqp_bytes_t bytes)
{
    snprintf(ret, size, "%.*s", bytes.len < size ? (int)bytes.len : (int)size - 1,
        bytes.len == 0 ? "" : (const char *)bytes.bytes);
}

owed_status
rabbitmq_check(const amqp_rpc_reply_t *reply, const char *what, owed_error *err)
{
    char text[BROKER_TEXT_BYTES] = "it closed the connection";
    const void *closed = reply->reply.decoded;
    if (reply->reply_type == AMQP_RESPONSE_NORMAL)
        return OWED_OK;
    if (reply->reply_type == AMQP_RESPONSE_LIBRARY_EXCEPTION)
        return fail(
            err, OWED_UNAVAILABLE, "%s: %s", what, amqp_error_string2(reply->library_error));
    if (reply->reply_type == AMQP_RESPONSE_SERVER_EXCEPTION) {
        if (reply->reply.id == AMQP_CONNECTION_CLOSE_METHOD)
            rabbitmq_text(text, sizeof text, ((const amqp_connection_close_t *)closed)->reply_text);
        if (reply->reply.id == AMQP_CHANNEL_CLOSE_METHOD)
            rabbitmq_text(text, sizeof text, ((const amqp_channel_close_t *)closed)->reply_text);
    }
    return fail(err, OWED_UNAVAILABLE, "%s: %s", what, text);
}

/* bound_sending has the kernel end a connection whose other side takes nothing: sending knows no limit
 * of its own. */
static void
bound_sending(amqp_connection_state_t state, int64_t timeout_us)
{
    unsigned int ms = (unsigned int)(timeout_us / 1000);
    setsockopt(amqp_get_sockfd(state), IPPROTO_TCP, TCP_USER_TIMEOUT, &ms, sizeof ms);
}

static const char *
vhost_of(const struct broker_place *place)
{
    return place->path[0] == '\0' ? "/" : place->path;
}

static const char *
user_of(const struct broker_place *place)
{
    return place->user[0] == '\0' ? "guest" : place->user;
}

/* log_in says what we understand: that a queue is gone, and that nothing more is taken for a while. */
static amqp_rpc_reply_t
log_in(amqp_connection_state_t state, const struct broker_place *place, int heartbeat_s)
{
    const char *password = place->password[0] == '\0' ? "guest" : place->password;
    amqp_table_entry_t cans[] = {{.key = amqp_cstring_bytes("consumer_cancel_notify")},
        {.key = amqp_cstring_bytes("connection.blocked")}};
    for (int i = 0; i < 2; i++)
        cans[i].value = (amqp_field_value_t){.kind = AMQP_FIELD_KIND_BOOLEAN, .value.boolean = 1};
    amqp_table_entry_t entry = {.key = amqp_cstring_bytes("capabilities"),
        .value = {.kind = AMQP_FIELD_KIND_TABLE, .value.table = {2, cans}}};
    const amqp_table_t properties = {1, &entry};
    return amqp_login_with_properties(state, vhost_of(place), 0, FRAME_BYTES, heartbeat_s,
        &properties, AMQP_SASL_METHOD_PLAIN, user_of(place), password);
}

/* judge_login tells a broker that refuses who comes, or where to, from one that is away. */
static owed_status
judge_login(const amqp_rpc_reply_t *reply, const struct broker_place *place, owed_error *err)
{
    char text[BROKER_TEXT_BYTES / 2];
    const amqp_connection_close_t *closed = reply->reply.decoded;
    if (reply->reply_type != AMQP_RESPONSE_SERVER_EXCEPTION ||
        reply->reply.id != AMQP_CONNECTION_CLOSE_METHOD)
        return rabbitmq_check(reply, "it lets nobody in", err);
    rabbitmq_text(text, sizeof text, closed->reply_text);
    if (closed->reply_code == AMQP_ACCESS_REFUSED)
        return fail(
            err, OWED_STORE, "user %s or its password is refused: %s", user_of(place), text);
    if (closed->reply_code == AMQP_NOT_ALLOWED)
        return fail(err, OWED_STORE, "its vhost %s is refused: %s", vhost_of(place), text);
    return rabbitmq_check(reply, "it lets nobody in", err);
}

static owed_status
greet(amqp_connection_state_t state, const struct broker_place *place, int heartbeat_s,
    owed_error *err)
{
    amqp_rpc_reply_t reply = log_in(state, place, heartbeat_s);
    owed_status status = judge_login(&reply, place, err);
    if (status != OWED_OK)
        return status;
    amqp_channel_open(state, RABBITMQ_CHANNEL);
    reply = amqp_get_rpc_reply(state);
    return rabbitmq_check(&reply, "no channel can be opened", err);
}

/* secure_socket: the other side has to have a certificate for the name that it goes by. */
static amqp_socket_t *
secure_socket(amqp_connection_state_t state, const char *ca_file, owed_error *err)
{
    amqp_socket_t *socket = amqp_ssl_socket_new(state);
    if (socket == NULL) {
        fail_memory(err);
        return NULL;
    }
    amqp_ssl_socket_set_verify_peer(socket, 1);
    amqp_ssl_socket_set_verify_hostname(socket, 1);
    amqp_ssl_socket_set_ssl_versions(socket, AMQP_TLSv1_2, AMQP_TLSvLATEST);
    bool is_set = ca_file == NULL
        ? SSL_CTX_set_default_verify_paths(amqp_ssl_socket_get_context(socket)) == 1
        : amqp_ssl_socket_set_cacert(socket, ca_file) == AMQP_STATUS_OK;
    if (is_set)
        return socket;
    fail(err, OWED_CONFIG, "ca-file %s holds no certificates of authorities that can be read",
        ca_file == NULL ? "of the host" : ca_file);
    return NULL;
}

static amqp_socket_t *
plain_socket(amqp_connection_state_t state, owed_error *err)
{
    amqp_socket_t *socket = amqp_tcp_socket_new(state);
    if (socket == NULL)
        fail_memory(err);
    return socket;
}

static owed_status
connect_to(amqp_connection_state_t state, const struct broker_place *place, owed_error *err)
{
    amqp_socket_t *socket =
        place->is_secure ? secure_socket(state, place->ca_file, err) : plain_socket(state, err);
    if (socket == NULL)
        return err->status;
    struct timeval limit = rabbitmq_limit(place->timeout_us);
    int failed = amqp_socket_open_noblock(socket, place->host, place->port, &limit);
    if (failed != AMQP_STATUS_OK)
        return fail(err, OWED_UNAVAILABLE, "it cannot be reached: %s", amqp_error_string2(failed));
    bound_sending(state, place->timeout_us);
    amqp_set_handshake_timeout(state, &limit);
    amqp_set_rpc_timeout(state, &limit);
    return OWED_OK;
}

owed_status
rabbitmq_connect(const struct broker_place *place, int heartbeat_s,
    amqp_connection_state_t *ret_state, owed_error *err)
{
    amqp_connection_state_t state = amqp_new_connection();
    if (state == NULL)
        return fail_memory(err);
    owed_status status = connect_to(state, place, err);
    if (status == OWED_OK)
        status = greet(state, place, heartbeat_s, err);
    if (status == OWED_OK)
        *ret_state = state;
    else
        amqp_destroy_connection(state);
    return status;
}

/* --- queues --- */

/* judge_refusal: a queue that is there already is good, whoever made it, if it outlives the broker. */
static owed_status
judge_refusal(amqp_connection_state_t state, const amqp_rpc_reply_t *reply, const char *topic,
    owed_error *err)
{
    char text[BROKER_TEXT_BYTES];
    const amqp_channel_close_t *closed = reply->reply.decoded;
    if (reply->reply_type != AMQP_RESPONSE_SERVER_EXCEPTION ||
        reply->reply.id != AMQP_CHANNEL_CLOSE_METHOD)
        return rabbitmq_check(reply, "its queue cannot be made", err);
    amqp_channel_close_ok_t heard = {0};
    uint16_t code = closed->reply_code;
    rabbitmq_text(text, sizeof text, closed->reply_text);
    amqp_send_method(state, MAKING_CHANNEL, AMQP_CHANNEL_CLOSE_OK_METHOD, &heard);
    if (code == AMQP_PRECONDITION_FAILED && strstr(text, "'durable'") != NULL)
        return fail(err, OWED_UNAVAILABLE,
            "queue %s is not durable, so what is in it is lost with the broker; delete it, and it is made "
            "as it has to be",
            topic);
    if (code == AMQP_PRECONDITION_FAILED || code == AMQP_ACCESS_REFUSED)
        return OWED_OK;
    return fail(err, OWED_UNAVAILABLE, "its queue cannot be made: %s", text);
}

owed_status
rabbitmq_make_queue(amqp_connection_state_t state, const char *topic, owed_error *err)
{
    amqp_channel_open(state, MAKING_CHANNEL);
    amqp_rpc_reply_t reply = amqp_get_rpc_reply(state);
    owed_status status = rabbitmq_check(&reply, "no channel can be opened", err);
    if (status != OWED_OK)
        return status;
    amqp_queue_declare(
        state, MAKING_CHANNEL, amqp_cstring_bytes(topic), 0, 1, 0, 0, amqp_empty_table);
    reply = amqp_get_rpc_reply(state);
    if (reply.reply_type != AMQP_RESPONSE_NORMAL)
        return judge_refusal(state, &reply, topic, err);
    reply = amqp_channel_close(state, MAKING_CHANNEL, AMQP_REPLY_SUCCESS);
    return rabbitmq_check(&reply, "no channel can be closed", err);
}
