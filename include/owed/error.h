/* SPDX-License-Identifier: MIT
 *
 * error.h - status codes and the sentence that goes with a failure.
 *
 * For every function in <owed/...>:
 *   - what can fail returns owed_status; OWED_OK is zero, all others are negative;
 *   - the last parameter is an owed_error of the caller's, or NULL; it is filled in on failure only;
 *   - ret_ parameters are written on success only, unless a status says otherwise;
 *   - arguments are borrowed for the call and nothing is kept, unless said so;
 *   - free and close functions accept NULL;
 *   - a handle and what came from it belong to one thread at a time; there is no global state
 *     but the blocks of scope.h, which are a thread's.
 */
#ifndef OWED_ERROR_H
#define OWED_ERROR_H

#include <owed/export.h>

OWED_BEGIN_DECLS

/* Every status: X(name, value, worth trying again, text). */
#define OWED_STATUS_MAP(X) \
    X(OK, 0, 0, "success") \
    X(INVALID, -1, 0, "invalid argument or input") \
    X(NOMEM, -2, 1, "out of memory") \
    X(BUSY, -3, 1, "the store is busy") \
    X(UNAVAILABLE, -4, 1, "the store cannot be reached") \
    X(UNSURE, -5, 0, "whether the commit happened is not known") \
    X(DUPLICATE, -6, 0, "an event with this dedupe key exists") \
    X(VETOED, -7, 0, "an inline receiver refused the change") \
    X(NOT_FOUND, -8, 0, "no such thing") \
    X(LOST, -9, 0, "the row is no longer held under this claim") \
    X(SCHEMA, -10, 0, "the tables are missing, older or newer than this program") \
    X(CONFIG, -11, 0, "bad configuration or declaration") \
    X(LIMIT, -12, 0, "over a limit") \
    X(ABORTED, -13, 0, "the transaction is gone") \
    X(STORE, -14, 0, "the store refused") \
    X(BUG, -15, 0, "a bug in owed") \
    X(TEMPLATE, -20, 0, "a template that cannot be") \
    X(MISSING_VARIABLE, -21, 0, "a template lacks values") \
    X(UNKNOWN_VARIABLE, -22, 0, "a template has no such variables") \
    X(VARIABLE_TYPE, -23, 0, "a value is of another kind than its variable") \
    X(LOCALE, -24, 0, "the languages of a template do not fit together") \
    X(MALFORMED_LOCALE, -25, 0, "not a language tag") \
    X(MISSING_LOCALE, -26, 0, "a template has no variant in its default language") \
    X(LOCALE_MISMATCH, -27, 0, "the languages of a template declare different variables") \
    X(UNROUTABLE, -30, 0, "no channel reaches the recipient") \
    X(QUIET_HOURS, -31, 0, "the recipient wants peace at this hour") \
    X(UNDELIVERED, -32, 0, "the channel's provider did not take it") \
    X(DUPLICATE_SEND, -33, 1, "the same notification is being sent") \
    X(PENDING, -34, 1, "nobody has tried to send it yet") \
    X(CLOSED, -35, 0, "the outbox was closed before it was sent")

typedef enum owed_status {
#define X(name, value, again, text) OWED_##name = (value),
    OWED_STATUS_MAP(X)
#undef X
} owed_status;

/* Filled in by the failing call, in full. Fixed size: nothing to free, nothing shared. */
typedef struct owed_error {
    owed_status status;
    int native;     /* errno or the client library's own code; 0 where there is none */
    char text[512]; /* one sentence: what was wrong, where, and what would be right */
} owed_error;

/* owed_status_text returns the short text of a status; never NULL. The string is static. */
OWED_API const char *owed_status_text(owed_status status);

/* owed_status_again tells whether the same call may well succeed later: 1 or 0. */
OWED_API int owed_status_again(owed_status status);

OWED_END_DECLS

#endif
