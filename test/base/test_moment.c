/* SPDX-License-Identifier: MIT
 *
 * test_moment.c - times and durations as text.
 */
#include "../unit.h"

#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/limits.h"
#include "base/moment.h"
#include "base/retry_after.h"

#define RETRY_NOW_US (INT64_C(1796000000) * US_PER_SECOND) // 2026-11-30T00:53:20Z

static void
a_time_is_written_in_utc_with_six_decimals(void **state)
{
    (void)state;
    static const struct {
        int64_t at_us;
        const char *text;
    } cases[] = {
        {0, "1970-01-01T00:00:00.000000Z"},
        {-1, "1969-12-31T23:59:59.999999Z"},
        {INT64_C(1796044800000001), "2026-11-30T13:20:00.000001Z"},
        {INT64_C(951782400000000), "2000-02-29T00:00:00.000000Z"},
        {INT64_C(-62135596800000000), "0001-01-01T00:00:00.000000Z"},
        {INT64_C(253402300799999999), "9999-12-31T23:59:59.999999Z"},
        {INT64_C(253402300800000000), "10000-01-01T00:00:00.000000Z"},
        {INT64_MAX, "294247-01-10T04:00:54.775807Z"},
        {INT64_MIN, "-290308-12-21T19:59:05.224192Z"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char text[MOMENT_BYTES];
        assert_string_equal(moment_write(cases[i].at_us, text), cases[i].text);
    }
}

static void
what_rfc_3339_allows_is_read(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t at_us;
    } cases[] = {
        {"1970-01-01T00:00:00Z", 0},
        {"1970-01-01t00:00:00z", 0},
        {"1970-01-01 00:00:00+00:00", 0},
        {"1970-01-01T01:00:00+01:00", 0},
        {"1969-12-31T18:30:00-05:30", 0},
        {"1970-01-01T00:00:00.5Z", 500000},
        {"1970-01-01T00:00:00.000001Z", 1},
        {"1970-01-01T00:00:00.123456789Z", 123456},
        {"1969-12-31T23:59:59.999999Z", -1},
        {"2000-02-29T00:00:00Z", INT64_C(951782400000000)},
        {"1990-12-31T23:59:60Z", INT64_C(662688000000000)},
        {"1990-12-31T15:59:60-08:00", INT64_C(662688000000000)},
        {"0001-01-01T00:00:00Z", INT64_C(-62135596800000000)},
        {"9999-12-31T23:59:59.999999Z", INT64_C(253402300799999999)},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        int64_t at_us = 7;
        check_case(moment_read(cases[i].text, &at_us), cases[i].text);
        check_case(at_us == cases[i].at_us, cases[i].text);
    }
}

static void
what_is_no_time_is_refused_and_writes_nothing(void **state)
{
    (void)state;
    static const char *const cases[] = {"", "now", "2026", "2026-11-29", "2026-11-29T15:04:05",
        "2026-11-29T15:04Z", "2026-13-01T00:00:00Z", "2026-00-01T00:00:00Z", "2026-01-00T00:00:00Z",
        "2026-02-29T00:00:00Z", "1900-02-29T00:00:00Z", "2026-04-31T00:00:00Z",
        "2026-01-01T24:00:00Z", "2026-01-01T00:60:00Z", "2026-01-01T00:00:61Z",
        "2026-01-01T12:00:60Z", "2026-01-01T00:00:00.Z", "2026-01-01T00:00:00.1234567890Z",
        "2026-01-01T00:00:00,5Z", "2026-01-01T00:00:00+24:00", "2026-01-01T00:00:00+01:60",
        "2026-01-01T00:00:00+0100", "2026-01-01T00:00:00ZZ", " 2026-01-01T00:00:00Z",
        "2026-01-01T00:00:00Z ", "0000-12-31T00:00:00Z", "0001-01-01T00:00:00+00:01",
        "9999-12-31T23:59:60Z", "9999-12-31T23:59:59-00:01", "+2026-01-01T00:00:00Z",
        "26-01-01T00:00:00Z", "2026-1-1T00:00:00Z", "2026-01-01T-1:00:00Z", "2026-01-01X00:00:00Z"};
    for (size_t i = 0; i < COUNT(cases); i++) {
        int64_t at_us = 7;
        check_case(!moment_read(cases[i], &at_us), cases[i]);
        check_case(at_us == 7, cases[i]);
    }
}

static void
every_time_between_years_1_and_9999_reads_back_as_written(void **state)
{
    (void)state;
    uint64_t seed = 1;
    owed_dice dice = dice_seeded(&seed);
    const double first = -62135596800e6;
    const double last = 253402300799e6;
    for (int i = 0; i < 20000; i++) {
        int64_t at_us = (int64_t)(first + dice_unit(&dice) * (last - first));
        int64_t read_us = 0;
        char text[MOMENT_BYTES];
        assert_true(moment_read(moment_write(at_us, text), &read_us));
        assert_int_equal(read_us, at_us);
        time_t seconds = (time_t)(at_us / US_PER_SECOND - (at_us % US_PER_SECOND < 0));
        struct tm tm;
        char expected[MOMENT_BYTES];
        assert_non_null(gmtime_r(&seconds, &tm));
        strftime(expected, sizeof expected, "%m-%dT%H:%M:%S", &tm);
        assert_memory_equal(text + 5, expected, strlen(expected));
    }
}

