/* SPDX-License-Identifier: MIT
 *
 * dedup.h - keys that are being sent, and those that were.
 *
 * A claim has a token: who comes late, after his claim has expired and another one holds the key, neither
 * completes nor releases that one's.
 */
#ifndef NOTIFY_DEDUP_H
#define NOTIFY_DEDUP_H

#include <owed/notify.h>

/* dedup_key_check: an empty key, or one of over LIMIT_KEY_BYTES, is INVALID. */
owed_status dedup_key_check(const char *key, owed_error *err);

/* dedup_claim takes a key that is free or expired and gives a token above 0. Where it was sent, token is 0
 * and ret_receipt gets a copy of its receipt, marked duplicate. DUPLICATE_SEND: it is being sent. INVALID: no
 * key. NOMEM. */
owed_status dedup_claim(owed_dedup *dedup, const char *key, int64_t at_us, uint64_t *ret_token,
    owed_receipt **ret_receipt, owed_error *err);

/* dedup_complete keeps the receipt (copied) under the key, known from at_us on; without memory for it the key
 * is released. dedup_release gives the key back. Both do nothing where the key has another token. */
void dedup_complete(
    owed_dedup *dedup, const char *key, uint64_t token, int64_t at_us, const owed_receipt *receipt);
void dedup_release(owed_dedup *dedup, const char *key, uint64_t token);

/* dedup_await waits until a key is not being sent. DUPLICATE_SEND: this thread is sending it, and would wait for ever. */
owed_status dedup_await(owed_dedup *dedup, const char *key, owed_error *err);

#endif
