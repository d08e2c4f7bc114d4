/* SPDX-License-Identifier: MIT
 *
 * test_post.c - one attempt of what is owed: recipients in JSON, and what the attempt comes to.
 */
#include "desk.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "notify/post.h"
#include "notify/recipient_json.h"

/* --- recipients in JSON --- */

static owed_status
read_text(const char *text, enum unknown_keys unknown, struct arena *arena, owed_recipient *ret,
    owed_error *err)
{
    owed_status status = json_check(str_of(text), 32, err);
    return status != OWED_OK ? status
                             : recipient_read(json_root(str_of(text)), unknown, arena, ret, err);
}

static void
a_recipient_reads_back_as_it_was_written(void **state)
{
    (void)state;
    static const char text[] =
        "{\"phone\":\"+49151000000\",\"device_token\":\"tok\",\"email\":\"ada@example.com\","
        "\"others\":{\"chat\":\"#orders\"},\"preferred\":[\"email\",\"chat\"],\"locale\":\"de\","
        "\"time_zone\":\"Europe/Berlin\",\"quiet_hours\":[{\"start\":\"22:00\",\"end\":\"07:00\","
        "\"channels\":[\"sms\"],\"weekdays\":[\"sun\",\"sat\"]},{\"start\":\"12:00\",\"end\":\"13:00\"}]}";
    CLEANUP(arena_done) struct arena arena;
    arena_init(&arena, 0);
    owed_recipient recipient = {0};
    owed_error err = {0};
    assert_int_equal(read_text(text, UNKNOWN_REFUSED, &arena, &recipient, &err), OWED_OK);
    assert_string_equal(recipient.others[0].channel, "chat");
    assert_int_equal(recipient.quiet_hours[0].weekdays, OWED_SUNDAY | OWED_SATURDAY);
    struct buf buf CLEANUP(buf_done);
    buf_init(&buf, 4096);
    recipient_write(&buf, &recipient);
    assert_string_equal(buf_text(&buf), text);
}

static void
a_subscription_of_a_browser_stands_in_a_recipient_as_the_browser_wrote_it(void **state)
{
    (void)state;
    CLEANUP(arena_done) struct arena arena;
    arena_init(&arena, 0);
    owed_recipient recipient = {0};
    owed_error err = {0};
    assert_int_equal(
        read_text(
            "{\"others\":{\"webpush\":{\"endpoint\":\"https://a.example/\\n\",\n\t\"keys\":{}}}}",
            UNKNOWN_REFUSED, &arena, &recipient, &err),
        OWED_OK);
    static const char line[] = "{\"endpoint\":\"https://a.example/\\n\",  \"keys\":{}}";
    assert_string_equal(recipient.others[0].address, line);
    // Written as a text, it reads back the same.
    struct buf buf CLEANUP(buf_done);
    buf_init(&buf, 4096);
    recipient_write(&buf, &recipient);
    assert_int_equal(read_text(buf_text(&buf), UNKNOWN_REFUSED, &arena, &recipient, &err), OWED_OK);
    assert_string_equal(recipient.others[0].address, line);
}

static void
unknown_keys_of_a_recipient_are_refused_or_ignored_as_was_asked(void **state)
{
    (void)state;
    static const char text[] = "{\"email\":\"ada@example.com\",\"name\":\"Ada\",\"phone\":null}";
    CLEANUP(arena_done) struct arena arena;
    arena_init(&arena, 0);
    owed_recipient recipient = {0};
    owed_error err = {0};
    assert_int_equal(read_text(text, UNKNOWN_IGNORED, &arena, &recipient, &err), OWED_OK);
    assert_string_equal(recipient.email, "ada@example.com");
    assert_null(recipient.phone);
    assert_int_equal(read_text(text, UNKNOWN_REFUSED, &arena, &recipient, &err), OWED_INVALID);
    assert_non_null(strstr(err.text, "has no key \"name\""));
}

