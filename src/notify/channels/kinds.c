/* SPDX-License-Identifier: MIT
 *
 * kinds.c - the kinds of channels there are.
 */
#include "notify/channels/kind.h"

const struct channel_kind *const channel_kinds[] = {
    &channel_kind_smtp,
    &channel_kind_sms,
    &channel_kind_slack,
    &channel_kind_telegram,
    &channel_kind_discord,
    &channel_kind_any,
    &channel_kind_fcm,
    &channel_kind_apns,
    &channel_kind_webpush,
    NULL,
};
