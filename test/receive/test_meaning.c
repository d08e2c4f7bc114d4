/* SPDX-License-Identifier: MIT
 *
 * test_meaning.c - what an answer, an exit status and a line of output mean; and how what others
 * wrote is cleaned.
 */
#include "attempt.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/limits.h"
#include "receive/said.h"
#include "receive/status.h"
#include "receive/target.h"
#include "receive/text.h"

#define NOW_US (INT64_C(1796000000) * US_PER_SECOND) // 2026-11-30T00:53:20Z

static void
answers_2xx_are_done_and_only_some_others_may_pass(void **state)
{
    (void)state;
    static const long may_pass[] = {408, 425, 429, 500, 501, 502, 503, 504, 507, 511, 599};
    for (long status = 100; status < 1000; status++) {
        owed_verdict wanted = status >= 200 && status < 300 ? OWED_VERDICT_DONE
            : status >= 500 && status < 600                 ? OWED_VERDICT_FAILED
                                                            : OWED_VERDICT_PERMANENT;
        for (size_t i = 0; i < sizeof may_pass / sizeof may_pass[0]; i++) {
            if (may_pass[i] == status)
                wanted = OWED_VERDICT_FAILED;
        }
        assert_int_equal(status_verdict(status), wanted);
        assert_int_equal(status_may_wait(status),
            status == 408 || status == 425 || status == 429 || status == 503);
    }
}

static void
retry_after_is_read_in_seconds_or_as_a_date(void **state)
{
    (void)state;
    static const struct {
        const char *value;
        int64_t wait_us;
    } readable[] = {
        {"0", 0},
        {"120", 120 * US_PER_SECOND},
        {" 7 ", 7 * US_PER_SECOND},
        {"99999999999999999999999999", LIMIT_DURATION_US},
        {"Mon, 30 Nov 2026 00:54:20 GMT", 60 * US_PER_SECOND},
        {"Mon, 30 Nov 2026 00:54:20 -0000", 60 * US_PER_SECOND},
        {"Monday, 30-Nov-26 00:54:20 GMT", 60 * US_PER_SECOND},
        {"30 Nov 2026 00:54:20 GMT", 60 * US_PER_SECOND},
        {"Mon Nov 30 00:54:20 2026", 60 * US_PER_SECOND},
        {"Mon, 30 Nov 2026 00:53:20 GMT", 0},
        {"Sun, 06 Nov 1994 08:49:37 GMT", 0},
        {"Fri, 31 Dec 9999 23:59:59 GMT", LIMIT_DURATION_US},
    };
    for (size_t i = 0; i < sizeof readable / sizeof readable[0]; i++) {
        int64_t wait_us = -1;
        if (!retry_after_read(readable[i].value, NOW_US, &wait_us))
            fail_msg("\"%s\" was not read", readable[i].value);
        assert_int_equal(wait_us, readable[i].wait_us);
    }
    static const char *const unreadable[] = {
        "", " ", "-1", "1.5", "+3", "soon", "10s", "2026-11-29", "\xd9\xa3"};
    for (size_t i = 0; i < sizeof unreadable / sizeof unreadable[0]; i++) {
        int64_t wait_us = -1;
        if (retry_after_read(unreadable[i], NOW_US, &wait_us))
            fail_msg("\"%s\" was read as %lld", unreadable[i], (long long)wait_us);
    }
}

static void
a_date_is_waited_for_to_the_microsecond(void **state)
{
    (void)state;
    int64_t wait_us;
    assert_true(retry_after_read("Mon, 30 Nov 2026 00:53:21 GMT", NOW_US + 250000, &wait_us));
    assert_int_equal(wait_us, 750000);
}

