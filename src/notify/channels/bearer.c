/* SPDX-License-Identifier: MIT
 *
 * bearer.c - requests under a token, which is made when it is needed and thrown away when it is no longer taken.
 */
#include "notify/channels/bearer.h"

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "notify/channels/jwt.h"

owed_status
bearer_open(struct bearer *bearer, const struct options *values, token_make *make, void *state,
    owed_error *err)
{
    owed_status status = http_new(values, &bearer->http, err);
    if (status == OWED_OK)
        token_init(&bearer->token, clock_system, make, state);
    return status;
}

void
bearer_close(struct bearer *bearer)
{
    if (bearer->http == NULL)
        return;
    token_done(&bearer->token);
    http_free(bearer->http);
    bearer->http = NULL;
}

/* ask makes one request under the token that there is. False: that token was taken for none, and is thrown away. */
static bool
ask(struct bearer *bearer, const struct http_request *request, const owed_message *message,
    owed_answer *answer)
{
    CLEANUP(secret_buf_done) struct buf authorization;
    CLEANUP(http_answer_done) struct http_answer said = {0};
    const char *headers[HTTP_HEADERS_MAX + 1] = {NULL};
    size_t prefix_len = strlen(bearer->prefix);
    uint64_t round = 0;
    buf_init(&authorization, TOKEN_BYTES + prefix_len);
    buf_puts(&authorization, bearer->prefix);
    if (!token_take(&bearer->token, &authorization, &round, answer))
        return true;
    if (authorization.failed) {
        snprintf(answer->reason, sizeof answer->reason, "out of memory");
        return true;
    }
    size_t count = 0;
    for (; request->headers[count] != NULL && count < HTTP_HEADERS_MAX - 1; count++)
        headers[count] = request->headers[count];
    headers[count] = buf_text(&authorization);
    struct http_request known = *request;
    known.headers = headers;
    http_send(bearer->http, &known, &said);
    if (!bearer->judge(bearer, &said, message, headers[count] + prefix_len, answer))
        return true;
    token_drop(&bearer->token, round);
    return false;
}

void
bearer_send(struct bearer *bearer, const struct http_request *request, const owed_message *message,
    owed_answer *answer)
{
    if (ask(bearer, request, message, answer))
        return;
    *answer = (owed_answer){0};
    ask(bearer, request, message, answer);
}
