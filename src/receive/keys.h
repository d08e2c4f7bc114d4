/* SPDX-License-Identifier: MIT
 *
 * keys.h - what webhooks of Standard Webhooks are signed and verified with.
 */
#ifndef RECEIVE_KEYS_H
#define RECEIVE_KEYS_H

#include <owed/endpoint.h>

#include "base/buf.h"
#include "declare/secret.h"

enum key_kind {
    KEY_SHARED,  // "whsec_": HMAC-SHA256
    KEY_PRIVATE, // "whsk_": Ed25519
    KEY_PUBLIC   // "whpk_"
};

struct key {
    enum key_kind kind;
    struct secret secret; // Ed25519: 32 bytes
};

/* key_read takes any of them; without a prefix it is a shared one. CONFIG; the text is never shown. */
owed_status key_read(const char *text, struct key *ret_key, owed_error *err);

/* key_make draws a shared or a private one and writes it; false: no memory. */
bool key_make(owed_signing signing, const owed_dice *dice, struct buf *text);

/* key_for_others writes what the other side verifies with: the shared one, or the public key. */
bool key_for_others(const char *text, struct buf *ret_text);

/* key_sign appends an entry of webhook-signature, "v1,..." or "v1a,...", over id, timestamp and body. */
bool key_sign(const struct key *key, const char *id, int64_t timestamp, struct str body,
    struct buf *signatures);

#endif