static void
exit_statuses_mean_what_sysexits_says(void **state)
{
    (void)state;
    static const int permanent[] = {64, 65, 67, 68, 69, 77, 78};
    for (int status = 0; status < 256; status++) {
        owed_verdict wanted = status == 0 ? OWED_VERDICT_DONE : OWED_VERDICT_FAILED;
        for (size_t i = 0; i < sizeof permanent / sizeof permanent[0]; i++) {
            if (permanent[i] == status)
                wanted = OWED_VERDICT_PERMANENT;
        }
        assert_int_equal(exit_verdict(status), wanted);
        assert_int_equal(exit_name(status) != NULL, status >= 64 && status <= 78);
    }
}

static void
the_last_line_of_output_says_the_outcome(void **state)
{
    (void)state;
    static const struct {
        const char *output;
        owed_verdict verdict; // 0: it says nothing
        int64_t wait_us;
        const char *text;
    } lines[] = {
        {"{\"outcome\":\"done\"}", OWED_VERDICT_DONE, 0, ""},
        {"noise\n{\"outcome\":\"done\"}\n\n  \n", OWED_VERDICT_DONE, 0, ""},
        {"{ \"outcome\" : \"d\\u006fne\" }\r\n", OWED_VERDICT_DONE, 0, ""},
        {"{\"outcome\":\"failed\",\"reason\":\"paper\\njam\"}", OWED_VERDICT_FAILED, 0,
            "exec x: paper jam"},
        {"{\"outcome\":\"failed\"}", OWED_VERDICT_FAILED, 0, "exec x: it gave no reason"},
        {"{\"outcome\":\"permanent\",\"reason\":\"no such order\"}", OWED_VERDICT_PERMANENT, 0,
            "exec x: no such order"},
        {"{\"outcome\":\"retry_after\",\"seconds\":120,\"reason\":\"busy\"}",
            OWED_VERDICT_RETRY_AFTER, 120 * US_PER_SECOND, "exec x: busy"},
        {"{\"outcome\":\"retry_after\",\"seconds\":0.25}", OWED_VERDICT_RETRY_AFTER, 250000, ""},
        {"{\"outcome\":\"retry_after\"}", OWED_VERDICT_FAILED, 0, "without \"seconds\""},
        {"{\"outcome\":\"retry_after\",\"seconds\":-1}", OWED_VERDICT_FAILED, 0, "of -1"},
        {"{\"outcome\":\"retry_after\",\"seconds\":\"5\"}", OWED_VERDICT_FAILED, 0, "of \"5\""},
        {"{\"outcome\":\"retry_after\",\"seconds\":1e400}", OWED_VERDICT_FAILED, 0, "of 1e400"},
        {"{\"outcome\":\"defer\",\"seconds\":5,\"reason\":\"quota\"}", OWED_VERDICT_DEFER,
            5 * US_PER_SECOND, "exec x: quota"},
        {"{\"outcome\":\"defer\",\"seconds\":0.000001}", OWED_VERDICT_DEFER, 1, ""},
        {"{\"outcome\":\"defer\"}", OWED_VERDICT_FAILED, 0,
            "it said defer without \"seconds\", a number above 0"},
        {"{\"outcome\":\"defer\",\"seconds\":0}", OWED_VERDICT_FAILED, 0,
            "it said defer with \"seconds\" of 0; a number above 0 is right"},
        {"{\"outcome\":\"defer\",\"seconds\":-1}", OWED_VERDICT_FAILED, 0, "of -1"},
        {"{\"outcome\":\"not_yet\",\"until\":\"2999-01-01T00:00:00Z\",\"reason\":\"later\"}",
            OWED_VERDICT_NOT_YET, 0, "exec x: later"},
        {"{\"outcome\":\"not_yet\",\"until\":\"1999-01-01T00:00:00Z\"}", OWED_VERDICT_FAILED, 0,
            "owed_not_yet was asked to wait until 1999-01-01T00:00:00.000000Z, which is not in the "
            "future"},
        {"{\"outcome\":\"not_yet\"}", OWED_VERDICT_FAILED, 0,
            "it said not_yet without \"until\", a moment such as"},
        {"{\"outcome\":\"not_yet\",\"until\":\"later\"}", OWED_VERDICT_FAILED, 0,
            "it said not_yet with \"until\" of \"later\"; a moment such as"},
        {"{\"outcome\":\"later\"}", OWED_VERDICT_FAILED, 0,
            "unknown outcome later; the known words are done, failed, permanent, retry_after, defer "
            "and not_yet"},
        {"{\"outcome\":true}", OWED_VERDICT_FAILED, 0, "unknown outcome true"},
        {"", 0, 0, ""},
        {"done", 0, 0, ""},
        {"{\"outcome\":\"done\"} trailing", 0, 0, ""},
        {"{\"outcome\":\"done\"}\nafterwards", 0, 0, ""},
        {"{\"result\":\"done\"}", 0, 0, ""},
        {"[\"outcome\"]", 0, 0, ""},
    };
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        struct attempt attempt;
        attempt_init(&attempt, RUN_EXEC, "x", STR("1"));
        owed_outcome outcome = {0};
        bool said =
            said_outcome(&attempt.flight.delivery, "exec x", str_of(lines[i].output), &outcome);
        assert_int_equal(said, lines[i].verdict != 0);
        assert_int_equal(outcome.verdict, lines[i].verdict);
        assert_int_equal(outcome.wait_us, lines[i].wait_us);
        assert_has(attempt.text, lines[i].text);
    }
}

