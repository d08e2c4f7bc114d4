/* SPDX-License-Identifier: MIT
 *
 * ed25519.h - signatures by a key that only one side knows (RFC 8032).
 */
#ifndef BASE_ED25519_H
#define BASE_ED25519_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

#define ED25519_KEY_BYTES 32
#define ED25519_SIGNATURE_BYTES 64

/* All answer false where the crypto library failed; verify also where the signature is wrong. */
bool ed25519_public(
    const uint8_t seed[static ED25519_KEY_BYTES], uint8_t ret_public[static ED25519_KEY_BYTES]);
bool ed25519_sign(const uint8_t seed[static ED25519_KEY_BYTES], struct str text,
    uint8_t ret_signature[static ED25519_SIGNATURE_BYTES]);
bool ed25519_verify(const uint8_t public_key[static ED25519_KEY_BYTES], struct str text,
    const uint8_t signature[static ED25519_SIGNATURE_BYTES]);

#endif
