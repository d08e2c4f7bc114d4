/* SPDX-License-Identifier: MIT
 *
 * test_format.c - which formats fit which values, and how values read in them.
 */
#include "../unit.h"

#include <locale.h>
#include <string.h>

#include "notify/format.h"

static void
check_written(const char *spec, owed_value value, const char *wanted)
{
    struct format format;
    struct buf out;
    buf_init(&out, 4096);
    check_case(format_read(str_of(spec), value.kind, &format) == NULL, spec);
    format_write(&format, &value, &out);
    assert_string_equal(buf_text(&out), wanted);
    buf_done(&out);
}

#define TEXT(v_) ((owed_value)OWED_VALUE_TEXT("v", v_))
#define BOOL(v_) ((owed_value)OWED_VALUE_BOOL("v", v_))
#define INT64(v_) ((owed_value)OWED_VALUE_INT64("v", v_))
#define DOUBLE(v_) ((owed_value)OWED_VALUE_DOUBLE("v", v_))
#define DECIMAL(v_) ((owed_value)OWED_VALUE_DECIMAL("v", v_))

static void
a_value_without_a_format_reads_as_itself(void **state)
{
    (void)state;
    check_written("", TEXT("Zo\xc3\xab"), "Zo\xc3\xab");
    check_written("", BOOL(true), "true");
    check_written("", BOOL(false), "false");
    check_written("", INT64(INT64_MIN), "-9223372036854775808");
    check_written("", DOUBLE(59.9), "59.9");
    check_written("", DOUBLE(59), "59.0");
    check_written("", DOUBLE(1e22), "1e+22");
    check_written("", DECIMAL("12.50"), "12.50");
}

static void
a_width_counts_characters(void **state)
{
    (void)state;
    check_written("5", TEXT("Zo\xc3\xab"), "Zo\xc3\xab  ");
    check_written("\xc3\xa9>5", TEXT("ab"),
        "\xc3\xa9\xc3\xa9\xc3\xa9"
        "ab");
    check_written("^6", TEXT("abc"), " abc  ");
    check_written(".2", TEXT("\xc3\xab\xc3\xab\xc3\xab"), "\xc3\xab\xc3\xab");
    check_written(">6", BOOL(true), "  true");
    check_written("06", INT64(-42), "-00042");
    check_written("*=6", INT64(-42), "-***42");
}

static void
a_decimal_is_rounded_half_to_even_digit_by_digit(void **state)
{
    (void)state;
    check_written(".2f", DECIMAL("0.005"), "0.00");
    check_written(".2f", DECIMAL("0.015"), "0.02");
    check_written(".2f", DECIMAL("0.0050000000000000000001"), "0.01");
    check_written(".0f", DECIMAL("999.5"), "1000");
    check_written(",.2f", DECIMAL("12345678901234567890.125"), "12,345,678,901,234,567,890.12");
    check_written(".3f", DECIMAL("7"), "7.000");
}

static void
a_point_is_a_point_in_any_locale(void **state)
{
    (void)state;
    if (setlocale(LC_NUMERIC, "de_DE.UTF-8") == NULL)
        setlocale(LC_NUMERIC, "C.UTF-8");
    check_written(".2f", DOUBLE(1.5), "1.50");
    setlocale(LC_NUMERIC, "C");
}

static void
what_does_not_fit_says_why(void **state)
{
    (void)state;
    static const struct {
        const char *spec;
        owed_kind kind;
        const char *why;
    } cases[] = {
        {"d", OWED_KIND_TEXT, "a text takes no type but s"},
        {"+", OWED_KIND_TEXT, "a sign, a grouping, = and 0 are for numbers"},
        {"05", OWED_KIND_TEXT, "a sign, a grouping, = and 0 are for numbers"},
        {",", OWED_KIND_BOOL, "a sign, a grouping, = and 0 are for numbers"},
        {".2", OWED_KIND_BOOL, "a bool has no precision"},
        {"d", OWED_KIND_DOUBLE, "a double takes f, F, e, E, g, G or %"},
        {"s", OWED_KIND_INT64, "a whole number takes d, x, X, o, b, f, F, e, E, g, G or %"},
        {".2", OWED_KIND_INT64, "a whole number has no precision, but with f, e, g or %"},
        {".2d", OWED_KIND_INT64, "a whole number has no precision, but with f, e, g or %"},
        {".2", OWED_KIND_DOUBLE, "a precision needs a type after it, as in .2f"},
        {".2", OWED_KIND_DECIMAL, "a decimal takes a precision and f together, as in .2f"},
        {"f", OWED_KIND_DECIMAL, "a decimal takes a precision and f together, as in .2f"},
        {".f", OWED_KIND_DOUBLE, "a precision has digits after its point"},
        {".101f", OWED_KIND_DOUBLE, "a precision is 0 to 100"},
        {".99999999999999999999f", OWED_KIND_DOUBLE, "a precision is 0 to 100"},
        {"1001", OWED_KIND_TEXT, "a width is 1 to 1000"},
        {"99999999999999999999", OWED_KIND_TEXT, "a width is 1 to 1000"},
        {"00", OWED_KIND_INT64, "a width is 1 to 1000"},
        {"0", OWED_KIND_INT64, "0 needs a width after it"},
        {">05", OWED_KIND_INT64, "0 stands for an alignment, and there is one already"},
        {"08,", OWED_KIND_INT64, "0 and a grouping do not go together"},
        {",x", OWED_KIND_INT64, "thousands are grouped by _ alone where digits are not decimal"},
        {"zz", OWED_KIND_TEXT,
            "a format is [[fill]align][sign][0][width][grouping][.precision][type]"},
        {"5 ", OWED_KIND_TEXT,
            "a format is [[fill]align][sign][0][width][grouping][.precision][type]"},
        {"\xc3", OWED_KIND_TEXT,
            "a format is [[fill]align][sign][0][width][grouping][.precision][type]"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct format format;
        const char *why = format_read(str_of(cases[i].spec), cases[i].kind, &format);
        check_case(why != NULL, cases[i].spec);
        assert_string_equal(why, cases[i].why);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_value_without_a_format_reads_as_itself),
        cmocka_unit_test(a_width_counts_characters),
        cmocka_unit_test(a_decimal_is_rounded_half_to_even_digit_by_digit),
        cmocka_unit_test(a_point_is_a_point_in_any_locale),
        cmocka_unit_test(what_does_not_fit_says_why),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
