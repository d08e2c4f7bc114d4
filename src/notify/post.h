/* SPDX-License-Identifier: MIT
 *
 * post.h - one attempt of one notification that is owed: render it, find the way, call each channel once at
 * most, and say what came of it, as an outcome and as a receipt in JSON.
 */
#ifndef NOTIFY_POST_H
#define NOTIFY_POST_H

#include <owed/notify.h>
#include <owed/receiver.h>

#include "base/json.h"
#include "notify/dispatcher.h"

/* Borrowed for the call. */
struct post {
    owed_dispatcher *dispatcher;
    const owed_template *tmpl;
    const owed_recipient *recipient;
    const char *context; // a JSON object
    // id, channel, subject, locale, urgency, now_us, quiet_wait, fall_through and what goes along count; retry
    // and dedup_key are for whoever calls.
    const owed_send_options *options;
    const char *const *but; // channels that are not called, to a NULL; NULL: none
};

enum posted_end {
    POSTED_SENT,
    POSTED_FAILED,  // it may succeed another time
    POSTED_WAIT,    // a provider asked for wait_us
    POSTED_NOT_YET, // quiet hours until until_us, which are to be waited for
    POSTED_REFUSED, // never: the provider, the template, quiet hours, no way at all
    POSTED_GONE     // never again at that address
};

struct posted {
    enum posted_end end;
    int64_t wait_us;
    int64_t until_us;
    owed_status status;       // OWED_OK: sent
    owed_error error;         // one sentence, where it was not sent
    owed_receipt *receipt;    // SENT
    struct attempts attempts; // of this post, a channel each, in their order
    struct str before;        // what posted_write wrote of earlier ones; empty: nothing
};

/* post_once makes the attempt; it may be called from several threads at once. posted_done frees what it
 * holds, fit for CLEANUP. */
void post_once(const struct post *post, struct posted *ret_posted);
void posted_done(struct posted *posted);

/* posted_refuse makes one of what was refused before it could be tried. */
void posted_refuse(struct posted *posted, const owed_error *error);

/* posted_channel is the channel that was heard last; NULL: none was called. */
const char *posted_channel(const struct posted *posted);

/* posted_outcome says it of a delivery: done, failed, permanent, deferred, or not yet. */
owed_outcome posted_outcome(const struct posted *posted, owed_delivery *delivery);

/* posted_write appends the receipt:
 *   {"status": 0, "template": "...", "channel": "sms", "address": "...", "locale": "de", "urgent": true,
 *    "reference": "...", "duplicate": true, "attempts": [{"channel", "address", "verdict", "reason", "at"}]}
 * status is an owed_status. What was sent is not in it: it may hold secrets. */
void posted_write(const struct posted *posted, struct buf *buf);

/* posted_before finds the attempts in such a text, and the channels of these that will never send it: refused, or
 * gone. ret_but has room for ROUTE_MAX and a NULL; all of it lives in the arena. */
struct str posted_before(const char *text, struct arena *arena, const char **ret_but);

#endif
