/* SPDX-License-Identifier: MIT
 *
 * test_send.c - which channel is taken, what is tried again, and what is known of what failed.
 */
#include "desk.h"

#include <stdlib.h>
#include <string.h>

#define FAILED(reason_) \
    { \
        .verdict = OWED_ANSWER_FAILED, .reason = (reason_) \
    }

static void
check_sent(struct desk *desk, const owed_recipient *recipient, const owed_send_options *options,
    const char *channel)
{
    owed_receipt *receipt = NULL;
    owed_status status = desk_send(desk, recipient, options, &receipt);
    if (status != OWED_OK)
        fail_msg("%s", desk->err.text);
    assert_string_equal(receipt->channel, channel);
    owed_receipt_free(receipt);
}

static void
check_failed(struct desk *desk, const owed_recipient *recipient, const owed_send_options *options,
    owed_status wanted, const char *sentence)
{
    owed_receipt *receipt = NULL;
    assert_int_equal(desk_send(desk, recipient, options, &receipt), wanted);
    assert_string_equal(desk->err.text, sentence);
    assert_null(receipt);
}

/* --- the receipt --- */

static void
a_receipt_says_what_was_sent_and_the_providers_reference(void **state)
{
    (void)state;
    struct desk desk = {0};
    desk_open(&desk, NULL);
    owed_receipt *receipt;
    assert_int_equal(desk_send(&desk, &ada, NULL, &receipt), OWED_OK);
    assert_string_equal(receipt->template_name, "confirmation");
    assert_string_equal(receipt->channel, "sms");
    assert_string_equal(receipt->address, "+49151000000");
    assert_string_equal(receipt->subject, "Order A-1042");
    assert_string_equal(receipt->text, "A-1042: 59.90");
    assert_null(receipt->html);
    assert_null(receipt->locale);
    assert_string_equal(receipt->reference, "r1");
    assert_int_equal(receipt->attempts, 1);
    assert_false(receipt->duplicate);
    owed_receipt_free(receipt);
    desk_close(&desk);
}

static void
a_subject_of_the_send_is_taken_before_the_templates(void **state)
{
    (void)state;
    struct desk desk = {0};
    desk_open(&desk, NULL);
    check_sent(&desk, &ada, &(owed_send_options){.channel = "email", .subject = "Hello"}, "email");
    assert_string_equal(desk.email.subjects[0], "Hello");
    check_failed(&desk, &ada, &(owed_send_options){.subject = "a\r\nBcc: b"}, OWED_INVALID,
        "a subject is one line of UTF-8");
    assert_int_equal(desk.sms.calls, 0);
    desk_close(&desk);
}

static void
refuse_all(const owed_channel *channel, const owed_message *message, owed_answer *answer)
{
    (void)channel;
    (void)message;
    answer->verdict = OWED_ANSWER_REFUSED;
}

static void
what_goes_with_a_mail_is_checked_before_anybody_is_called(void **state)
{
    (void)state;
    struct desk desk = {0};
    owed_attachment many[18] = {{NULL, NULL, NULL, 0}};
    for (size_t i = 0; i < COUNT(many) - 1; i++)
        many[i] = (owed_attachment){"a", "a/b", "", 0};
#define NO_NAME(shown_) \
    "\"" shown_ \
    "\" is no name of an attachment: up to 255 bytes of UTF-8 without a path would be right"
#define NO_TYPE "attachment \"a\" has no media type such as application/pdf"
#define NO_URL "unsubscribe is no https or mailto URL of up to 2048 bytes"
    static const struct {
        owed_attachment files[2];
        const char *says;
    } wrong[] = {
        {{{"", "a/b", "x", 1}}, NO_NAME("")},
        {{{"a/b", "a/b", "x", 1}}, NO_NAME("a/b")},
        {{{"..", "a/b", "x", 1}}, NO_NAME("..")},
        {{{"a", "text", "x", 1}}, NO_TYPE},
        {{{"a", "text/plain; x", "x", 1}}, NO_TYPE},
        {{{"a", NULL, "x", 1}}, NO_TYPE},
        {{{"a", "a/b", NULL, 1}}, "attachment \"a\" has no bytes"},
    };
    static const char *const urls[] = {"http://x", "https://x y", "mailto:a>"};
    desk_open(&desk, NULL);
    for (size_t i = 0; i < COUNT(wrong); i++)
        check_failed(&desk, &ada, &(owed_send_options){.attachments = wrong[i].files}, OWED_INVALID,
            wrong[i].says);
    check_failed(&desk, &ada, &(owed_send_options){.attachments = many}, OWED_LIMIT,
        "a message has up to 16 attachments");
    many[0].size = (size_t)16 * 1024 * 1024 + 1;
    check_failed(&desk, &ada, &(owed_send_options){.attachments = many}, OWED_LIMIT,
        "the attachments are over 16 MiB in all");
    for (size_t i = 0; i < COUNT(urls); i++)
        check_failed(
            &desk, &ada, &(owed_send_options){.unsubscribe = urls[i]}, OWED_INVALID, NO_URL);
    assert_int_equal(desk.sms.calls, 0);
    many[16] = (owed_attachment){NULL, NULL, NULL, 0};
    many[0].size = 0;
    check_sent(&desk, &ada,
        &(owed_send_options){.attachments = many, .unsubscribe = "mailto:u@shop.example"}, "sms");
    desk_close(&desk);
}

