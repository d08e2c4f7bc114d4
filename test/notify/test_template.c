/* SPDX-License-Identifier: MIT
 *
 * test_template.c - what makes a template, what it refuses, and what it renders.
 */
#include "../unit.h"

#include <owed/template.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const owed_variable order_variables[] = {
    {"order_id", OWED_KIND_END},
    {"item_count", OWED_KIND_INT64},
    {"total", OWED_KIND_DOUBLE},
    {NULL, OWED_KIND_END},
};

static const owed_template_source order_source = {
    .name = "order_confirmed",
    .variables = order_variables,
    .subject = "Order {order_id}",
    .text = "{item_count} items, {total:.2f} EUR {{thanks}}",
    .html = "<p>Order {order_id}: <b>{total:,.2f}</b></p>",
};

static const owed_value order_values[] = {
    OWED_VALUE_TEXT("order_id", "A-1042"),
    OWED_VALUE_INT64("item_count", 3),
    OWED_VALUE_DOUBLE("total", 1059.9),
    OWED_VALUES_END,
};

static owed_template *
made(const owed_template_source *source)
{
    owed_template *tmpl = NULL;
    owed_error err = {0};
    if (owed_template_new(source, &tmpl, &err) != OWED_OK)
        fail_msg("%s", err.text);
    return tmpl;
}

/* --- rendering --- */

static void
every_part_is_rendered_with_its_values(void **state)
{
    (void)state;
    owed_template *tmpl = made(&order_source);
    owed_rendered got;
    assert_int_equal(owed_template_render(tmpl, NULL, order_values, &got, NULL), OWED_OK);
    assert_string_equal(got.name, "order_confirmed");
    assert_null(got.locale);
    assert_string_equal(got.subject, "Order A-1042");
    assert_string_equal(got.text, "3 items, 1059.90 EUR {thanks}");
    assert_string_equal(got.html, "<p>Order A-1042: <b>1,059.90</b></p>");
    owed_rendered_done(&got);
    assert_null(got.text);
    owed_template_free(tmpl);
}

static void
a_part_that_is_not_there_is_null(void **state)
{
    (void)state;
    owed_template *tmpl = made(&(owed_template_source){.name = "plain", .text = ""});
    owed_rendered got;
    assert_int_equal(owed_template_render(tmpl, "no locale!", NULL, &got, NULL), OWED_OK);
    assert_null(got.subject);
    assert_string_equal(got.text, "");
    assert_null(got.html);
    owed_rendered_done(&got);
    owed_template_free(tmpl);
}

static void
values_cannot_break_out_of_html_nor_out_of_a_subject(void **state)
{
    (void)state;
    static const owed_variable variables[] = {{"who", OWED_KIND_TEXT}, {NULL, OWED_KIND_END}};
    owed_template *tmpl = made(&(owed_template_source){.name = "greeting",
        .variables = variables,
        .subject = "Hi {who}",
        .text = "{who}",
        .html = "<b title=\"{who}\">&{who}</b>"});
    const owed_value values[] = {
        OWED_VALUE_TEXT("who", "<a&'\">\r\nBcc: x\x7f{who}"), OWED_VALUES_END};
    owed_rendered got;
    assert_int_equal(owed_template_render(tmpl, NULL, values, &got, NULL), OWED_OK);
    assert_string_equal(got.subject, "Hi <a&'\">  Bcc: x {who}");
    assert_string_equal(got.text, "<a&'\">\r\nBcc: x\x7f{who}");
    assert_string_equal(got.html,
        "<b title=\"&lt;a&amp;&#39;&quot;&gt;\r\nBcc: x\x7f{who}\">&&lt;a&amp;&#39;&quot;&gt;\r\nBcc: x\x7f{who}</b>");
    owed_rendered_done(&got);
    owed_template_free(tmpl);
}

