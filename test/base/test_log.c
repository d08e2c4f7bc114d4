/* SPDX-License-Identifier: MIT
 *
 * test_log.c - lines that people read and programs parse.
 */
#include "../unit.h"

#include "base/buf.h"
#include "base/log.h"

static int64_t
at_noon(void *state)
{
    (void)state;
    return INT64_C(1796040000000000);
}

static void
keep_line(void *state, owed_log_level level, const char *line)
{
    buf_clear(state);
    buf_printf(state, "%d %s", (int)level, line);
}

static struct buf line;
static struct log text_log = {.write = keep_line, .state = &line, .clock = {.now_us = at_noon}};

static int
begin(void **state)
{
    (void)state;
    buf_init(&line, 4 << 20);
    return 0;
}

static int
end(void **state)
{
    (void)state;
    buf_done(&line);
    return 0;
}

#define TIME "2026-11-30T12:00:00.000000Z"

static void
a_line_has_time_level_message_and_fields_in_their_order(void **state)
{
    (void)state;
    log_say(&text_log, OWED_LOG_WARNING, "lease lost", LOG_INT("delivery", -7),
        LOG_TEXT("receiver", "shop.billing"));
    assert_string_equal(buf_text(&line),
        "2 time=" TIME " level=warning msg=\"lease lost\" delivery=-7 receiver=shop.billing");
    log_line(&text_log, OWED_LOG_INFO, "stopping", NULL, 0);
    assert_string_equal(buf_text(&line), "1 time=" TIME " level=info msg=stopping");
}

static void
values_that_could_be_mistaken_are_quoted(void **state)
{
    (void)state;
    static const struct {
        const char *value;
        const char *written;
    } cases[] = {
        {"plain-1.2/x:y", "plain-1.2/x:y"},
        {"", "\"\""},
        {NULL, "\"\""},
        {"two words", "\"two words\""},
        {"a=b", "\"a=b\""},
        {"say \"hi\"", "\"say \\\"hi\\\"\""},
        {"back\\slash", "\"back\\\\slash\""},
        {"line\nbreak\r\t", "\"line\\nbreak\\r\\t\""},
        {"\x1b[31m", "\"\\u001b[31m\""},
        {"\x7f", "\"\\u007f\""},
        {"\xc3\xa4", "\xc3\xa4"},
        {"a\xff", "\"a\xef\xbf\xbd\""},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        log_say(&text_log, OWED_LOG_DEBUG, "m", LOG_TEXT("k", cases[i].value));
        const char *found = strstr(buf_text(&line), " k=");
        assert_non_null(found);
        assert_string_equal(found + 3, cases[i].written);
    }
}

static void
the_same_line_can_be_a_json_object(void **state)
{
    (void)state;
    struct log log = text_log;
    log.json = true;
    log_say(&log, OWED_LOG_ERROR, "it \"failed\"\n", LOG_INT("n", 3), LOG_TEXT("t", "\xff"));
    assert_string_equal(buf_text(&line),
        "3 {\"time\":\"" TIME "\",\"level\":\"error\",\"msg\":\"it \\\"failed\\\"\\n\",\"n\":3,"
        "\"t\":\"\xef\xbf\xbd\"}");
}

static void
lines_below_the_level_are_dropped(void **state)
{
    (void)state;
    struct log log = text_log;
    log.level = OWED_LOG_WARNING;
    buf_clear(&line);
    log_line(&log, OWED_LOG_INFO, "quiet", NULL, 0);
    assert_int_equal(line.len, 0);
    log_line(&log, OWED_LOG_WARNING, "loud", NULL, 0);
    assert_int_not_equal(line.len, 0);
    log.write = NULL;
    log_line(&log, OWED_LOG_ERROR, "to nobody", NULL, 0);
}

static void
a_line_too_long_to_build_leaves_a_line_that_says_so(void **state)
{
    (void)state;
    static char huge[1100000];
    memset(huge, 'x', sizeof huge - 1);
    log_say(&text_log, OWED_LOG_INFO, "m", LOG_TEXT("k", huge));
    assert_non_null(strstr(buf_text(&line), "a log line was lost"));
}

static void
level_names_read_back(void **state)
{
    (void)state;
    for (int level = OWED_LOG_DEBUG; level <= OWED_LOG_ERROR; level++) {
        owed_log_level back;
        assert_true(log_level_parse(log_level_name((owed_log_level)level), &back));
        assert_int_equal(back, level);
    }
    owed_log_level untouched = OWED_LOG_INFO;
    assert_false(log_level_parse("loud", &untouched));
    assert_false(log_level_parse("", &untouched));
    assert_int_equal(untouched, OWED_LOG_INFO);
    assert_string_equal(log_level_name((owed_log_level)9), "unknown");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_has_time_level_message_and_fields_in_their_order),
        cmocka_unit_test(values_that_could_be_mistaken_are_quoted),
        cmocka_unit_test(the_same_line_can_be_a_json_object),
        cmocka_unit_test(lines_below_the_level_are_dropped),
        cmocka_unit_test(a_line_too_long_to_build_leaves_a_line_that_says_so),
        cmocka_unit_test(level_names_read_back),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
