/* SPDX-License-Identifier: MIT
 *
 * gateway_answer.c - what a provider's answer means, by its description: its own code first, then the HTTP status.
 */
#include <string.h>

#include "base/limits.h"
#include "base/text.h"
#include "notify/channels/gateway.h"

#define CODE_BYTES 200
#define DETAIL_BYTES \
    1024 // much more than is shown, so that a secret is whole when it is blotted out

static const struct {
    enum gateway_key list;
    owed_answer_verdict verdict;
} verdicts[] = {
    {GATEWAY_SUCCESS, OWED_ANSWER_SENT},
    {GATEWAY_GONE, OWED_ANSWER_GONE},
    {GATEWAY_WAIT, OWED_ANSWER_WAIT},
    {GATEWAY_REFUSED, OWED_ANSWER_REFUSED},
    {GATEWAY_FAILED, OWED_ANSWER_FAILED},
};

/* is_item: a code as it is, or as it begins where the item ends in a star. */
static bool
is_item(struct str item, const char *code)
{
    bool is_open = item.len > 0 && item.p[item.len - 1] == '*';
    if (is_open)
        return strncmp(code, item.p, item.len - 1) == 0;
    return str_is(item, code);
}

/* is_class: 5xx. */
static bool
is_class(struct str item, const char *code)
{
    return item.len == 3 && item.p[1] == 'x' && item.p[2] == 'x' && strlen(code) == 3 &&
        item.p[0] == code[0];
}

static bool
is_listed(const char *list, const char *code, bool is_status)
{
    while (list != NULL) {
        size_t len = strcspn(list, ",");
        struct str item = str_trim((struct str){list, len});
        if (is_item(item, code) || (is_status && is_class(item, code)))
            return true;
        list = list[len] == '\0' ? NULL : list + len + 1;
    }
    return false;
}

static bool
look_up(const struct gateway_plan *plan, const char *code, bool is_status, owed_answer *answer)
{
    for (size_t i = 0; i < sizeof verdicts / sizeof verdicts[0]; i++)
        if (is_listed(plan->says[verdicts[i].list], code, is_status)) {
            answer->verdict = verdicts[i].verdict;
            return true;
        }
    return false;
}

/* read_wait takes the provider's own figure, which has decimals, before the header's. */
static void
read_wait(const struct gateway_plan *plan, const struct http_answer *said, owed_answer *answer)
{
    double seconds = 0;
    const char *pointer = plan->says[GATEWAY_WAIT_SECONDS];
    const double most = (double)(LIMIT_DURATION_US / US_PER_SECOND);
    answer->wait_us = said->wait_us > 0 ? said->wait_us : 0;
    if (pointer != NULL && http_number(said, pointer, &seconds) && seconds > 0)
        answer->wait_us =
            seconds < most ? (int64_t)(seconds * (double)US_PER_SECOND) : LIMIT_DURATION_US;
}

/* weigh finds the verdict where the status alone does not say it: by the code, by the words that come with it, by the
 * status. */
static void
weigh(const struct gateway_plan *plan, const struct http_answer *said, const char *code,
    const char *words, owed_answer *answer)
{
    char status[CODE_BYTES];
    bool needs_yes = plan->says[GATEWAY_CODE] != NULL && plan->says[GATEWAY_SUCCESS] != NULL;
    bool is_yes = answer->verdict == OWED_ANSWER_SENT;
    snprintf(status, sizeof status, "%ld", said->status);
    if (code[0] != '\0' && look_up(plan, code, false, answer))
        return;
    if (words[0] != '\0' && (!is_yes || code[0] != '\0') && look_up(plan, words, false, answer))
        return;
    if (look_up(plan, status, true, answer))
        return;
    // A yes in HTTP that comes with a code is a no.
    if (is_yes && code[0] != '\0')
        answer->verdict = OWED_ANSWER_REFUSED;
    else if (is_yes && needs_yes)
        answer->verdict = OWED_ANSWER_FAILED;
}

void
gateway_judge(const struct gateway_plan *plan, const struct gateway_manner *manner,
    const struct http *http, const struct http_answer *said, owed_answer *ret_answer)
{
    const char *const *says = plan->says;
    char code[CODE_BYTES] = "";
    char words[DETAIL_BYTES] = "";
    char detail[sizeof code + sizeof words + 2];
    if (says[GATEWAY_CODE] != NULL)
        http_text(said, says[GATEWAY_CODE], code, sizeof code);
    if (says[GATEWAY_REASON] != NULL)
        http_text(said, says[GATEWAY_REASON], words, sizeof words);
    bool is_twice = strcmp(code, words) == 0;
    snprintf(detail, sizeof detail, "%s%s%s", code,
        code[0] == '\0' || words[0] == '\0' || is_twice ? "" : " ", is_twice ? "" : words);
    owed_answer by_status = {0};
    http_verdict(http, said, manner->who, NULL, &by_status);
    *ret_answer = by_status;
    if (said->status == 0)
        return;
    weigh(plan, said, code, words, ret_answer);
    if (ret_answer->verdict == OWED_ANSWER_WAIT)
        read_wait(plan, said, ret_answer);
    if (ret_answer->verdict == OWED_ANSWER_SENT) {
        ret_answer->reason[0] = '\0';
        if (says[GATEWAY_REFERENCE] != NULL)
            http_text(
                said, says[GATEWAY_REFERENCE], ret_answer->reference, sizeof ret_answer->reference);
        return;
    }
    http_reason(http, said, manner->who, detail[0] == '\0' ? NULL : detail, ret_answer);
}
