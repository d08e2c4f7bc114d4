/* SPDX-License-Identifier: MIT
 *
 * test_templates_load.c - templates from the files of a folder, and every file that is refused.
 */
#include "../unit.h"

#include <owed/templates.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../declare/folder.h"
#include "notify/template_file.h"
#include "notify/templates.h"

static owed_templates *set;

static int
setup(void **state)
{
    (void)state;
    folder_clear();
    return mkdir("mails", 0700) == 0 && owed_templates_new(&set, NULL) == OWED_OK ? 0 : -1;
}

static int
teardown(void **state)
{
    (void)state;
    owed_templates_free(set);
    return 0;
}

static void
loaded(void)
{
    owed_error err = {0};
    if (owed_templates_load(set, "mails", &err) != OWED_OK)
        fail_msg("%s", err.text);
}

static void
refused(owed_status status, const char *sentence)
{
    owed_error err = {0};
    assert_int_equal(owed_templates_load(set, "mails", &err), status);
    assert_string_equal(err.text, sentence);
    assert_int_equal(owed_templates_count(set), 0);
}

static void
renders(const char *name, const char *locale, const char *context, owed_rendered *ret_rendered)
{
    owed_error err = {0};
    const owed_template *tmpl = NULL;
    assert_int_equal(owed_templates_find(set, name, &tmpl, NULL), OWED_OK);
    if (owed_template_render_json(tmpl, locale, context, ret_rendered, &err) != OWED_OK)
        fail_msg("%s", err.text);
}

#define HEAD "subject: Order {id}\nvariables: id text, total decimal\ndefault: en\n\n"

/* --- what a folder holds --- */

static void
a_file_has_a_header_an_empty_line_and_the_text(void **state)
{
    (void)state;
    owed_rendered got;
    folder_write("mails/bill.txt",
        "# about money\nsubject:  Bill {id} \nvariables: id text,\ttotal decimal\nvariables: n int64\n\n"
        "\n{n} items: {total:.2f}\r\n\nBye\n");
    loaded();
    renders("bill", NULL, "{\"id\":\"B-1\",\"total\":\"5.5\",\"n\":3}", &got);
    assert_string_equal(got.subject, "Bill B-1");
    assert_string_equal(got.text, "\n3 items: 5.50\r\n\nBye");
    assert_null(got.html);
    assert_null(got.locale);
    owed_rendered_done(&got);
}

static void
a_file_without_a_header_begins_with_the_empty_line(void **state)
{
    (void)state;
    owed_rendered got;
    folder_write("mails/hello.txt", "\r\nsubject: this is text\r\n");
    loaded();
    renders("hello", NULL, "{}", &got);
    assert_null(got.subject);
    assert_string_equal(got.text, "subject: this is text");
    owed_rendered_done(&got);
}

static void
languages_and_html_stand_side_by_side(void **state)
{
    (void)state;
    owed_rendered got;
    folder_write("mails/order.en.txt", HEAD "Total {total}\n");
    folder_write("mails/order.en.html", "<p>Total <b>{total}</b></p>\n");
    folder_write("mails/order.pt_br.txt",
        "subject: Pedido {id}\nvariables: total decimal, id text\n\nSoma {total}");
    folder_write("mails/other.txt", "\nx");
    loaded();
    assert_int_equal(owed_templates_count(set), 2);
    renders("order", "en-GB", "{\"id\":\"<1>\",\"total\":5}", &got);
    assert_string_equal(got.locale, "en");
    assert_string_equal(got.html, "<p>Total <b>5</b></p>");
    owed_rendered_done(&got);
    renders("order", "pt-BR", "{\"id\":\"1\",\"total\":5}", &got);
    assert_string_equal(got.locale, "pt-BR");
    assert_string_equal(got.subject, "Pedido 1");
    assert_null(got.html);
    owed_rendered_done(&got);
    renders("order", "fr", "{\"id\":\"1\",\"total\":5}", &got);
    assert_string_equal(got.locale, "en");
    owed_rendered_done(&got);
}

