/* SPDX-License-Identifier: MIT
 *
 * test_json.c - what is JSON and what is not, and the way through it.
 */
#include "../unit.h"

#include <stdlib.h>

#include "base/json.h"
#include "base/limits.h"

static owed_error err;

/* check_copy checks a text at the very end of its memory, so that a byte read too far is noticed by
 * whatever watches. */
static owed_status
check_copy(struct str text)
{
    char *copy = malloc(text.len + 1);
    assert_non_null(copy);
    memcpy(copy + 1, text.p, text.len);
    owed_status status = json_check((struct str){copy + 1, text.len}, LIMIT_PAYLOAD_DEPTH, &err);
    free(copy);
    return status;
}

static void
everything_that_rfc_8259_allows_is_accepted(void **state)
{
    (void)state;
    static const char *const cases[] = {"null", "true", "false", "0", "-0", "0.0", "-1.5e+3",
        "1E-2", "10", "1e400", "-1e-400", "123456789012345678901234567890",
        "0.1000000000000000055511151231", "\"\"", "\"text\"", "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"",
        "\"\\u0000\"", "\"\\u00e4\\uD83D\\uDE00\"", "\"\\ud800\"", "\"\\udc00\\ud800\"",
        "\"\\uDBFFx\"", "\"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\"", "\"\xf4\x8f\xbf\xbf\"",
        "\"\xed\x9f\xbf\xee\x80\x80\"", "\"\x7f\"", "[]", "{}", "[ ]", "{ }", " \t\r\n1 \t\r\n",
        "[1,2,3]", "[[],{},[[]]]", "{\"a\":1}", "{\"a\":1,\"a\":2}", "{\"\":0}",
        "{ \"a\" : [ 1 , { \"b\" : null } ] , \"c\" : \"]}\" }", "[\"a long run of plain text\"]",
        "\"12345678\"", "\"1234567\"", "\"1234567\\n\"", "\"12345678\\\\\""};
    for (size_t i = 0; i < COUNT(cases); i++)
        check_case(check_copy(str_of(cases[i])) == OWED_OK, cases[i]);
}

static void
everything_else_is_refused_where_it_goes_wrong(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *sentence;
    } cases[] = {
        {"", "byte 1: expected a value, found the end"},
        {"  ", "byte 3: expected a value, found the end"},
        {"nul", "byte 1: expected a value, found n"},
        {"nulll", "byte 5: expected the end, found l"},
        {"True", "byte 1: expected a value, found T"},
        {"NaN", "byte 1: expected a value, found N"},
        {"Infinity", "byte 1: expected a value, found I"},
        {"-Infinity", "byte 2: expected a digit, found I"},
        {"\xef\xbb\xbf{}", "byte 1: expected a value, found 0xef"},
        {"01", "byte 2: expected the end, found 1"},
        {"-01", "byte 3: expected the end, found 1"},
        {"-", "byte 2: expected a digit, found the end"},
        {"+1", "byte 1: expected a value, found +"},
        {".5", "byte 1: expected a value, found ."},
        {"1.", "byte 3: expected a digit, found the end"},
        {"1.e5", "byte 3: expected a digit, found e"},
        {"1e", "byte 3: expected a digit, found the end"},
        {"1e+", "byte 4: expected a digit, found the end"},
        {"0x10", "byte 2: expected the end, found x"},
        {"1 2", "byte 3: expected the end, found 2"},
        {"'a'", "byte 1: expected a value, found '"},
        {"\"", "byte 2: expected a closing quote, found the end"},
        {"\"12345678", "byte 10: expected a closing quote, found the end"},
        {"\"a\nb\"", "byte 3: expected an escape, found 0x0a"},
        {"\"1234567\x1f\"", "byte 9: expected an escape, found 0x1f"},
        {"\"\\x41\"", "byte 3: expected one of \"\\/bfnrtu after \\, found x"},
        {"\"\\", "byte 3: expected one of \"\\/bfnrtu after \\, found the end"},
        {"\"\\u12g4\"", "byte 4: expected four hex digits after \\u, found 1"},
        {"\"\\u123", "byte 4: expected four hex digits after \\u, found 1"},
        {"\"\x80\"", "byte 2: expected UTF-8, found 0x80"},
        {"\"\xc0\xaf\"", "byte 2: expected UTF-8, found 0xc0"},
        {"\"\xc1\xbf\"", "byte 2: expected UTF-8, found 0xc1"},
        {"\"\xe0\x9f\xbf\"", "byte 2: expected UTF-8, found 0xe0"},
        {"\"\xed\xa0\x80\"", "byte 2: expected UTF-8, found 0xed"},
        {"\"\xf0\x8f\xbf\xbf\"", "byte 2: expected UTF-8, found 0xf0"},
        {"\"\xf4\x90\x80\x80\"", "byte 2: expected UTF-8, found 0xf4"},
        {"\"\xf8\x88\x80\x80\x80\"", "byte 2: expected UTF-8, found 0xf8"},
        {"\"\xff\"", "byte 2: expected UTF-8, found 0xff"},
        {"\"\xe2\x82\"", "byte 2: expected UTF-8, found 0xe2"},
        {"\"\xc3", "byte 2: expected UTF-8, found 0xc3"},
        {"\"1234567\xc3(\"", "byte 9: expected UTF-8, found 0xc3"},
        {"[", "byte 2: expected a value, found the end"},
        {"]", "byte 1: expected a value, found ]"},
        {"[1", "byte 3: expected a comma or ], found the end"},
        {"[1,]", "byte 4: expected a value, found ]"},
        {"[,1]", "byte 2: expected a value, found ,"},
        {"[1,,2]", "byte 4: expected a value, found ,"},
        {"[1 2]", "byte 4: expected a comma or ], found 2"},
        {"[1}", "byte 3: expected a comma or ], found }"},
        {"[1]]", "byte 4: expected the end, found ]"},
        {"[1\f]", "byte 3: expected a comma or ], found 0x0c"},
        {"[1\xc2\xa0]", "byte 3: expected a comma or ], found 0xc2"},
        {"{", "byte 2: expected a key in quotes, found the end"},
        {"{a:1}", "byte 2: expected a key in quotes, found a"},
        {"{1:1}", "byte 2: expected a key in quotes, found 1"},
        {"{\"a\"}", "byte 5: expected a colon, found }"},
        {"{\"a\":}", "byte 6: expected a value, found }"},
        {"{\"a\":1,}", "byte 8: expected a key in quotes, found }"},
        {"{\"a\":1]", "byte 7: expected a comma or }, found ]"},
        {"{\"a\" 1}", "byte 6: expected a colon, found 1"},
        {"{,}", "byte 2: expected a key in quotes, found ,"},
        {"[1] // note", "byte 5: expected the end, found /"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        check_case(check_copy(str_of(cases[i].text)) == OWED_INVALID, cases[i].text);
        assert_string_equal(err.text, cases[i].sentence);
    }
}

