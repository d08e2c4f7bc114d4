/* SPDX-License-Identifier: MIT
 *
 * test_json_value.c - strings and numbers, read and written.
 */
#include "../unit.h"

#include <float.h>
#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/json.h"

static owed_error err;

static void
a_string_is_decoded_to_utf8(void **state)
{
    (void)state;
    static const struct {
        struct str json;
        struct str text;
    } cases[] = {
        {STR("\"\""), STR("")},
        {STR("\"plain\""), STR("plain")},
        {STR("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\""), STR("\"\\/\b\f\n\r\t")},
        {STR("\"a\\u0000b\""), STR("a\0b")},
        {STR("\"\\u00e4\\u20AC\\ud83d\\uDE00!\""), STR("\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80!")},
        {STR("\"\\u007f\\u0080\\u07ff\\u0800\\uffff\""),
            STR("\x7f\xc2\x80\xdf\xbf\xe0\xa0\x80\xef\xbf\xbf")},
        {STR("\"\\udbff\\udfff\""), STR("\xf4\x8f\xbf\xbf")},
        {STR("\"\xc3\xa4\\n\xc3\xa4\""), STR("\xc3\xa4\n\xc3\xa4")},
    };
    struct arena arena;
    arena_init(&arena, 0);
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct str text;
        check_case(json_read_string(json_root(cases[i].json), &arena, &text, &err) == OWED_OK,
            cases[i].json.p);
        check_case(str_eq(text, cases[i].text), cases[i].json.p);
        assert_int_equal(text.p[text.len], '\0');
    }
    arena_done(&arena);
}

static void
half_a_surrogate_pair_is_no_text(void **state)
{
    (void)state;
    static const char *const cases[] = {"\"\\ud800\"", "\"\\udfff\"", "\"\\ud800x\"",
        "\"\\ud800\\u0041\"", "\"\\ud800\\ud800\"", "\"\\udc00\\ud800\"", "\"\\ud83d\\n\""};
    struct arena arena;
    arena_init(&arena, 0);
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct str text = STR("untouched");
        check_case(
            json_read_string(json_root(str_of(cases[i])), &arena, &text, &err) == OWED_INVALID,
            cases[i]);
        assert_true(str_is(text, "untouched"));
        assert_non_null(strstr(err.text, "(\\u"));
    }
    struct arena tiny;
    arena_init(&tiny, 1);
    struct str text;
    assert_int_equal(
        json_read_string(json_root(STR("\"0123456789abcdef\"")), &tiny, &text, &err), OWED_NOMEM);
    arena_done(&tiny);
    arena_done(&arena);
}

static void
a_whole_number_is_one_however_it_is_written(void **state)
{
    (void)state;
    static const struct {
        const char *json;
        int64_t number;
    } cases[] = {
        {"0", 0},
        {"-0", 0},
        {"7", 7},
        {"7.0", 7},
        {"7e0", 7},
        {"70e-1", 7},
        {"0.7E+1", 7},
        {"-12.50e2", -1250},
        {"0e99999999999999999999", 0},
        {"0.000", 0},
        {"9223372036854775807", INT64_MAX},
        {"9223372036854775807.000", INT64_MAX},
        {"-9223372036854775808", INT64_MIN},
        {"9.223372036854775807e18", INT64_MAX},
        {"-92233720368547758080e-1", INT64_MIN},
        {"1000000000000000000000000000000e-30", 1},
        {"0.000000000000000000000000000001e30", 1},
        {"1e18", INT64_C(1000000000000000000)},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        int64_t number = 99;
        check_case(json_int64(json_root(str_of(cases[i].json)), &number), cases[i].json);
        check_case(number == cases[i].number, cases[i].json);
    }
}

static void
a_number_that_is_not_whole_or_out_of_range_is_no_int64(void **state)
{
    (void)state;
    static const char *const cases[] = {"1.5", "1e-1", "0.1", "-0.000001", "9223372036854775808",
        "-9223372036854775809", "1e19", "1e400", "1e99999999999999999999",
        "1e-99999999999999999999", "123456789012345678901234567890", "9223372036854775807.5",
        "100000000000000000000.1e-1"};
    for (size_t i = 0; i < COUNT(cases); i++) {
        int64_t number = 99;
        check_case(!json_int64(json_root(str_of(cases[i])), &number), cases[i]);
        check_case(number == 99, cases[i]);
    }
}