/* --- languages --- */

static owed_template *
greeting(struct desk *desk)
{
    const owed_template_variant variants[] = {
        {"en", {.name = "greeting", .text = "Hello"}},
        {"de", {.name = "greeting", .text = "Hallo"}},
        {.locale = NULL},
    };
    owed_template *tmpl = NULL;
    assert_int_equal(
        owed_template_localized_new("greeting", variants, NULL, &tmpl, &desk->err), OWED_OK);
    return tmpl;
}

static void
the_language_of_the_send_is_taken_before_the_recipients(void **state)
{
    (void)state;
    struct desk desk = {0};
    desk_open(&desk, NULL);
    owed_template *tmpl = greeting(&desk);
    static const struct {
        const char *recipients, *sends, *text, *locale;
    } cases[] = {{"de-AT", NULL, "Hallo", "de"}, {"de", "en-GB", "Hello", "en"},
        {"fr", NULL, "Hello", "en"}, {NULL, "de", "Hallo", "de"}, {NULL, NULL, "Hello", "en"}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        owed_recipient recipient = ada;
        recipient.locale = cases[i].recipients;
        owed_receipt *receipt;
        assert_int_equal(owed_send(desk.dispatcher, &recipient, tmpl, NULL,
                             &(owed_send_options){.locale = cases[i].sends}, &receipt, &desk.err),
            OWED_OK);
        assert_string_equal(receipt->text, cases[i].text);
        assert_string_equal(receipt->locale, cases[i].locale);
        owed_receipt_free(receipt);
    }
    desk_close(&desk);
    owed_template_free(tmpl);
}

static void
a_language_that_is_none_calls_nobody_and_a_plain_template_does_not_look(void **state)
{
    (void)state;
    struct desk desk = {0};
    desk_open(&desk, NULL);
    owed_template *tmpl = greeting(&desk);
    const owed_send_options options = {.locale = "d"};
    owed_receipt *receipt;
    assert_int_equal(owed_send(desk.dispatcher, &ada, tmpl, NULL, &options, &receipt, &desk.err),
        OWED_MALFORMED_LOCALE);
    assert_int_equal(desk.sms.calls, 0);
    check_sent(&desk, &ada, &options, "sms");
    desk_close(&desk);
    owed_template_free(tmpl);
}

/* --- routing --- */

static void
the_first_usable_channel_of_the_order_is_taken(void **state)
{
    (void)state;
    struct desk desk = {0};
    desk_open(&desk, NULL);
    const owed_recipient all = {
        .phone = "+49151000000", .email = "ada@example.com", .device_token = "t"};
    check_sent(&desk, &all, NULL, "push");
    check_sent(&desk, &ada, NULL, "sms");
    check_sent(&desk, &(owed_recipient){.email = "ada@example.com"}, NULL, "email");
    desk_close(&desk);
}