static void
every_byte_is_judged_alike_wherever_it_stands_in_a_string(void **state)
{
    (void)state;
    for (int byte = 0; byte < 256; byte++)
        for (size_t place = 1; place < 26; place++) {
            char text[28];
            memset(text, 'a', sizeof text);
            text[0] = text[sizeof text - 1] = '"';
            text[place] = (char)byte;
            bool is_plain = byte >= 0x20 && byte < 0x80 && byte != '"' && byte != '\\';
            owed_status status = check_copy((struct str){text, sizeof text});
            assert_int_equal(status, is_plain ? OWED_OK : OWED_INVALID);
        }
}

static void
a_nul_byte_is_refused_wherever_it_stands(void **state)
{
    (void)state;
    static const struct str cases[] = {STR("\0"), STR("1\0"), STR("[1\0]"), STR("\"a\0b\""),
        STR("{\0}"), STR("{\"a\":1\0}"), STR("\"\\\0\""), STR("1.\0"), STR("{}\0")};
    for (size_t i = 0; i < COUNT(cases); i++) {
        assert_int_equal(check_copy(cases[i]), OWED_INVALID);
        assert_non_null(strstr(err.text, "found 0x00"));
    }
}

static void
nesting_is_bounded_and_counted(void **state)
{
    (void)state;
    char text[2 * LIMIT_PAYLOAD_DEPTH + 2];
    for (int i = 0; i < LIMIT_PAYLOAD_DEPTH + 1; i++) {
        text[i] = '[';
        text[2 * LIMIT_PAYLOAD_DEPTH + 1 - i] = ']';
    }
    assert_int_equal(check_copy((struct str){text + 1, sizeof text - 2}), OWED_OK);
    assert_int_equal(check_copy((struct str){text, sizeof text}), OWED_INVALID);
    assert_string_equal(err.text, "byte 513: nested more than 512 deep");
    assert_int_equal(json_check(STR("[[1]]"), 1, &err), OWED_INVALID);
    assert_int_equal(json_check(STR("[[1]]"), 2, &err), OWED_OK);
    assert_int_equal(json_check(STR("1"), 0, &err), OWED_OK);
    assert_int_equal(json_check(STR("[]"), 0, &err), OWED_INVALID);
    // Breadth is no depth.
    assert_int_equal(json_check(STR("[[],[],[],{\"a\":[]}]"), 3, &err), OWED_OK);
}

