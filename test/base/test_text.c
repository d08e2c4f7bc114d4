/* SPDX-License-Identifier: MIT
 *
 * test_text.c - how what others wrote is cleaned.
 */
#include "../unit.h"

#include <string.h>

#include "base/text.h"

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

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(foreign_text_becomes_utf8_without_control_characters),
        cmocka_unit_test(text_is_cut_between_characters),
        cmocka_unit_test(the_last_line_is_one_that_holds_something),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