static void
what_the_recipient_prefers_comes_first_and_the_rest_after_it(void **state)
{
    (void)state;
    struct desk desk = {0};
    desk_open(&desk, NULL);
    owed_recipient recipient = ada;
    recipient.preferred = (const char *const[]){"email", NULL};
    check_sent(&desk, &recipient, NULL, "email");
    recipient.preferred = (const char *const[]){"push", "push", "fax", NULL};
    check_sent(&desk, &recipient, NULL, "sms");
    desk_close(&desk);
}

static void
an_order_of_ones_own_leaves_out_what_it_does_not_name(void **state)
{
    (void)state;
    struct desk desk = {0};
    const char *const order[] = {"email", NULL};
    desk_open(&desk, &(owed_dispatcher_options){.order = order});
    check_sent(&desk, &ada, NULL, "email");
    check_failed(&desk, &(owed_recipient){.phone = "+49151000000"}, NULL, OWED_UNROUTABLE,
        "confirmation: no channel with an address of the recipient and a sender (asked: email)");
    check_sent(&desk, &ada, &(owed_send_options){.channel = "sms"}, "sms");
    desk_close(&desk);
}

static void
a_pinned_channel_is_the_only_one(void **state)
{
    (void)state;
    struct desk desk = {0};
    desk_open(&desk, NULL);
    check_sent(&desk, &ada, &(owed_send_options){.channel = "email"}, "email");
    check_failed(&desk, &ada, &(owed_send_options){.channel = "push"}, OWED_UNROUTABLE,
        "confirmation: no channel with an address of the recipient and a sender (asked: push)");
    check_failed(&desk, &ada, &(owed_send_options){.channel = "FAX"}, OWED_INVALID,
        "\"FAX\" is no channel: up to 64 of a-z, 0-9, _, . and - would be right");
    desk_close(&desk);
}

static void
a_channel_registered_again_replaces_the_first(void **state)
{
    (void)state;
    struct desk desk = {0};
    struct teller other = {0};
    desk_open(&desk, NULL);
    owed_channel channel = {.name = "sms", .state = &other};
    assert_int_equal(owed_dispatcher_add(desk.dispatcher, &channel, &desk.err), OWED_INVALID);
    check_sent(&desk, &ada, NULL, "sms");
    assert_int_equal(desk.sms.calls, 1);
    desk_close(&desk);
}

static void
channels_that_can_send_are_listed_in_the_order_in_which_they_are_tried(void **state)
{
    (void)state;
    struct desk desk = {0};
    desk_open(&desk, NULL);
    const owed_channel fax = {.name = "fax", .send = refuse_all};
    assert_int_equal(owed_dispatcher_add(desk.dispatcher, &fax, &desk.err), OWED_OK);
    static const char *const usual[] = {"push", "sms", "email", "fax"};
    for (size_t i = 0; i < COUNT(usual); i++)
        assert_string_equal(owed_dispatcher_channel(desk.dispatcher, i), usual[i]);
    assert_null(owed_dispatcher_channel(desk.dispatcher, COUNT(usual)));
    desk_close(&desk);
    const char *const order[] = {"email", "telex", "sms", NULL};
    desk_open(&desk, &(owed_dispatcher_options){.order = order});
    assert_string_equal(owed_dispatcher_channel(desk.dispatcher, 0), "email");
    assert_string_equal(owed_dispatcher_channel(desk.dispatcher, 1), "sms");
    assert_null(owed_dispatcher_channel(desk.dispatcher, 2));
    desk_close(&desk);
}

static void
count_close(owed_channel *channel)
{
    ++*(int *)channel->state;
}

static void
a_channel_is_closed_by_its_dispatcher_and_once(void **state)
{
    (void)state;
    struct desk desk = {0};
    int first = 0, second = 0;
    desk_open(&desk, NULL);
    owed_channel channel = {
        .name = "fax", .send = refuse_all, .state = &first, .close = count_close};
    assert_int_equal(owed_dispatcher_add(desk.dispatcher, &channel, &desk.err), OWED_OK);
    channel.state = &second;
    assert_int_equal(owed_dispatcher_add(desk.dispatcher, &channel, &desk.err), OWED_OK);
    assert_int_equal(first, 1);
    assert_int_equal(second, 0);
    desk_close(&desk);
    assert_int_equal(first, 1);
    assert_int_equal(second, 1);
}

