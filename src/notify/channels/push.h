/* SPDX-License-Identifier: MIT
 *
 * push.h - what the ways to a device or a browser share.
 */
#ifndef NOTIFY_CHANNELS_PUSH_H
#define NOTIFY_CHANNELS_PUSH_H

#include "notify/channels/http.h"
#include "notify/fit.h"

#define PUSH_WORD_BYTES 64
#define PUSH_UUID_BYTES 37
#define PUSH_TOPIC_BYTES 33
#define PUSH_JSON_BYTES ((size_t)1024 * 1024)

/* What a provider's own word means where its status alone does not say it. The first row that fits holds; a table ends with a
 * verdict of SENT, which none has. */
struct push_meaning {
    long status;      // 0: any
    const char *word; // NULL: any
    owed_answer_verdict verdict;
    int64_t wait_us; // WAIT: where the answer does not say how long
};
#define PUSH_MEANINGS_END \
    { \
        .verdict = OWED_ANSWER_SENT \
    }

/* push_judge fills in the answer: what http_verdict says, unless the table knows better. detail is shown. */
void push_judge(const struct http *http, const struct http_answer *said, const char *who,
    const char *word, const char *detail, const struct push_meaning *table, owed_answer *answer);

/* push_url_check is http_url_check for what we send secrets to: https, or http on this machine. */
owed_status push_url_check(const char *key, const char *url, owed_error *err);

/* push_is_loopback tells whether a good URL leads to this machine. */
bool push_is_loopback(const char *url);

/* A UUID and a topic (RFC 8030, 5.4) that are the same for the same id. */
void push_uuid(const char *id, char ret_uuid[static PUSH_UUID_BYTES]);
void push_topic(const char *id, char ret_topic[static PUSH_TOPIC_BYTES]);

/* push_member appends a member of a JSON object, with a comma where it is not the first; NULL is left out. */
void push_member(struct buf *json, const char *key, const char *text);

/* push_shows tells whether a text holds a secret, or begins to. */
bool push_shows(const char *text, const char *secret);

/* A push is one message, of so many bytes of JSON: the key too-long says what becomes of a longer one. */
#define PUSH_FIT_OPTION \
    { \
        .name = "too-long", .type = OPTION_TEXT, .argument = "WORD", .section = "channel", \
        .fallback = "refuse", \
        .help = "a text that does not go into one push: refuse, or cut (with an ellipsis)" \
    }

/* push_fit_read takes the key too-long. CONFIG. */
owed_status push_fit_read(
    const struct options *values, size_t most, struct fit *ret_fit, owed_error *err);

typedef void push_writer(const void *state, const owed_message *message, struct buf *json);

/* push_write fills an empty buffer with what write makes of a message, its text cut where the policy says so. False: it is
 * too long; answer says so. */
bool push_write(const struct fit *fit, push_writer *write, const void *state,
    const owed_message *message, struct buf *json, owed_answer *answer);

/* push_need is the text of a setting that has to be there; right: an example. CONFIG. */
owed_status push_need(const struct options *values, const char *key, const char *right,
    char **ret_text, owed_error *err);

#endif
