/* SPDX-License-Identifier: MIT
 *
 * secret.c - base64, strictly, of 24 to 64 bytes.
 */
#include "declare/secret.h"

#include "base/cleanup.h"
#include "base/digest.h"
#include "base/error.h"

#define PREFIX "whsec_"
#define PREFIX_LEN (sizeof PREFIX - 1)

owed_status
secret_read(struct str text, struct secret *ret_secret, owed_error *err)
{
    text = str_trim(text);
    if (text.len >= PREFIX_LEN && memcmp(text.p, PREFIX, PREFIX_LEN) == 0) {
        text.p += PREFIX_LEN;
        text.len -= PREFIX_LEN;
    }
    if (text.len == 0)
        return fail(err, OWED_CONFIG, "the secret is empty; \"whsec_\" and base64 is right");

    CLEANUP(buf_done) struct buf padded;
    CLEANUP(buf_done) struct buf bytes;
    buf_init(&padded, (size_t)SECRET_MAX_BYTES * 2);
    buf_init(&bytes, SECRET_MAX_BYTES);
    buf_str(&padded, text);
    while (!padded.failed && padded.len % 4 != 0)
        buf_putc(&padded, '=');
    if (padded.failed || !base64_read(buf_view(&padded), &bytes) || bytes.failed)
        return fail(err, OWED_CONFIG,
            "the secret is not base64 of at most %d bytes; \"whsec_\" and base64 is right",
            SECRET_MAX_BYTES);
    if (bytes.len < SECRET_MIN_BYTES)
        return fail(err, OWED_CONFIG, "the secret has %zu bytes; %d to %d are right", bytes.len,
            SECRET_MIN_BYTES, SECRET_MAX_BYTES);

    memcpy(ret_secret->bytes, buf_text(&bytes), bytes.len);
    ret_secret->len = bytes.len;
    return OWED_OK;
}
