/* SPDX-License-Identifier: MIT
 *
 * test_error.c - statuses and their sentences.
 */
#include "../unit.h"

#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "base/utf8.h"

static void
a_failure_fills_the_whole_error_and_returns_its_status(void **state)
{
    (void)state;
    owed_error err;
    memset(&err, 'x', sizeof err);
    assert_int_equal(fail(&err, OWED_INVALID, "%s: expected %d", "batch-size", 7), OWED_INVALID);
    assert_int_equal(err.status, OWED_INVALID);
    assert_int_equal(err.native, 0);
    assert_string_equal(err.text, "batch-size: expected 7");
    assert_int_equal(fail_native(&err, OWED_STORE, EACCES, "no"), OWED_STORE);
    assert_int_equal(err.native, EACCES);
    assert_int_equal(fail_memory(&err), OWED_NOMEM);
    assert_string_equal(err.text, "out of memory");
}

static void
nobody_need_want_the_sentence(void **state)
{
    (void)state;
    assert_int_equal(fail(NULL, OWED_BUSY, "busy"), OWED_BUSY);
    assert_int_equal(fail_native(NULL, OWED_BUSY, 5, "busy"), OWED_BUSY);
}

static void
a_text_too_long_ends_in_dots(void **state)
{
    (void)state;
    owed_error err;
    char exact[sizeof err.text];
    memset(exact, 'a', sizeof exact);
    exact[sizeof exact - 1] = '\0';
    fail(&err, OWED_INVALID, "%s", exact);
    assert_string_equal(err.text, exact);
    fail(&err, OWED_INVALID, "%sb", exact);
    assert_int_equal(strlen(err.text), sizeof err.text - 1);
    assert_string_equal(err.text + sizeof err.text - 5, "a...");
}

static void
a_text_is_not_cut_inside_a_character(void **state)
{
    (void)state;
    for (int before = 0; before < 4; before++) {
        owed_error err;
        char text[2 * sizeof err.text] = "abc";
        size_t len = (size_t)before;
        for (; len < sizeof err.text + 8; len += 4)
            memcpy(text + len, "\xf0\x9f\x98\x80", 5);
        fail(&err, OWED_INVALID, "%s", text);
        assert_true(utf8_is_valid(str_of(err.text)));
        assert_in_range(strlen(err.text), sizeof err.text - 4, sizeof err.text - 1);
        assert_string_equal(err.text + strlen(err.text) - 3, "...");
    }
}

static void
a_failure_may_quote_the_error_it_replaces(void **state)
{
    (void)state;
    owed_error err;
    fail(&err, OWED_INVALID, "inner");
    fail(&err, OWED_CONFIG, "outer: %s", err.text);
    assert_string_equal(err.text, "outer: inner");
}

static void
every_status_has_a_text_of_its_own(void **state)
{
    (void)state;
    static const owed_status statuses[] = {
#define X(name, value, again, text) OWED_##name,
        OWED_STATUS_MAP(X)
#undef X
    };
    for (size_t i = 0; i < COUNT(statuses); i++)
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(owed_status_text(statuses[i]), owed_status_text(statuses[j]));
    assert_string_equal(owed_status_text((owed_status)-99), "unknown status");
    assert_true(owed_status_again(OWED_BUSY));
    assert_false(owed_status_again(OWED_INVALID));
    assert_false(owed_status_again((owed_status)-99));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_failure_fills_the_whole_error_and_returns_its_status),
        cmocka_unit_test(nobody_need_want_the_sentence),
        cmocka_unit_test(a_text_too_long_ends_in_dots),
        cmocka_unit_test(a_text_is_not_cut_inside_a_character),
        cmocka_unit_test(a_failure_may_quote_the_error_it_replaces),
        cmocka_unit_test(every_status_has_a_text_of_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