static void
a_source_may_go_once_the_template_is_made(void **state)
{
    (void)state;
    char text[] = "Order {order_id}, {item_count}, {total}", name[] = "order_id", title[] = "t";
    owed_variable variables[] = {{name, OWED_KIND_TEXT}, {"item_count", OWED_KIND_INT64},
        {"total", OWED_KIND_DOUBLE}, {NULL, OWED_KIND_END}};
    owed_template *tmpl =
        made(&(owed_template_source){.name = title, .variables = variables, .text = text});
    memset(text, 'x', strlen(text));
    name[0] = title[0] = 'y';
    owed_rendered got;
    assert_int_equal(owed_template_render(tmpl, NULL, order_values, &got, NULL), OWED_OK);
    assert_string_equal(got.text, "Order A-1042, 3, 1059.9");
    assert_string_equal(owed_template_name(tmpl), "t");
    owed_rendered_done(&got);
    owed_template_free(tmpl);
}

/* --- what is refused when it is made --- */

static void
check_refused(const owed_template_source *source, owed_status wanted, const char *sentence)
{
    owed_template *tmpl = NULL;
    owed_error err = {0};
    assert_int_equal(owed_template_new(source, &tmpl, &err), wanted);
    assert_string_equal(err.text, sentence);
    assert_null(tmpl);
}

static void
a_text_that_cannot_be_is_refused_with_its_line(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"{}",
            "t, text, line 1: placeholder : a placeholder says the name of its variable, as in {total}"},
        {"{0}",
            "t, text, line 1: placeholder 0: a placeholder says the name of its variable, as in {total}"},
        {"{:.2f}",
            "t, text, line 1: placeholder : a placeholder says the name of its variable, as in {total}"},
        {"a\n\n{total.x}",
            "t, text, line 3: placeholder total.x: a placeholder is one variable, not a part of one"},
        {"{total[0]}",
            "t, text, line 1: placeholder total[0]: a placeholder is one variable, not a part of one"},
        {"{total!r}",
            "t, text, line 1: placeholder total!r: conversions such as !r are not known here"},
        {"{totl}",
            "t, text, line 1: placeholder totl: no such variable is declared (did you mean \"total\"?)"},
        {"{ total}",
            "t, text, line 1: placeholder  total: no such variable is declared (did you mean \"total\"?)"},
        {"{something_else}",
            "t, text, line 1: placeholder something_else: no such variable is declared"},
        {"{total:{w}}", "t, text, line 1: placeholder total:: a placeholder holds no other"},
        {"{total:d}", "t, text, line 1: placeholder total:d: a double takes f, F, e, E, g, G or %"},
        {"{total", "t, text, line 1: a { that nothing closes; {{ writes one"},
        {"{", "t, text, line 1: a { that nothing closes; {{ writes one"},
        {"{{{", "t, text, line 1: a { that nothing closes; {{ writes one"},
        {"x\n}", "t, text, line 2: a } that nothing opened; }} writes one"},
        {"{total}}", "t, text, line 1: a } that nothing opened; }} writes one"},
        {"\xff", "t, text: it is not UTF-8"},
    };
    static const owed_variable variables[] = {{"total", OWED_KIND_DOUBLE}, {NULL, OWED_KIND_END}};
    for (size_t i = 0; i < COUNT(cases); i++)
        check_refused(
            &(owed_template_source){.name = "t", .variables = variables, .text = cases[i][0]},
            OWED_TEMPLATE, cases[i][1]);
}