static void
a_duration_is_a_sum_of_units(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t us;
    } cases[] = {
        {"0", 0},
        {"0s", 0},
        {"90s", 90 * US_PER_SECOND},
        {"5m", 300 * US_PER_SECOND},
        {"1h30m", 5400 * US_PER_SECOND},
        {"2d", 172800 * US_PER_SECOND},
        {"1d2h3m4s5ms6us", INT64_C(93784005006)},
        {"250ms", 250 * US_PER_MS},
        {"10us", 10},
        {"0.5s", 500 * US_PER_MS},
        {"1.5h", 5400 * US_PER_SECOND},
        {"0.000001s", 1},
        {"3660d", LIMIT_DURATION_US},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        int64_t us = -1;
        check_case(duration_read(cases[i].text, &us), cases[i].text);
        check_case(us == cases[i].us, cases[i].text);
    }
}

static void
what_is_no_duration_is_refused_and_writes_nothing(void **state)
{
    (void)state;
    static const char *const cases[] = {"", "5", "s", "5 s", " 5s", "5s ", "-5s", "+5s", "5S",
        "5sec", "30m1h", "1m1m", "1.s", ".5s", "1..5s", "1.5.5s", "0.5us", "0.0000001s", "1e3s",
        "00", "3660d1us", "3661d", "99999999999999999999d", "0.00000000000000000000001d", "5mm",
        "inf", "1h 30m", "1h30"};
    for (size_t i = 0; i < COUNT(cases); i++) {
        int64_t us = 7;
        check_case(!duration_read(cases[i], &us), cases[i]);
        check_case(us == 7, cases[i]);
    }
}

static void
every_duration_reads_back_as_written(void **state)
{
    (void)state;
    uint64_t seed = 2;
    owed_dice dice = dice_seeded(&seed);
    for (int i = 0; i < 20000; i++) {
        // Spread over all sizes, not only the largest.
        int64_t us = (int64_t)(dice.next(dice.state) % (uint64_t)LIMIT_DURATION_US) >> (i % 45);
        int64_t read_us = -1;
        char text[MOMENT_BYTES];
        assert_true(duration_read(duration_write(us, text), &read_us));
        assert_int_equal(read_us, us);
    }
}

static void
durations_are_written_for_programs_and_for_people(void **state)
{
    (void)state;
    static const struct {
        int64_t us;
        const char *exact;
        const char *rough;
    } cases[] = {
        {0, "0", "0s"},
        {1, "1us", "1us"},
        {45999, "45ms999us", "45ms"},
        {5400 * US_PER_SECOND, "1h30m", "1h30m"},
        {90 * US_PER_SECOND, "1m30s", "1m30s"},
        {12 * US_PER_SECOND + 5, "12s5us", "12s"},
        {192 * US_PER_SECOND + 1, "3m12s1us", "3m12s"},
        {3600 * US_PER_SECOND + 5, "1h5us", "1h"},
        {187200 * US_PER_SECOND + 59 * US_PER_SECOND, "2d4h59s", "2d4h"},
        {-90 * US_PER_SECOND, "-1m30s", "-1m30s"},
        {INT64_MIN, "-106751991d4h54s775ms808us", "-106751991d4h"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char text[MOMENT_BYTES];
        assert_string_equal(duration_write(cases[i].us, text), cases[i].exact);
        assert_string_equal(duration_rough(cases[i].us, text), cases[i].rough);
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
        if (!retry_after_read(readable[i].value, RETRY_NOW_US, &wait_us))
            fail_msg("\"%s\" was not read", readable[i].value);
        assert_int_equal(wait_us, readable[i].wait_us);
    }
    static const char *const unreadable[] = {
        "", " ", "-1", "1.5", "+3", "soon", "10s", "2026-11-29", "\xd9\xa3"};
    for (size_t i = 0; i < sizeof unreadable / sizeof unreadable[0]; i++) {
        int64_t wait_us = -1;
        if (retry_after_read(unreadable[i], RETRY_NOW_US, &wait_us))
            fail_msg("\"%s\" was read as %lld", unreadable[i], (long long)wait_us);
    }
}

static void
a_date_is_waited_for_to_the_microsecond(void **state)
{
    (void)state;
    int64_t wait_us;
    assert_true(retry_after_read("Mon, 30 Nov 2026 00:53:21 GMT", RETRY_NOW_US + 250000, &wait_us));
    assert_int_equal(wait_us, 750000);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_time_is_written_in_utc_with_six_decimals),
        cmocka_unit_test(what_rfc_3339_allows_is_read),
        cmocka_unit_test(what_is_no_time_is_refused_and_writes_nothing),
        cmocka_unit_test(every_time_between_years_1_and_9999_reads_back_as_written),
        cmocka_unit_test(a_duration_is_a_sum_of_units),
        cmocka_unit_test(what_is_no_duration_is_refused_and_writes_nothing),
        cmocka_unit_test(every_duration_reads_back_as_written),
        cmocka_unit_test(durations_are_written_for_programs_and_for_people),
        cmocka_unit_test(retry_after_is_read_in_seconds_or_as_a_date),
        cmocka_unit_test(a_date_is_waited_for_to_the_microsecond),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
