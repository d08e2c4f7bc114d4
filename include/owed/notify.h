/* SPDX-License-Identifier: MIT
 *
 * notify.h - one notification to one recipient, by the channel that reaches him: routing, retries, quiet
 * hours, deduplication and dead letters. All of it in this process and in memory.
 *
 * A dispatcher, a store of keys and a queue of dead letters may be used by any number of threads at once, once
 * all channels are registered.
 */
#ifndef OWED_NOTIFY_H
#define OWED_NOTIFY_H

#include <owed/owed.h>
#include <owed/recipient.h>
#include <owed/template.h>

OWED_BEGIN_DECLS

typedef enum owed_urgency {
    OWED_URGENCY_NORMAL = 0,
    OWED_URGENCY_URGENT /* whatever the hour */
} owed_urgency;

/* --- channels --- */

/* One file of a mail; a list ends with a NULL name. Other channels send the text alone. */
typedef struct owed_attachment {
    const char *name;       /* as it is saved, without a path; up to 255 bytes of UTF-8 */
    const char *media_type; /* such as application/pdf (RFC 2045), without parameters */
    const void *bytes;
    size_t size; /* of up to 16 files 16 MiB in all */
} owed_attachment;

/* What a channel sends. Borrowed for the call. */
typedef struct owed_message {
    const char
        *id; /* the same over all attempts: a ticket's, or 32 random hex digits of this send */
    const char *template_name;
    const char *channel;
    const char *address;
    const char *subject; /* one line; NULL: none */
    const char *text;
    const char *html;   /* NULL: none */
    const char *locale; /* of the variant that was rendered; NULL: of a plain template */
    owed_urgency urgency;
    const owed_attachment *attachments; /* NULL: none */
    const char *unsubscribe;            /* NULL: none */
} owed_message;

/* What a provider said. */
typedef enum owed_answer_verdict {
    OWED_ANSWER_FAILED = 0, /* not now: another attempt may well succeed */
    OWED_ANSWER_SENT,
    OWED_ANSWER_WAIT,    /* not before wait_us have passed */
    OWED_ANSWER_REFUSED, /* never in this form */
    OWED_ANSWER_GONE     /* never again at this address */
} owed_answer_verdict;

#define OWED_REFERENCE_BYTES 256
#define OWED_REASON_BYTES 512

typedef struct owed_answer {
    owed_answer_verdict verdict;
    int64_t wait_us;                      /* WAIT: at least that long */
    char reference[OWED_REFERENCE_BYTES]; /* SENT: the provider's own name for it; "": none */
    char reason[OWED_REASON_BYTES];       /* all others: one sentence */
} owed_answer;

/* A way to reach people. send fills in the answer, which comes zeroed: FAILED without a reason. It may be
 * called from several threads at once, and sends one message at most. A whole one of 97 lines is
 * examples/channel/till.c. */
typedef struct owed_channel owed_channel;
struct owed_channel {
    const char *name; /* such as "sms"; the string outlives the dispatcher */
    void (*send)(
        const struct owed_channel *channel, const owed_message *message, owed_answer *answer);
    void *state;                          /* the channel's own */
    void (*close)(owed_channel *channel); /* gives the state back; NULL: there is nothing to give */
};

/* --- attempts --- */

/* After attempt n comes a wait of backoff_us * multiplier^(n - 1), at most max_backoff_us, or what the
 * provider asked for where that is longer. Zeroed: one attempt. */
typedef struct owed_retry {
    int attempts; /* 0 reads as 1 */
    int64_t backoff_us;
    double multiplier;      /* at least 1; 0 reads as 2 */
    int64_t max_backoff_us; /* 0 reads as 30 seconds, or backoff_us where that is longer */
    unsigned retry_on;      /* bits 1u << verdict; 0: FAILED and WAIT */
} owed_retry;

/* Three attempts, half a second and then a second apart. */
#define OWED_RETRY_THRICE \
    { \
        .attempts = 3, .backoff_us = 500000, .multiplier = 2, .max_backoff_us = 30000000 \
    }

typedef struct owed_send_attempt {
    int number; /* from 1 */
    char *channel;
    char *address;
    owed_answer_verdict verdict;
    char *reason;
    int64_t at_us;
} owed_send_attempt;

/* What came of a send; memory of its own, given back by owed_receipt_free. */
typedef struct owed_receipt {
    char *template_name;
    char *channel;
    char *address;
    char *subject;
    char *text;
    char *html;
    char *locale;
    owed_urgency urgency;
    char *reference; /* NULL: the provider gave none */
    int attempts;
    bool duplicate; /* sent before under this key; all else is of that time */
} owed_receipt;

OWED_API void owed_receipt_free(owed_receipt *receipt);

/* --- dead letters --- */

/* A message that no attempt could send. */
typedef struct owed_dead_letter {
    owed_receipt *message; /* reference NULL */
    owed_send_attempt *attempts;
    size_t attempt_count; /* at least 1 */
    int64_t at_us;
} owed_dead_letter;

typedef struct owed_dead_letters owed_dead_letters;

/* owed_dead_letters_new makes a queue. limit: how many are kept, the oldest go first; 0: all.
 * INVALID: negative. NOMEM. Freed after the dispatchers that use it. */
OWED_API owed_status owed_dead_letters_new(
    int64_t limit, owed_dead_letters **ret_letters, owed_error *err) OWED_MUSTUSE;
OWED_API void owed_dead_letters_free(owed_dead_letters *letters);

OWED_API size_t owed_dead_letters_count(owed_dead_letters *letters);

/* owed_dead_letters_take hands out the oldest, NULL where there is none; the caller frees it. */
OWED_API owed_dead_letter *owed_dead_letters_take(owed_dead_letters *letters);
OWED_API void owed_dead_letter_free(owed_dead_letter *letter);

