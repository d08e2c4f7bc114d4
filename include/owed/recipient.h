/* SPDX-License-Identifier: MIT
 *
 * recipient.h - whom a notification is for: addresses by channel, and when they want their peace.
 *
 * A recipient is a struct of the caller's, and all in it is borrowed. An address for "sms",
 * "push" and "email" has a member of its own; any other word of a-z, 0-9, _, . and - is one of the application's.
 */
#ifndef OWED_RECIPIENT_H
#define OWED_RECIPIENT_H

#include <owed/error.h>

#include <stddef.h>
#include <stdint.h>

OWED_BEGIN_DECLS

typedef enum owed_weekday {
    OWED_SUNDAY = 1,
    OWED_MONDAY = 2,
    OWED_TUESDAY = 4,
    OWED_WEDNESDAY = 8,
    OWED_THURSDAY = 16,
    OWED_FRIDAY = 32,
    OWED_SATURDAY = 64
} owed_weekday;

/* A window in which nothing but what is urgent is sent; a list ends with a NULL start. What counts is what
 * the recipient's clocks show: where they are set back, an hour that comes twice is quiet twice. */
typedef struct owed_quiet_hours {
    const char *start;           /* "22:00", from then on */
    const char *end;             /* "07:00", no longer then; before start: on the day after */
    const char *const *channels; /* to a NULL, one at least; NULL: all */
    unsigned weekdays; /* on which it starts, such as OWED_FRIDAY | OWED_SATURDAY; 0: every day */
} owed_quiet_hours;

/* One more address; a list ends with a NULL channel. */
typedef struct owed_address {
    const char *channel;
    const char *address; /* up to 4096 bytes of UTF-8 without control characters */
} owed_address;

typedef struct owed_recipient {
    const char *phone;        /* sms: E.164, such as +49151000000; NULL: none */
    const char *device_token; /* push */
    const char *email;        /* email: local@domain, also in letters of other scripts (RFC 6532) */
    const owed_address *others;          /* NULL: none; a channel above may not come again */
    const char *const *preferred;        /* channels to a NULL, the dearest first; NULL: none */
    const char *locale;                  /* a language tag, such as pt-BR; NULL: none */
    const char *time_zone;               /* such as Europe/Berlin, of the tz database; NULL: UTC */
    const owed_quiet_hours *quiet_hours; /* NULL: none */
} owed_recipient;

/* owed_recipient_check tells whether all of it can be. INVALID: the sentence names the field; what is wrong
 * with an address, a window (start and end the same, no channel, none that ever ends), the zone or a word.
 * MALFORMED_LOCALE. NOMEM. */
OWED_API owed_status owed_recipient_check(const owed_recipient *recipient, owed_error *err)
    OWED_MUSTUSE;

/* owed_recipient_address is the address on a channel; NULL: there is none. */
OWED_API const char *owed_recipient_address(const owed_recipient *recipient, const char *channel);

/* owed_recipient_channel is the nth channel (from 0) on which there is an address: sms, push, email, then
 * the others as they stand; NULL past the last. */
OWED_API const char *owed_recipient_channel(const owed_recipient *recipient, size_t n);

/* owed_recipient_quiet tells until when a channel is silent at a moment, in microseconds since 1970;
 * *ret_until_us is 0 where it is not. The recipient is one that owed_recipient_check accepts. INVALID: its zone is
 * gone from the system; NOMEM. */
OWED_API owed_status owed_recipient_quiet(const owed_recipient *recipient, const char *channel,
    int64_t now_us, int64_t *ret_until_us, owed_error *err) OWED_MUSTUSE;

OWED_END_DECLS

#endif