static void
what_an_editor_leaves_behind_is_passed_over(void **state)
{
    (void)state;
    folder_write("mails/a.txt", "\nx");
    folder_write("mails/a.txt~", "no header");
    folder_write("mails/.a.txt.swp", "no header");
    loaded();
    assert_int_equal(owed_templates_count(set), 1);
}

static void
an_empty_folder_holds_no_templates_and_no_folder_is_not_found(void **state)
{
    (void)state;
    loaded();
    assert_int_equal(owed_templates_count(set), 0);
    owed_error err = {0};
    assert_int_equal(owed_templates_load(set, "letters", &err), OWED_NOT_FOUND);
    assert_string_equal(
        err.text, "the folder of templates letters cannot be read: No such file or directory");
}

/* --- refusals --- */

static const struct {
    const char *file;
    const char *text;
    owed_status status;
    const char *sentence;
} refusals[] = {
    {"a.text", "\nx", OWED_TEMPLATE,
        "mails/a.text: a file is called NAME.txt or NAME.html, or NAME.en.txt in a language"},
    {"a b.txt", "\nx", OWED_TEMPLATE,
        "mails/a b.txt: a template's name is made of ASCII letters, digits, _ and -, up to 64 of them"},
    {"a.english.txt", "\nx", OWED_MALFORMED_LOCALE,
        "mails/a.english.txt: \"english\" is no language; a tag such as de, pt-BR or zh-Hant-TW would be right"},
    {"a..txt", "\nx", OWED_MALFORMED_LOCALE,
        "mails/a..txt: \"\" is no language; a tag such as de, pt-BR or zh-Hant-TW would be right"},
    {"a.txt", "Dear Ada,\n\nx", OWED_TEMPLATE,
        "mails/a.txt:1: \"Dear Ada,\" is none of the header's subject:, variables: and default:; an empty line would end the header"},
    {"a.txt", "# x\nsubjct: x\n\nx", OWED_TEMPLATE,
        "mails/a.txt:2: the header has no subjct; the nearest is subject"},
    {"a.txt", "subject: x\nsubject: y\n\nx", OWED_TEMPLATE,
        "mails/a.txt:2: a second subject; a template has one"},
    {"a.txt", "subject:\n\nx", OWED_TEMPLATE,
        "mails/a.txt:1: an empty subject; leave the line out where there is none"},
    {"a.en.txt", "default: en\ndefault: en\n\nx", OWED_TEMPLATE,
        "mails/a.en.txt:2: a second default; a template has one"},
    {"a.en.txt", "default: english\n\nx", OWED_MALFORMED_LOCALE,
        "mails/a.en.txt:1: \"english\" is no language; a tag such as de, pt-BR or zh-Hant-TW would be right"},
    {"a.en.txt", "default: de\n\nx", OWED_MISSING_LOCALE,
        "mails/a.en.txt:1: the default is de, and there is no a.de.txt"},
    {"a.txt", "default: de\n\nx", OWED_LOCALE,
        "mails/a.txt:1: a default is for templates in several languages; this file has none in its name"},
    {"a.txt", "variables: total\n\n{total}", OWED_TEMPLATE,
        "mails/a.txt:1: variables are written as name and kind, with commas between them: total decimal, order_id text"},
    {"a.txt", "variables: n int64, \n\n{n}", OWED_TEMPLATE,
        "mails/a.txt:1: variables are written as name and kind, with commas between them: total decimal, order_id text"},
    {"a.txt", "variables: n number\n\n{n}", OWED_TEMPLATE,
        "mails/a.txt:1: \"number\" is no kind of variable; text, bool, int64, double or decimal would be right"},
    {"a.txt", "subject: x\nvariables: 1n text\n\nx", OWED_TEMPLATE,
        "mails/a.txt:2: a variable is called \"1n\", where ASCII letters, digits and _, no digit first, up to 64 characters, would be right"},
    {"a.txt", "variables: n text, n text\n\n{n}", OWED_TEMPLATE,
        "mails/a.txt:1: variable \"n\" is declared twice"},
    {"a.txt", "subject: x\nvariables: n text\n\nx", OWED_TEMPLATE,
        "mails/a.txt:2: variable \"n\" is declared and stands in no part of the template"},
    {"a.txt", "variables: total text\n\none\ntwo {totl}\n", OWED_TEMPLATE,
        "mails/a.txt:4: placeholder totl: no such variable is declared (did you mean \"total\"?)"},
    {"a.txt", "# x\nsubject: {\n\nx", OWED_TEMPLATE,
        "mails/a.txt:2: a { that nothing closes; {{ writes one"},
    {"a.txt", "subject: x", OWED_TEMPLATE,
        "mails/a.txt:1: an empty line ends the header, and the text follows it; there is none"},
    {"a.txt", "", OWED_TEMPLATE,
        "mails/a.txt:1: an empty line ends the header, and the text follows it; there is none"},
    {"a.txt", "subject: x\n\n\n", OWED_TEMPLATE, "mails/a.txt:3: no text follows the header"},
    {"a.txt", "\xef\xbb\xbf\nx", OWED_TEMPLATE,
        "mails/a.txt:1: it begins with a byte order mark; UTF-8 without one would be right"},
    {"a.txt", "\nx\n\xff", OWED_TEMPLATE, "mails/a.txt:3: a byte that is no UTF-8"},
    {"a.html", "<p>", OWED_TEMPLATE,
        "mails/a.html: it needs its text beside it, in a file that ends in .txt and else has the same name"},
};

