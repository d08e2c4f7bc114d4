/* SPDX-License-Identifier: MIT
 *
 * ticket_json.h - a ticket as the payload of an event:
 *
 *   {"id": "...", "template": "...", "recipient": {...}, "context": {...}, "channel": "sms", "subject": "...",
 *    "locale": "de", "urgent": true, "now": 0, "dedup_key": "...", "quiet_wait": true, "fall_through": true,
 *    "unsubscribe": "...", "attachments": [{"name": "...", "media_type": "...", "data": "base64"}]}
 *
 * template and recipient are needed. now is in microseconds since 1970.
 */
#ifndef NOTIFY_TICKET_JSON_H
#define NOTIFY_TICKET_JSON_H

#include <owed/notify.h>

#include "base/json.h"

#define TICKET_EVENT "owed.Ticket"
#define TICKET_KEY_PREFIX "ticket:" // of its dedupe key; the rest is the ticket's id
#define TICKET_JSON_BYTES ((size_t)16 * 1024 * 1024)

struct ticket_text {
    const char *id; // NULL: it has none of its own
    const char *template_name;
    owed_recipient recipient;
    const char *context; // a JSON object
    owed_send_options options;
};

/* ticket_read takes it out of a payload; all of it lives in the arena. INVALID, with the key. NOMEM. */
owed_status ticket_read(
    struct str payload, struct arena *arena, struct ticket_text *ret_ticket, owed_error *err);

/* ticket_write appends the object, with a context of C; NULL: the ticket's own. INVALID: a double that is no number. LIMIT: over
 * TICKET_JSON_BYTES. */
owed_status ticket_write(
    struct buf *buf, const struct ticket_text *ticket, const owed_value *context, owed_error *err);

#endif
