/* SPDX-License-Identifier: MIT
 *
 * send.c - one notification: claim its key, render it, find a channel, try.
 */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/moment.h"
#include "base/utf8.h"
#include "notify/attachment.h"
#include "notify/dedup.h"
#include "notify/dispatcher.h"
#include "notify/receipt.h"
#include "notify/recipient.h"

/* What one send goes by. */
struct sending {
    owed_dispatcher *dispatcher;
    const owed_recipient *recipient;
    const owed_template *tmpl;
    const owed_value *context;
    const owed_send_options *options;
    struct send_once *once; // NULL: all that a dispatcher does, with the context above
    owed_retry retry;
    int64_t now_us;
    char id[MESSAGE_ID_BYTES]; // where the options have none
    owed_rendered rendered;
    struct attempts attempts;
    owed_send_failure failure;
    owed_error *err;
};

/* --- the way --- */

struct way {
    const char *route[ROUTE_MAX];
    size_t count; // of channels that can be used now
    const char *silent[ROUTE_MAX];
    size_t silent_count;
    int64_t free_us; // when the first of the silent ones may be used
};

/* is_left_out: it said in an earlier attempt that it never will. */
static bool
is_left_out(const struct sending *sending, const char *channel)
{
    const char *const *but = sending->once == NULL ? NULL : sending->once->but;
    for (; but != NULL && *but != NULL; but++)
        if (strcmp(*but, channel) == 0)
            return true;
    return false;
}

static owed_status
look_at_channel(const struct sending *sending, const char *channel, struct way *way)
{
    const owed_recipient *recipient = sending->recipient;
    const char *address = owed_recipient_address(recipient, channel);
    int64_t until_us = 0;
    if (address == NULL || channel_find(sending->dispatcher, channel) == NULL ||
        is_left_out(sending, channel))
        return OWED_OK;
    // Who made the recipient may not have checked it, and no channel may see a line that was smuggled in.
    owed_status status = address_check(channel, address, sending->err);
    if (status == OWED_OK && sending->options->urgency != OWED_URGENCY_URGENT)
        status = owed_recipient_quiet(recipient, channel, sending->now_us, &until_us, sending->err);
    if (status != OWED_OK)
        return status;
    if (until_us == 0) {
        way->route[way->count++] = channel;
        return OWED_OK;
    }
    if (way->silent_count == 0 || until_us < way->free_us)
        way->free_us = until_us;
    way->silent[way->silent_count++] = channel;
    return OWED_OK;
}

static void
add_names(struct buf *list, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        buf_printf(list, "%s%s", i == 0 ? "" : ", ", names[i]);
}

static owed_status
find_way(struct sending *sending, struct way *way)
{
    const char *candidates[ROUTE_MAX];
    const char *name = owed_template_name(sending->tmpl);
    size_t count =
        route_of(sending->dispatcher, sending->recipient, sending->options->channel, candidates);
    owed_status status = OWED_OK;
    for (size_t i = 0; i < count && status == OWED_OK; i++)
        status = look_at_channel(sending, candidates[i], way);
    if (status != OWED_OK || way->count > 0)
        return status;
    struct buf list CLEANUP(buf_done);
    buf_init(&list, 256);
    if (way->silent_count == 0) {
        add_names(&list, candidates, count);
        return fail(sending->err, OWED_UNROUTABLE,
            "%s: no channel with an address of the recipient and a sender (asked: %s)", name,
            buf_text(&list));
    }
    char until[MOMENT_BYTES];
    sending->failure.quiet_until_us = way->free_us;
    add_names(&list, way->silent, way->silent_count);
    return fail(sending->err, OWED_QUIET_HOURS, "%s: quiet hours on %s until %s", name,
        buf_text(&list), moment_write(way->free_us, until));
}

/* --- attempts --- */

static owed_message
message_for(const struct sending *sending, const char *channel)
{
    const owed_rendered *rendered = &sending->rendered;
    const char *subject = sending->options->subject;
    return (owed_message){
        .id = sending->options->id == NULL ? sending->id : sending->options->id,
        .template_name = rendered->name,
        .channel = channel,
        .address = owed_recipient_address(sending->recipient, channel),
        .subject = subject == NULL ? rendered->subject : subject,
        .text = rendered->text,
        .html = rendered->html,
        .locale = rendered->locale,
        .urgency = sending->options->urgency,
        .attachments = sending->options->attachments,
        .unsubscribe = sending->options->unsubscribe,
    };
}

static void
make_attempt(const struct sending *sending, const owed_message *message, owed_answer *answer)
{
    const owed_channel *channel = channel_find(sending->dispatcher, message->channel);
    *answer = (owed_answer){0};
    channel->send(channel, message, answer);
    answer->reference[OWED_REFERENCE_BYTES - 1] = answer->reason[OWED_REASON_BYTES - 1] = '\0';
    if (answer->verdict != OWED_ANSWER_SENT && answer->reason[0] == '\0')
        snprintf(answer->reason, sizeof answer->reason, "the channel gave no reason");
}

