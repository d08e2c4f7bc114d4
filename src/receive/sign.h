/* SPDX-License-Identifier: MIT
 *
 * sign.h - the signature of Standard Webhooks: HMAC-SHA256 over id, timestamp and body.
 */
#ifndef RECEIVE_SIGN_H
#define RECEIVE_SIGN_H

#include <sys/types.h>
#include <time.h>

#include "declare/registry.h"
#include "declare/secret.h"

#define SIGN_SECRETS_MAX 4
#define SIGN_ENTRY_BYTES 47 // "v1," and 44 characters of base64
#define SIGN_BYTES (SIGN_SECRETS_MAX * (SIGN_ENTRY_BYTES + 1) + 1)

/* The secrets of one receiver, the newest first: all of them sign, so that a receiver which still
 * knows only the old one goes on verifying while a secret is replaced. */
struct secrets {
    struct secret list[SIGN_SECRETS_MAX];
    size_t count; // 0: nothing is signed
    bool loaded;
    // Of the file they were read from, to notice that it has changed:
    struct timespec changed_at;
    struct timespec loaded_at;
    off_t size;
    ino_t inode;
};

/* secrets_load brings them up to date with what the receiver declares; a file is read again when it
 * has changed. CONFIG, NOT_FOUND: the file, by name, and what is wrong with it. */
owed_status secrets_load(struct secrets *secrets, const owed_receiver *declared, owed_error *err);

/* sign writes the value of webhook-signature, an entry for each secret; false: the crypto library
 * failed. */
bool sign(const struct secrets *secrets, const char *id, int64_t timestamp, struct str body,
    char ret_signature[static SIGN_BYTES]);

#endif
