/* SPDX-License-Identifier: MIT
 *
 * vapid.h - who pushes, told to the push service (RFC 8292): a token for its origin, signed by the key that the browser
 * was given when it subscribed.
 */
#ifndef NOTIFY_CHANNELS_VAPID_H
#define NOTIFY_CHANNELS_VAPID_H

#include <pthread.h>

#include "notify/channels/jwt.h"
#include "notify/channels/subscription.h"

#define VAPID_ORIGINS 16 // as many tokens are kept; there are few push services

struct vapid {
    const struct jwt_key *key;
    const char *subject;  // mailto: or https:
    char public_key[96];  // base64url
    pthread_mutex_t lock; // of what follows
    struct vapid_token {
        char origin[ORIGIN_BYTES];
        char *text;          // NULL: none
        int64_t renew_at_us; // by the wall clock, as its end is
        int64_t made_at_us;
    } tokens[VAPID_ORIGINS];
    size_t next; // to make room
};

/* vapid_init borrows key and subject. False: the crypto library failed. */
bool vapid_init(struct vapid *vapid, const struct jwt_key *key, const char *subject);
void vapid_done(struct vapid *vapid);

/* vapid_write appends "authorization: vapid t=..., k=..."; false: out of memory, or the crypto library failed. */
bool vapid_write(struct vapid *vapid, const char *origin, int64_t now_us, struct buf *out);

#endif
