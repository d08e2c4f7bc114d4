/* SPDX-License-Identifier: MIT
 *
 * test_templates.c - templates by their names.
 */
#include "../unit.h"

#include <owed/templates.h>

#include <stdio.h>
#include <string.h>

static owed_templates *set;

static int
setup(void **state)
{
    (void)state;
    return owed_templates_new(&set, NULL) == OWED_OK ? 0 : -1;
}

static int
teardown(void **state)
{
    (void)state;
    owed_templates_free(set);
    return 0;
}

static owed_template *
made(const char *name)
{
    owed_template *tmpl = NULL;
    owed_error err = {0};
    if (owed_template_new(&(owed_template_source){.name = name, .text = "x"}, &tmpl, &err) !=
        OWED_OK)
        fail_msg("%s", err.text);
    return tmpl;
}

static void
what_was_added_is_found_by_its_name(void **state)
{
    (void)state;
    const char *const names[] = {"order_paid", "bill", "welcome", "order_confirmed"};
    const char *const sorted[] = {"bill", "order_confirmed", "order_paid", "welcome"};
    for (size_t i = 0; i < COUNT(names); i++)
        assert_int_equal(owed_templates_add(set, made(names[i]), NULL), OWED_OK);
    assert_int_equal(owed_templates_count(set), 4);
    for (size_t i = 0; i < COUNT(sorted); i++) {
        const owed_template *found = NULL;
        assert_int_equal(owed_templates_find(set, sorted[i], &found, NULL), OWED_OK);
        assert_string_equal(owed_template_name(found), sorted[i]);
        assert_ptr_equal(owed_templates_at(set, i), found);
    }
    assert_null(owed_templates_at(set, 4));
}

static void
a_name_that_is_not_there_is_refused_with_the_nearest(void **state)
{
    (void)state;
    owed_error err = {0};
    const owed_template *found = NULL;
    assert_int_equal(owed_templates_find(set, "welcome", &found, &err), OWED_NOT_FOUND);
    assert_string_equal(err.text, "no template is called \"welcome\"; there are 0 others");
    assert_int_equal(owed_templates_add(set, made("welcome"), NULL), OWED_OK);
    assert_int_equal(owed_templates_find(set, "wellcome", &found, &err), OWED_NOT_FOUND);
    assert_string_equal(err.text, "no template is called \"wellcome\"; the nearest is \"welcome\"");
    assert_null(found);
}

static void
a_second_template_of_a_name_is_refused_and_stays_the_callers(void **state)
{
    (void)state;
    owed_error err = {0};
    assert_int_equal(owed_templates_add(set, made("bill"), NULL), OWED_OK);
    owed_template *second = made("bill");
    assert_int_equal(owed_templates_add(set, second, &err), OWED_TEMPLATE);
    assert_non_null(strstr(err.text, "\"bill\""));
    assert_int_equal(owed_templates_count(set), 1);
    owed_template_free(second);
}

static void
a_set_holds_4096_and_no_more(void **state)
{
    (void)state;
    char name[32];
    for (int i = 0; i < 4096; i++) {
        snprintf(name, sizeof name, "t%d", i);
        assert_int_equal(owed_templates_add(set, made(name), NULL), OWED_OK);
    }
    owed_template *more = made("more");
    assert_int_equal(owed_templates_add(set, more, NULL), OWED_LIMIT);
    assert_int_equal(owed_templates_count(set), 4096);
    owed_template_free(more);
}

#define TEST(name_) cmocka_unit_test_setup_teardown(name_, setup, teardown)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_was_added_is_found_by_its_name),
        TEST(a_name_that_is_not_there_is_refused_with_the_nearest),
        TEST(a_second_template_of_a_name_is_refused_and_stays_the_callers),
        TEST(a_set_holds_4096_and_no_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
