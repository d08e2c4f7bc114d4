/* SPDX-License-Identifier: MIT
 *
 * recipient.c - who is reached where.
 */
#include "notify/recipient.h"

#include <owed/template.h>

#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "notify/locale.h"
#include "notify/zone.h"

/* The built-in channels, in the order in which they are listed. */
static const struct built_in {
    const char *channel;
    size_t offset; // of the address in the recipient
} built_ins[] = {
    {"sms", offsetof(owed_recipient, phone)},
    {"push", offsetof(owed_recipient, device_token)},
    {"email", offsetof(owed_recipient, email)},
};
#define BUILT_INS (sizeof built_ins / sizeof built_ins[0])

static const char *
built_in_address(const owed_recipient *recipient, size_t i)
{
    return *(const char *const *)((const char *)recipient + built_ins[i].offset);
}

static const owed_address *
find_other(const owed_recipient *recipient, const char *channel)
{
    for (const owed_address *other = recipient->others; other != NULL && other->channel != NULL;
         other++)
        if (strcmp(other->channel, channel) == 0)
            return other;
    return NULL;
}

const char *
owed_recipient_address(const owed_recipient *recipient, const char *channel)
{
    for (size_t i = 0; i < BUILT_INS; i++)
        if (strcmp(built_ins[i].channel, channel) == 0)
            return built_in_address(recipient, i);
    const owed_address *other = find_other(recipient, channel);
    return other == NULL ? NULL : other->address;
}

const char *
owed_recipient_channel(const owed_recipient *recipient, size_t n)
{
    for (size_t i = 0; i < BUILT_INS; i++)
        if (built_in_address(recipient, i) != NULL && n-- == 0)
            return built_ins[i].channel;
    for (const owed_address *other = recipient->others; other != NULL && other->channel != NULL;
         other++)
        if (n-- == 0)
            return other->channel;
    return NULL;
}

/* --- whether it can be --- */

static owed_status
check_other(const owed_recipient *recipient, const owed_address *other, owed_error *err)
{
    owed_status status = channel_check(other->channel, err);
    if (status != OWED_OK)
        return status;
    for (size_t i = 0; i < BUILT_INS; i++)
        if (strcmp(built_ins[i].channel, other->channel) == 0)
            return fail(err, OWED_INVALID,
                "channel %s has a field of its own and does not stand among the others",
                other->channel);
    if (find_other(recipient, other->channel) != other)
        return fail(err, OWED_INVALID, "channel %s has two addresses", other->channel);
    if (other->address == NULL)
        return fail(err, OWED_INVALID, "channel %s has no address", other->channel);
    return address_check(other->channel, other->address, err);
}

static owed_status
check_addresses(const owed_recipient *recipient, owed_error *err)
{
    owed_status status = OWED_OK;
    for (size_t i = 0; i < BUILT_INS && status == OWED_OK; i++)
        if (built_in_address(recipient, i) != NULL)
            status = address_check(built_ins[i].channel, built_in_address(recipient, i), err);
    const owed_address *others = recipient->others;
    for (size_t i = 0; status == OWED_OK && others != NULL && others[i].channel != NULL; i++) {
        if (i == LIMIT_CHANNELS)
            return fail(
                err, OWED_INVALID, "a recipient has up to %d further addresses", LIMIT_CHANNELS);
        status = check_other(recipient, &others[i], err);
    }
    return status;
}

static owed_status
check_preferred(const char *const *preferred, owed_error *err)
{
    owed_status status = OWED_OK;
    for (size_t i = 0; status == OWED_OK && preferred != NULL && preferred[i] != NULL; i++) {
        if (i == LIMIT_CHANNELS)
            return fail(err, OWED_INVALID, "a recipient prefers up to %d channels", LIMIT_CHANNELS);
        status = channel_check(preferred[i], err);
    }
    return status;
}

owed_status
owed_recipient_check(const owed_recipient *recipient, owed_error *err)
{
    char tag[LOCALE_BYTES];
    struct zone zone CLEANUP(zone_done) = {0};
    owed_status status = check_addresses(recipient, err);
    if (status == OWED_OK)
        status = check_preferred(recipient->preferred, err);
    if (status == OWED_OK && recipient->locale != NULL)
        status = owed_locale_normalize(recipient->locale, tag, err);
    if (status == OWED_OK && recipient->time_zone != NULL)
        status = zone_load(ZONE_FOLDER, recipient->time_zone, &zone, err);
    if (status == OWED_OK)
        status = quiet_check(recipient->quiet_hours, err);
    return status;
}