static void
the_root_is_found_without_its_blanks(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum json_type type;
        const char *name;
        const char *bytes;
    } cases[] = {
        {" null ", JSON_NULL, "null", "null"},
        {"true\n", JSON_TRUE, "true", "true"},
        {"\tfalse", JSON_FALSE, "false", "false"},
        {" -1.50e+3 ", JSON_NUMBER, "a number", "-1.50e+3"},
        {" \"a \\\" b\\\\\" ", JSON_STRING, "a string", "\"a \\\" b\\\\\""},
        {" [ 1, \"]\" ] ", JSON_ARRAY, "an array", "[ 1, \"]\" ]"},
        {"\r{\"}\": {}} ", JSON_OBJECT, "an object", "{\"}\": {}}"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct json root = json_root(str_of(cases[i].text));
        assert_int_equal(root.type, cases[i].type);
        assert_string_equal(json_type_name(root.type), cases[i].name);
        check_case(str_is(root.text, cases[i].bytes), cases[i].text);
    }
}

static void
a_walk_meets_every_member_in_order_with_its_own_bytes(void **state)
{
    (void)state;
    struct json object = json_root(
        STR("{ \"a\" : 12 ,\"b,\\\"\":[1,{\"x\":\"}\"}], \"\":{} ,\"a\":\"12345678\\\\\"}"));
    static const char *const keys[] = {"\"a\"", "\"b,\\\"\"", "\"\"", "\"a\""};
    static const char *const values[] = {"12", "[1,{\"x\":\"}\"}]", "{}", "\"12345678\\\\\""};
    struct json_walk walk = json_walk(object);
    struct str key;
    struct json value;
    for (size_t i = 0; i < COUNT(keys); i++) {
        assert_true(json_next(&walk, &key, &value));
        check_case(str_is(key, keys[i]), keys[i]);
        check_case(str_is(value.text, values[i]), values[i]);
    }
    assert_false(json_next(&walk, &key, &value));
    assert_false(json_next(&walk, NULL, &value));
    struct json_walk array = json_walk(json_root(STR("[ \"a\" , 1 ,[] ]")));
    for (int i = 0; i < 3; i++)
        assert_true(json_next(&array, NULL, &value));
    assert_int_equal(value.type, JSON_ARRAY);
    assert_false(json_next(&array, NULL, &value));
    struct json_walk empty = json_walk(json_root(STR("{ }")));
    assert_false(json_next(&empty, &key, &value));
}

static void
a_member_is_found_by_what_its_key_means_and_the_last_one_counts(void **state)
{
    (void)state;
    struct json object = json_root(
        STR("{\"a\":1,\"\\u0061b\":2,\"a\":3,\"\\ud83d\\ude00\":4,\"\\ud800\":5,\"a\\u0000\":6}"));
    struct json value;
    assert_true(json_member(object, "a", &value));
    assert_true(str_is(value.text, "3"));
    assert_true(json_member(object, "ab", &value));
    assert_true(str_is(value.text, "2"));
    assert_true(json_member(object, "\xf0\x9f\x98\x80", &value));
    assert_true(str_is(value.text, "4"));
    assert_false(json_member(object, "", &value));
    assert_false(json_member(object, "abc", &value));
    assert_false(json_member(object, "\xed\xa0\x80", &value));
    assert_true(json_key_is(STR("\"\""), ""));
    assert_false(json_key_is(STR("\"ab\""), "a"));
    assert_false(json_key_is(STR("\"a\""), "ab"));
}

static void
pretty_json_has_a_member_a_line_and_the_same_strings_and_numbers(void **state)
{
    static const struct {
        const char *text;
        const char *pretty;
    } cases[] = {
        {"7", "7"},
        {" [ ] ", "[]"},
        {"{\"a\" : { } }", "{\n  \"a\": {}\n}"},
        {"[1,\n[true ,null]]", "[\n  1,\n  [\n    true,\n    null\n  ]\n]"},
        {"{\"a,:\\\"{\":\" x [\",\"b\":1e400}", "{\n  \"a,:\\\"{\": \" x [\",\n  \"b\": 1e400\n}"},
    };
    (void)state;
    struct buf buf;
    buf_init(&buf, 4096);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        buf_clear(&buf);
        json_pretty(str_of(cases[i].text), &buf);
        assert_string_equal(buf_text(&buf), cases[i].pretty);
    }
    buf_done(&buf);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_that_rfc_8259_allows_is_accepted),
        cmocka_unit_test(everything_else_is_refused_where_it_goes_wrong),
        cmocka_unit_test(every_byte_is_judged_alike_wherever_it_stands_in_a_string),
        cmocka_unit_test(a_nul_byte_is_refused_wherever_it_stands),
        cmocka_unit_test(nesting_is_bounded_and_counted),
        cmocka_unit_test(the_root_is_found_without_its_blanks),
        cmocka_unit_test(a_walk_meets_every_member_in_order_with_its_own_bytes),
        cmocka_unit_test(a_member_is_found_by_what_its_key_means_and_the_last_one_counts),
        cmocka_unit_test(pretty_json_has_a_member_a_line_and_the_same_strings_and_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
