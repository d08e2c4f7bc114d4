/* SPDX-License-Identifier: MIT
 *
 * test_ini.c - what a configuration file says, and how it is refused.
 */
#include "../unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/ini.h"
#include "base/limits.h"

/* Writes "1[section:sub]" and "2key=<value>" for what it is told. */
static owed_status
collect(void *state, int line, const char *section, const char *subsection, const char *key,
    const char *value, owed_error *err)
{
    if (key == NULL)
        buf_printf(state, "%d[%s:%s]", line, section, subsection);
    else
        buf_printf(state, "%d%s=<%s>", line, key, value);
    if (key != NULL && strcmp(key, "refuse") == 0)
        return fail(err, OWED_LIMIT, "refused by the entry");
    return OWED_OK;
}

static struct buf said;
static owed_error err;

static owed_status
parse(const char *text)
{
    buf_clear(&said);
    return ini_parse(str_of(text), "owed.conf", collect, &said, &err);
}

static int
begin(void **state)
{
    (void)state;
    buf_init(&said, 1 << 20);
    return 0;
}

static int
end(void **state)
{
    (void)state;
    buf_done(&said);
    return 0;
}

static void
sections_keys_and_values_are_told_with_their_lines(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *told;
    } cases[] = {
        {"", ""},
        {"\n\n  \t\n", ""},
        {"# one\n; two\n  # three", ""},
        {"[store]\nurl = sqlite:shop.db", "1[store:]2url=<sqlite:shop.db>"},
        {"[receiver \"shop.billing\"]\r\nlane=hooks\r\n", "1[receiver:shop.billing]2lane=<hooks>"},
        {"[ receiver  \"a\" ] # note\n", "1[receiver:a]"},
        {"[r \"a \\\"b\\\\ ]\"]", "1[r:a \"b\\ ]]"},
        {"\xef\xbb\xbf[a]\nk=v", "1[a:]2k=<v>"},
        {"[a]\nk =", "1[a:]2k=<>"},
        {"[a]\nk = # nothing", "1[a:]2k=<>"},
        {"[a]\nk = \"\"", "1[a:]2k=<>"},
        {"[a]\nk =  two  words \t", "1[a:]2k=<two  words>"},
        {"[a]\nk = \" kept \\\" \\\\ # ; \" # note", "1[a:]2k=< kept \" \\ # ; >"},
        {"[a]\nk = a#b;c # note", "1[a:]2k=<a#b;c>"},
        {"[a]\nk = a ; note", "1[a:]2k=<a>"},
        {"[a]\nk = sh -c \"echo # ; x\" # note", "1[a:]2k=<sh -c \"echo # ; x\">"},
        {"[a]\nk = C:\\dir\\", "1[a:]2k=<C:\\dir\\>"},
        {"[a]\nk = x = y", "1[a:]2k=<x = y>"},
        {"[a]\nk = \xc3\xa4", "1[a:]2k=<\xc3\xa4>"},
        {"[a]\nk=1\n[b]\nk=2\n[a \"x\"]\nk=3", "1[a:]2k=<1>3[b:]4k=<2>5[a:x]6k=<3>"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        check_case(parse(cases[i].text) == OWED_OK, cases[i].text);
        assert_string_equal(buf_text(&said), cases[i].told);
    }
}