static void
each_file_that_cannot_be_is_refused_with_its_line_and_what_would_be_right(void **state)
{
    for (size_t i = 0; i < COUNT(refusals); i++) {
        char path[64];
        owed_error err = {0};
        snprintf(path, sizeof path, "mails/%s", refusals[i].file);
        folder_write(path, refusals[i].text);
        owed_status status = owed_templates_load(set, "mails", &err);
        if (status != refusals[i].status || strcmp(err.text, refusals[i].sentence) != 0)
            fail_msg("case %zu: %d: %s", i, status, err.text);
        assert_int_equal(unlink(path), 0);
    }
    (void)state;
    assert_int_equal(owed_templates_count(set), 0);
}

static void
a_line_of_the_html_is_named_too(void **state)
{
    (void)state;
    folder_write("mails/a.txt", "\nx");
    folder_write("mails/a.html", "<p>\n{name}</p>");
    refused(OWED_TEMPLATE, "mails/a.html:2: placeholder name: no such variable is declared");
}

static void
languages_that_do_not_fit_together_are_refused(void **state)
{
    (void)state;
    folder_write("mails/a.en.txt", "\nx");
    folder_write("mails/a.de.txt", "\nx");
    refused(OWED_LOCALE,
        "mails/a.de.txt:1: none of 2 languages is the default; a header with default: de would say that this is");
    folder_write("mails/a.de.txt", "default: de\n\nx");
    folder_write("mails/a.en.txt", "# x\ndefault: en\n\nx");
    refused(OWED_LOCALE,
        "mails/a.en.txt:2: the default is en here and de in mails/a.de.txt:1; one is right");
    folder_write("mails/a.en.txt", "subject: {n}\nvariables: n text\n\nx");
    refused(OWED_LOCALE_MISMATCH,
        "mails/a.en.txt:2: en declares variable \"n\", and de does not; all languages declare the same");
    folder_write("mails/a.en.txt", "default: de\n\nx");
    folder_write("mails/a.txt", "\nx");
    refused(OWED_LOCALE,
        "mails/a.txt: it has no language in its name, and mails/a.de.txt has one; all of a template's files do, or none");
    assert_int_equal(unlink("mails/a.txt"), 0);
    folder_write("mails/a.DE.txt", "\nx");
    refused(OWED_LOCALE, "mails/a.de.txt:1: two variants for de");
}

static void
a_folder_of_links_is_read(void **state)
{
    (void)state;
    assert_int_equal(mkdir("mails/..data", 0700), 0); // as Kubernetes mounts a ConfigMap
    folder_write("mails/..data/a.txt", "\nx");
    assert_int_equal(symlink("..data/a.txt", "mails/a.txt"), 0);
    loaded();
    assert_int_equal(owed_templates_count(set), 1);
    assert_int_equal(unlink("mails/a.txt"), 0);
    assert_int_equal(unlink("mails/..data/a.txt"), 0);
    assert_int_equal(rmdir("mails/..data"), 0);
}