static void
variables_that_cannot_be_are_refused(void **state)
{
    (void)state;
    static const struct {
        owed_variable variables[3];
        const char *sentence;
    } cases[] = {
        {{{"a", OWED_KIND_TEXT}, {"a", OWED_KIND_INT64}}, "t: variable \"a\" is declared twice"},
        {{{"a", OWED_KIND_TEXT}, {"b", OWED_KIND_TEXT}},
            "t: variable \"b\" is declared and stands in no part of the template"},
        {{{"1a", OWED_KIND_TEXT}},
            "t: a variable is called \"1a\", where ASCII letters, digits and _, no digit first, up to 64 characters, would be right"},
        {{{"", OWED_KIND_TEXT}},
            "t: a variable is called \"\", where ASCII letters, digits and _, no digit first, up to 64 characters, would be right"},
        {{{"a-b", OWED_KIND_TEXT}},
            "t: a variable is called \"a-b\", where ASCII letters, digits and _, no digit first, up to 64 characters, would be right"},
        {{{"a", OWED_KIND_STRUCT}},
            "t: variable \"a\" has kind 11, where TEXT, BOOL, INT64, DOUBLE or DECIMAL would be right"},
    };
    for (size_t i = 0; i < COUNT(cases); i++)
        check_refused(
            &(owed_template_source){.name = "t", .variables = cases[i].variables, .text = "{a}"},
            OWED_TEMPLATE, cases[i].sentence);
}

static void
a_template_has_a_name_a_text_and_a_subject_of_one_line(void **state)
{
    (void)state;
    check_refused(
        &(owed_template_source){.text = "x"}, OWED_TEMPLATE, "a template's name is 1 to 255 bytes");
    check_refused(
        &(owed_template_source){.name = "t", .html = "x"}, OWED_TEMPLATE, "t: it has no text");
    check_refused(&(owed_template_source){.name = "t", .text = "x", .subject = "a\nb"},
        OWED_TEMPLATE, "t, subject: a subject is one line");
}

static void
what_is_too_large_is_refused(void **state)
{
    (void)state;
    size_t len = 1024 * 1024 + 1;
    char *text = malloc(len + 1);
    assert_non_null(text);
    memset(text, 'x', len);
    text[len] = '\0';
    check_refused(&(owed_template_source){.name = "t", .text = text}, OWED_LIMIT,
        "t, text: 1048577 bytes, of 1048576 at most");
    text[len - 1] = '\0';
    owed_template_free(made(&(owed_template_source){.name = "t", .text = text}));

    static const owed_variable variables[] = {{"a", OWED_KIND_TEXT}, {NULL, OWED_KIND_END}};
    owed_template *tmpl = made(
        &(owed_template_source){.name = "t", .variables = variables, .text = "{a}{a}{a}{a}{a}"});
    const owed_value values[] = {OWED_VALUE_TEXT("a", text), OWED_VALUES_END};
    owed_rendered got;
    owed_error err;
    assert_int_equal(owed_template_render(tmpl, NULL, values, &got, &err), OWED_LIMIT);
    owed_template_free(tmpl);
    free(text);
}

/* --- what is refused when it is rendered --- */

static void
check_not_rendered(const owed_value *values, owed_status wanted, const char *sentence)
{
    owed_template *tmpl = made(&order_source);
    owed_rendered got;
    owed_error err = {0};
    assert_int_equal(owed_template_render(tmpl, NULL, values, &got, &err), wanted);
    assert_string_equal(err.text, sentence);
    owed_template_free(tmpl);
}

static void
missing_values_are_told_before_unknown_ones_and_those_before_wrong_kinds(void **state)
{
    (void)state;
    check_not_rendered(NULL, OWED_MISSING_VARIABLE,
        "order_confirmed: declared, and not given: item_count, order_id, total");
    check_not_rendered((const owed_value[]){OWED_VALUE_TEXT("zz", ""), OWED_VALUE_TEXT("total", ""),
                           OWED_VALUE_TEXT("item_count", ""), OWED_VALUES_END},
        OWED_MISSING_VARIABLE, "order_confirmed: declared, and not given: order_id");
    check_not_rendered((const owed_value[]){OWED_VALUE_TEXT("zz", ""), OWED_VALUE_TEXT("total", ""),
                           OWED_VALUE_TEXT("aa", ""), OWED_VALUE_TEXT("item_count", ""),
                           OWED_VALUE_TEXT("order_id", ""), OWED_VALUES_END},
        OWED_UNKNOWN_VARIABLE, "order_confirmed: given, and not declared: aa, zz");
}

