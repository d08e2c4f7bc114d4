/* SPDX-License-Identifier: MIT
 *
 * any.c - any service that takes a message by HTTP, as the settings describe it.
 */
#include <stdint.h>

#include "notify/channels/gateway.h"
#include "notify/channels/kind.h"

static const struct option any_keys[] = {
    GATEWAY_MAP(GATEWAY_OPTION) //
    {.name = "max-length",
        .type = OPTION_INT,
        .argument = "N",
        .section = CHANNEL_SECTION,
        .fallback = "100000",
        .min = 1,
        .max = 100000,
        .help = "characters that it takes"},
    FIT_OPTION(CHANNEL_SECTION),
    HTTP_KEYS,
    {.name = NULL},
};

static owed_status
any_make(const struct options *values, owed_channel *channel, owed_error *err)
{
    struct gateway_plan plan = {.says = {NULL}};
    struct gateway_manner manner = {
        .who = "the service",
        .fit = {.unit = FIT_CHARACTERS, .most = (size_t)options_number(values, "max-length")},
    };
    owed_status status = fit_read(values, &manner.fit, err);
    gateway_plan_read(&plan, values);
    return status == OWED_OK ? gateway_make(&plan, &manner, values, channel, err) : status;
}

const struct channel_kind channel_kind_any = {
    .type = "http",
    .help = "any service that takes messages by HTTP: chats, pagers, a program of yours",
    .keys = any_keys,
    .make = any_make,
};
