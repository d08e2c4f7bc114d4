/* SPDX-License-Identifier: MIT
 *
 * sms.h - the gateways of text messages that are known.
 */
#ifndef NOTIFY_CHANNELS_SMS_H
#define NOTIFY_CHANNELS_SMS_H

#include "notify/channels/gateway.h"

#define SMS_PRESETS "twilio, vonage, messagebird, plivo, telnyx, sinch"

struct sms_preset {
    const char *name; // NULL ends the list
    struct gateway_plan plan;
};

extern const struct sms_preset sms_presets[];

#endif