static void
only_plain_files_are_read(void **state)
{
    (void)state;
    assert_int_equal(symlink("a.txt", "mails/a.txt"), 0);
    refused(OWED_CONFIG, "mails/a.txt cannot be opened: Too many levels of symbolic links");
    assert_int_equal(unlink("mails/a.txt"), 0);
    assert_int_equal(mkfifo("mails/a.txt", 0600), 0);
    refused(OWED_TEMPLATE, "mails/a.txt: no plain file; a template is one");
    assert_int_equal(unlink("mails/a.txt"), 0);
    assert_int_equal(mkdir("mails/a.txt", 0700), 0);
    refused(OWED_TEMPLATE, "mails/a.txt: no plain file; a template is one");
}

static void
a_file_over_a_mebibyte_is_refused(void **state)
{
    (void)state;
    char *text = malloc(1024 * 1024 + 2);
    assert_non_null(text);
    memset(text, 'x', 1024 * 1024 + 1);
    text[0] = '\n';
    text[1024 * 1024] = '\0';
    folder_write("mails/a.txt", text);
    loaded();
    assert_int_equal(owed_templates_count(set), 1);
    owed_templates_free(set);
    assert_int_equal(owed_templates_new(&set, NULL), OWED_OK);
    text[1024 * 1024] = 'x';
    text[1024 * 1024 + 1] = '\0';
    folder_write("mails/a.txt", text);
    free(text);
    refused(OWED_LIMIT, "mails/a.txt: over 1048576 bytes");
}

static void
a_folder_is_added_whole_or_not_at_all(void **state)
{
    (void)state;
    owed_template *own = NULL;
    owed_error err = {0};
    assert_int_equal(
        owed_template_new(&(owed_template_source){.name = "b", .text = "mine"}, &own, NULL),
        OWED_OK);
    assert_int_equal(owed_templates_add(set, own, NULL), OWED_OK);
    folder_write("mails/a.txt", "\nx");
    folder_write("mails/b.txt", "\nx");
    assert_int_equal(owed_templates_load(set, "mails", &err), OWED_TEMPLATE);
    assert_string_equal(
        err.text, "there is a template called \"b\" already; each needs a name of its own");
    assert_int_equal(owed_templates_count(set), 1);
    assert_int_equal(unlink("mails/b.txt"), 0);
    loaded();
    assert_int_equal(owed_templates_count(set), 2);
}

static void
count_finding(void *state, const char *sentence)
{
    (void)sentence;
    ++*(int *)state;
}

static void
a_scan_finds_everything_that_is_wrong_and_keeps_what_is_right(void **state)
{
    (void)state;
    int found = 0;
    const struct templates_visitor visitor = {count_finding, &found};
    folder_write("mails/a.txt", "no header");
    folder_write("mails/b.txt", "\nx");
    folder_write("mails/c.txt", "\n{n}");
    folder_write("mails/d.pdf", "x");
    assert_int_equal(templates_scan(set, "mails", &visitor, NULL), OWED_OK);
    assert_int_equal(found, 3);
    assert_int_equal(owed_templates_count(set), 1);
}

#define TEST(name_) cmocka_unit_test_setup_teardown(name_, setup, teardown)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_file_has_a_header_an_empty_line_and_the_text),
        TEST(a_file_without_a_header_begins_with_the_empty_line),
        TEST(languages_and_html_stand_side_by_side),
        TEST(what_an_editor_leaves_behind_is_passed_over),
        TEST(an_empty_folder_holds_no_templates_and_no_folder_is_not_found),
        TEST(each_file_that_cannot_be_is_refused_with_its_line_and_what_would_be_right),
        TEST(a_line_of_the_html_is_named_too),
        TEST(languages_that_do_not_fit_together_are_refused),
        TEST(a_folder_of_links_is_read),
        TEST(only_plain_files_are_read),
        TEST(a_file_over_a_mebibyte_is_refused),
        TEST(a_folder_is_added_whole_or_not_at_all),
        TEST(a_scan_finds_everything_that_is_wrong_and_keeps_what_is_right),
    };
    return cmocka_run_group_tests(tests, folder_setup, folder_teardown);
}