static void
a_bad_line_is_refused_with_its_place_and_what_would_be_right(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *sentence;
    } cases[] = {
        {"k = v", "owed.conf:1: k stands before the first [section]"},
        {"[a]\n\nword",
            "owed.conf:3: expected [section], key = value, or a comment, found \"word\" without a ="},
        {"[a]\n= v", "owed.conf:2: expected [section], key = value, or a comment"},
        {"[a]\nk v = 1",
            "owed.conf:2: expected [section], key = value, or a comment, found \"k\" without a ="},
        {"[]", "owed.conf:1: expected a section's name after [, of letters, digits, - and _"},
        {"[a", "owed.conf:1: expected [section] or [section \"name\"] alone on its line"},
        {"[a] k = v", "owed.conf:1: expected [section] or [section \"name\"] alone on its line"},
        {"[a b]", "owed.conf:1: expected [section] or [section \"name\"] alone on its line"},
        {"[a \"b]", "owed.conf:1: a quote is not closed; write \\\" for a quote inside quotes"},
        {"[a]\nk = \"v",
            "owed.conf:2: a quote is not closed; write \\\" for a quote inside quotes"},
        {"[a]\nk = 5\" wide",
            "owed.conf:2: a quote is not closed; write \\\" for a quote inside quotes"},
        {"[a]\nk = \"v\\\"",
            "owed.conf:2: a quote is not closed; write \\\" for a quote inside quotes"},
        {"[a]\nk = \"a\\n\"",
            "owed.conf:2: inside quotes a backslash may only stand before \" or \\"},
        {"[a]\nk = \"v\" w", "owed.conf:2: expected the end of the line after the closing quote"},
        {"[a]\nk = 1\nk = 2", "owed.conf:3: k is already set in line 2"},
        {"[a]\nk = 1\n[b]\n[a]\nk = 2", "owed.conf:5: k is already set in line 2"},
        {"[a]\nk = \xff", "owed.conf:2: the line is not UTF-8 text"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        check_case(parse(cases[i].text) == OWED_CONFIG, cases[i].text);
        assert_string_equal(err.text, cases[i].sentence);
    }
    assert_int_equal(ini_parse((struct str){"[a]\n\0", 5}, "x", collect, &said, &err), OWED_CONFIG);
}

static void
the_entrys_own_refusal_ends_the_reading(void **state)
{
    (void)state;
    assert_int_equal(parse("[a]\nrefuse = 1\nk = 2"), OWED_LIMIT);
    assert_string_equal(err.text, "refused by the entry");
    assert_string_equal(buf_text(&said), "1[a:]2refuse=<1>");
}

static void
a_line_may_be_long_but_not_without_end(void **state)
{
    (void)state;
    char *text = malloc(LIMIT_CONFIG_LINE_BYTES + 10);
    assert_non_null(text);
    memset(text, '#', LIMIT_CONFIG_LINE_BYTES + 1);
    text[LIMIT_CONFIG_LINE_BYTES] = '\0';
    assert_int_equal(parse(text), OWED_OK);
    text[LIMIT_CONFIG_LINE_BYTES] = '#';
    text[LIMIT_CONFIG_LINE_BYTES + 1] = '\0';
    assert_int_equal(parse(text), OWED_CONFIG);
    assert_string_equal(err.text, "owed.conf:1: the line is longer than 16384 bytes");
    free(text);
}

static void
write_file(const char *path, size_t comment_bytes)
{
    FILE *file = fopen(path, "we");
    assert_non_null(file);
    fputs("[a]\nk = v\n", file);
    for (size_t i = 0; i < comment_bytes; i += 2)
        fputs("#\n", file);
    fclose(file);
}

static void
a_file_is_read_whole_or_refused_by_its_path(void **state)
{
    (void)state;
    char path[] = "/tmp/owed-test-ini-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    write_file(path, 100);
    buf_clear(&said);
    assert_int_equal(ini_read(path, collect, &said, &err), OWED_OK);
    assert_string_equal(buf_text(&said), "1[a:]2k=<v>");
    write_file(path, LIMIT_CONFIG_BYTES);
    assert_int_equal(ini_read(path, collect, &said, &err), OWED_CONFIG);
    unlink(path);
    assert_int_equal(ini_read(path, collect, &said, &err), OWED_NOT_FOUND);
    assert_non_null(strstr(err.text, path));
    assert_int_equal(ini_read("/tmp", collect, &said, &err), OWED_CONFIG);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sections_keys_and_values_are_told_with_their_lines),
        cmocka_unit_test(a_bad_line_is_refused_with_its_place_and_what_would_be_right),
        cmocka_unit_test(the_entrys_own_refusal_ends_the_reading),
        cmocka_unit_test(a_line_may_be_long_but_not_without_end),
        cmocka_unit_test(a_file_is_read_whole_or_refused_by_its_path),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
