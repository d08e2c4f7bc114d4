/* SPDX-License-Identifier: MIT
 *
 * dispatcher.h - channels, their order, and what a send goes by.
 */
#ifndef NOTIFY_DISPATCHER_H
#define NOTIFY_DISPATCHER_H

#include <owed/notify.h>

#include "notify/receipt.h"
#include "notify/recipient.h"

#define MESSAGE_ID_MAX 64   // bytes of one that somebody gives
#define MESSAGE_ID_BYTES 33 // of one that is drawn, with its NUL
#define ROUTE_MAX (3 * LIMIT_CHANNELS)

struct owed_dispatcher {
    owed_channel channels[LIMIT_CHANNELS];
    size_t channel_count;
    const char *const *order; // NULL: the usual one
    owed_retry retry;
    owed_dead_letters *dead_letters;
    owed_dedup *dedup;
    bool owns_dead_letters, owns_dedup;
    owed_clock clock;
    void (*wait)(void *wait_state, int64_t us);
    void *wait_state;
};

/* retry_check tells whether a retry can be, and fills in what it leaves to us. */
owed_status retry_check(const owed_retry *retry, owed_retry *ret_whole, owed_error *err);

/* retry_wait_us is the wait after attempt n, from 1. */
int64_t retry_wait_us(const owed_retry *retry, int n);

/* channel_find returns a registered channel or NULL. */
const owed_channel *channel_find(const owed_dispatcher *dispatcher, const char *name);

/* route_of lists the candidates for a recipient, the first to be tried first, none twice; returns how many. */
size_t route_of(const owed_dispatcher *dispatcher, const owed_recipient *recipient,
    const char *pinned, const char *route[static ROUTE_MAX]);

/* message_id_write writes 32 random hex digits. */
void message_id_write(const owed_dice *dice, char id[static MESSAGE_ID_BYTES]);

/* send_options_check tells whether an id, a channel, a subject, and what goes along, can be. INVALID, LIMIT. */
owed_status send_options_check(const owed_send_options *options, owed_error *err);

/* send_waiting is owed_send, but waits for a key that is being sent elsewhere and then has its receipt. */
owed_status send_waiting(owed_dispatcher *dispatcher, const owed_recipient *recipient,
    const owed_template *tmpl, const owed_value *context, const owed_send_options *options,
    owed_receipt **ret_receipt, owed_error *err);

/* What a send comes to that is one of several, and whose sender retries by himself. */
struct send_once {
    const char *context;       // a JSON object
    const char *const *but;    // channels that are not called, to a NULL; NULL: none
    owed_receipt *receipt;     // OK
    struct attempts attempts;  // one for each channel that was called
    int64_t wait_us;           // the longest that a provider asked for
    owed_send_failure failure; // as options.failure would be
};

/* send_once is owed_send that calls each channel once at most, claims no key and keeps no letter. The caller
 * frees receipt and attempts, whatever it returns. */
owed_status send_once(owed_dispatcher *dispatcher, const owed_recipient *recipient,
    const owed_template *tmpl, const owed_send_options *options, struct send_once *once,
    owed_error *err);

#endif