static void
what_cannot_be_a_recipient_is_refused_by_its_key(void **state)
{
    (void)state;
    static const struct {
        const char *text, *sentence;
    } cases[] = {
        {"[]", "the recipient is an array"},
        {"{\"phone\":7}", "phone is a number, where a text is wanted"},
        {"{\"phone\":\"\\u0000\"}", "phone has a NUL in it"},
        {"{\"phone\":\"49151\"}", "cannot be one of channel sms"},
        {"{\"others\":[]}", "others is an array"},
        {"{\"others\":{\"chat\":1}}", "others is a number"},
        {"{\"preferred\":\"sms\"}", "preferred is a string, where a list is wanted"},
        {"{\"preferred\":[1]}", "preferred is a number"},
        {"{\"quiet_hours\":{}}", "quiet_hours is an object"},
        {"{\"quiet_hours\":[7]}", "where an object is wanted"},
        {"{\"quiet_hours\":[{\"start\":\"22:00\"}]}", "a window without start and end"},
        {"{\"quiet_hours\":[{\"start\":\"22:00\",\"end\":\"23:00\",\"weekdays\":[\"monday\"]}]}",
            "weekdays has what is no day"},
        {"{\"quiet_hours\":[{\"start\":\"22:00\",\"end\":\"23:00\",\"weekdays\":\"mon\"}]}",
            "weekdays is a string"},
        {"{\"quiet_hours\":[{\"from\":\"22:00\"}]}", "has no key \"from\""},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        CLEANUP(arena_done) struct arena arena;
        arena_init(&arena, 0);
        owed_recipient recipient = {0};
        owed_error err = {0};
        owed_status status = read_text(cases[i].text, UNKNOWN_REFUSED, &arena, &recipient, &err);
        if (status != OWED_INVALID || strstr(err.text, cases[i].sentence) == NULL)
            fail_msg("%s: %d \"%s\"", cases[i].text, status, err.text);
    }
}

/* --- one attempt --- */

static void
post(struct desk *desk, const owed_recipient *recipient, const owed_send_options *options,
    struct posted *posted)
{
    static const owed_send_options none;
    const struct post what = {.dispatcher = desk->dispatcher,
        .tmpl = desk->confirmation,
        .recipient = recipient,
        .context = "{\"order_id\": \"A-1042\", \"total\": 59.9}",
        .options = options == NULL ? &none : options};
    post_once(&what, posted);
}

static void
each_answer_has_an_end_of_its_own_and_one_call(void **state)
{
    (void)state;
    static const struct {
        owed_answer answer;
        enum posted_end end;
    } cases[] = {
        {{.verdict = OWED_ANSWER_SENT, .reference = "r"}, POSTED_SENT},
        {{.verdict = OWED_ANSWER_FAILED, .reason = "away"}, POSTED_FAILED},
        {{.verdict = OWED_ANSWER_WAIT, .wait_us = 7 * SECOND, .reason = "busy"}, POSTED_WAIT},
        {{.verdict = OWED_ANSWER_REFUSED, .reason = "no"}, POSTED_REFUSED},
        {{.verdict = OWED_ANSWER_GONE, .reason = "gone"}, POSTED_GONE},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct desk desk = {0};
        struct posted posted CLEANUP(posted_done);
        desk_open(&desk, NULL);
        desk.sms.answers[0] = cases[i].answer;
        desk.sms.answer_count = 1;
        post(&desk, &ada, NULL, &posted);
        assert_int_equal(posted.end, cases[i].end);
        assert_int_equal(desk.sms.calls, 1);
        assert_string_equal(posted_channel(&posted), "sms");
        assert_int_equal(owed_dead_letters_count(owed_dispatcher_dead_letters(desk.dispatcher)), 0);
        if (posted.end == POSTED_WAIT)
            assert_int_equal(posted.wait_us, 7 * SECOND);
        desk_close(&desk);
    }
}

static void
of_channels_that_fall_through_the_most_hopeful_one_counts(void **state)
{
    (void)state;
    struct desk desk = {0};
    struct posted posted CLEANUP(posted_done);
    desk_open(&desk, NULL);
    desk.sms.answers[0] = (owed_answer){.verdict = OWED_ANSWER_FAILED, .reason = "away"};
    desk.email.answers[0] = (owed_answer){.verdict = OWED_ANSWER_GONE, .reason = "unknown user"};
    desk.sms.answer_count = desk.email.answer_count = 1;
    post(&desk, &ada, &(owed_send_options){.fall_through = true}, &posted);
    assert_int_equal(posted.end, POSTED_FAILED);
    assert_int_equal(posted.attempts.count, 2);
    struct buf buf CLEANUP(buf_done);
    buf_init(&buf, 4096);
    posted_write(&posted, &buf);
    assert_non_null(strstr(buf_text(&buf), "\"channel\":\"sms\""));
    assert_non_null(strstr(buf_text(&buf), "\"verdict\":\"gone\",\"reason\":\"unknown user\""));
    assert_non_null(strstr(buf_text(&buf), "{\"status\":-32,\"attempts\":["));
    desk_close(&desk);
}

