/* SPDX-License-Identifier: MIT
 *
 * test_sms_text.c - how many segments a text takes.
 */
#include "../unit.h"

#include <owed/error.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "notify/sms_text.h"

#define EURO "\xe2\x82\xac"
#define E_GRAVE "\xc3\xa8" // has a septet
#define E_HAT "\xc3\xaa"   // has none
#define EMOJI "\xf0\x9f\x8e\x81"

/* text writes parts, each so many times. */
struct part {
    size_t times;
    const char *text;
};

static size_t
segments(const struct part *parts)
{
    struct buf text CLEANUP(buf_done);
    buf_init(&text, 65536);
    for (; parts->text != NULL; parts++)
        for (size_t i = 0; i < parts->times; i++)
            buf_puts(&text, parts->text);
    struct sms_count count = sms_count_of(buf_view(&text));
    return sms_count_segments(&count);
}

#define SEGMENTS(...) segments((const struct part[]){__VA_ARGS__, {0, NULL}})

static void
a_text_of_the_gsm_alphabet_has_160_septets_or_153_a_segment(void **state)
{
    (void)state;
    assert_int_equal(SEGMENTS({0, "a"}), 0);
    assert_int_equal(SEGMENTS({160, "a"}), 1);
    assert_int_equal(SEGMENTS({161, "a"}), 2);
    assert_int_equal(SEGMENTS({306, E_GRAVE}), 2);
    assert_int_equal(SEGMENTS({307, "@"}), 3);
    assert_int_equal(SEGMENTS({80, "\r\n"}), 1);
}

static void
a_character_of_the_extension_table_takes_two_septets_in_one_segment(void **state)
{
    (void)state;
    static const char *const extended[] = {"^", "{", "}", "\\", "[", "]", "~", "|", "\f", EURO};
    for (size_t i = 0; i < COUNT(extended); i++) {
        check_case(SEGMENTS({80, extended[i]}) == 1, extended[i]);
        check_case(SEGMENTS({81, extended[i]}) == 2, extended[i]);
    }
    assert_int_equal(SEGMENTS({152, "a"}, {1, EURO}, {151, "a"}), 2);
    assert_int_equal(SEGMENTS({152, "a"}, {1, EURO}, {152, "a"}), 3);
}

static void
one_other_character_makes_it_utf_16_with_70_units_or_67_a_segment(void **state)
{
    (void)state;
    static const char *const others[] = {"`", E_HAT, "\t", "\xd0\xb6", "\xe4\xbd\xa0"};
    for (size_t i = 0; i < COUNT(others); i++) {
        check_case(SEGMENTS({69, "a"}, {1, others[i]}) == 1, others[i]);
        check_case(SEGMENTS({70, "a"}, {1, others[i]}) == 2, others[i]);
        check_case(SEGMENTS({133, "a"}, {1, others[i]}) == 2, others[i]);
        check_case(SEGMENTS({134, "a"}, {1, others[i]}) == 3, others[i]);
    }
}

static void
no_segment_ends_within_a_character(void **state)
{
    (void)state;
    assert_int_equal(SEGMENTS({35, EMOJI}), 1);
    assert_int_equal(SEGMENTS({36, EMOJI}), 2);
    assert_int_equal(SEGMENTS({66, EMOJI}), 2);
    assert_int_equal(SEGMENTS({67, EMOJI}), 3);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_text_of_the_gsm_alphabet_has_160_septets_or_153_a_segment),
        cmocka_unit_test(a_character_of_the_extension_table_takes_two_septets_in_one_segment),
        cmocka_unit_test(one_other_character_makes_it_utf_16_with_70_units_or_67_a_segment),
        cmocka_unit_test(no_segment_ends_within_a_character),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
