/* SPDX-License-Identifier: MIT
 *
 * webpush_crypto.h - a message that only one browser can read (RFC 8291 over RFC 8188).
 */
#ifndef NOTIFY_CHANNELS_WEBPUSH_CRYPTO_H
#define NOTIFY_CHANNELS_WEBPUSH_CRYPTO_H

#include <openssl/types.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "notify/channels/jwt.h"

#define WEBPUSH_BODY_BYTES 4096 // what every push service takes
#define WEBPUSH_HEAD_BYTES 86   // salt, record size, and our key
#define WEBPUSH_TEXT_BYTES (WEBPUSH_BODY_BYTES - WEBPUSH_HEAD_BYTES - 1 - 16)
#define WEBPUSH_AUTH_BYTES 16
#define WEBPUSH_SALT_BYTES 16

/* Of a subscription. */
struct webpush_keys {
    uint8_t point[EC_POINT_BYTES]; // p256dh
    uint8_t auth[WEBPUSH_AUTH_BYTES];
};

/* What is used once. */
struct webpush_once {
    EVP_PKEY *key; // on P-256
    uint8_t salt[WEBPUSH_SALT_BYTES];
};

/* webpush_point_is_good tells whether a point lies on P-256. */
bool webpush_point_is_good(const uint8_t point[static EC_POINT_BYTES]);

/* webpush_encrypt appends the body of a request with a text of up to WEBPUSH_TEXT_BYTES, in one record.
 * False: no memory, the text is too long, the point is none, or the crypto library failed. */
bool webpush_encrypt(const struct webpush_keys *keys, struct str text, struct buf *out);

/* webpush_seal is webpush_encrypt with a key and a salt that are known, for tests. */
bool webpush_seal(const struct webpush_keys *keys, const struct webpush_once *once, struct str text,
    struct buf *out);

#endif
