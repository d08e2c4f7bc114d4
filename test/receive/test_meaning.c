/* SPDX-License-Identifier: MIT
 *
 * test_meaning.c - what an answer, an exit status and a line of output mean.
 */
#include "attempt.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/text.h"
#include "receive/said.h"
#include "receive/status.h"
#include "receive/target.h"

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
        cmocka_unit_test(exit_statuses_mean_what_sysexits_says),
        cmocka_unit_test(the_last_line_of_output_says_the_outcome),
        cmocka_unit_test(a_url_is_shown_without_user_and_query),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
