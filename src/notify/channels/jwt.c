/* SPDX-License-Identifier: MIT
 *
 * jwt.c - signed claims (RFC 7519): three parts in base64url, the last of which signs the two others.
 */
#include "notify/channels/jwt.h"

#include <errno.h>
#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/digest.h"
#include "base/error.h"
#include "base/json.h"
#include "base/plain_file.h"

#define RSA_BITS_MIN 2048
#define SIGNATURE_BYTES 1024 // of RSA up to 8192 bits
#define COORDINATE_BYTES 32  // of P-256

struct jwt_key {
    EVP_PKEY *key;
    enum jwt_algorithm algorithm;
};

static const struct {
    const char *name;
    const char *right;
} algorithms[] = {
    [JWT_ES256] = {"ES256", "a private key on P-256"},
    [JWT_RS256] = {"RS256", "a private RSA key of 2048 bits or more"},
};

/* --- keys --- */

void
secret_buf_done(struct buf *buf)
{
    if (buf->p != NULL)
        explicit_bzero(buf->p, buf->len);
    buf_done(buf);
}

owed_status
key_file_read(const char *path, struct buf *ret_text, owed_error *err)
{
    CLEANUP(close_fd) int fd = -1;
    struct stat file;
    owed_status status = plain_file_open(path, &fd, err);
    if (status != OWED_OK)
        return status;
    if (fstat(fd, &file) != 0 || file.st_size == 0 || file.st_size > (off_t)JWT_KEY_FILE_BYTES)
        return fail(err, OWED_CONFIG, "%s holds no key: a file of up to %zu bytes would be right",
            path, JWT_KEY_FILE_BYTES);
    char piece[4096];
    ssize_t len;
    while ((len = read(fd, piece, sizeof piece)) > 0)
        buf_add(ret_text, piece, (size_t)len);
    int failure = len < 0 ? errno : 0;
    explicit_bzero(piece, sizeof piece);
    if (failure != 0)
        return fail_native(
            err, OWED_CONFIG, failure, "%s cannot be read: %s", path, strerrordesc_np(failure));
    return ret_text->failed ? fail_memory(err) : OWED_OK;
}

/* refuse_phrase has the library not ask at the terminal for the pass phrase of an encrypted key. */
static int
refuse_phrase(char *phrase, int size, int is_writing, void *state)
{
    (void)phrase, (void)size, (void)is_writing, (void)state;
    return -1;
}

static bool
is_fit(EVP_PKEY *key, enum jwt_algorithm algorithm)
{
    char group[32] = "";
    if (algorithm == JWT_RS256)
        return EVP_PKEY_is_a(key, "RSA") == 1 && EVP_PKEY_get_bits(key) >= RSA_BITS_MIN &&
            EVP_PKEY_get_size(key) <= SIGNATURE_BYTES;
    return EVP_PKEY_is_a(key, "EC") == 1 &&
        EVP_PKEY_get_group_name(key, group, sizeof group, NULL) == 1 &&
        strcmp(group, "prime256v1") == 0;
}

owed_status
jwt_key_parse(struct str pem, const char *what, enum jwt_algorithm algorithm,
    struct jwt_key **ret_key, owed_error *err)
{
    BIO *bytes = BIO_new_mem_buf(pem.p, (int)pem.len);
    EVP_PKEY *read =
        bytes == NULL ? NULL : PEM_read_bio_PrivateKey(bytes, NULL, refuse_phrase, NULL);
    BIO_free(bytes);
    if (read == NULL || !is_fit(read, algorithm)) {
        EVP_PKEY_free(read);
        return fail(err, OWED_CONFIG,
            "%s holds no key that fits: %s in PEM, not encrypted, would be right", what,
            algorithms[algorithm].right);
    }
    struct jwt_key *key = malloc(sizeof *key);
    if (key == NULL) {
        EVP_PKEY_free(read);
        return fail_memory(err);
    }
    *key = (struct jwt_key){.key = read, .algorithm = algorithm};
    *ret_key = key;
    return OWED_OK;
}

owed_status
jwt_key_read(
    const char *path, enum jwt_algorithm algorithm, struct jwt_key **ret_key, owed_error *err)
{
    CLEANUP(secret_buf_done) struct buf text;
    buf_init(&text, JWT_KEY_FILE_BYTES);
    owed_status status = key_file_read(path, &text, err);
    return status != OWED_OK ? status
                             : jwt_key_parse(buf_view(&text), path, algorithm, ret_key, err);
}

void
jwt_key_free(struct jwt_key *key)
{
    if (key != NULL)
        EVP_PKEY_free(key->key);
    free(key);
}

bool
jwt_key_point(const struct jwt_key *key, uint8_t ret_point[static EC_POINT_BYTES])
{
    size_t len = 0;
    return EVP_PKEY_get_octet_string_param(
               key->key, OSSL_PKEY_PARAM_PUB_KEY, ret_point, EC_POINT_BYTES, &len) == 1 &&
        len == EC_POINT_BYTES && ret_point[0] == POINT_CONVERSION_UNCOMPRESSED;
}

/* --- signing --- */

/* flatten makes two numbers of fixed length of a signature in DER (RFC 7518, 3.4). */
static bool
flatten(const uint8_t *der, size_t der_len, uint8_t ret_pair[static 2 * COORDINATE_BYTES])
{
    const BIGNUM *r = NULL, *s = NULL;
    ECDSA_SIG *signature = d2i_ECDSA_SIG(NULL, &der, (long)der_len);
    if (signature == NULL)
        return false;
    ECDSA_SIG_get0(signature, &r, &s);
    bool is_done = BN_bn2binpad(r, ret_pair, COORDINATE_BYTES) == COORDINATE_BYTES &&
        BN_bn2binpad(s, ret_pair + COORDINATE_BYTES, COORDINATE_BYTES) == COORDINATE_BYTES;
    ECDSA_SIG_free(signature);
    return is_done;
}

static bool
sign(const struct jwt_key *key, struct str text, struct buf *out)
{
    uint8_t signature[SIGNATURE_BYTES], pair[2 * COORDINATE_BYTES];
    size_t len = sizeof signature;
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    bool is_signed = context != NULL &&
        EVP_DigestSignInit(context, NULL, EVP_sha256(), NULL, key->key) == 1 &&
        EVP_DigestSign(context, signature, &len, (const uint8_t *)text.p, text.len) == 1;
    EVP_MD_CTX_free(context);
    if (!is_signed)
        return false;
    if (key->algorithm == JWT_RS256)
        base64url_write(out, signature, len);
    else if (flatten(signature, len, pair))
        base64url_write(out, pair, sizeof pair);
    else
        return false;
    return !out->failed;
}

bool
jwt_sign(const struct jwt_key *key, const char *key_id, struct str claims, struct buf *out)
{
    CLEANUP(buf_done) struct buf head;
    CLEANUP(secret_buf_done) struct buf text;
    buf_init(&head, JWT_BYTES);
    buf_init(&text, JWT_BYTES);
    buf_printf(&head, "{\"alg\":\"%s\",\"typ\":\"JWT\"", algorithms[key->algorithm].name);
    if (key_id != NULL) {
        buf_puts(&head, ",\"kid\":");
        json_write_string(&head, str_of(key_id));
    }
    buf_putc(&head, '}');
    base64url_write(&text, (const uint8_t *)buf_text(&head), head.len);
    buf_putc(&text, '.');
    base64url_write(&text, (const uint8_t *)claims.p, claims.len);
    if (head.failed || text.failed)
        return false;
    buf_str(out, buf_view(&text));
    buf_putc(out, '.');
    return sign(key, buf_view(&text), out);
}