static void
a_receipt_shows_the_way_and_not_what_was_sent(void **state)
{
    (void)state;
    struct desk desk = {0};
    struct posted posted CLEANUP(posted_done);
    desk_open(&desk, NULL);
    post(&desk, &ada, NULL, &posted);
    struct buf buf CLEANUP(buf_done);
    buf_init(&buf, 4096);
    posted_write(&posted, &buf);
    assert_non_null(strstr(buf_text(&buf), "\"address\":\"+49151000000\",\"reference\":\"r1\""));
    assert_null(strstr(buf_text(&buf), "A-1042"));
    desk_close(&desk);
}

static void
quiet_hours_are_waited_for_where_that_was_asked_and_now_is_now(void **state)
{
    (void)state;
    static const struct {
        owed_send_options options;
        enum posted_end end;
    } cases[] = {
        {{.quiet_wait = false}, POSTED_REFUSED},
        {{.quiet_wait = true}, POSTED_NOT_YET},
        {{.quiet_wait = true, .now_us = DESK_NOW}, POSTED_REFUSED},
        {{.urgency = OWED_URGENCY_URGENT}, POSTED_SENT},
    };
    const owed_recipient sleeper = {.email = "ada@example.com",
        .quiet_hours =
            (const owed_quiet_hours[]){{.start = "00:00", .end = "06:30"}, {.start = NULL}}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct desk desk = {0};
        struct posted posted CLEANUP(posted_done);
        desk_open(&desk, NULL);
        post(&desk, &sleeper, &cases[i].options, &posted);
        assert_int_equal(posted.end, cases[i].end);
        if (posted.end == POSTED_NOT_YET)
            assert_int_equal(posted.until_us, DESK_NOW + (6 * 60 + 30) * 60 * SECOND);
        desk_close(&desk);
    }
}

static void
what_cannot_be_rendered_or_routed_is_refused_and_calls_nobody(void **state)
{
    (void)state;
    struct desk desk = {0};
    struct posted posted CLEANUP(posted_done);
    desk_open(&desk, NULL);
    const struct post what = {.dispatcher = desk.dispatcher,
        .tmpl = desk.confirmation,
        .recipient = &ada,
        .context = "{\"order_id\": \"A-1042\"}",
        .options = &(owed_send_options){0}};
    post_once(&what, &posted);
    assert_int_equal(posted.end, POSTED_REFUSED);
    assert_int_equal(posted.status, OWED_MISSING_VARIABLE);
    struct posted nowhere CLEANUP(posted_done);
    post(&desk, &(owed_recipient){0}, NULL, &nowhere);
    assert_int_equal(nowhere.end, POSTED_REFUSED);
    assert_int_equal(nowhere.status, OWED_UNROUTABLE);
    assert_int_equal(desk.sms.calls + desk.email.calls, 0);
    desk_close(&desk);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_recipient_reads_back_as_it_was_written),
        cmocka_unit_test(a_subscription_of_a_browser_stands_in_a_recipient_as_the_browser_wrote_it),
        cmocka_unit_test(unknown_keys_of_a_recipient_are_refused_or_ignored_as_was_asked),
        cmocka_unit_test(what_cannot_be_a_recipient_is_refused_by_its_key),
        cmocka_unit_test(each_answer_has_an_end_of_its_own_and_one_call),
        cmocka_unit_test(of_channels_that_fall_through_the_most_hopeful_one_counts),
        cmocka_unit_test(a_receipt_shows_the_way_and_not_what_was_sent),
        cmocka_unit_test(quiet_hours_are_waited_for_where_that_was_asked_and_now_is_now),
        cmocka_unit_test(what_cannot_be_rendered_or_routed_is_refused_and_calls_nobody),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
