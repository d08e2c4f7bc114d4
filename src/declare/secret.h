/* SPDX-License-Identifier: MIT
 *
 * secret.h - the secret that a webhook is signed with, as people write it.
 */
#ifndef DECLARE_SECRET_H
#define DECLARE_SECRET_H

#include <stdint.h>

#include <owed/error.h>

#include "base/str.h"

#define SECRET_MIN_BYTES 24
#define SECRET_MAX_BYTES 64

struct secret {
    uint8_t bytes[SECRET_MAX_BYTES];
    size_t len;
};

/* secret_read takes base64 with or without "whsec_" in front, padding may be missing; blanks around
 * it are dropped, as a file ends with a line end. CONFIG says what is wrong and never shows the
 * secret. */
owed_status secret_read(struct str text, struct secret *ret_secret, owed_error *err);

#endif