static void
a_message_has_one_id_over_all_attempts_and_each_send_one_of_its_own(void **state)
{
    (void)state;
    struct desk desk = {
        .sms = {.answers = {{.reason = "busy"}, {.verdict = OWED_ANSWER_SENT}}, .answer_count = 2}};
    const owed_retry twice = {.attempts = 2};
    desk_open(&desk, NULL);
    check_sent(&desk, &ada, &(owed_send_options){.retry = &twice}, "sms");
    check_sent(&desk, &ada, NULL, "sms");
    check_sent(&desk, &ada, &(owed_send_options){.id = "mine"}, "sms");
    assert_int_equal(strlen(desk.sms.ids[0]), 32);
    assert_string_equal(desk.sms.ids[0], desk.sms.ids[1]);
    assert_string_not_equal(desk.sms.ids[1], desk.sms.ids[2]);
    assert_string_equal(desk.sms.ids[3], "mine");
    desk_close(&desk);
}

static void
a_template_that_does_not_render_calls_nobody(void **state)
{
    (void)state;
    struct desk desk = {0};
    desk_open(&desk, NULL);
    owed_receipt *receipt;
    assert_int_equal(owed_send(desk.dispatcher, &(owed_recipient){0}, desk.confirmation, NULL, NULL,
                         &receipt, &desk.err),
        OWED_MISSING_VARIABLE); // told before that nobody is there
    assert_int_equal(desk.sms.calls + desk.email.calls, 0);
    assert_int_equal(owed_dead_letters_count(owed_dispatcher_dead_letters(desk.dispatcher)), 0);
    desk_close(&desk);
}

static void
an_address_that_cannot_be_is_refused_before_anybody_is_called(void **state)
{
    (void)state;
    struct desk desk = {0};
    desk_open(&desk, NULL);
    check_failed(&desk, &(owed_recipient){.phone = "0151", .email = "ada@example.com"}, NULL,
        OWED_INVALID,
        "address \"0151\" cannot be one of channel sms: + and 7 to 15 digits, the country's first (E.164), such as +49151000000 would be right");
    owed_receipt *receipt = NULL;
    assert_int_equal(
        desk_send(&desk, &(owed_recipient){.email = "ada@example.com\r\nBcc: eve@example.com"},
            &(owed_send_options){.urgency = OWED_URGENCY_URGENT}, &receipt),
        OWED_INVALID);
    assert_null(receipt);
    assert_int_equal(desk.sms.calls + desk.email.calls, 0);
    desk_close(&desk);
}

static void
an_id_that_cannot_be_is_refused_before_anybody_is_called(void **state)
{
    (void)state;
    struct desk desk = {0};
    const char *const wrong[] = {"", "a b", "a\r\nBcc: eve@example.com", "a>",
        "12345678901234567890123456789012345678901234567890123456789012345"};
    desk_open(&desk, NULL);
    for (size_t i = 0; i < COUNT(wrong); i++)
        check_failed(&desk, &ada, &(owed_send_options){.id = wrong[i]}, OWED_INVALID,
            "an id of a message has 1 to 64 letters, digits, - _ and .");
    assert_int_equal(desk.sms.calls, 0);
    check_sent(&desk, &ada,
        &(owed_send_options){
            .id = "0198a5c2-7d1e-7b33-9c6a-4f0d2b8e1a57-Order_7.v2-0123456789abcdef"},
        "sms");
    desk_close(&desk);
}

/* --- quiet hours --- */

static const char *const sms_alone[] = {"sms", NULL};
static const owed_quiet_hours all_night[] = {{"22:00", "07:00", NULL, 0}, {.start = NULL}};
static const owed_quiet_hours sms_at_night[] = {{"22:00", "07:00", sms_alone, 0}, {.start = NULL}};