static void
foreign_text_becomes_utf8_without_control_characters(void **state)
{
    (void)state;
    static const struct {
        struct str bytes;
        const char *clean;
    } texts[] = {
        {{"plain", 5}, "plain"},
        {{"a\0b\x1b[31m\x7f", 9}, "a b [31m "},
        {{"one\ntwo\tthree\r\n", 15}, "one\ntwo\tthree \n"},
        {{"\xff\xc3(\xc3\xa9", 5}, "?\?(\xc3\xa9"},
        {{"\xed\xa0\x80", 3}, "???"},
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        char clean[64];
        size_t len = text_clean(clean, sizeof clean, texts[i].bytes, true);
        assert_string_equal(clean, texts[i].clean);
        assert_int_equal(len, strlen(clean));
    }
}

static void
text_is_cut_between_characters(void **state)
{
    (void)state;
    char clean[5];
    assert_int_equal(text_clean(clean, sizeof clean, str_of("abc\xc3\xa9"), false), 3);
    assert_string_equal(clean, "abc");
    struct str tail = text_tail(str_of("ab\xe2\x82\xac!"), 3);
    assert_true(str_is(tail, "!"));
}

static void
the_last_line_is_one_that_holds_something(void **state)
{
    (void)state;
    assert_true(str_is(text_last_line(str_of("a\nb \n\n \t\n")), "b"));
    assert_true(str_is(text_last_line(str_of("  only")), "only"));
    assert_true(str_is(text_last_line(str_of("\n\n")), ""));
}

static void
a_url_is_shown_without_user_and_query(void **state)
{
    (void)state;
    static const struct {
        const char *url;
        const char *shown;
    } urls[] = {
        {"https://u:secret@example.org/hooks?token=1#x", "https://example.org/hooks"},
        {"http://127.0.0.1:8080/a/b", "http://127.0.0.1:8080/a/b"},
        {"/relative?token=1", "/relative"},
    };
    for (size_t i = 0; i < sizeof urls / sizeof urls[0]; i++) {
        char *shown = url_shown(urls[i].url);
        assert_string_equal(shown, urls[i].shown);
        free(shown);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_2xx_are_done_and_only_some_others_may_pass),
        cmocka_unit_test(retry_after_is_read_in_seconds_or_as_a_date),
        cmocka_unit_test(a_date_is_waited_for_to_the_microsecond),
        cmocka_unit_test(exit_statuses_mean_what_sysexits_says),
        cmocka_unit_test(the_last_line_of_output_says_the_outcome),
        cmocka_unit_test(foreign_text_becomes_utf8_without_control_characters),
        cmocka_unit_test(text_is_cut_between_characters),
        cmocka_unit_test(the_last_line_is_one_that_holds_something),
        cmocka_unit_test(a_url_is_shown_without_user_and_query),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
