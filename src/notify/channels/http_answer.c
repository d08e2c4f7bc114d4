/* SPDX-License-Identifier: MIT
 *
 * http_answer.c - what a provider's answer means, where nobody knows it better.
 */
#include <string.h>

#include "base/cleanup.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/text.h"
#include "notify/channels/http.h"

#define ANSWER_DEPTH 64
#define DETAIL_BYTES 300

/* What a status comes to; the first that holds. */
static const struct {
    long from, to;
    owed_answer_verdict verdict;
    bool may_wait;  // where the answer says how long
    bool must_wait; // in any case
} meanings[] = {
    {200, 299, OWED_ANSWER_SENT, false, false},
    {408, 408, OWED_ANSWER_FAILED, true, false},
    {425, 425, OWED_ANSWER_FAILED, true, false},
    {429, 429, OWED_ANSWER_FAILED, true, true},
    {503, 503, OWED_ANSWER_FAILED, true, false},
    {500, 599, OWED_ANSWER_FAILED, false, false},
    {0, 0, OWED_ANSWER_FAILED, false, false},
};

static void
judge(const struct http_answer *said, owed_answer *answer)
{
    answer->verdict = OWED_ANSWER_REFUSED;
    if (said->impossible)
        return;
    for (size_t i = 0; i < sizeof meanings / sizeof meanings[0]; i++) {
        if (said->status < meanings[i].from || said->status > meanings[i].to)
            continue;
        bool waits = (meanings[i].may_wait && said->wait_us > 0) || meanings[i].must_wait;
        answer->verdict = waits ? OWED_ANSWER_WAIT : meanings[i].verdict;
        answer->wait_us = waits && said->wait_us > 0 ? said->wait_us : 0;
        return;
    }
}

void
http_reason(const struct http *http, const struct http_answer *said, const char *who,
    const char *detail, owed_answer *answer)
{
    char text[DETAIL_BYTES];
    if (said->status == 0) {
        snprintf(answer->reason, sizeof answer->reason, "%s %s", who, said->reason);
        return;
    }
    // Blotted out before it is cut: half a secret is one, too.
    CLEANUP(buf_done) struct buf whole;
    buf_init(&whole, LIMIT_RESPONSE_BYTES);
    buf_str(&whole, detail == NULL ? buf_view(&said->body) : str_of(detail));
    if (whole.len > 0)
        http_blot(http, whole.p);
    text_clean(text, sizeof text, str_trim(buf_view(&whole)), false);
    snprintf(answer->reason, sizeof answer->reason, "%s said %ld%s%s", who, said->status,
        text[0] == '\0' ? "" : ": ", text);
}

void
http_verdict(const struct http *http, const struct http_answer *said, const char *who,
    const char *detail, owed_answer *ret_answer)
{
    judge(said, ret_answer);
    if (ret_answer->verdict != OWED_ANSWER_SENT)
        http_reason(http, said, who, detail, ret_answer);
}

static bool
find(const struct http_answer *said, const char *pointer, struct arena *arena, struct json *ret)
{
    struct str body = buf_view(&said->body);
    return json_check(body, ANSWER_DEPTH, NULL) == OWED_OK &&
        json_pointer_find(json_root(body), pointer, arena, ret);
}

bool
http_text(const struct http_answer *said, const char *pointer, char *ret_text, size_t size)
{
    CLEANUP(arena_done) struct arena arena = {0};
    struct json found;
    struct str text;
    if (!find(said, pointer, &arena, &found))
        return false;
    if (found.type == JSON_NUMBER || found.type == JSON_TRUE || found.type == JSON_FALSE)
        text = found.text;
    else if (found.type != JSON_STRING || json_read_string(found, &arena, &text, NULL) != OWED_OK)
        return false;
    text_clean(ret_text, size, text, false);
    return true;
}

bool
http_number(const struct http_answer *said, const char *pointer, double *ret_number)
{
    CLEANUP(arena_done) struct arena arena = {0};
    struct json found;
    return find(said, pointer, &arena, &found) && found.type == JSON_NUMBER &&
        json_double(found, ret_number);
}
