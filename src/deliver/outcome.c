/* SPDX-License-Identifier: MIT
 *
 * outcome.c - how a receiver says what its attempt came to.
 */
#include <stdarg.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/limits.h"
#include "deliver/delivery.h"

/* character_len is the length that a lead byte announces; 0: no character starts so. */
static size_t
character_len(unsigned char lead)
{
    if (lead < 0x80)
        return 1;
    if (lead >= 0xc2 && lead < 0xe0)
        return 2;
    if (lead >= 0xe0 && lead < 0xf0)
        return 3;
    return lead >= 0xf0 && lead < 0xf5 ? 4 : 0;
}

/* make_utf8 puts a "?" for every byte that is not UTF-8, and drops a character that was cut. */
static void
make_utf8(char *text, bool was_cut)
{
    size_t left = strlen(text);
    for (char *p = text; left > 0;) {
        size_t len = character_len((unsigned char)*p);
        if (len > left && was_cut) {
            *p = '\0';
            return;
        }
        if (len == 0 || len > left || !utf8_is_valid((struct str){p, len})) {
            *p = '?';
            len = 1;
        }
        p += len;
        left -= len;
    }
}

static void
say(owed_delivery *delivery, const char *prefix, const char *format, va_list args)
{
    size_t size = delivery->text_size + 1;
    int prefix_len = snprintf(delivery->text, size, "%s", prefix);
    size_t used = prefix_len < 0 ? 0 : (size_t)prefix_len;
    if (used >= size)
        used = size - 1;
    int len = vsnprintf(delivery->text + used, size - used, or_empty(format), args);
    make_utf8(delivery->text, len >= 0 && (size_t)len >= size - used);
    delivery->text_set = true;
}

void
delivery_say(owed_delivery *delivery, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    say(delivery, "", format, args);
    va_end(args);
}

owed_outcome
owed_done(void)
{
    return (owed_outcome){.verdict = OWED_VERDICT_DONE};
}

owed_outcome
owed_failed(owed_delivery *delivery, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    say(delivery, "", format, args);
    va_end(args);
    return (owed_outcome){.verdict = OWED_VERDICT_FAILED};
}

owed_outcome
owed_permanent(owed_delivery *delivery, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    say(delivery, "", format, args);
    va_end(args);
    return (owed_outcome){.verdict = OWED_VERDICT_PERMANENT};
}

owed_outcome
owed_retry_after(owed_delivery *delivery, double seconds, const char *format, ...)
{
    bool is_wait = seconds >= 0; // false for NaN
    char prefix[100] = "";
    if (!is_wait)
        snprintf(prefix, sizeof prefix,
            "owed_retry_after was asked to wait %g s, which is no wait (0 or more): ", seconds);
    va_list args;
    va_start(args, format);
    say(delivery, prefix, format, args);
    va_end(args);
    if (!is_wait)
        return (owed_outcome){.verdict = OWED_VERDICT_FAILED};
    const double longest = (double)LIMIT_DURATION_US;
    double wait_us = seconds * (double)US_PER_SECOND;
    return (owed_outcome){.verdict = OWED_VERDICT_RETRY_AFTER,
        .wait_us = (int64_t)(wait_us < longest ? wait_us : longest)};
}
