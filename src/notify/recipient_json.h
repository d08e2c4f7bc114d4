/* SPDX-License-Identifier: MIT
 *
 * recipient_json.h - a recipient as a JSON object: in a ticket, in a file, in the payload of an event.
 *
 *   {"phone": "+49151000000", "device_token": "...", "email": "ada@example.com",
 *    "others": {"chat": "https://..."}, "preferred": ["email"], "locale": "de", "time_zone": "Europe/Berlin",
 *    "quiet_hours": [{"start": "22:00", "end": "07:00", "channels": ["sms"], "weekdays": ["fri", "sat"]}]}
 *
 * All of it may be left out, or null. An address among the others may be an object, which reads as its own text: a
 * subscription of web push.
 */
#ifndef NOTIFY_RECIPIENT_JSON_H
#define NOTIFY_RECIPIENT_JSON_H

#include <owed/recipient.h>

#include "base/json.h"

enum unknown_keys {
    UNKNOWN_REFUSED,
    UNKNOWN_IGNORED // the object is somebody else's, and says more than we ask
};

/* recipient_read takes a recipient out of a checked JSON value; its texts live in the arena. It is one that
 * owed_recipient_check accepts. INVALID: the sentence names the key; it shows no address. MALFORMED_LOCALE. NOMEM. */
owed_status recipient_read(struct json object, enum unknown_keys unknown, struct arena *arena,
    owed_recipient *ret_recipient, owed_error *err);

/* recipient_write appends the object. */
void recipient_write(struct buf *buf, const owed_recipient *recipient);

#endif