static void
a_silent_channel_is_passed_over_and_with_none_left_the_end_is_told(void **state)
{
    (void)state;
    struct desk desk = {0};
    desk_open(&desk, NULL);
    owed_recipient recipient = ada;
    recipient.quiet_hours = sms_at_night;
    check_sent(&desk, &recipient, NULL, "email");
    owed_send_failure failure = {0};
    recipient.quiet_hours = all_night;
    check_failed(&desk, &recipient, &(owed_send_options){.failure = &failure}, OWED_QUIET_HOURS,
        "confirmation: quiet hours on sms, email until 2100-01-01T07:00:00.000000Z");
    assert_int_equal(failure.quiet_until_us, DESK_NOW + 7 * 3600 * SECOND);
    check_failed(&desk, &recipient, &(owed_send_options){.channel = "sms"}, OWED_QUIET_HOURS,
        "confirmation: quiet hours on sms until 2100-01-01T07:00:00.000000Z");
    assert_int_equal(owed_dead_letters_count(owed_dispatcher_dead_letters(desk.dispatcher)), 0);
    desk_close(&desk);
}

static void
what_is_urgent_or_said_to_be_at_another_hour_is_sent(void **state)
{
    (void)state;
    struct desk desk = {0};
    desk_open(&desk, NULL);
    owed_recipient recipient = ada;
    recipient.quiet_hours = all_night;
    owed_receipt *receipt;
    const owed_send_options urgent = {.urgency = OWED_URGENCY_URGENT};
    assert_int_equal(desk_send(&desk, &recipient, &urgent, &receipt), OWED_OK);
    assert_int_equal(receipt->urgency, OWED_URGENCY_URGENT);
    owed_receipt_free(receipt);
    check_sent(
        &desk, &recipient, &(owed_send_options){.now_us = DESK_NOW + 7 * 3600 * SECOND}, "sms");
    desk.now_us += 8 * 3600 * SECOND;
    check_sent(&desk, &recipient, NULL, "sms");
    check_failed(&desk, &recipient, &(owed_send_options){.now_us = DESK_NOW}, OWED_QUIET_HOURS,
        "confirmation: quiet hours on sms, email until 2100-01-01T07:00:00.000000Z");
    desk_close(&desk);
}

/* --- attempts --- */

static void
a_failed_attempt_is_repeated_after_growing_waits(void **state)
{
    (void)state;
    struct desk desk = {0};
    desk.sms =
        (struct teller){.answers = {FAILED("busy"), FAILED("busy"), {.verdict = OWED_ANSWER_SENT}},
            .answer_count = 3};
    desk_open(&desk, &(owed_dispatcher_options){.retry = OWED_RETRY_THRICE});
    owed_receipt *receipt;
    assert_int_equal(desk_send(&desk, &ada, NULL, &receipt), OWED_OK);
    assert_int_equal(receipt->attempts, 3);
    assert_null(receipt->reference);
    owed_receipt_free(receipt);
    assert_int_equal(desk.wait_count, 2);
    assert_int_equal(desk.waits[0], SECOND / 2);
    assert_int_equal(desk.waits[1], SECOND);
    assert_string_equal(desk.sms.texts[2], desk.sms.texts[0]);
    assert_int_equal(desk.email.calls, 0);
    desk_close(&desk);
}

static void
waits_are_bounded_and_a_provider_may_ask_for_longer_ones(void **state)
{
    (void)state;
    struct desk desk = {0};
    desk.sms = (struct teller){
        .answers = {FAILED("1"), FAILED("2"),
            {.verdict = OWED_ANSWER_WAIT, .wait_us = 90 * SECOND, .reason = "429"},
            {.verdict = OWED_ANSWER_WAIT, .wait_us = SECOND, .reason = "429"}, FAILED("5")},
        .answer_count = 5};
    const owed_retry retry = {
        .attempts = 5, .backoff_us = 4 * SECOND, .multiplier = 3, .max_backoff_us = 20 * SECOND};
    desk_open(&desk, NULL);
    check_failed(&desk, &ada, &(owed_send_options){.retry = &retry}, OWED_UNDELIVERED,
        "confirmation: sms to \"+49151000000\" was not sent after 5 attempts: 5");
    static const int64_t wanted[] = {4, 12, 90, 20};
    assert_int_equal(desk.wait_count, COUNT(wanted));
    for (size_t i = 0; i < COUNT(wanted); i++)
        assert_int_equal(desk.waits[i], wanted[i] * SECOND);
    desk_close(&desk);
}

