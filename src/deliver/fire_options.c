/* SPDX-License-Identifier: MIT
 *
 * fire_options.c - what may be said of an event, checked before anything is written.
 */
#include "base/error.h"
#include "base/limits.h"
#include "base/traceparent.h"
#include "base/utf8.h"
#include "deliver/facts.h"
#include "deliver/handle.h"

/* The last microsecond of the year 9999: beyond it RFC 3339 has no words. */
#define LAST_MOMENT_US INT64_C(253402300799999999)

static owed_status
check_text(const char *name, const char *text, owed_error *err)
{
    if (text == NULL)
        return OWED_OK;
    size_t len = strlen(text);
    if (len > LIMIT_KEY_BYTES)
        return fail(
            err, OWED_INVALID, "%s is %zu bytes long: at most %d", name, len, LIMIT_KEY_BYTES);
    if (!utf8_is_valid(str_of(text)))
        return fail(err, OWED_INVALID, "%s is not UTF-8", name);
    return OWED_OK;
}

static owed_status
check_time(const char *name, int64_t at_us, owed_error *err)
{
    if (at_us < 0)
        return fail(err, OWED_INVALID, "%s is negative (%lld): microseconds since 1970, or 0", name,
            (long long)at_us);
    if (at_us > LAST_MOMENT_US)
        return fail(err, OWED_INVALID,
            "%s %lld is after the year 9999: it takes microseconds since 1970", name,
            (long long)at_us);
    return OWED_OK;
}

static owed_status
check_traceparent(const char *text, owed_error *err)
{
    if (is_empty(text))
        return OWED_OK;
    owed_status status = check_text("traceparent", text, err);
    if (status == OWED_OK && !traceparent_is_valid(text))
        return fail(err, OWED_INVALID,
            "traceparent \"%s\" is not of the form 00-<32 hex>-<16 hex>-<2 hex> (W3C Trace "
            "Context)",
            text);
    return status;
}

owed_status
fire_options_check(const owed_fire_options *options, owed_error *err)
{
    const struct {
        const char *name;
        const char *text;
    } texts[] = {
        {"dedupe_key", options->dedupe_key},
        {"actor_key", options->actor_key},
        {"actor_label", options->actor_label},
        {"correlation_id", options->correlation_id},
    };
    owed_status status = OWED_OK;
    for (size_t i = 0; status == OWED_OK && i < sizeof texts / sizeof texts[0]; i++)
        status = check_text(texts[i].name, texts[i].text, err);
    if (status != OWED_OK)
        return status;
    if (options->dedupe_key != NULL && options->dedupe_key[0] == '\0')
        return fail(err, OWED_INVALID, "dedupe_key is empty: leave it out where there is none");
    if (options->causation_id < 0)
        return fail(err, OWED_INVALID, "causation_id %lld is no event's id: they start at 1",
            (long long)options->causation_id);
    status = check_time("due_at", options->due_at_us, err);
    if (status == OWED_OK)
        status = check_time("occurred_at", options->occurred_at_us, err);
    if (status == OWED_OK)
        status = facts_check("scope", options->scope, err);
    if (status == OWED_OK)
        status = check_traceparent(options->traceparent, err);
    return status;
}
