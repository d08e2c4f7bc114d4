/* SPDX-License-Identifier: MIT
 *
 * test_report.c - what a benchmark says: the same keys always, null where there is nothing to say.
 */
#include "../unit.h"

#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "bench/report.h"

#define EVERY_KEY 23 // but for the settings

struct said {
    struct report report;
    struct buf text;
};

static int
say_nothing(void **state)
{
    static struct said said;
    report_init(&said.report);
    said.report.benchmark = "drain";
    said.report.store = "sqlite";
    said.report.unit = "deliveries";
    buf_init(&said.text, 65536);
    *state = &said;
    return 0;
}

static int
forget(void **state)
{
    struct said *said = *state;
    buf_done(&said->text);
    return 0;
}

static struct json
document(struct said *said)
{
    buf_clear(&said->text);
    report_json(&said->report, &said->text);
    owed_error err;
    assert_int_equal(json_check(buf_view(&said->text), 8, &err), OWED_OK);
    return json_root(buf_view(&said->text));
}

static double
number(struct said *said, const char *key)
{
    struct json value;
    double found = -1;
    assert_true(json_member(document(said), key, &value));
    assert_true(json_double(value, &found));
    return found;
}

static bool
is_null(struct said *said, const char *key)
{
    struct json value;
    assert_true(json_member(document(said), key, &value));
    return value.type == JSON_NULL;
}

static size_t
count_keys(struct said *said)
{
    struct json_walk walk = json_walk(document(said));
    size_t count = 0;
    while (json_next(&walk, &(struct str){0}, &(struct json){0}))
        count++;
    return count;
}

static void
the_keys_are_the_same_whatever_is_known(void **state)
{
    struct said *said = *state;
    assert_int_equal(count_keys(said), EVERY_KEY);
    assert_true(is_null(said, "rate"));
    assert_true(is_null(said, "percentiles_of"));
    report_rates(&said->report, 100, 500000, 400);
    said->report.wait = "claim";
    assert_int_equal(count_keys(said), EVERY_KEY);
    assert_false(is_null(said, "percentiles_of"));
}

static void
a_rate_is_by_the_second_and_a_ratio_of_the_bare_loop(void **state)
{
    struct said *said = *state;
    report_rates(&said->report, 100, 500000, 400);
    assert_int_equal(number(said, "count"), 100);
    assert_float_equal(number(said, "seconds"), 0.5, 1e-6);
    assert_float_equal(number(said, "rate"), 200, 1e-6);
    assert_float_equal(number(said, "bare_rate"), 400, 1e-6);
    assert_float_equal(number(said, "ratio"), 0.5, 1e-6);
}

static void
a_rate_of_no_time_at_all_is_still_a_number(void **state)
{
    (void)state;
    // Two ends of a churn's slices may come in one microsecond, after a tick that was slow.
    assert_float_equal(per_second(0, 0), 0, 1e-6);
    assert_float_equal(per_second(3, 0), 3000000, 1e-6);
    assert_float_equal(per_second(3, 2000000), 1.5, 1e-6);
}

static void
without_a_bare_loop_there_is_no_ratio(void **state)
{
    struct said *said = *state;
    report_rates(&said->report, 100, 0, 0);
    assert_true(is_null(said, "ratio"));
    assert_true(is_null(said, "bare_rate"));
    report_text(&said->report, &said->text);
    assert_null(strstr(buf_text(&said->text), "bare loop"));
}

static void
a_setting_that_is_not_taken_is_null(void **state)
{
    struct said *said = *state;
    said->report.settings[0] = (struct report_setting){"rows", 7};
    said->report.settings[1] = (struct report_setting){"backlog", -1};
    assert_int_equal(number(said, "rows"), 7);
    assert_true(is_null(said, "backlog"));
}

static void
percentiles_are_milliseconds_to_people_and_microseconds_to_programs(void **state)
{
    struct said *said = *state;
    struct samples samples = {0};
    for (int64_t i = 1; i <= 100; i++)
        samples_add(&samples, i * 10);
    said->report.wait = "claim";
    report_percentiles(&said->report, &samples);
    samples_done(&samples);
    assert_int_equal(number(said, "p99_us"), 990);
    buf_clear(&said->text);
    report_text(&said->report, &said->text);
    assert_non_null(strstr(buf_text(&said->text), "p50 0.500  p90 0.900  p99 0.990  max 1.000 ms"));
}

static void
slices_are_objects_in_order(void **state)
{
    struct said *said = *state;
    said->report.slices[0] = (struct slice){100, 900, 7, 8192, 4096};
    said->report.slices[1] = (struct slice){101, -1, -1, -1, -1};
    said->report.slice_count = 2;
    document(said);
    assert_non_null(strstr(buf_text(&said->text),
        "\"slices\":[{\"rate\":100.0,\"claim_p50_us\":900,\"dead_tuples\":7,\"table_bytes\":8192,"
        "\"index_bytes\":4096},{\"rate\":101.0,\"claim_p50_us\":null,\"dead_tuples\":null,"
        "\"table_bytes\":null,\"index_bytes\":null}]}\n"));
}

#define TEST(name_) cmocka_unit_test_setup_teardown(name_, say_nothing, forget)

static void
one_of_a_kind_is_told_as_one(void **state)
{
    struct said *said = *state;
    report_rates(&said->report, 1, US_PER_SECOND, 0);
    report_text(&said->report, &said->text);
    assert_non_null(strstr(buf_text(&said->text), "(1 delivery in 1.00 s)"));
    buf_clear(&said->text);
    said->report.unit = "events";
    report_text(&said->report, &said->text);
    assert_non_null(strstr(buf_text(&said->text), "(1 event in 1.00 s)"));
    buf_clear(&said->text);
    report_rates(&said->report, 2, US_PER_SECOND, 0);
    report_text(&said->report, &said->text);
    assert_non_null(strstr(buf_text(&said->text), "(2 events in 1.00 s)"));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_keys_are_the_same_whatever_is_known),
        TEST(a_rate_is_by_the_second_and_a_ratio_of_the_bare_loop),
        TEST(a_rate_of_no_time_at_all_is_still_a_number),
        TEST(without_a_bare_loop_there_is_no_ratio),
        TEST(a_setting_that_is_not_taken_is_null),
        TEST(percentiles_are_milliseconds_to_people_and_microseconds_to_programs),
        TEST(slices_are_objects_in_order),
        TEST(one_of_a_kind_is_told_as_one),
    };
    return cmocka_run_group_tests_name("bench report", tests, NULL, NULL);
}
