/* SPDX-License-Identifier: MIT
 *
 * keys.c - shared secrets and pairs of keys, as people write them.
 */
#include "receive/keys.h"

#include <inttypes.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/digest.h"
#include "base/ed25519.h"
#include "base/error.h"
#include "base/limits.h"

#define MADE_BYTES 32

static const char *const prefixes[] = {
    [KEY_SHARED] = "whsec_", [KEY_PRIVATE] = "whsk_", [KEY_PUBLIC] = "whpk_"};

/* read_pair takes the 32 bytes of one half; of a private key 64 may stand there, the public half behind. */
static owed_status
read_pair(const char *text, struct key *key, owed_error *err)
{
    const char *prefix = prefixes[key->kind];
    CLEANUP(buf_done) struct buf bytes;
    buf_init(&bytes, SECRET_MAX_BYTES);
    struct str base64 = str_trim(str_of(text + strlen(prefix)));
    bool is_read = base64_read(base64, &bytes) && !bytes.failed;
    bool fits = bytes.len == ED25519_KEY_BYTES ||
        (key->kind == KEY_PRIVATE && bytes.len == (size_t)2 * ED25519_KEY_BYTES);
    if (!is_read || !fits)
        return fail(err, OWED_CONFIG, "the key is not \"%s\" and base64 of %d bytes", prefix,
            ED25519_KEY_BYTES);
    memcpy(key->secret.bytes, buf_text(&bytes), ED25519_KEY_BYTES);
    key->secret.len = ED25519_KEY_BYTES;
    explicit_bzero(bytes.p, bytes.len);
    return OWED_OK;
}

owed_status
key_read(const char *text, struct key *ret_key, owed_error *err)
{
    struct key key = {.kind = KEY_SHARED};
    if (is_empty(text))
        return fail(err, OWED_CONFIG, "the secret is empty; \"whsec_\" and base64 is right");
    if (strlen(text) > LIMIT_KEY_BYTES)
        return fail(err, OWED_CONFIG, "the secret is longer than %d bytes", LIMIT_KEY_BYTES);
    if (strncmp(text, prefixes[KEY_PRIVATE], strlen(prefixes[KEY_PRIVATE])) == 0)
        key.kind = KEY_PRIVATE;
    if (strncmp(text, prefixes[KEY_PUBLIC], strlen(prefixes[KEY_PUBLIC])) == 0)
        key.kind = KEY_PUBLIC;
    owed_status status = key.kind == KEY_SHARED ? secret_read(str_of(text), &key.secret, err)
                                                : read_pair(text, &key, err);
    if (status == OWED_OK)
        *ret_key = key;
    explicit_bzero(&key, sizeof key);
    return status;
}

bool
key_make(owed_signing signing, const owed_dice *dice, struct buf *text)
{
    uint8_t bytes[MADE_BYTES];
    dice_fill(dice, bytes, sizeof bytes);
    buf_puts(text, prefixes[signing == OWED_SIGNING_V1A ? KEY_PRIVATE : KEY_SHARED]);
    base64_write(text, bytes, sizeof bytes);
    explicit_bzero(bytes, sizeof bytes);
    return !text->failed;
}

bool
key_for_others(const char *text, struct buf *ret_text)
{
    struct key key;
    uint8_t public_key[ED25519_KEY_BYTES];
    if (key_read(text, &key, NULL) != OWED_OK)
        return false;
    if (key.kind == KEY_PRIVATE) {
        bool is_made = ed25519_public(key.secret.bytes, public_key);
        explicit_bzero(&key, sizeof key);
        if (!is_made)
            return false;
        buf_puts(ret_text, prefixes[KEY_PUBLIC]);
        base64_write(ret_text, public_key, sizeof public_key);
        return !ret_text->failed;
    }
    explicit_bzero(&key, sizeof key);
    buf_puts(ret_text, text);
    return !ret_text->failed;
}

static bool
sign_shared(const struct key *key, const struct str *pieces, size_t count, struct buf *signatures)
{
    uint8_t mac[SHA256_BYTES];
    struct str secret = {(const char *)key->secret.bytes, key->secret.len};
    if (!hmac_sha256(secret, pieces, count, mac))
        return false;
    buf_puts(signatures, "v1,");
    base64_write(signatures, mac, sizeof mac);
    return !signatures->failed;
}

static bool
sign_private(const struct key *key, const struct str *pieces, size_t count, struct buf *signatures)
{
    // The whole text twice in memory: Ed25519 reads it twice.
    CLEANUP(buf_done) struct buf whole;
    uint8_t signature[ED25519_SIGNATURE_BYTES];
    buf_init(&whole, 2 * LIMIT_PAYLOAD_BYTES);
    for (size_t i = 0; i < count; i++)
        buf_str(&whole, pieces[i]);
    if (whole.failed || !ed25519_sign(key->secret.bytes, buf_view(&whole), signature))
        return false;
    buf_puts(signatures, "v1a,");
    base64_write(signatures, signature, sizeof signature);
    return !signatures->failed;
}

bool
key_sign(const struct key *key, const char *id, int64_t timestamp, struct str body,
    struct buf *signatures)
{
    char head[LIMIT_KEY_BYTES + 32];
    int len = snprintf(head, sizeof head, "%s.%" PRId64 ".", id, timestamp);
    if (len < 0 || (size_t)len >= sizeof head)
        return false;
    const struct str pieces[] = {{head, (size_t)len}, body};
    if (signatures->len > 0)
        buf_putc(signatures, ' ');
    return key->kind == KEY_PRIVATE ? sign_private(key, pieces, 2, signatures)
                                    : sign_shared(key, pieces, 2, signatures);
}