static void
wait_before_next(const struct sending *sending, int n, const owed_answer *answer)
{
    const owed_dispatcher *dispatcher = sending->dispatcher;
    int64_t wait_us = retry_wait_us(&sending->retry, n);
    if (answer->verdict == OWED_ANSWER_WAIT && answer->wait_us > wait_us)
        wait_us = answer->wait_us < LIMIT_DURATION_US ? answer->wait_us : LIMIT_DURATION_US;
    if (wait_us > 0)
        dispatcher->wait(dispatcher->wait_state, wait_us);
}

/* try_channel makes attempts until one succeeds or they are spent; the answer is the last one's. */
static owed_status
try_channel(struct sending *sending, const owed_message *message, owed_answer *answer)
{
    for (int n = 1;; n++) {
        make_attempt(sending, message, answer);
        if (sending->once != NULL && answer->verdict == OWED_ANSWER_WAIT &&
            answer->wait_us > sending->once->wait_us)
            sending->once->wait_us = answer->wait_us;
        if (!attempts_add(
                &sending->attempts, message, answer, clock_now_us(&sending->dispatcher->clock)))
            return fail_memory(sending->err);
        bool is_worth_it = (sending->retry.retry_on >> answer->verdict & 1U) != 0;
        if (answer->verdict == OWED_ANSWER_SENT || n >= sending->retry.attempts || !is_worth_it)
            return OWED_OK;
        wait_before_next(sending, n, answer);
    }
}

static owed_status
give_up(struct sending *sending, const owed_message *message, const owed_answer *answer)
{
    size_t count = sending->attempts.count;
    sending->failure.attempts = (int)count;
    sending->failure.verdict = answer->verdict;
    if (sending->once == NULL &&
        !letters_add(sending->dispatcher->dead_letters, message, &sending->attempts,
            clock_now_us(&sending->dispatcher->clock)))
        return fail_memory(sending->err);
    char more[48] = "", shown[ADDRESS_SHOWN_BYTES];
    if (count > 1)
        snprintf(more, sizeof more, " after %zu attempts", count);
    return fail(sending->err, OWED_UNDELIVERED, "%s: %s to \"%s\" was not sent%s: %s",
        message->template_name, message->channel, address_show(message->address, shown), more,
        answer->reason);
}

static owed_status
make_receipt(const struct sending *sending, const owed_message *message, const owed_answer *answer,
    owed_receipt **ret_receipt)
{
    owed_receipt *receipt = receipt_of(message);
    const char *reference = answer->reference[0] == '\0' ? NULL : answer->reference;
    if (receipt == NULL || !copy_text(reference, &receipt->reference)) {
        owed_receipt_free(receipt);
        return fail_memory(sending->err);
    }
    receipt->attempts = (int)sending->attempts.count;
    *ret_receipt = receipt;
    return OWED_OK;
}

static owed_status
render(struct sending *sending)
{
    const char *locale =
        sending->options->locale != NULL ? sending->options->locale : sending->recipient->locale;
    if (sending->once != NULL)
        return owed_template_render_json(
            sending->tmpl, locale, sending->once->context, &sending->rendered, sending->err);
    return owed_template_render(
        sending->tmpl, locale, sending->context, &sending->rendered, sending->err);
}

static owed_status
deliver(struct sending *sending, owed_receipt **ret_receipt)
{
    struct way way = {0};
    owed_status status = render(sending);
    if (status == OWED_OK)
        status = find_way(sending, &way);
    if (status != OWED_OK)
        return status;
    size_t last = sending->options->fall_through ? way.count - 1 : 0;
    owed_message message;
    owed_answer answer;
    for (size_t i = 0; i <= last; i++) {
        message = message_for(sending, way.route[i]);
        status = try_channel(sending, &message, &answer);
        if (status != OWED_OK)
            return status;
        if (answer.verdict == OWED_ANSWER_SENT)
            return make_receipt(sending, &message, &answer, ret_receipt);
    }
    return give_up(sending, &message, &answer);
}

/* --- with its key --- */

void
message_id_write(const owed_dice *dice, char id[static MESSAGE_ID_BYTES])
{
    static const char digits[] = "0123456789abcdef";
    unsigned char random[(MESSAGE_ID_BYTES - 1) / 2];
    dice_fill(dice, random, sizeof random);
    for (size_t i = 0; i < sizeof random; i++) {
        id[2 * i] = digits[random[i] >> 4];
        id[2 * i + 1] = digits[random[i] & 15];
    }
    id[MESSAGE_ID_BYTES - 1] = '\0';
}

