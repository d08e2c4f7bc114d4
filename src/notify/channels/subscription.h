/* SPDX-License-Identifier: MIT
 *
 * subscription.h - a browser that wants to be pushed to, as its PushSubscription writes itself in JSON.
 *
 *   {"endpoint": "https://push.example/...", "keys": {"p256dh": "...", "auth": "..."}}
 */
#ifndef NOTIFY_CHANNELS_SUBSCRIPTION_H
#define NOTIFY_CHANNELS_SUBSCRIPTION_H

#include "base/arena.h"
#include "notify/channels/webpush_crypto.h"

#define ORIGIN_BYTES 300

struct subscription {
    const char *endpoint;      // in the arena; it alone gives the right to push
    char origin[ORIGIN_BYTES]; // scheme, host, and a port where it is said: RFC 6454
    struct webpush_keys keys;
};

/* subscription_read takes one out of an address. INVALID: the sentence says what lacks, and shows nothing of it. NOMEM. */
owed_status subscription_read(const char *address, struct arena *arena,
    struct subscription *ret_subscription, owed_error *err);

/* subscription_host_is tells whether the endpoint's host is of the list: push.example, or *.push.example. */
bool subscription_host_is(const struct subscription *subscription, const char *const *hosts);

#endif
