/* SPDX-License-Identifier: MIT
 *
 * channels.h - the channels that are built in, made from settings: those of [channel "name"] in owed.conf.
 *
 * owed.conf(5) lists the kinds and their keys. One of your own needs none of this: fill in an owed_channel.
 */
#ifndef OWED_CHANNELS_H
#define OWED_CHANNELS_H

#include <owed/notify.h>

OWED_BEGIN_DECLS

/* One setting; a list ends with a NULL key. */
typedef struct owed_setting {
    const char *key; /* as in owed.conf; "type" names the kind */
    const char *value;
    const char *where; /* such as owed.conf:12, for errors; NULL: the channel's name and the key */
} owed_setting;

/* owed_channel_new makes a channel: of the kind that "type" names, else of the one that goes by its name
 * (email). settings are borrowed for the call, the name for as long as the channel lives. It is handed to
 * owed_dispatcher_add, or closed by owed_channel_done.
 * CONFIG: no such kind, a key that the kind does not have, a value that cannot be, one that lacks; the sentence
 * says where. NOMEM. */
OWED_API owed_status owed_channel_new(const char *name, const owed_setting *settings,
    owed_channel *ret_channel, owed_error *err) OWED_MUSTUSE;
OWED_API void owed_channel_done(owed_channel *channel);

OWED_END_DECLS

#endif
