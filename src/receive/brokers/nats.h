/* SPDX-License-Identifier: MIT
 *
 * nats.h - connections to NATS.
 */
#ifndef RECEIVE_BROKERS_NATS_H
#define RECEIVE_BROKERS_NATS_H

#include <nats/nats.h>

#include "receive/broker.h"

/* nats_connect: one that does not reconnect by itself, so that what is in flight has no answer, and is
 * sent again. */
owed_status nats_connect(
    const struct broker_place *place, natsConnection **ret_connection, owed_error *err);

/* nats_reason says why something failed, as well as it is known; connection may be NULL. */
const char *nats_reason(natsStatus status, natsConnection *connection);

/* nats_connection_of: of one that the publishing kind has opened, and how long any wait on it may take. */
natsConnection *nats_connection_of(const void *opened, int64_t *ret_timeout_ms);

#endif
