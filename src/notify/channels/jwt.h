/* SPDX-License-Identifier: MIT
 *
 * jwt.h - signed claims (RFC 7519, RFC 7515): who says so is proved by a key of ours, which is never shown.
 */
#ifndef NOTIFY_CHANNELS_JWT_H
#define NOTIFY_CHANNELS_JWT_H

#include <owed/error.h>

#include "base/buf.h"

#define JWT_BYTES ((size_t)8 * 1024)
#define JWT_KEY_FILE_BYTES ((size_t)64 * 1024)
#define EC_POINT_BYTES 65 // of P-256, uncompressed

enum jwt_algorithm {
    JWT_ES256, // ECDSA over P-256
    JWT_RS256  // RSA of 2048 bits and more
};

struct jwt_key;

/* jwt_key_read takes a private key out of a file (PEM, also as .p8), jwt_key_parse out of a text; jwt_key_free frees
 * it. CONFIG: it cannot be read, it is none, it is one of another kind; the sentence names the file, or what. NOMEM. */
owed_status jwt_key_read(
    const char *path, enum jwt_algorithm algorithm, struct jwt_key **ret_key, owed_error *err);
owed_status jwt_key_parse(struct str pem, const char *what, enum jwt_algorithm algorithm,
    struct jwt_key **ret_key, owed_error *err);
void jwt_key_free(struct jwt_key *key);

/* jwt_key_point writes the public half of a key of ES256. */
bool jwt_key_point(const struct jwt_key *key, uint8_t ret_point[static EC_POINT_BYTES]);

/* jwt_sign appends the token. key_id: the header's kid, NULL for none. claims: a JSON object. False: no memory, or the crypto
 * library failed. */
bool jwt_sign(const struct jwt_key *key, const char *key_id, struct str claims, struct buf *out);

/* key_file_read fills the buffer with a whole small file, wiped by secret_buf_done, which is fit for CLEANUP. CONFIG. */
owed_status key_file_read(const char *path, struct buf *ret_text, owed_error *err);
void secret_buf_done(struct buf *buf);

#endif
