/* SPDX-License-Identifier: MIT
 *
 * rabbitmq.h - connections to RabbitMQ.
 */
#ifndef RECEIVE_BROKERS_RABBITMQ_H
#define RECEIVE_BROKERS_RABBITMQ_H

// amqp.h names struct timeval without saying what it is.
#include <sys/time.h>

#include <amqp.h>
#include <amqp_framing.h>

#include "receive/broker.h"

#define RABBITMQ_CHANNEL 1 // the only one
#define RABBITMQ_PERSISTENT 2

struct timeval rabbitmq_limit(int64_t us);

/* rabbitmq_connect: logged in, and the channel is open. heartbeat_s 0: neither side asks whether the other is alive. */
owed_status rabbitmq_connect(const struct broker_place *place, int heartbeat_s,
    amqp_connection_state_t *ret_state, owed_error *err);

/* rabbitmq_make_queue makes a durable one where there is none; one that is there already is good, whoever made
 * it, if it outlives the broker. */
owed_status rabbitmq_make_queue(amqp_connection_state_t state, const char *topic, owed_error *err);

/* rabbitmq_check makes a sentence of what is no good answer. */
owed_status rabbitmq_check(const amqp_rpc_reply_t *reply, const char *what, owed_error *err);

/* rabbitmq_text ends bytes of the broker's as a text. */
void rabbitmq_text(char *ret, size_t size, amqp_bytes_t bytes);

/* rabbitmq_state_of: of one that the publishing kind has opened. */
amqp_connection_state_t rabbitmq_state_of(const void *opened);

#endif
