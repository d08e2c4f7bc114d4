/* SPDX-License-Identifier: MIT
 *
 * bearer.h - requests to a provider that knows us by a token.
 */
#ifndef NOTIFY_CHANNELS_BEARER_H
#define NOTIFY_CHANNELS_BEARER_H

#include "notify/channels/http.h"
#include "notify/channels/token.h"

struct bearer;

/* bearer_judge fills in what an answer means; true: the token was taken for none. text is that token: no reason shows it. */
typedef bool bearer_judge(const struct bearer *bearer, const struct http_answer *said,
    const owed_message *message, const char *text, owed_answer *answer);

struct bearer {
    struct http *http; // NULL: it is not open
    struct token token;
    const char *prefix; // "authorization: Bearer "
    bearer_judge *judge;
};

/* bearer_open reads HTTP_KEYS, beside prefix and judge, which are there; make is called with the state. bearer_close may follow
 * on whatever came of it. CONFIG. NOMEM. */
owed_status bearer_open(struct bearer *bearer, const struct options *values, token_make *make,
    void *state, owed_error *err);
void bearer_close(struct bearer *bearer);

/* bearer_send makes a request with the token in a header of its own, and judges the answer. A token that was taken for none says
 * nothing of the message: it is asked once more, under a new one. */
void bearer_send(struct bearer *bearer, const struct http_request *request,
    const owed_message *message, owed_answer *answer);

#endif
