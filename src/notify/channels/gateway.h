/* SPDX-License-Identifier: MIT
 *
 * gateway.h - a provider that is described, not programmed: a request with places to fill in, and what its answers
 * mean. Gateways of SMS and chats are such descriptions.
 */
#ifndef NOTIFY_CHANNELS_GATEWAY_H
#define NOTIFY_CHANNELS_GATEWAY_H

#include <owed/notify.h>

#include "notify/channels/http.h"
#include "notify/fit.h"

/* What a description says: X(name, key in owed.conf, argument, help). */
#define GATEWAY_MAP(X) \
    X(URL, "url", "URL", \
        "where requests go; in it {to}, {text}, {id}, {from}, {user}, {token} and others are filled in, encoded") \
    X(METHOD, "method", "WORD", "POST (where nothing is said), PUT, or GET, which has no body") \
    X(FORMAT, "format", "WORD", "of the body: json (where nothing is said) or form") \
    X(HEADERS, "headers", "LINES", \
        "more headers, separated by commas; {token} and others are filled in") \
    X(BODY, "body", "TEXT", \
        "such as {\"to\": \"{to}\", \"text\": \"{text}\"} or To={to}&Body={text}; values are escaped for where they stand") \
    X(AUTH, "auth", "WORD", \
        "basic (user and password), bearer (token), or none (where nothing is said)") \
    X(FROM, "from", "TEXT", "whom messages are from, as the provider knows it: {from}") \
    X(USER, "user", "NAME", "the account: {user}") \
    X(PASSWORD_FILE, "password-file", "PATH", \
        "holds the password, or the account's secret: {password}") \
    X(TOKEN_FILE, "token-file", "PATH", "holds the token, or the API's key: {token}") \
    X(REFERENCE, "reference", "POINTER", \
        "JSON pointer into the answer: the provider's own name of the message") \
    X(CODE, "code", "POINTER", \
        "JSON pointer into the answer: the provider's code, which counts before the HTTP status") \
    X(REASON, "reason", "POINTER", \
        "JSON pointer into the answer: what went wrong, in words, which count after the code") \
    X(WAIT_SECONDS, "wait-seconds", "POINTER", \
        "JSON pointer into the answer: for how long it asks to wait") \
    X(SUCCESS, "success", "CODES", \
        "codes and statuses (200, 5xx, 30*) that say yes, separated by commas; 2xx says it without them") \
    X(WAIT, "wait", "CODES", "those that say to wait, as 429 does") \
    X(GONE, "gone", "CODES", "those that say that the address will never be reached again") \
    X(REFUSED, "refused", "CODES", "those that say never, as 4xx does") \
    X(FAILED, "failed", "CODES", "those that say not now, as 5xx does")

enum gateway_key {
#define X(name_, key_, argument_, help_) GATEWAY_##name_,
    GATEWAY_MAP(X)
#undef X
        GATEWAY_KEYS
};

#define GATEWAY_OPTION(name_, key_, argument_, help_) \
    {.name = (key_), \
        .type = OPTION_TEXT, \
        .argument = (argument_), \
        .section = "channel", \
        .help = (help_)},

/* NULL: not said. */
struct gateway_plan {
    const char *says[GATEWAY_KEYS];
};

/* gateway_plan_read has the keys that are set, which stand in the table as GATEWAY_MAP(GATEWAY_OPTION), say it in place
 * of the plan. */
void gateway_plan_read(struct gateway_plan *plan, const struct options *values);

/* What a kind knows beyond the description. */
struct gateway_manner {
    const char *who; // "the gateway", in reasons
    struct fit fit;
    void (*escape)(struct buf *out,
        struct str text); // of the text, before it is put into its place; NULL: as it is
    bool (*takes)(const char *address); // NULL: whatever is a line of text
    const char *right;                  // what it takes
    const char *hidden;                 // a secret that stands in the plan; NULL: none
};

/* gateway_make fills in send, state and close of a channel. HTTP_KEYS stand in the table of values; the plan and the
 * manner's words are borrowed for the call, but for who and right, which are literals. CONFIG. NOMEM. */
owed_status gateway_make(const struct gateway_plan *plan, const struct gateway_manner *manner,
    const struct options *values, owed_channel *channel, owed_error *err);

/* gateway_judge says what an answer comes to. */
void gateway_judge(const struct gateway_plan *plan, const struct gateway_manner *manner,
    const struct http *http, const struct http_answer *said, owed_answer *ret_answer);

#endif
