/* SPDX-License-Identifier: MIT
 *
 * answer.h - a request by HTTP and what came of it, whoever it is for.
 */
#ifndef RECEIVE_ANSWER_H
#define RECEIVE_ANSWER_H

#include "deliver/outside.h"
#include "receive/wire.h"

#define ANSWER_EXCERPT_BYTES sizeof((struct flight *)0)->excerpt

struct answer {
    size_t received; // bytes of its body
    bool cut;        // it was longer than is read
    size_t headed;   // bytes of its header lines
    char body[256];  // its first bytes
    char problem[CURL_ERROR_SIZE];
};

/* Who was called, for texts. */
struct called {
    owed_delivery *delivery;
    const char *shown; // the URL as anybody may see it
    const char *host;  // and its port
    int64_t timeout_us;
    int64_t now_us;
    const char *stopped; // why a redirect was not followed; NULL: none is
};

/* answer_listen sets what is the same for every request; a transfer's handle is new, or was reset. */
bool answer_listen(struct answer *answer, struct transfer *transfer);
CURLcode answer_limit(CURL *easy, int64_t limit_us, int64_t connect_us);
void answer_clear(struct answer *answer);

/* answer_outcome says what the attempt came to; answer_keep writes the start of the answer, and gives its status, 0
 * where there is none. */
owed_outcome answer_outcome(
    const struct answer *answer, const struct transfer *transfer, const struct called *called);
int32_t answer_keep(const struct answer *answer, const struct transfer *transfer,
    char ret_excerpt[static ANSWER_EXCERPT_BYTES]);
bool answer_is_there(const struct answer *answer, const struct transfer *transfer);
/* answer_wait finds for how long the answer asks to be left alone; false: it does not. */
bool answer_wait(const struct transfer *transfer, int64_t now_us, int64_t *ret_wait_us);

#endif
