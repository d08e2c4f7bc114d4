/* SPDX-License-Identifier: MIT
 *
 * verify.c - is a webhook from whom it says?
 */
#include <openssl/crypto.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/digest.h"
#include "base/ed25519.h"
#include "base/error.h"
#include "base/limits.h"
#include "receive/keys.h"

#define TOLERANCE_US (INT64_C(300) * US_PER_SECOND)
#define ENTRIES_MAX 64 // of one header; nobody rotates so often

struct claim_of {
    const struct key *key;
    struct str signed_text; // id, timestamp and body
    uint8_t mac[SHA256_BYTES];
};

static owed_status
check_time(const char *text, int64_t tolerance_us, int64_t now_us, owed_error *err)
{
    int64_t seconds = 0;
    size_t len = strlen(text);
    if (len == 0 || len > 12 || strspn(text, "0123456789") != len)
        return fail(err, OWED_INVALID, "webhook-timestamp is not a number of seconds");
    for (size_t i = 0; i < len; i++)
        seconds = seconds * 10 + (text[i] - '0');
    int64_t age_us = now_us - seconds * US_PER_SECOND;
    if (age_us > tolerance_us)
        return fail(err, OWED_INVALID, "webhook-timestamp is %lld s old: it may be a repeat",
            (long long)(age_us / US_PER_SECOND));
    if (age_us < -tolerance_us)
        return fail(err, OWED_INVALID, "webhook-timestamp is %lld s in the future",
            (long long)(-age_us / US_PER_SECOND));
    return OWED_OK;
}

/* is_right compares one entry, "v1,...", in a time that does not depend on where it differs. */
static bool
is_right(const struct claim_of *claim, struct str entry)
{
    bool is_public = claim->key->kind != KEY_SHARED;
    const char *version = is_public ? "v1a," : "v1,";
    size_t front = strlen(version);
    if (entry.len <= front || memcmp(entry.p, version, front) != 0)
        return false;
    CLEANUP(buf_done) struct buf bytes;
    buf_init(&bytes, ED25519_SIGNATURE_BYTES);
    if (!base64_read((struct str){entry.p + front, entry.len - front}, &bytes) || bytes.failed)
        return false;
    if (is_public)
        return bytes.len == ED25519_SIGNATURE_BYTES &&
            ed25519_verify(claim->key->secret.bytes, claim->signed_text, (const uint8_t *)bytes.p);
    return bytes.len == SHA256_BYTES && CRYPTO_memcmp(bytes.p, claim->mac, SHA256_BYTES) == 0;
}

static bool
any_is_right(const struct claim_of *claim, const char *signatures)
{
    bool found = false;
    for (int i = 0; i < ENTRIES_MAX; i++) {
        signatures += strspn(signatures, " ");
        size_t len = strcspn(signatures, " ");
        if (len == 0)
            break;
        found = is_right(claim, (struct str){signatures, len}) || found;
        signatures += len;
    }
    return found;
}

static owed_status
try_secret(
    const char *secret, struct str text, const char *signatures, bool *found, owed_error *err)
{
    struct key key;
    owed_status status = key_read(secret, &key, err);
    if (status != OWED_OK)
        return status;
    struct claim_of claim = {.key = &key, .signed_text = text};
    struct str bytes = {(const char *)key.secret.bytes, key.secret.len};
    if (key.kind == KEY_PRIVATE)
        status = fail(err, OWED_CONFIG, "a private key does not verify; \"whpk_\" is right");
    else if (key.kind == KEY_SHARED && !hmac_sha256(bytes, &text, 1, claim.mac))
        status = fail(err, OWED_STORE, "the crypto library failed");
    else
        *found = any_is_right(&claim, signatures) || *found;
    explicit_bzero(&key, sizeof key);
    explicit_bzero(&claim.mac, sizeof claim.mac);
    return status;
}

owed_status
owed_webhook_verify(const owed_webhook *webhook, const char *const *secrets, int64_t tolerance_us,
    int64_t now_us, owed_error *err)
{
    if (webhook == NULL || is_empty(webhook->id) || is_empty(webhook->timestamp) ||
        is_empty(webhook->signature))
        return fail(
            err, OWED_INVALID, "webhook-id, webhook-timestamp or webhook-signature is missing");
    if (secrets == NULL || secrets[0] == NULL)
        return fail(err, OWED_CONFIG, "no secret was given to verify with");
    owed_status status =
        check_time(webhook->timestamp, tolerance_us > 0 ? tolerance_us : TOLERANCE_US,
            now_us != 0 ? now_us : clock_now_us(&clock_system), err);
    if (status != OWED_OK)
        return status;
    CLEANUP(buf_done) struct buf text;
    buf_init(&text, SIZE_MAX / 2);
    buf_printf(&text, "%s.%s.", webhook->id, webhook->timestamp);
    buf_add(&text, webhook->body == NULL ? "" : webhook->body, webhook->body_len);
    if (text.failed)
        return fail_memory(err);
    bool found = false;
    for (; *secrets != NULL && status == OWED_OK; secrets++)
        status = try_secret(*secrets, buf_view(&text), webhook->signature, &found, err);
    if (status == OWED_OK && !found)
        return fail(err, OWED_INVALID, "no entry of webhook-signature is right for these secrets");
    return status;
}
