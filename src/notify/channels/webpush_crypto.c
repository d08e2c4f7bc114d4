/* SPDX-License-Identifier: MIT
 *
 * webpush_crypto.c - a message that only one browser can read (RFC 8291).
 *
 * The secret that both ends can compute (ECDH of a key of ours that is used once and the browser's), mixed with
 * what only the browser and the application know (auth), gives by HKDF a key and a nonce for one record of
 * AES-128-GCM. The body is: salt, record size, length of our key, our key, the sealed record.
 */
#include "notify/channels/webpush_crypto.h"

#include <assert.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <openssl/rand.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/digest.h"

#define SECRET_BYTES 32 // of ECDH on P-256
#define KEY_BYTES 16    // of AES-128
#define NONCE_BYTES 12
#define TAG_BYTES 16

/* What a record is sealed with; wiped after use. */
struct seal {
    uint8_t key[SHA256_BYTES];
    uint8_t nonce[SHA256_BYTES];
};

static void
free_key(EVP_PKEY **key)
{
    EVP_PKEY_free(*key);
}

/* browser_key makes a key of a point; NULL: it is none. */
static EVP_PKEY *
browser_key(const uint8_t *point)
{
    EVP_PKEY *key = NULL;
    char group[] = "P-256";
    uint8_t copy[EC_POINT_BYTES];
    memcpy(copy, point, sizeof copy);
    OSSL_PARAM params[] = {
        OSSL_PARAM_construct_utf8_string(OSSL_PKEY_PARAM_GROUP_NAME, group, 0),
        OSSL_PARAM_construct_octet_string(OSSL_PKEY_PARAM_PUB_KEY, copy, sizeof copy),
        OSSL_PARAM_construct_end(),
    };
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_name(NULL, "EC", NULL);
    bool is_made = point[0] == POINT_CONVERSION_UNCOMPRESSED && context != NULL &&
        EVP_PKEY_fromdata_init(context) == 1 &&
        EVP_PKEY_fromdata(context, &key, EVP_PKEY_PUBLIC_KEY, params) == 1;
    EVP_PKEY_CTX_free(context);
    return is_made ? key : NULL;
}

bool
webpush_point_is_good(const uint8_t point[static EC_POINT_BYTES])
{
    CLEANUP(free_key) EVP_PKEY *key = browser_key(point);
    return key != NULL;
}

static bool
agree(EVP_PKEY *ours, const uint8_t *point, uint8_t ret_secret[static SECRET_BYTES])
{
    size_t len = SECRET_BYTES;
    CLEANUP(free_key) EVP_PKEY *theirs = browser_key(point);
    EVP_PKEY_CTX *context = theirs == NULL ? NULL : EVP_PKEY_CTX_new(ours, NULL);
    bool is_agreed = context != NULL && EVP_PKEY_derive_init(context) == 1 &&
        EVP_PKEY_derive_set_peer(context, theirs) == 1 &&
        EVP_PKEY_derive(context, ret_secret, &len) == 1 && len == SECRET_BYTES;
    EVP_PKEY_CTX_free(context);
    return is_agreed;
}

static struct str
bytes(const uint8_t *p, size_t len)
{
    return (struct str){(const char *)p, len};
}

/* derive is HKDF (RFC 5869) for a result of one block: both its steps. */
static bool
derive(struct str salt, struct str secret, const struct str *info, size_t count,
    uint8_t ret_key[static SHA256_BYTES])
{
    uint8_t extracted[SHA256_BYTES];
    bool is_derived = hmac_sha256(salt, &secret, 1, extracted) &&
        hmac_sha256(bytes(extracted, sizeof extracted), info, count, ret_key);
    explicit_bzero(extracted, sizeof extracted);
    return is_derived;
}

