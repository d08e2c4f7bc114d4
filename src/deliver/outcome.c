/* SPDX-License-Identifier: MIT
 *
 * outcome.c - how a receiver says what its attempt came to.
 */
#include <stdarg.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/moment.h"
#include "deliver/delivery.h"
#include "deliver/errand.h"

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
write_text(owed_delivery *delivery, const char *prefix, const char *format, va_list args)
{
    size_t size = delivery->text_size + 1;
    if (delivery->text == NULL)
        delivery->text = arena_alloc(delivery->arena, size);
    delivery->text_set = true;
    if (delivery->text == NULL)
        return;
    int prefix_len = snprintf(delivery->text, size, "%s", prefix);
    size_t used = prefix_len < 0 ? 0 : (size_t)prefix_len;
    if (used >= size)
        used = size - 1;
    int len = vsnprintf(delivery->text + used, size - used, or_empty(format), args);
    make_utf8(delivery->text, len >= 0 && (size_t)len >= size - used);
}

/* say is for receivers: what they say of a delivery that was finished, or given up, is too late. */
static void
say(owed_delivery *delivery, const char *prefix, const char *format, va_list args)
{
    if (errand_hold(delivery))
        write_text(delivery, prefix, format, args);
    errand_unhold(delivery);
}

void
delivery_say(owed_delivery *delivery, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    write_text(delivery, "", format, args);
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

static int64_t
wait_of(double seconds)
{
    const double longest = (double)LIMIT_DURATION_US;
    double wait_us = seconds * (double)US_PER_SECOND;
    return (int64_t)(wait_us < longest ? wait_us : longest);
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
    return (owed_outcome){.verdict = OWED_VERDICT_RETRY_AFTER, .wait_us = wait_of(seconds)};
}

owed_outcome
owed_defer(owed_delivery *delivery, double seconds, const char *format, ...)
{
    bool is_wait = seconds > 0; // false for NaN
    char prefix[100] = "";
    if (!is_wait)
        snprintf(prefix, sizeof prefix,
            "owed_defer was asked to wait %g s, which is no wait (more than 0): ", seconds);
    va_list args;
    va_start(args, format);
    say(delivery, prefix, format, args);
    va_end(args);
    if (!is_wait)
        return (owed_outcome){.verdict = OWED_VERDICT_FAILED};
    // The shortest wait is still one.
    int64_t wait_us = wait_of(seconds);
    return (owed_outcome){.verdict = OWED_VERDICT_DEFER, .wait_us = wait_us > 0 ? wait_us : 1};
}

owed_outcome
owed_not_yet(owed_delivery *delivery, int64_t until_us, const char *format, ...)
{
    bool is_future = until_us > clock_now_us(&delivery->owed->clock);
    char prefix[MOMENT_BYTES + 100] = "";
    char until[MOMENT_BYTES];
    if (!is_future)
        snprintf(prefix, sizeof prefix,
            "owed_not_yet was asked to wait until %s, which is not in the future: ",
            moment_write(until_us, until));
    va_list args;
    va_start(args, format);
    say(delivery, prefix, format, args);
    va_end(args);
    if (!is_future)
        return (owed_outcome){.verdict = OWED_VERDICT_FAILED};
    return (owed_outcome){.verdict = OWED_VERDICT_NOT_YET, .until_us = until_us};
}
