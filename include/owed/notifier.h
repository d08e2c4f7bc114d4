/* SPDX-License-Identifier: MIT
 *
 * notifier.h - notifications that are kept in a store: tickets that no crash loses, delivered by any relay.
 *
 * A ticket is an event owed.Ticket with one delivery, to the receiver owed.notify. It holds the recipient, the
 * name of the template, the context and the options; all else is decided when it is delivered:
 *
 *   {"id": "...", "template": "order_confirmed", "recipient": {"email": "ada@example.com"},
 *    "context": {"order_id": "A-1042"}, "channel": "email", "subject": "...", "locale": "de", "urgent": true,
 *    "dedup_key": "...", "quiet_wait": true, "fall_through": true}
 *
 * It is fired by owed_fire_json or in SQL, in any transaction; template and recipient are needed, and an id has up to 64 letters,
 * digits, - _ and . What a provider says is the outcome of an attempt:
 *
 *   failed     it is tried again, on the receiver's curve
 *   wait       it is put off without spending an attempt, and that channel is left alone meanwhile, no other
 *   refused    it is dead at once, as is what cannot be rendered or reaches nobody
 *   gone       so, too, and an event owed.AddressGone is fired along with it:
 *              {"channel": "push", "address": "...", "ticket": "..."}
 *
 * A ticket may be sent twice where a process dies between the provider's yes and its record. Its id, which
 * the channels know, is the same then.
 */
#ifndef OWED_NOTIFIER_H
#define OWED_NOTIFIER_H

#include <owed/notify.h>
#include <owed/templates.h>

OWED_BEGIN_DECLS

/* Zeroed: sensible values. */
typedef struct owed_notifier_options {
    const char *lane;     /* "default" */
    int32_t threads;      /* 4: so many sends at once */
    int32_t max_attempts; /* 16 */
    int64_t
        backoff_base_us; /* 30 seconds: with the relay's cap of an hour, a provider may fail for hours */
    int64_t backoff_cap_us;   /* the relay's */
    int64_t give_up_after_us; /* 2 days: what is put off for so long is dead */
    int64_t dedup_ttl_us;     /* a day: how long a dedup_key is known once it was sent */
} owed_notifier_options;

typedef struct owed_notifier owed_notifier;

/* owed_notifier_new makes what delivers tickets: templates by name, and the channels of a dispatcher, which both
 * outlive it. options may be NULL. INVALID: a number that is negative, or more than 64 threads. NOMEM. */
OWED_API OWED_MUSTUSE owed_status owed_notifier_new(const owed_templates *templates,
    owed_dispatcher *dispatcher, const owed_notifier_options *options, owed_notifier **ret_notifier,
    owed_error *err);

/* owed_notifier_free comes after every handle of a registry that it was declared in is closed. */
OWED_API void owed_notifier_free(owed_notifier *notifier);

/* owed_notify_declare declares the events owed.Ticket and owed.AddressGone, and the receiver owed.notify. CONFIG:
 * an option that no receiver can have. */
OWED_API OWED_MUSTUSE owed_status owed_notify_declare(
    owed_registry *registry, owed_notifier *notifier, owed_error *err);

OWED_END_DECLS

#endif