/* id_check: it stands in heads of mails and of requests, whoever wrote the ticket. */
static owed_status
id_check(const char *id, owed_error *err)
{
    size_t len = strspn(id, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_.");
    if (len == 0 || len > MESSAGE_ID_MAX || id[len] != '\0')
        return fail(err, OWED_INVALID, "an id of a message has 1 to %d letters, digits, - _ and .",
            MESSAGE_ID_MAX);
    return OWED_OK;
}

owed_status
send_options_check(const owed_send_options *options, owed_error *err)
{
    if (options->id != NULL) {
        owed_status status = id_check(options->id, err);
        if (status != OWED_OK)
            return status;
    }
    if (options->channel != NULL) {
        owed_status status = channel_check(options->channel, err);
        if (status != OWED_OK)
            return status;
    }
    if (options->subject != NULL &&
        (strpbrk(options->subject, "\r\n") != NULL || !utf8_is_valid(str_of(options->subject))))
        return fail(err, OWED_INVALID, "a subject is one line of UTF-8");
    owed_status status = attachments_check(options->attachments, err);
    return status == OWED_OK ? unsubscribe_check(options->unsubscribe, err) : status;
}

static owed_status
deliver_once(struct sending *sending, bool waits, owed_receipt **ret_receipt)
{
    const char *key = sending->options->dedup_key;
    owed_dedup *dedup = sending->dispatcher->dedup;
    if (key == NULL || sending->once != NULL)
        return deliver(sending, ret_receipt);
    uint64_t token;
    owed_status status =
        dedup_claim(dedup, key, sending->now_us, &token, ret_receipt, sending->err);
    while (waits && status == OWED_DUPLICATE_SEND) {
        status = dedup_await(dedup, key, sending->err);
        if (status != OWED_OK)
            return status;
        status = dedup_claim(dedup, key, sending->now_us, &token, ret_receipt, sending->err);
    }
    if (status != OWED_OK || token == 0)
        return status;
    status = deliver(sending, ret_receipt);
    if (status == OWED_OK)
        dedup_complete(dedup, key, token, sending->now_us, *ret_receipt);
    else
        dedup_release(dedup, key, token);
    return status;
}

static owed_status
send_one(struct sending *sending, bool waits, owed_receipt **ret_receipt)
{
    const owed_send_options *options = sending->options;
    const owed_dispatcher *dispatcher = sending->dispatcher;
    owed_status status = send_options_check(options, sending->err);
    if (status == OWED_OK)
        status = retry_check(options->retry == NULL ? &dispatcher->retry : options->retry,
            &sending->retry, sending->err);
    if (status != OWED_OK)
        return status;
    if (options->id == NULL)
        message_id_write(&dice_system, sending->id);
    sending->now_us = options->now_us != 0 ? options->now_us : clock_now_us(&dispatcher->clock);
    status = deliver_once(sending, waits, ret_receipt);
    owed_rendered_done(&sending->rendered);
    if (sending->once != NULL)
        sending->once->attempts = sending->attempts;
    else
        attempts_done(&sending->attempts);
    if (status != OWED_OK && options->failure != NULL)
        *options->failure = sending->failure;
    return status;
}

owed_status
owed_send(owed_dispatcher *dispatcher, const owed_recipient *recipient, const owed_template *tmpl,
    const owed_value *context, const owed_send_options *options, owed_receipt **ret_receipt,
    owed_error *err)
{
    static const owed_send_options none;
    return send_one(&(struct sending){.dispatcher = dispatcher,
                        .recipient = recipient,
                        .tmpl = tmpl,
                        .context = context,
                        .options = options == NULL ? &none : options,
                        .err = err},
        false, ret_receipt);
}

owed_status
send_waiting(owed_dispatcher *dispatcher, const owed_recipient *recipient,
    const owed_template *tmpl, const owed_value *context, const owed_send_options *options,
    owed_receipt **ret_receipt, owed_error *err)
{
    return send_one(&(struct sending){.dispatcher = dispatcher,
                        .recipient = recipient,
                        .tmpl = tmpl,
                        .context = context,
                        .options = options,
                        .err = err},
        true, ret_receipt);
}

owed_status
send_once(owed_dispatcher *dispatcher, const owed_recipient *recipient, const owed_template *tmpl,
    const owed_send_options *options, struct send_once *once, owed_error *err)
{
    static const owed_retry single = {.attempts = 1};
    owed_send_options own = *options;
    own.retry = &single;
    own.failure = &once->failure;
    return send_one(&(struct sending){.dispatcher = dispatcher,
                        .recipient = recipient,
                        .tmpl = tmpl,
                        .options = &own,
                        .once = once,
                        .err = err},
        false, &once->receipt);
}