static void
each_kind_takes_its_own_values_alone(void **state)
{
    (void)state;
    static const struct {
        owed_value value;
        const char *sentence;
    } cases[] = {
        {OWED_VALUE_INT64("total", 59),
            "order_confirmed: variable total wants a double and was given a whole number"},
        {OWED_VALUE_BOOL("total", true),
            "order_confirmed: variable total wants a double and was given a bool"},
        {OWED_VALUE_BOOL("item_count", true),
            "order_confirmed: variable item_count wants a whole number and was given a bool"},
        {OWED_VALUE_DOUBLE("item_count", 3),
            "order_confirmed: variable item_count wants a whole number and was given a double"},
        {OWED_VALUE_INT64("order_id", 3),
            "order_confirmed: variable order_id wants a text and was given a whole number"},
        {OWED_VALUE_TEXT("order_id", NULL),
            "order_confirmed: variable order_id wants a text and was given NULL"},
        {OWED_VALUE_TEXT("order_id", "\xff"),
            "order_confirmed: variable order_id wants a text in UTF-8, and these bytes are not"},
        {OWED_VALUE_DOUBLE("total", 1e308 * 10),
            "order_confirmed: variable total wants a finite number"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        owed_value values[5];
        memcpy(values, order_values, sizeof order_values);
        values[3] = cases[i].value; // the last of a name counts
        values[4] = (owed_value)OWED_VALUES_END;
        check_not_rendered(values, OWED_VARIABLE_TYPE, cases[i].sentence);
    }
}

/* --- from JSON --- */

static void
check_json(const char *context, owed_status wanted, const char *said)
{
    static const owed_variable variables[] = {{"n", OWED_KIND_INT64}, {"d", OWED_KIND_DOUBLE},
        {"m", OWED_KIND_DECIMAL}, {"b", OWED_KIND_BOOL}, {"t", OWED_KIND_TEXT},
        {NULL, OWED_KIND_END}};
    owed_template *tmpl = made(&(owed_template_source){
        .name = "t", .variables = variables, .text = "{n} {d} {m} {b} {t}"});
    owed_rendered got = {0};
    owed_error err = {0};
    owed_status status = owed_template_render_json(tmpl, NULL, context, &got, &err);
    if (status != wanted)
        fail_msg("%s: %d, %s", context, status, err.text);
    assert_string_equal(status == OWED_OK ? got.text : err.text, said);
    owed_rendered_done(&got);
    owed_template_free(tmpl);
}

static void
values_come_from_json_as_their_variables_want_them(void **state)
{
    (void)state;
    check_json("{\"n\":7,\"d\":59,\"m\":\"12.50\",\"b\":true,\"t\":\"Zo\\u00eb\"}", OWED_OK,
        "7 59.0 12.50 true Zo\xc3\xab");
    check_json(
        "{\"n\":7.0,\"d\":0.1,\"m\":12.50,\"b\":false,\"t\":\"\"}", OWED_OK, "7 0.1 12.50 false ");
    check_json("{\"n\":7,\"d\":1,\"m\":100000000000000000000.001,\"b\":false,\"t\":\"\",\"n\":8}",
        OWED_OK, "8 1.0 100000000000000000000.001 false ");
}

static void
json_that_does_not_fit_is_refused(void **state)
{
    (void)state;
    static const char rest[] = ",\"d\":1,\"m\":1,\"b\":true,\"t\":\"\"}";
    static const struct {
        const char *n;
        const char *sentence;
    } numbers[] = {
        {"7.5", "t: variable n wants a whole number and was given a double"},
        {"9223372036854775808", "t: variable n wants a whole number and was given a double"},
        {"\"7\"", "t: variable n wants a whole number and was given a text"},
        {"true", "t: variable n wants a whole number and was given a bool"},
        {"null", "t: variable n wants a whole number and was given null"},
        {"[]", "t: variable n wants a whole number and was given an array"},
        {"{}", "t: variable n wants a whole number and was given an object"},
    };
    for (size_t i = 0; i < COUNT(numbers); i++) {
        char context[256];
        snprintf(context, sizeof context, "{\"n\":%s%s", numbers[i].n, rest);
        check_json(context, OWED_VARIABLE_TYPE, numbers[i].sentence);
    }
    check_json("{\"n\":1,\"d\":1e999,\"m\":1,\"b\":true,\"t\":\"\"}", OWED_VARIABLE_TYPE,
        "t: variable d wants a finite number");
    check_json("{\"n\":1,\"d\":1,\"m\":1e5,\"b\":true,\"t\":\"\"}", OWED_VARIABLE_TYPE,
        "t: variable m wants a decimal and was given a double");
    check_json("{}", OWED_MISSING_VARIABLE, "t: declared, and not given: b, d, m, n, t");
    check_json("{\"n\":1,\"x\\u0041\":1,\"d\":1,\"m\":1,\"b\":true,\"t\":\"\"}",
        OWED_UNKNOWN_VARIABLE, "t: given, and not declared: xA");
    check_json("{\"n\":1,\"d\":1,\"m\":1,\"b\":true,\"t\":\"a\\u0000b\"}", OWED_INVALID,
        "context: the value of \"t\" holds a NUL");
    check_json("[]", OWED_INVALID, "t: the context is an array, where an object would be right");
    check_json("{", OWED_INVALID,
        "t: the context is no JSON: byte 2: expected a key in quotes, found the end");
}

/* --- languages --- */

#define VARIANT(locale_, text_) \
    { \
        .locale = (locale_), .source = {.name = "hello", .variables = who, .text = (text_) } \
    }

static const owed_variable who[] = {{"who", OWED_KIND_TEXT}, {NULL, OWED_KIND_END}};

static void
the_nearest_language_is_taken_and_else_the_default(void **state)
{
    (void)state;
    static const owed_template_variant variants[] = {VARIANT("en", "Hello {who}"),
        VARIANT("PT_br", "Ol\xc3\xa1 {who}"), VARIANT("zh-Hant", "\xe4\xbd\xa0\xe5\xa5\xbd {who}"),
        VARIANT("zh", "zh {who}"), {.locale = NULL}};
    static const char *const cases[][3] = {
        {NULL, "en", "Hello Ada"},
        {"en-GB", "en", "Hello Ada"},
        {"fr", "en", "Hello Ada"},
        {"pt", "en", "Hello Ada"},
        {"pt-br", "pt-BR", "Ol\xc3\xa1 Ada"},
        {"zh_hant_tw", "zh-Hant", "\xe4\xbd\xa0\xe5\xa5\xbd Ada"},
        {"zh-Hans", "zh", "zh Ada"},
    };
    const owed_value values[] = {OWED_VALUE_TEXT("who", "Ada"), OWED_VALUES_END};
    owed_template *tmpl = NULL;
    owed_error err;
    assert_int_equal(owed_template_localized_new("hello", variants, NULL, &tmpl, &err), OWED_OK);
    for (size_t i = 0; i < COUNT(cases); i++) {
        owed_rendered got;
        assert_int_equal(owed_template_render(tmpl, cases[i][0], values, &got, &err), OWED_OK);
        assert_string_equal(got.locale, cases[i][1]);
        assert_string_equal(got.text, cases[i][2]);
        owed_rendered_done(&got);
    }
    owed_rendered got;
    assert_int_equal(
        owed_template_render(tmpl, "english", values, &got, &err), OWED_MALFORMED_LOCALE);
    owed_template_free(tmpl);

    assert_int_equal(owed_template_localized_new("hello", variants, "zh", &tmpl, &err), OWED_OK);
    assert_int_equal(
        owed_template_render_json(tmpl, "fr", "{\"who\":\"Ada\"}", &got, &err), OWED_OK);
    assert_string_equal(got.text, "zh Ada");
    owed_rendered_done(&got);
    owed_template_free(tmpl);
}

static void
check_languages(const owed_template_variant *variants, const char *fallback, owed_status wanted,
    const char *sentence)
{
    owed_template *tmpl = NULL;
    owed_error err = {0};
    assert_int_equal(owed_template_localized_new("hello", variants, fallback, &tmpl, &err), wanted);
    assert_string_equal(err.text, sentence);
    assert_null(tmpl);
}

static void
languages_that_do_not_fit_together_are_refused(void **state)
{
    (void)state;
    static const owed_variable whole[] = {{"who", OWED_KIND_INT64}, {NULL, OWED_KIND_END}};
    static const owed_variable more[] = {
        {"who", OWED_KIND_TEXT}, {"what", OWED_KIND_TEXT}, {NULL, OWED_KIND_END}};
    const owed_template_variant none[] = {{.locale = NULL}};
    check_languages(none, NULL, OWED_LOCALE, "hello: it has no variants");
    check_languages(NULL, NULL, OWED_LOCALE, "hello: it has no variants");
    check_languages((const owed_template_variant[]){VARIANT("pt-br", "{who}"),
                        VARIANT("pt_BR", "{who}"), {.locale = NULL}},
        NULL, OWED_LOCALE, "hello: two variants for pt-BR");
    check_languages((const owed_template_variant[]){VARIANT("de", "{who}"), {.locale = NULL}}, "EN",
        OWED_MISSING_LOCALE, "hello: the default is en, and there is no such variant");
    check_languages(
        (const owed_template_variant[]){VARIANT("de", "{who}"),
            {"en", {.name = "hello", .variables = whole, .text = "{who}"}}, {.locale = NULL}},
        NULL, OWED_LOCALE_MISMATCH,
        "hello: variable \"who\" is of kind text in de and int64 in en; all languages declare the same");
    check_languages(
        (const owed_template_variant[]){VARIANT("de", "{who}"),
            {"en", {.name = "hello", .variables = more, .text = "{what} {who}"}}, {.locale = NULL}},
        NULL, OWED_LOCALE_MISMATCH,
        "hello: en declares variable \"what\", and de does not; all languages declare the same");
    check_languages(
        (const owed_template_variant[]){
            {"en", {.name = "hello", .variables = more, .text = "{what} {who}"}},
            VARIANT("de", "{who}"), {.locale = NULL}},
        NULL, OWED_LOCALE_MISMATCH,
        "hello: en declares variable \"what\", and de does not; all languages declare the same");
    check_languages((const owed_template_variant[]){VARIANT("german", "{who}"), {.locale = NULL}},
        NULL, OWED_MALFORMED_LOCALE,
        "locale \"german\" is no language tag: a language of 2 or 3 letters, then subtags of 1 to 8 letters and digits, such as de, pt-BR or zh-Hant-TW");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_part_is_rendered_with_its_values),
        cmocka_unit_test(a_part_that_is_not_there_is_null),
        cmocka_unit_test(values_cannot_break_out_of_html_nor_out_of_a_subject),
        cmocka_unit_test(a_source_may_go_once_the_template_is_made),
        cmocka_unit_test(a_text_that_cannot_be_is_refused_with_its_line),
        cmocka_unit_test(variables_that_cannot_be_are_refused),
        cmocka_unit_test(a_template_has_a_name_a_text_and_a_subject_of_one_line),
        cmocka_unit_test(what_is_too_large_is_refused),
        cmocka_unit_test(missing_values_are_told_before_unknown_ones_and_those_before_wrong_kinds),
        cmocka_unit_test(each_kind_takes_its_own_values_alone),
        cmocka_unit_test(values_come_from_json_as_their_variables_want_them),
        cmocka_unit_test(json_that_does_not_fit_is_refused),
        cmocka_unit_test(the_nearest_language_is_taken_and_else_the_default),
        cmocka_unit_test(languages_that_do_not_fit_together_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