static void
what_is_refused_or_gone_is_not_tried_again(void **state)
{
    (void)state;
    struct desk desk = {0};
    desk.sms =
        (struct teller){.answers = {{.verdict = OWED_ANSWER_REFUSED, .reason = "no such number"}},
            .answer_count = 1};
    desk.email = (struct teller){.answers = {{.verdict = OWED_ANSWER_GONE}}, .answer_count = 1};
    desk_open(&desk, &(owed_dispatcher_options){.retry = OWED_RETRY_THRICE});
    owed_send_failure failure = {0};
    check_failed(&desk, &ada, &(owed_send_options){.failure = &failure}, OWED_UNDELIVERED,
        "confirmation: sms to \"+49151000000\" was not sent: no such number");
    assert_int_equal(failure.attempts, 1);
    assert_int_equal(failure.verdict, OWED_ANSWER_REFUSED);
    check_failed(&desk, &ada, &(owed_send_options){.channel = "email", .failure = &failure},
        OWED_UNDELIVERED,
        "confirmation: email to \"ada@example.com\" was not sent: the channel gave no reason");
    assert_int_equal(failure.verdict, OWED_ANSWER_GONE);
    assert_int_equal(desk.wait_count, 0);
    const owed_retry whatever = {.attempts = 2, .retry_on = 1u << OWED_ANSWER_REFUSED};
    check_failed(&desk, &ada, &(owed_send_options){.retry = &whatever}, OWED_UNDELIVERED,
        "confirmation: sms to \"+49151000000\" was not sent after 2 attempts: no such number");
    desk_close(&desk);
}

static void
without_a_retry_there_is_one_attempt(void **state)
{
    (void)state;
    struct desk desk = {0};
    desk.sms = (struct teller){.answers = {FAILED("busy")}, .answer_count = 1};
    desk_open(&desk, NULL);
    check_failed(&desk, &ada, NULL, OWED_UNDELIVERED,
        "confirmation: sms to \"+49151000000\" was not sent: busy");
    assert_int_equal(desk.sms.calls, 1);
    assert_int_equal(desk.email.calls, 0); // another channel only where it is asked for
    desk_close(&desk);
}

static void
a_retry_of_the_send_is_taken_before_the_dispatchers(void **state)
{
    (void)state;
    struct desk desk = {0};
    desk.sms = (struct teller){.answers = {FAILED("busy")}, .answer_count = 1};
    desk_open(&desk, &(owed_dispatcher_options){.retry = OWED_RETRY_THRICE});
    const owed_retry none = {.attempts = 1}, twice = {.attempts = 2};
    check_failed(&desk, &ada, &(owed_send_options){.retry = &none}, OWED_UNDELIVERED,
        "confirmation: sms to \"+49151000000\" was not sent: busy");
    assert_int_equal(desk.sms.calls, 1);
    assert_int_equal(desk.wait_count, 0);
    check_failed(&desk, &ada, &(owed_send_options){.retry = &twice}, OWED_UNDELIVERED,
        "confirmation: sms to \"+49151000000\" was not sent after 2 attempts: busy");
    desk_close(&desk);
}

static void
another_channel_is_tried_where_that_is_asked_for(void **state)
{
    (void)state;
    struct desk desk = {0};
    desk.sms = (struct teller){.answers = {FAILED("busy")}, .answer_count = 1};
    desk_open(&desk, &(owed_dispatcher_options){.retry = {.attempts = 2}});
    owed_receipt *receipt;
    assert_int_equal(
        desk_send(&desk, &ada, &(owed_send_options){.fall_through = true}, &receipt), OWED_OK);
    assert_string_equal(receipt->channel, "email");
    assert_string_equal(receipt->address, "ada@example.com");
    assert_int_equal(receipt->attempts, 3);
    owed_receipt_free(receipt);
    desk_close(&desk);
}

