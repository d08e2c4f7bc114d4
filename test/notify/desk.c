/* SPDX-License-Identifier: MIT
 *
 * desk.c - a dispatcher with channels, a clock and waits that tests own.
 */
#include "desk.h"

#include <stdio.h>
#include <string.h>

const owed_value full_context[] = {
    OWED_VALUE_TEXT("order_id", "A-1042"), OWED_VALUE_DOUBLE("total", 59.9), OWED_VALUES_END};
const owed_recipient ada = {.phone = "+49151000000", .email = "ada@example.com"};

static void
tell(const owed_channel *channel, const owed_message *message, owed_answer *answer)
{
    struct teller *teller = channel->state;
    int call = teller->calls++;
    assert_true(call < CALLS_MAX);
    snprintf(teller->texts[call], sizeof teller->texts[call], "%s", message->text);
    snprintf(teller->addresses[call], sizeof teller->addresses[call], "%s", message->address);
    const owed_attachment *file = message->attachments;
    if (file != NULL)
        snprintf(teller->extras[call], sizeof teller->extras[call], "%s %s %.*s %s", file->name,
            file->media_type, (int)file->size, (const char *)file->bytes, message->unsubscribe);
    snprintf(teller->ids[call], sizeof teller->ids[call], "%s", message->id);
    snprintf(teller->subjects[call], sizeof teller->subjects[call], "%s",
        message->subject == NULL ? "-" : message->subject);
    if (teller->during != NULL)
        teller->during(teller->during_state);
    if (teller->answer_count > 0) {
        *answer = teller->answers[call < teller->answer_count ? call : teller->answer_count - 1];
        return;
    }
    answer->verdict = OWED_ANSWER_SENT;
    snprintf(answer->reference, sizeof answer->reference, "r%d", teller->calls);
}

static int64_t
desk_now(void *state)
{
    return ((struct desk *)state)->now_us;
}

static void
desk_wait(void *state, int64_t us)
{
    struct desk *desk = state;
    assert_true(desk->wait_count < CALLS_MAX);
    desk->waits[desk->wait_count++] = us;
    desk->now_us += us;
}

static void
add_channel(struct desk *desk, const char *name, struct teller *teller)
{
    const owed_channel channel = {.name = name, .send = tell, .state = teller};
    assert_int_equal(owed_dispatcher_add(desk->dispatcher, &channel, &desk->err), OWED_OK);
}

void
desk_open(struct desk *desk, const owed_dispatcher_options *options)
{
    static const owed_variable variables[] = {
        {"order_id", OWED_KIND_TEXT}, {"total", OWED_KIND_DOUBLE}, {NULL, OWED_KIND_END}};
    static const owed_template_source source = {.name = "confirmation",
        .variables = variables,
        .subject = "Order {order_id}",
        .text = "{order_id}: {total:.2f}"};
    owed_dispatcher_options whole = options == NULL ? (owed_dispatcher_options){0} : *options;
    desk->now_us = DESK_NOW;
    whole.clock = (owed_clock){.now_us = desk_now, .monotonic_us = desk_now, .state = desk};
    whole.wait = desk_wait;
    whole.wait_state = desk;
    assert_int_equal(owed_dispatcher_new(&whole, &desk->dispatcher, &desk->err), OWED_OK);
    add_channel(desk, "sms", &desk->sms);
    add_channel(desk, "push", &desk->push);
    add_channel(desk, "email", &desk->email);
    assert_int_equal(owed_template_new(&source, &desk->confirmation, &desk->err), OWED_OK);
}

void
desk_close(struct desk *desk)
{
    owed_dispatcher_free(desk->dispatcher);
    owed_template_free(desk->confirmation);
}

owed_status
desk_send(struct desk *desk, const owed_recipient *recipient, const owed_send_options *options,
    owed_receipt **ret_receipt)
{
    return owed_send(desk->dispatcher, recipient, desk->confirmation, full_context, options,
        ret_receipt, &desk->err);
}
