/* SPDX-License-Identifier: MIT
 *
 * kind.h - a kind of channel: one file, one table of keys, and how a channel is made of their values.
 */
#ifndef NOTIFY_CHANNELS_KIND_H
#define NOTIFY_CHANNELS_KIND_H

#include <owed/channels.h>

#include "base/options.h"

#define CHANNEL_SECTION "channel" // of every key

struct channel_kind {
    const char *type; // of [channel "name"] type = ...
    const char *name; // of the channel that is of this kind where no type is given; NULL: none
    const char *help; // one line for the manual page
    const struct option *keys;
    /* make fills in send, state and close of a channel that has its name and nothing else. values live as long as the call.
     * Its error says what is wrong with which key, without the place. */
    owed_status (*make)(const struct options *values, owed_channel *channel, owed_error *err);
};

extern const struct channel_kind channel_kind_smtp;
extern const struct channel_kind channel_kind_sms;
extern const struct channel_kind channel_kind_slack;
extern const struct channel_kind channel_kind_telegram;
extern const struct channel_kind channel_kind_discord;
extern const struct channel_kind channel_kind_any;
extern const struct channel_kind channel_kind_fcm;
extern const struct channel_kind channel_kind_apns;
extern const struct channel_kind channel_kind_webpush;

/* All of them, NULL-ended. */
extern const struct channel_kind *const channel_kinds[];

/* channel_kind_of finds the kind of a channel; type NULL: by its name. CONFIG: there is none. */
owed_status channel_kind_of(
    const char *name, const char *type, const struct channel_kind **ret_kind, owed_error *err);

/* channel_check tells whether there is a kind that has these keys with such values; nothing is opened. CONFIG. */
owed_status channel_settings_check(const char *name, const owed_setting *settings, owed_error *err);

#endif
