/* SPDX-License-Identifier: MIT
 *
 * recipient.h - what the files about recipients share.
 */
#ifndef NOTIFY_RECIPIENT_H
#define NOTIFY_RECIPIENT_H

#include <owed/recipient.h>

#include <stdbool.h>

#define LIMIT_ADDRESS_BYTES ((size_t)4096)
#define LIMIT_QUIET_WINDOWS 32
#define LIMIT_CHANNELS 32 // of one recipient, and in any list of channels

/* text_has_control tells whether a text holds a control character, which no line of a message may. */
bool text_has_control(const char *text);

/* address_check tells whether a channel can have such an address; INVALID with what would be right. */
owed_status address_check(const char *channel, const char *address, owed_error *err);

/* address_show copies an address as it may stand in a sentence. One that is a URL, or has one in it, is shown to its host
 * alone: whoever knows the rest may write there. */
#define ADDRESS_SHOWN_BYTES 101
const char *address_show(const char *address, char shown[static ADDRESS_SHOWN_BYTES]);

/* channel_check tells whether a word is a channel's name. */
owed_status channel_check(const char *channel, owed_error *err);

/* quiet_check tells whether the windows can be, and leave each channel some of the week. */
owed_status quiet_check(const owed_quiet_hours *windows, owed_error *err);

#endif