static void
every_int64_reads_back_in_every_notation(void **state)
{
    (void)state;
    uint64_t seed = 11;
    owed_dice dice = dice_seeded(&seed);
    for (int i = 0; i < 20000; i++) {
        int64_t number = (int64_t)dice.next(dice.state) >> (i % 64);
        int zeros = (int)(dice.next(dice.state) % 20);
        char text[64];
        int64_t back = 0;
        snprintf(
            text, sizeof text, "%" PRId64 "%.*se-%d", number, zeros, "00000000000000000000", zeros);
        check_case(json_int64(json_root(str_of(text)), &back), text);
        check_case(back == number, text);
        snprintf(text, sizeof text, "%" PRId64 ".%.*s", number, zeros + 1, "00000000000000000000");
        check_case(json_int64(json_root(str_of(text)), &back), text);
        check_case(back == number, text);
    }
}

static void
a_double_is_the_nearest_one_and_never_infinite(void **state)
{
    (void)state;
    double number = 0;
    assert_true(json_double(json_root(STR("0.1")), &number));
    assert_true(number == 0.1);
    assert_true(json_double(json_root(STR("-0")), &number));
    assert_true(number == 0 && signbit(number));
    assert_true(json_double(json_root(STR("1.7976931348623157e308")), &number));
    assert_true(number == DBL_MAX);
    assert_true(json_double(json_root(STR("1e-400")), &number));
    assert_true(number == 0);
    assert_false(json_double(json_root(STR("1e400")), &number));
    assert_false(json_double(json_root(STR("-1e400")), &number));
    assert_true(number == 0);
    char many[500];
    memset(many, '1', sizeof many - 1);
    many[sizeof many - 1] = '\0';
    memcpy(many, "0.", 2);
    assert_true(json_double(json_root(str_of(many)), &number));
    assert_true(fabs(number - 1.0 / 9) < 1e-15);
}

static const char *
write_double(struct buf *buf, double number)
{
    buf_clear(buf);
    json_write_double(buf, number);
    return buf_text(buf);
}

static void
a_double_is_written_as_short_as_it_can_be_and_reads_back_the_same(void **state)
{
    (void)state;
    struct buf text;
    buf_init(&text, 1000);
    assert_string_equal(write_double(&text, 0.1), "0.1");
    assert_string_equal(write_double(&text, 7), "7");
    assert_string_equal(write_double(&text, 1e22), "1e+22");
    assert_string_equal(write_double(&text, 5e-324), "5e-324");
    assert_string_equal(write_double(&text, 0.30000000000000004), "0.30000000000000004");
    assert_string_equal(write_double(&text, 0), "0");
    assert_string_equal(write_double(&text, -0.0), "-0");
    uint64_t seed = 12;
    owed_dice dice = dice_seeded(&seed);
    for (int i = 0; i < 20000; i++) {
        uint64_t bits = dice.next(dice.state);
        double number, back;
        memcpy(&number, &bits, sizeof number);
        if (!isfinite(number))
            continue;
        write_double(&text, number);
        assert_int_equal(json_check(buf_view(&text), 1, &err), OWED_OK);
        assert_true(json_double(json_root(buf_view(&text)), &back));
        assert_true(back == number);
    }
    buf_done(&text);
}

