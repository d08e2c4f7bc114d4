/* SPDX-License-Identifier: MIT
 *
 * retry_after.c - how long an HTTP answer asks to wait (RFC 9110, 10.2.3).
 */
#include "base/retry_after.h"

#include <curl/curl.h>

#include "base/clock.h"
#include "base/limits.h"
#include "base/str.h"

static bool
read_digits(struct str text, int64_t *ret_seconds)
{
    int64_t seconds = 0;
    for (size_t i = 0; i < text.len; i++) {
        if (text.p[i] < '0' || text.p[i] > '9')
            return false;
        seconds = seconds * 10 + (text.p[i] - '0');
        if (seconds > LIMIT_DURATION_US / US_PER_SECOND)
            seconds = LIMIT_DURATION_US / US_PER_SECOND;
    }
    *ret_seconds = seconds;
    return text.len > 0;
}

bool
retry_after_read(const char *value, int64_t now_us, int64_t *ret_wait_us)
{
    struct str text = str_trim(str_of(value));
    int64_t seconds;
    if (read_digits(text, &seconds)) {
        *ret_wait_us = seconds * US_PER_SECOND;
        return true;
    }
    time_t at = text.len == 0 ? -1 : curl_getdate(text.p, NULL);
    if (at == -1)
        return false;
    if (at <= now_us / US_PER_SECOND) {
        *ret_wait_us = 0;
        return true;
    }
    bool is_far = at - now_us / US_PER_SECOND >= LIMIT_DURATION_US / US_PER_SECOND;
    *ret_wait_us = is_far ? LIMIT_DURATION_US : at * US_PER_SECOND - now_us;
    return true;
}