static void
retries_that_cannot_be_are_refused(void **state)
{
    (void)state;
    static const owed_retry cases[] = {{.attempts = -1}, {.backoff_us = -1}, {.multiplier = 0.5},
        {.multiplier = -1}, {.backoff_us = 2, .max_backoff_us = 1}, {.max_backoff_us = -1}};
    struct desk desk = {0};
    desk_open(&desk, NULL);
    for (size_t i = 0; i < COUNT(cases); i++) {
        owed_dispatcher *dispatcher = NULL;
        owed_receipt *receipt;
        const owed_dispatcher_options options = {.retry = cases[i]};
        assert_int_equal(owed_dispatcher_new(&options, &dispatcher, &desk.err), OWED_INVALID);
        assert_int_equal(desk_send(&desk, &ada, &(owed_send_options){.retry = &cases[i]}, &receipt),
            OWED_INVALID);
    }
    assert_int_equal(desk.sms.calls, 0);
    desk_close(&desk);
}

/* --- dead letters --- */

static void
a_dead_letter_keeps_the_message_and_each_attempt(void **state)
{
    (void)state;
    struct desk desk = {0};
    desk.sms = (struct teller){.answers = {FAILED("one"), FAILED("two")}, .answer_count = 2};
    desk.email = (struct teller){.answers = {FAILED("three")}, .answer_count = 1};
    desk_open(&desk, &(owed_dispatcher_options){.retry = {.attempts = 2, .backoff_us = SECOND}});
    check_failed(&desk, &ada, &(owed_send_options){.fall_through = true}, OWED_UNDELIVERED,
        "confirmation: email to \"ada@example.com\" was not sent after 4 attempts: three");
    owed_dead_letters *letters = owed_dispatcher_dead_letters(desk.dispatcher);
    assert_int_equal(owed_dead_letters_count(letters), 1);
    owed_dead_letter *letter = owed_dead_letters_take(letters);
    assert_non_null(letter);
    assert_string_equal(letter->message->text, "A-1042: 59.90");
    assert_int_equal(letter->message->attempts, 4);
    assert_int_equal(letter->attempt_count, 4);
    assert_int_equal(letter->at_us, DESK_NOW + 2 * SECOND);
    static const struct {
        const char *channel;
        const char *reason;
        int64_t after_s;
    } wanted[] = {
        {"sms", "one", 0}, {"sms", "two", 1}, {"email", "three", 1}, {"email", "three", 2}};
    for (size_t i = 0; i < COUNT(wanted); i++) {
        const owed_send_attempt *attempt = &letter->attempts[i];
        assert_int_equal(attempt->number, i + 1);
        assert_string_equal(attempt->channel, wanted[i].channel);
        assert_string_equal(attempt->reason, wanted[i].reason);
        assert_int_equal(attempt->at_us, DESK_NOW + wanted[i].after_s * SECOND);
    }
    owed_dead_letter_free(letter);
    assert_null(owed_dead_letters_take(letters));
    desk_close(&desk);
}

static void
only_what_a_provider_was_asked_for_is_a_dead_letter(void **state)
{
    (void)state;
    struct desk desk = {0};
    desk_open(&desk, NULL);
    owed_recipient asleep = ada;
    asleep.quiet_hours = all_night;
    const owed_send_options keyed = {.dedup_key = "k"};
    owed_receipt *receipt;
    assert_int_equal(desk_send(&desk, &(owed_recipient){0}, NULL, &receipt), OWED_UNROUTABLE);
    assert_int_equal(desk_send(&desk, &asleep, NULL, &receipt), OWED_QUIET_HOURS);
    assert_int_equal(
        owed_send(desk.dispatcher, &ada, desk.confirmation, NULL, NULL, &receipt, NULL),
        OWED_MISSING_VARIABLE);
    check_sent(&desk, &ada, &keyed, "sms");
    check_sent(&desk, &ada, &keyed, "sms"); // a duplicate
    owed_dead_letters *letters = owed_dispatcher_dead_letters(desk.dispatcher);
    assert_int_equal(owed_dead_letters_count(letters), 0);
    desk.sms = (struct teller){.answers = {FAILED("busy")}, .answer_count = 1};
    // Its times are the clock's, whatever hour was said to count.
    assert_int_equal(
        desk_send(&desk, &ada, &(owed_send_options){.now_us = 1}, &receipt), OWED_UNDELIVERED);
    owed_dead_letter *letter = owed_dead_letters_take(letters);
    assert_non_null(letter);
    assert_int_equal(letter->at_us, DESK_NOW);
    assert_int_equal(letter->attempts[0].at_us, DESK_NOW);
    assert_string_equal(letter->attempts[0].address, "+49151000000");
    owed_dead_letter_free(letter);
    desk_close(&desk);
}