static void
a_locale_with_another_decimal_point_changes_nothing(void **state)
{
    (void)state;
    // Where no such locale is installed, this proves only that nothing else is disturbed.
    static const char *const names[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE", "ru_RU.UTF-8"};
    for (size_t i = 0; i < COUNT(names); i++)
        if (setlocale(LC_NUMERIC, names[i]) != NULL)
            break;
    struct buf text;
    double number = 0;
    buf_init(&text, 1000);
    assert_string_equal(write_double(&text, 1.5), "1.5");
    assert_true(json_double(json_root(STR("2.25")), &number));
    assert_true(number == 2.25);
    setlocale(LC_NUMERIC, "C");
    buf_done(&text);
}

static void
a_string_is_written_with_the_escapes_it_needs(void **state)
{
    (void)state;
    static const struct {
        struct str text;
        const char *json;
    } cases[] = {
        {STR(""), "\"\""},
        {STR("plain / text"), "\"plain / text\""},
        {STR("\"\\\b\f\n\r\t"), "\"\\\"\\\\\\b\\f\\n\\r\\t\""},
        {STR("a\0b"), "\"a\\u0000b\""},
        {STR("\x01\x1f\x7f"), "\"\\u0001\\u001f\\u007f\""},
        {STR("\xc3\xa4\xf0\x9f\x98\x80"), "\"\xc3\xa4\xf0\x9f\x98\x80\""},
        {STR("a\xff\xc3z\xed\xa0\x80"),
            "\"a\xef\xbf\xbd\xef\xbf\xbdz\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct buf json;
        buf_init(&json, 1000);
        json_write_string(&json, cases[i].text);
        assert_string_equal(buf_text(&json), cases[i].json);
        buf_done(&json);
    }
}

/* random_text makes UTF-8 of all lengths, with controls, quotes and backslashes. */
static size_t
random_text(const owed_dice *dice, char *text, size_t characters)
{
    size_t len = 0;
    for (size_t i = 0; i < characters; i++) {
        uint64_t bits = dice->next(dice->state);
        static const uint32_t tops[] = {0x80, 0x800, 0x10000, 0x110000, 0x30};
        uint32_t point = (uint32_t)(bits >> 8) % tops[bits % COUNT(tops)];
        if (point >= 0xd800 && point <= 0xdfff)
            point = '"';
        len += utf8_encode(point, text + len);
    }
    return len;
}

static void
any_text_comes_back_from_its_json(void **state)
{
    (void)state;
    uint64_t seed = 13;
    owed_dice dice = dice_seeded(&seed);
    struct arena arena;
    arena_init(&arena, 0);
    for (int i = 0; i < 5000; i++) {
        char bytes[4 * 64];
        struct str text = {bytes, random_text(&dice, bytes, dice.next(dice.state) % 64)};
        struct str back;
        struct buf json;
        buf_init(&json, 4096);
        assert_true(utf8_is_valid(text));
        json_write_string(&json, text);
        assert_int_equal(json_check(buf_view(&json), 0, &err), OWED_OK);
        assert_int_equal(
            json_read_string(json_root(buf_view(&json)), &arena, &back, &err), OWED_OK);
        assert_true(str_eq(text, back));
        buf_done(&json);
        arena_reset(&arena);
    }
    arena_done(&arena);
}

static void
utf8_takes_every_code_point_and_nothing_that_looks_like_one(void **state)
{
    (void)state;
    for (uint32_t point = 0; point < 0x110000; point++) {
        bool is_surrogate = point >= 0xd800 && point <= 0xdfff;
        char bytes[4];
        size_t len = utf8_encode(point, bytes);
        assert_int_equal(utf8_length(bytes, bytes + len), is_surrogate ? 0 : len);
        for (size_t cut = 1; cut < len; cut++)
            assert_int_equal(utf8_length(bytes, bytes + cut), 0);
    }
    // All sequences of two bytes: only ASCII pairs and the two-byte form are valid.
    for (int a = 0; a < 256; a++)
        for (int b = 0; b < 256; b++) {
            const char bytes[] = {(char)a, (char)b};
            bool expected =
                (a < 0x80 && b < 0x80) || (a >= 0xc2 && a <= 0xdf && b >= 0x80 && b <= 0xbf);
            assert_int_equal(utf8_is_valid((struct str){bytes, 2}), expected);
        }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_string_is_decoded_to_utf8),
        cmocka_unit_test(half_a_surrogate_pair_is_no_text),
        cmocka_unit_test(a_whole_number_is_one_however_it_is_written),
        cmocka_unit_test(a_number_that_is_not_whole_or_out_of_range_is_no_int64),
        cmocka_unit_test(every_int64_reads_back_in_every_notation),
        cmocka_unit_test(a_double_is_the_nearest_one_and_never_infinite),
        cmocka_unit_test(a_double_is_written_as_short_as_it_can_be_and_reads_back_the_same),
        cmocka_unit_test(a_locale_with_another_decimal_point_changes_nothing),
        cmocka_unit_test(a_string_is_written_with_the_escapes_it_needs),
        cmocka_unit_test(any_text_comes_back_from_its_json),
        cmocka_unit_test(utf8_takes_every_code_point_and_nothing_that_looks_like_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
