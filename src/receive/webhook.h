/* SPDX-License-Identifier: MIT
 *
 * webhook.h - requests in flight.
 */
#ifndef RECEIVE_WEBHOOK_H
#define RECEIVE_WEBHOOK_H

#include "receive/landing.h"
#include "receive/wire.h"

#define WEBHOOK_TIMEOUT_US (INT64_C(30) * 1000000)
#define WEBHOOK_CONNECT_TIMEOUT_US (INT64_C(10) * 1000000)

struct request;

struct webhooks {
    struct landing *landing;
    struct wire wire;
    struct request *flying;
    struct request *idle; // handles that wait to be used again
    int32_t count;        // of flying
    void *targets;        // tree of struct target, by receiver
};

/* webhooks_open is given at_once, the number of requests expected in flight, for which connections
 * are kept. */
owed_status webhooks_open(
    struct webhooks *webhooks, struct landing *landing, int32_t at_once, owed_error *err);
void webhooks_close(struct webhooks *webhooks);

void webhooks_start(struct webhooks *webhooks, struct flight *flight);

/* webhooks_step lands what has ended; wire.ended_fd is readable when something has. */
void webhooks_step(struct webhooks *webhooks);
void webhooks_abandon(struct webhooks *webhooks, struct flight *flight);

#endif
