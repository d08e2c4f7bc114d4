/* SPDX-License-Identifier: MIT
 *
 * test_locale.c - language tags.
 */
#include "../unit.h"

#include <owed/template.h>

#include <string.h>

#include "notify/locale.h"

static void
a_tag_is_written_as_the_standard_wants_it(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"de", "de"},
        {"DE", "de"},
        {" de ", "de"},
        {"pt_br", "pt-BR"},
        {"ZH-hant-tw", "zh-Hant-TW"},
        {"yue", "yue"},
        {"de-1996", "de-1996"},
        {"ca-ES-VALENCIA", "ca-ES-valencia"},
        {"es-419", "es-419"},
        {"en-x-a", "en-x-a"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char tag[LOCALE_BYTES];
        owed_error err;
        check_case(owed_locale_normalize(cases[i][0], tag, &err) == OWED_OK, cases[i][0]);
        assert_string_equal(tag, cases[i][1]);
    }
}

static void
what_is_no_tag_is_refused(void **state)
{
    (void)state;
    static const char *const cases[] = {"", " ", "d", "deutsch", "d1", "de-", "-de", "de--AT",
        "de-abcdefghi", "de-\xc3\xa4", "de AT", "de.UTF-8", "C",
        "de-aaaaaaaa-aaaaaaaa-aaaaaaaa-aaaaaaaa-aaaaaaaa-aaaaaaaa-aaaaaaaa"};
    char tag[LOCALE_BYTES] = "untouched";
    owed_error err;
    for (size_t i = 0; i < COUNT(cases); i++)
        check_case(owed_locale_normalize(cases[i], tag, &err) == OWED_MALFORMED_LOCALE, cases[i]);
    assert_int_equal(owed_locale_normalize(NULL, tag, &err), OWED_MALFORMED_LOCALE);
    assert_string_equal(tag, "untouched");
    assert_int_equal(owed_locale_normalize("deutsch", tag, &err), OWED_MALFORMED_LOCALE);
    assert_string_equal(err.text,
        "locale \"deutsch\" is no language tag: a language of 2 or 3 letters, then subtags of 1 to 8 letters and digits, such as de, pt-BR or zh-Hant-TW");
}

static void
a_tag_is_shortened_from_the_right(void **state)
{
    (void)state;
    char tag[LOCALE_BYTES] = "zh-Hant-TW";
    assert_true(locale_shorten(tag));
    assert_string_equal(tag, "zh-Hant");
    assert_true(locale_shorten(tag));
    assert_string_equal(tag, "zh");
    assert_false(locale_shorten(tag));
    assert_string_equal(tag, "zh");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tag_is_written_as_the_standard_wants_it),
        cmocka_unit_test(what_is_no_tag_is_refused),
        cmocka_unit_test(a_tag_is_shortened_from_the_right),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