static bool
derive_seal(const struct webpush_keys *keys, const struct webpush_once *once, const uint8_t *point,
    struct seal *ret_seal)
{
    // The NUL that ends each literal belongs to it.
    static const char for_secret[] = "WebPush: info";
    static const char for_key[] = "Content-Encoding: aes128gcm";
    static const char for_nonce[] = "Content-Encoding: nonce";
    const struct str first = {"\x01", 1};
    const struct str secret_info[] = {{for_secret, sizeof for_secret},
        bytes(keys->point, sizeof keys->point), bytes(point, EC_POINT_BYTES), first};
    const struct str key_info[] = {{for_key, sizeof for_key}, first};
    const struct str nonce_info[] = {{for_nonce, sizeof for_nonce}, first};
    uint8_t shared[SECRET_BYTES], mixed[SHA256_BYTES];
    struct str salt = bytes(once->salt, sizeof once->salt);
    bool is_derived = agree(once->key, keys->point, shared) &&
        derive(bytes(keys->auth, sizeof keys->auth), bytes(shared, sizeof shared), secret_info, 4,
            mixed) &&
        derive(salt, bytes(mixed, sizeof mixed), key_info, 2, ret_seal->key) &&
        derive(salt, bytes(mixed, sizeof mixed), nonce_info, 2, ret_seal->nonce);
    explicit_bzero(shared, sizeof shared);
    explicit_bzero(mixed, sizeof mixed);
    return is_derived;
}

/* encrypt_record appends the text and the byte that ends the last record, sealed. */
static bool
encrypt_record(const struct seal *seal, struct str text, struct buf *out)
{
    static const uint8_t last_record = 2;
    uint8_t sealed[WEBPUSH_TEXT_BYTES + 1], tag[TAG_BYTES];
    int len = 0, end = 0, rest = 0;
    EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
    bool is_sealed = context != NULL &&
        EVP_EncryptInit_ex(context, EVP_aes_128_gcm(), NULL, seal->key, seal->nonce) == 1 &&
        EVP_EncryptUpdate(context, sealed, &len, (const uint8_t *)text.p, (int)text.len) == 1 &&
        EVP_EncryptUpdate(context, sealed + len, &end, &last_record, 1) == 1 &&
        EVP_EncryptFinal_ex(context, sealed + len + end, &rest) == 1 &&
        EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_GCM_GET_TAG, TAG_BYTES, tag) == 1;
    EVP_CIPHER_CTX_free(context);
    if (!is_sealed)
        return false;
    buf_add(out, sealed, (size_t)(len + end + rest));
    buf_add(out, tag, sizeof tag);
    return !out->failed;
}

bool
webpush_seal(const struct webpush_keys *keys, const struct webpush_once *once, struct str text,
    struct buf *out)
{
    uint8_t point[EC_POINT_BYTES];
    size_t point_len = 0;
    struct seal seal = {0};
    if (text.len > WEBPUSH_TEXT_BYTES ||
        EVP_PKEY_get_octet_string_param(
            once->key, OSSL_PKEY_PARAM_PUB_KEY, point, sizeof point, &point_len) != 1 ||
        point_len != sizeof point || !derive_seal(keys, once, point, &seal))
        return false;
    static_assert(KEY_BYTES <= SHA256_BYTES && NONCE_BYTES <= SHA256_BYTES, "one block is enough");
    const uint8_t record_size[4] = {0, 0, WEBPUSH_BODY_BYTES >> 8, WEBPUSH_BODY_BYTES & 255};
    buf_add(out, once->salt, sizeof once->salt);
    buf_add(out, record_size, sizeof record_size);
    buf_putc(out, EC_POINT_BYTES);
    buf_add(out, point, sizeof point);
    bool is_sealed = encrypt_record(&seal, text, out);
    explicit_bzero(&seal, sizeof seal);
    return is_sealed;
}

bool
webpush_encrypt(const struct webpush_keys *keys, struct str text, struct buf *out)
{
    struct webpush_once once = {.key = EVP_EC_gen("P-256")};
    bool is_sealed = once.key != NULL && RAND_bytes(once.salt, sizeof once.salt) == 1 &&
        webpush_seal(keys, &once, text, out);
    EVP_PKEY_free(once.key);
    return is_sealed;
}