static void
a_bounded_queue_drops_the_oldest_and_may_be_shared(void **state)
{
    (void)state;
    struct desk desk = {0}, other = {0};
    owed_dead_letters *letters;
    assert_int_equal(owed_dead_letters_new(-1, &letters, &desk.err), OWED_INVALID);
    assert_int_equal(owed_dead_letters_new(2, &letters, &desk.err), OWED_OK);
    desk.sms = other.sms = (struct teller){.answers = {FAILED("busy")}, .answer_count = 1};
    desk_open(&desk, &(owed_dispatcher_options){.dead_letters = letters});
    desk_open(&other, &(owed_dispatcher_options){.dead_letters = letters});
    owed_receipt *receipt;
    static const char *const phones[] = {"+49151000001", "+49151000002", "+49151000003"};
    for (size_t i = 0; i < COUNT(phones); i++)
        assert_int_equal(desk_send(i == 1 ? &other : &desk, &(owed_recipient){.phone = phones[i]},
                             NULL, &receipt),
            OWED_UNDELIVERED);
    for (size_t i = 1; i < COUNT(phones); i++) {
        owed_dead_letter *letter = owed_dead_letters_take(letters);
        assert_string_equal(letter->message->address, phones[i]);
        owed_dead_letter_free(letter);
    }
    assert_int_equal(owed_dead_letters_count(letters), 0);
    desk_close(&desk);
    desk_close(&other);
    owed_dead_letters_free(letters);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_receipt_says_what_was_sent_and_the_providers_reference),
        cmocka_unit_test(a_subject_of_the_send_is_taken_before_the_templates),
        cmocka_unit_test(what_goes_with_a_mail_is_checked_before_anybody_is_called),
        cmocka_unit_test(the_language_of_the_send_is_taken_before_the_recipients),
        cmocka_unit_test(a_language_that_is_none_calls_nobody_and_a_plain_template_does_not_look),
        cmocka_unit_test(the_first_usable_channel_of_the_order_is_taken),
        cmocka_unit_test(what_the_recipient_prefers_comes_first_and_the_rest_after_it),
        cmocka_unit_test(an_order_of_ones_own_leaves_out_what_it_does_not_name),
        cmocka_unit_test(a_pinned_channel_is_the_only_one),
        cmocka_unit_test(a_channel_registered_again_replaces_the_first),
        cmocka_unit_test(channels_that_can_send_are_listed_in_the_order_in_which_they_are_tried),
        cmocka_unit_test(a_channel_is_closed_by_its_dispatcher_and_once),
        cmocka_unit_test(a_message_has_one_id_over_all_attempts_and_each_send_one_of_its_own),
        cmocka_unit_test(a_template_that_does_not_render_calls_nobody),
        cmocka_unit_test(an_address_that_cannot_be_is_refused_before_anybody_is_called),
        cmocka_unit_test(an_id_that_cannot_be_is_refused_before_anybody_is_called),
        cmocka_unit_test(a_silent_channel_is_passed_over_and_with_none_left_the_end_is_told),
        cmocka_unit_test(what_is_urgent_or_said_to_be_at_another_hour_is_sent),
        cmocka_unit_test(a_failed_attempt_is_repeated_after_growing_waits),
        cmocka_unit_test(waits_are_bounded_and_a_provider_may_ask_for_longer_ones),
        cmocka_unit_test(what_is_refused_or_gone_is_not_tried_again),
        cmocka_unit_test(without_a_retry_there_is_one_attempt),
        cmocka_unit_test(a_retry_of_the_send_is_taken_before_the_dispatchers),
        cmocka_unit_test(another_channel_is_tried_where_that_is_asked_for),
        cmocka_unit_test(retries_that_cannot_be_are_refused),
        cmocka_unit_test(a_dead_letter_keeps_the_message_and_each_attempt),
        cmocka_unit_test(only_what_a_provider_was_asked_for_is_a_dead_letter),
        cmocka_unit_test(a_bounded_queue_drops_the_oldest_and_may_be_shared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
