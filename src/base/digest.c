/* SPDX-License-Identifier: MIT
 *
 * digest.c - OpenSSL's EVP for the digests; hex and base64 by hand.
 */
#include "base/digest.h"

#include <openssl/core_names.h>
#include <openssl/evp.h>

#include <pthread.h>

#include "base/cleanup.h"

/* The algorithm, looked up once: a look-up costs more than the digest of a short text. */
static EVP_MD *sha256_found;

static void
find_sha256(void)
{
    sha256_found = EVP_MD_fetch(NULL, "SHA256", NULL);
}

static const EVP_MD *
md_sha256(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, find_sha256);
    return sha256_found != NULL ? sha256_found : EVP_sha256();
}

static void
md_ctx_ptr(EVP_MD_CTX **ctx)
{
    EVP_MD_CTX_free(*ctx);
}

static void
mac_ptr(EVP_MAC **mac)
{
    EVP_MAC_free(*mac);
}

static void
mac_ctx_ptr(EVP_MAC_CTX **ctx)
{
    EVP_MAC_CTX_free(*ctx);
}

bool
sha256(const struct str *pieces, size_t count, uint8_t ret_digest[static SHA256_BYTES])
{
    CLEANUP(md_ctx_ptr) EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    if (ctx == NULL || EVP_DigestInit_ex(ctx, md_sha256(), NULL) != 1)
        return false;
    for (size_t i = 0; i < count; i++)
        if (EVP_DigestUpdate(ctx, pieces[i].p, pieces[i].len) != 1)
            return false;
    return EVP_DigestFinal_ex(ctx, ret_digest, NULL) == 1;
}

bool
hmac_sha256(
    struct str key, const struct str *pieces, size_t count, uint8_t ret_mac[static SHA256_BYTES])
{
    CLEANUP(mac_ptr) EVP_MAC *mac = EVP_MAC_fetch(NULL, "HMAC", NULL);
    CLEANUP(mac_ctx_ptr) EVP_MAC_CTX *ctx = mac == NULL ? NULL : EVP_MAC_CTX_new(mac);
    char name[] = "SHA256";
    OSSL_PARAM params[] = {
        OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, name, 0),
        OSSL_PARAM_construct_end(),
    };
    // An empty key must not be NULL: that would mean the key of an earlier call.
    const char *bytes = key.len == 0 ? "" : key.p;
    if (ctx == NULL || EVP_MAC_init(ctx, (const unsigned char *)bytes, key.len, params) != 1)
        return false;
    for (size_t i = 0; i < count; i++)
        if (EVP_MAC_update(ctx, (const unsigned char *)pieces[i].p, pieces[i].len) != 1)
            return false;
    size_t len = 0;
    return EVP_MAC_final(ctx, ret_mac, &len, SHA256_BYTES) == 1 && len == SHA256_BYTES;
}

void
hex_write(struct buf *buf, const uint8_t *bytes, size_t len)
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < len; i++) {
        buf_putc(buf, digits[bytes[i] >> 4]);
        buf_putc(buf, digits[bytes[i] & 15]);
    }
}

/* hex_digit gives 0 to 15, or -1. */
static int
hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

bool
hex_read(const char *text, uint8_t *bytes, size_t len)
{
    if (strlen(text) != 2 * len)
        return false;
    for (size_t i = 0; i < 2 * len; i++)
        if (hex_digit(text[i]) < 0)
            return false;
    for (size_t i = 0; i < len; i++)
        bytes[i] = (uint8_t)(hex_digit(text[2 * i]) * 16 + hex_digit(text[2 * i + 1]));
    return true;
}
