/* SPDX-License-Identifier: MIT
 *
 * post.c - see post.h.
 */
#include "notify/post.h"

#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/limits.h"
#include "notify/json_fields.h"

#define BEFORE_BYTES ((size_t)64 * 1024)
#define DEFAULT_WAIT_US \
    (30 * US_PER_SECOND) // where a provider asked for a wait and did not say how long

/* Of several channels that did not send it the most hopeful one counts. */
static enum posted_end
end_of(const struct attempts *attempts)
{
    static const struct {
        owed_answer_verdict verdict;
        enum posted_end end;
    } hopes[] = {{OWED_ANSWER_FAILED, POSTED_FAILED}, {OWED_ANSWER_WAIT, POSTED_WAIT},
        {OWED_ANSWER_REFUSED, POSTED_REFUSED}, {OWED_ANSWER_GONE, POSTED_GONE}};
    for (size_t i = 0; i < sizeof hopes / sizeof hopes[0]; i++)
        for (size_t n = 0; n < attempts->count; n++)
            if (attempts->list[n].verdict == hopes[i].verdict)
                return hopes[i].end;
    return POSTED_FAILED;
}

void
post_once(const struct post *post, struct posted *ret_posted)
{
    struct send_once once = {.context = post->context, .but = post->but};
    *ret_posted = (struct posted){0};
    owed_status status = send_once(
        post->dispatcher, post->recipient, post->tmpl, post->options, &once, &ret_posted->error);
    ret_posted->status = status;
    ret_posted->receipt = once.receipt;
    ret_posted->attempts = once.attempts;
    ret_posted->wait_us = once.wait_us > 0 ? once.wait_us : DEFAULT_WAIT_US;
    ret_posted->until_us = once.failure.quiet_until_us;
    bool may_wait = post->options->quiet_wait && post->options->now_us == 0;
    if (status == OWED_OK)
        ret_posted->end = POSTED_SENT;
    else if (status == OWED_UNDELIVERED)
        ret_posted->end = end_of(&once.attempts);
    else if (status == OWED_NOMEM)
        ret_posted->end = POSTED_FAILED;
    else
        ret_posted->end = status == OWED_QUIET_HOURS && may_wait ? POSTED_NOT_YET : POSTED_REFUSED;
}

void
posted_done(struct posted *posted)
{
    owed_receipt_free(posted->receipt);
    attempts_done(&posted->attempts);
    posted->receipt = NULL;
}

void
posted_refuse(struct posted *posted, const owed_error *error)
{
    *posted = (struct posted){.end = POSTED_REFUSED, .status = error->status, .error = *error};
}

const char *
posted_channel(const struct posted *posted)
{
    size_t count = posted->attempts.count;
    return count == 0 ? NULL : posted->attempts.list[count - 1].channel;
}

owed_outcome
posted_outcome(const struct posted *posted, owed_delivery *delivery)
{
    const char *text = posted->error.text;
    switch (posted->end) {
    case POSTED_SENT:
        return owed_done();
    case POSTED_WAIT:
        return owed_defer(delivery, (double)posted->wait_us / (double)US_PER_SECOND, "%s", text);
    case POSTED_NOT_YET:
        return owed_not_yet(delivery, posted->until_us, "%s", text);
    case POSTED_REFUSED:
    case POSTED_GONE:
        return owed_permanent(delivery, "%s", text);
    case POSTED_FAILED:
        break;
    }
    return owed_failed(delivery, "%s", text);
}

/* --- the receipt --- */

static void
write_attempt(struct buf *buf, const owed_send_attempt *attempt)
{
    static const char *const verdicts[] = {
        [OWED_ANSWER_FAILED] = "failed",
        [OWED_ANSWER_SENT] = "sent",
        [OWED_ANSWER_WAIT] = "wait",
        [OWED_ANSWER_REFUSED] = "refused",
        [OWED_ANSWER_GONE] = "gone",
    };
    size_t verdict = (size_t)attempt->verdict;
    bool is_known = verdict < sizeof verdicts / sizeof verdicts[0];
    buf_putc(buf, '{');
    field_write_text(buf, "channel", attempt->channel);
    field_write_text(buf, "address", attempt->address);
    field_write_text(buf, "verdict", is_known ? verdicts[verdict] : "failed");
    if (attempt->verdict != OWED_ANSWER_SENT)
        field_write_text(buf, "reason", attempt->reason);
    field_write_int(buf, "at", attempt->at_us);
    buf_putc(buf, '}');
}

void
posted_write(const struct posted *posted, struct buf *buf)
{
    const owed_receipt *receipt = posted->receipt;
    buf_printf(buf, "{\"status\":%d", (int)posted->status);
    if (receipt != NULL) {
        field_write_text(buf, "template", receipt->template_name);
        field_write_text(buf, "channel", receipt->channel);
        field_write_text(buf, "address", receipt->address);
        field_write_text(buf, "locale", receipt->locale);
        field_write_bool(buf, "urgent", receipt->urgency == OWED_URGENCY_URGENT);
        field_write_text(buf, "reference", receipt->reference);
        field_write_bool(buf, "duplicate", receipt->duplicate);
    }
    buf_puts(buf, ",\"attempts\":[");
    buf_str(buf, posted->before);
    for (size_t i = 0; i < posted->attempts.count; i++) {
        if (i > 0 || posted->before.len > 0)
            buf_putc(buf, ',');
        write_attempt(buf, &posted->attempts.list[i]);
    }
    buf_puts(buf, "]}");
}

struct str
posted_before(const char *text, struct arena *arena, const char **ret_but)
{
    struct fields fields = {.what = "a result", .arena = arena};
    struct json list, item;
    size_t count = 0;
    ret_but[0] = NULL;
    if (json_check(str_of(text), LIMIT_PAYLOAD_DEPTH, NULL) != OWED_OK ||
        !json_member(json_root(str_of(text)), "attempts", &list) || list.type != JSON_ARRAY)
        return (struct str){0};
    for (struct json_walk walk = json_walk(list); json_next(&walk, NULL, &item);) {
        const char *channel = NULL, *verdict = NULL;
        bool is_read = fields_text(&fields, item, "channel", &channel) == OWED_OK &&
            fields_text(&fields, item, "verdict", &verdict) == OWED_OK;
        bool never =
            verdict != NULL && (strcmp(verdict, "refused") == 0 || strcmp(verdict, "gone") == 0);
        if (is_read && never && channel != NULL && count < ROUTE_MAX)
            ret_but[count++] = channel;
    }
    ret_but[count] = NULL;
    // Between the brackets. Of a ticket that waited for very long not all is kept.
    struct str before = {list.text.p + 1, list.text.len - 2};
    return before.len > BEFORE_BYTES ? (struct str){0} : before;
}
