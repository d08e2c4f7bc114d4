/* SPDX-License-Identifier: MIT
 *
 * sms.c - text messages, by the HTTP gateway that the settings describe, or by one that is known.
 */
#include <string.h>

#include "base/error.h"
#include "declare/check.h"
#include "notify/channels/gateway.h"
#include "notify/channels/kind.h"
#include "notify/channels/sms.h"
#include "notify/recipient.h"

static const struct option sms_keys[] = {
    {.name = "preset",
        .type = OPTION_TEXT,
        .argument = "NAME",
        .section = CHANNEL_SECTION,
        .help = "a gateway that is known: " SMS_PRESETS "; the keys below say it otherwise"},
    GATEWAY_MAP(GATEWAY_OPTION) //
    {.name = "max-segments",
        .type = OPTION_INT,
        .argument = "N",
        .section = CHANNEL_SECTION,
        .fallback = "5",
        .min = 1,
        .max = 255,
        .help =
            "of a message: 160 characters of GSM's alphabet or 70 others in one, 153 or 67 in each of several"},
    FIT_OPTION(CHANNEL_SECTION),
    HTTP_KEYS,
    {.name = NULL},
};

static bool
is_phone(const char *address)
{
    return address_check("sms", address, NULL) == OWED_OK;
}

static owed_status
read_preset(const char *name, struct gateway_plan *plan, owed_error *err)
{
    char shown[SHOWN_BYTES];
    for (const struct sms_preset *preset = sms_presets; preset->name != NULL; preset++)
        if (strcmp(preset->name, name) == 0) {
            *plan = preset->plan;
            return OWED_OK;
        }
    return fail(
        err, OWED_CONFIG, "preset is one of " SMS_PRESETS ", not \"%s\"", show(name, shown));
}

static owed_status
sms_make(const struct options *values, owed_channel *channel, owed_error *err)
{
    struct gateway_plan plan = {.says = {NULL}};
    struct gateway_manner manner = {
        .who = "the gateway",
        .fit = {.unit = FIT_SEGMENTS, .most = (size_t)options_number(values, "max-segments")},
        .takes = is_phone,
        .right = "+ and 7 to 15 digits (E.164)",
    };
    const char *preset = options_text(values, "preset");
    owed_status status = preset == NULL ? OWED_OK : read_preset(preset, &plan, err);
    if (status == OWED_OK)
        status = fit_read(values, &manner.fit, err);
    if (status != OWED_OK)
        return status;
    gateway_plan_read(&plan, values);
    return gateway_make(&plan, &manner, values, channel, err);
}

const struct channel_kind channel_kind_sms = {
    .type = "sms",
    .name = "sms",
    .help = "text messages by a gateway that speaks HTTP",
    .keys = sms_keys,
    .make = sms_make,
};