/* --- keys that are sent once --- */

typedef struct owed_dedup owed_dedup;

#define OWED_FOREVER INT64_C(-1)

/* owed_dedup_new makes a store of keys. ttl_us: how long a key is known, from when its send began, also one that
 * takes longer than that;
 * 0: a day; OWED_FOREVER. INVALID: otherwise negative. NOMEM. Freed after the dispatchers that use it. */
OWED_API owed_status owed_dedup_new(int64_t ttl_us, owed_dedup **ret_dedup, owed_error *err)
    OWED_MUSTUSE;
OWED_API void owed_dedup_free(owed_dedup *dedup);

/* owed_dedup_purge forgets what has expired and returns how many keys that were. */
OWED_API size_t owed_dedup_purge(owed_dedup *dedup, int64_t at_us);
OWED_API size_t owed_dedup_count(owed_dedup *dedup);

/* --- the dispatcher --- */

/* Zeroed: a sensible dispatcher. What is pointed at is borrowed for as long as the dispatcher lives. */
typedef struct owed_dispatcher_options {
    const char *const *order; /* of channels, to a NULL; NULL: push, sms, email, then all others as
                                        they were registered. A channel that does not stand in it is used only
                                        where it is pinned or preferred */
    owed_retry retry;         /* for what is sent without one of its own */
    owed_dead_letters *dead_letters;            /* NULL: one of its own, without a limit */
    owed_dedup *dedup;                          /* NULL: one of its own, of a day */
    owed_clock clock;                           /* zeroed: the system's */
    void (*wait)(void *wait_state, int64_t us); /* between attempts; NULL: a real wait */
    void *wait_state;
} owed_dispatcher_options;

typedef struct owed_dispatcher owed_dispatcher;

/* owed_dispatcher_new makes a dispatcher; options may be NULL. INVALID: a retry that cannot be (negative, a
 * multiplier below 1, max_backoff_us below backoff_us), a word that is no channel. NOMEM. */
OWED_API owed_status owed_dispatcher_new(const owed_dispatcher_options *options,
    owed_dispatcher **ret_dispatcher, owed_error *err) OWED_MUSTUSE;
OWED_API void owed_dispatcher_free(owed_dispatcher *dispatcher);

/* owed_dispatcher_add registers a channel, copied; one of the same name is replaced and closed. Before the first
 * send alone. The dispatcher closes what it has when it is freed; where this fails, the channel is still the caller's.
 * INVALID: no name, no send. LIMIT: more than 32. */
OWED_API owed_status owed_dispatcher_add(
    owed_dispatcher *dispatcher, const owed_channel *channel, owed_error *err) OWED_MUSTUSE;

/* owed_dispatcher_channel is the nth channel (from 0) that is registered, in the order in which they are tried for
 * somebody who prefers none; NULL past the last. One that does not stand in the order is not among them. */
OWED_API const char *owed_dispatcher_channel(const owed_dispatcher *dispatcher, size_t n);

OWED_API owed_dead_letters *owed_dispatcher_dead_letters(owed_dispatcher *dispatcher);
OWED_API owed_dedup *owed_dispatcher_dedup(owed_dispatcher *dispatcher);

/* What is known of a send that failed. */
typedef struct owed_send_failure {
    int64_t quiet_until_us; /* QUIET_HOURS: the first moment at which a channel is free again */
    int attempts;           /* UNDELIVERED */
    owed_answer_verdict verdict; /* UNDELIVERED: of the last one */
} owed_send_failure;

/* Zeroed: nothing special. Borrowed for the call. */
typedef struct owed_send_options {
    const char *id;      /* what channels know it by, at most 64 of a-zA-Z0-9-_.; NULL: random */
    const char *channel; /* this one alone; it keeps to quiet hours all the same */
    const char *subject; /* in place of the template's; one line */
    const char *locale;  /* in place of the recipient's */
    owed_urgency urgency;
    int64_t now_us;          /* for quiet hours and dedup_key; 0: the dispatcher's clock */
    const owed_retry *retry; /* in place of the dispatcher's; NULL: that */
    const char *dedup_key;   /* sent once, whoever the recipient is; up to 255 bytes */
    const owed_attachment *attachments; /* NULL: none */
    const char *unsubscribe; /* an https or mailto URL (RFC 2369, RFC 8058); NULL: none */
    bool quiet_wait;   /* from a store: quiet hours are waited for; else refused, as with now_us */
    bool fall_through; /* where one channel's attempts are spent, the next one is tried */
    owed_tx *tx;       /* of a ticket that a store keeps: what it goes with; else NULL */
    owed_send_failure *failure; /* filled in where the send fails; NULL: not wanted */
} owed_send_options;

/* owed_send renders a template and sends it: by the recipient's preferred channels, then by the rest of the order, the
 * first on which he has an address, a channel is registered, and the hour is no quiet one. options may
 * be NULL; the caller frees the receipt. A key that was sent gives that send's receipt, marked duplicate, and
 * calls nobody.
 * Before anybody is called: DUPLICATE_SEND: the key is being sent just now; what rendering refuses (template.h);
 * UNROUTABLE: no channel with an address; QUIET_HOURS: all that there are are silent; INVALID: an
 * option that cannot be, or an address that no such channel has (owed_recipient_check tells earlier);
 * MALFORMED_LOCALE. Afterwards: UNDELIVERED: no attempt succeeded, the message is a dead letter. NOMEM. A send that fails gives its key back. */
OWED_API owed_status owed_send(owed_dispatcher *dispatcher, const owed_recipient *recipient,
    const owed_template *tmpl, const owed_value *context, const owed_send_options *options,
    owed_receipt **ret_receipt, owed_error *err) OWED_MUSTUSE;

OWED_END_DECLS

#endif
