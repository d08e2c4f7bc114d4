/* SPDX-License-Identifier: MIT
 *
 * digest.h - SHA-256, HMAC, base64 and hex (OpenSSL's EVP underneath).
 */
#ifndef BASE_DIGEST_H
#define BASE_DIGEST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

#define SHA256_BYTES 32

/* A digest over several pieces; false: the crypto library failed. */
bool sha256(const struct str *pieces, size_t count, uint8_t ret_digest[static SHA256_BYTES]);
bool hmac_sha256(
    struct str key, const struct str *pieces, size_t count, uint8_t ret_mac[static SHA256_BYTES]);

void hex_write(struct buf *buf, const uint8_t *bytes, size_t len);
bool hex_read(const char *text, uint8_t *bytes, size_t len); // exactly 2 * len digits

/* RFC 4648 section 4, padded. base64_read is strict: no stray character; ret gets what it decodes
 * to, at most ret->max. */
void base64_write(struct buf *buf, const uint8_t *bytes, size_t len);
bool base64_read(struct str text, struct buf *ret);

/* RFC 4648 section 5, which goes into URLs: written without padding, read with it or without, and in the letters of
 * section 4 too. */
void base64url_write(struct buf *buf, const uint8_t *bytes, size_t len);
bool base64url_read(struct str text, struct buf *ret);

#endif
