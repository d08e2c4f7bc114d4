/* SPDX-License-Identifier: MIT
 *
 * ed25519.c - OpenSSL's Ed25519.
 */
#include "base/ed25519.h"

#include <openssl/evp.h>

#include "base/cleanup.h"

static void
key_ptr(EVP_PKEY **key)
{
    EVP_PKEY_free(*key);
}

static void
ctx_ptr(EVP_MD_CTX **ctx)
{
    EVP_MD_CTX_free(*ctx);
}

bool
ed25519_public(
    const uint8_t seed[static ED25519_KEY_BYTES], uint8_t ret_public[static ED25519_KEY_BYTES])
{
    CLEANUP(key_ptr)
    EVP_PKEY *key = EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, NULL, seed, ED25519_KEY_BYTES);
    size_t len = ED25519_KEY_BYTES;
    return key != NULL && EVP_PKEY_get_raw_public_key(key, ret_public, &len) == 1 &&
        len == ED25519_KEY_BYTES;
}

bool
ed25519_sign(const uint8_t seed[static ED25519_KEY_BYTES], struct str text,
    uint8_t ret_signature[static ED25519_SIGNATURE_BYTES])
{
    CLEANUP(key_ptr)
    EVP_PKEY *key = EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, NULL, seed, ED25519_KEY_BYTES);
    CLEANUP(ctx_ptr) EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    size_t len = ED25519_SIGNATURE_BYTES;
    return key != NULL && ctx != NULL && EVP_DigestSignInit(ctx, NULL, NULL, NULL, key) == 1 &&
        EVP_DigestSign(ctx, ret_signature, &len, (const unsigned char *)text.p, text.len) == 1 &&
        len == ED25519_SIGNATURE_BYTES;
}

bool
ed25519_verify(const uint8_t public_key[static ED25519_KEY_BYTES], struct str text,
    const uint8_t signature[static ED25519_SIGNATURE_BYTES])
{
    CLEANUP(key_ptr)
    EVP_PKEY *key =
        EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, NULL, public_key, ED25519_KEY_BYTES);
    CLEANUP(ctx_ptr) EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    return key != NULL && ctx != NULL && EVP_DigestVerifyInit(ctx, NULL, NULL, NULL, key) == 1 &&
        EVP_DigestVerify(
            ctx, signature, ED25519_SIGNATURE_BYTES, (const unsigned char *)text.p, text.len) == 1;
}
