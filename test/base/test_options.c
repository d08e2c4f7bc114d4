/* SPDX-License-Identifier: MIT
 *
 * test_options.c - one table for flags, environment, file, --help and the manual page.
 */
#include "../unit.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/options.h"

static const struct option common[] = {
    {.name = "config",
        .letter = 'c',
        .type = OPTION_TEXT,
        .argument = "FILE",
        .help = "read settings from FILE"},
    {.name = "json", .letter = 'j', .type = OPTION_BOOL, .help = "write JSON"},
    {.name = "quiet", .letter = 'q', .type = OPTION_BOOL, .help = "say nothing"},
    {0},
};

static const struct option settings[] = {
    {.name = "store",
        .type = OPTION_TEXT,
        .argument = "URL",
        .section = "store",
        .key = "url",
        .help = "where deliveries are kept"},
    {.name = "batch-size",
        .type = OPTION_INT,
        .argument = "N",
        .section = "relay",
        .min = 1,
        .max = 10000,
        .fallback = "50",
        .help = "rows of one claim"},
    {.name = "passes",
        .type = OPTION_INT,
        .argument = "N",
        .section = "relay",
        .min = 1,
        .help = "stop after N claims"},
    {.name = "lease",
        .type = OPTION_DURATION,
        .argument = "T",
        .section = "relay",
        .fallback = "5m",
        .help = "how long a claim holds"},
    {.name = "due", .type = OPTION_TIME, .argument = "T", .help = "not before T"},
    {.name = "lane",
        .type = OPTION_LIST,
        .argument = "LANE",
        .section = "relay",
        .fallback = "default",
        .help = "serve this lane"},
    {.name = "publish",
        .type = OPTION_BOOL,
        .section = "relay",
        .fallback = "true",
        .help = "publish at start"},
    {0},
};

#define NOW_US INT64_C(1000000)

static struct options *options;
static owed_error err;

static int
begin(void **state)
{
    (void)state;
    static const struct option *const tables[] = {common, settings, NULL};
    assert_int_equal(options_new(tables, NOW_US, &options, &err), OWED_OK);
    return 0;
}

static int
end(void **state)
{
    (void)state;
    options_free(options);
    return 0;
}

/* flags reads a command line of up to nine words, and writes its operands, "|" between them. */
static owed_status
flags(const char *const *words, char *operands, size_t size)
{
    static char copies[10][64];
    char *argv[11] = {copies[9]};
    int argc = 1;
    for (; words[argc - 1] != NULL; argc++) {
        snprintf(copies[argc - 1], sizeof copies[0], "%s", words[argc - 1]);
        argv[argc] = copies[argc - 1];
    }
    char **rest = NULL;
    owed_status status = options_read_flags(options, argc, argv, &rest, &err);
    operands[0] = '\0';
    for (; status == OWED_OK && *rest != NULL; rest++)
        snprintf(operands + strlen(operands), size - strlen(operands), "%s|", *rest);
    return status;
}

#define FLAGS(...) flags((const char *const[]){__VA_ARGS__, NULL}, operands, sizeof operands)

static owed_status
file(const char *section, const char *key, const char *text)
{
    return options_set(options, section, key, text, SOURCE_FILE, "owed.conf:3", &err);
}

static void
fallbacks_hold_until_something_is_said(void **state)
{
    (void)state;
    assert_null(options_text(options, "store"));
    assert_int_equal(options_number(options, "batch-size"), 50);
    assert_int_equal(options_number(options, "lease"), 300 * NOW_US);
    assert_int_equal(options_number(options, "publish"), 1);
    assert_int_equal(options_number(options, "json"), 0);
    assert_string_equal(options_list(options, "lane")[0], "default");
    assert_null(options_list(options, "lane")[1]);
    assert_false(options_is_set(options, "batch-size"));
}

static void
flags_are_read_in_every_gnu_form_and_operands_are_left(void **state)
{
    (void)state;
    char operands[256];
    assert_int_equal(FLAGS("one", "--batch-size", "7", "--store=sqlite:x=y", "-", "-qjcfile", "two",
                         "--", "--lease"),
        OWED_OK);
    assert_string_equal(operands, "one|-|two|--lease|");
    assert_int_equal(options_number(options, "batch-size"), 7);
    assert_true(options_is_set(options, "batch-size"));
    assert_string_equal(options_text(options, "store"), "sqlite:x=y");
    assert_string_equal(options_text(options, "config"), "file");
    assert_int_equal(options_number(options, "quiet"), 1);
    assert_int_equal(options_number(options, "json"), 1);
    assert_int_equal(FLAGS("--no-publish", "--no-json", "-c", "other", "--due", "+90s"), OWED_OK);
    assert_string_equal(operands, "");
    assert_int_equal(options_number(options, "publish"), 0);
    assert_int_equal(options_number(options, "json"), 0);
    assert_string_equal(options_text(options, "config"), "other");
    assert_int_equal(options_number(options, "due"), 91 * NOW_US);
    assert_int_equal(FLAGS("--due=1970-01-01T00:00:05Z"), OWED_OK);
    assert_int_equal(options_number(options, "due"), 5 * NOW_US);
}

static void
a_command_line_is_copied_without_one_of_its_options(void **state)
{
    (void)state;
    static char text[][16] = {"one", "-q", "--store", "x", "-jc", "--store", "-cfile", "--store=y",
        "--lease", "--store", "-", "--no-publish", "--", "--store", "z"};
    static const char *const kept =
        "one|-q|-jc|--store|-cfile|--lease|--store|-|--no-publish|--|--store|z|";
    char *argv[COUNT(text) + 1] = {NULL};
    char *list[COUNT(text) + 1];
    char words[256] = "";
    for (size_t i = 0; i < COUNT(text); i++)
        argv[i] = text[i];
    options_without(options, argv, "store", list);
    for (char **word = list; *word != NULL; word++)
        snprintf(words + strlen(words), sizeof words - strlen(words), "%s|", *word);
    assert_string_equal(words, kept);
}

static void
a_bad_command_line_is_refused_with_what_would_be_right(void **state)
{
    (void)state;
    static const struct {
        const char *words[3];
        const char *sentence;
    } cases[] = {
        {{"--batch"}, "there is no option --batch; the nearest is --batch-size"},
        {{"--batchsize", "7"}, "there is no option --batchsize; the nearest is --batch-size"},
        {{"--elephant"}, "there is no option --elephant"},
        {{"--no-store"}, "there is no option --no-store"},
        {{"--no-json=1"}, "there is no option --no-json"},
        {{"-x"}, "there is no option -x"},
        {{"-jx"}, "there is no option -x"},
        {{"--json=true"}, "--json takes no value, found \"true\""},
        {{"--batch-size"}, "--batch-size needs a value: --batch-size N"},
        {{"-c"}, "--config needs a value: --config FILE"},
        {{"--batch-size", "0"}, "--batch-size: expected 1 to 10000, found \"0\""},
        {{"--batch-size", "10001"}, "--batch-size: expected 1 to 10000, found \"10001\""},
        {{"--batch-size", "7x"}, "--batch-size: expected a whole number, found \"7x\""},
        {{"--batch-size", " 7"}, "--batch-size: expected a whole number, found \" 7\""},
        {{"--batch-size="}, "--batch-size: expected a whole number, found \"\""},
        {{"--batch-size", "99999999999999999999"},
            "--batch-size: expected 1 to 10000, found \"99999999999999999999\""},
        {{"--batch-size", "-99999999999999999999"},
            "--batch-size: expected 1 to 10000, found \"-99999999999999999999\""},
        {{"--passes", "99999999999999999999"},
            "--passes: expected 1 to 9223372036854775807, found \"99999999999999999999\""},
        {{"--passes", "0"}, "--passes: expected at least 1, found \"0\""},
        {{"--lease", "5"},
            "--lease: expected a duration such as 90s, 5m, 1h30m or 250ms, 3660d at most, found \"5\""},
        {{"--due", "noon"},
            "--due: expected a time such as 2026-11-29T15:04:05Z, or +90s from now, found "
            "\"noon\""},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char operands[64];
        check_case(
            flags(cases[i].words, operands, sizeof operands) == OWED_INVALID, cases[i].sentence);
        assert_string_equal(err.text, cases[i].sentence);
    }
}

static void
a_flag_wins_over_the_environment_and_that_over_the_file_in_any_order(void **state)
{
    (void)state;
    char operands[64];
    setenv("OWED_BATCH_SIZE", "20", 1);
    setenv("OWED_STORE", "", 1);
    setenv("OWED_DUE", "nonsense", 1); // stands in no section: not read
    assert_int_equal(file("relay", "batch-size", "10"), OWED_OK);
    assert_int_equal(options_number(options, "batch-size"), 10);
    assert_int_equal(options_read_environment(options, &err), OWED_OK);
    assert_int_equal(options_number(options, "batch-size"), 20);
    assert_null(options_text(options, "store"));
    assert_int_equal(FLAGS("--batch-size=30"), OWED_OK);
    assert_int_equal(options_read_environment(options, &err), OWED_OK);
    assert_int_equal(file("relay", "batch-size", "10"), OWED_OK);
    assert_int_equal(options_number(options, "batch-size"), 30);
    // Overruled, and still refused where it is wrong.
    assert_int_equal(file("relay", "batch-size", "ten"), OWED_CONFIG);
    setenv("OWED_BATCH_SIZE", "twenty", 1);
    assert_int_equal(options_read_environment(options, &err), OWED_INVALID);
    assert_string_equal(err.text, "OWED_BATCH_SIZE: expected a whole number, found \"twenty\"");
    unsetenv("OWED_BATCH_SIZE");
    unsetenv("OWED_STORE");
    unsetenv("OWED_DUE");
}

static void
a_file_uses_its_own_keys_and_only_in_their_section(void **state)
{
    (void)state;
    assert_int_equal(file("store", "url", "sqlite:shop.db"), OWED_OK);
    assert_string_equal(options_text(options, "store"), "sqlite:shop.db");
    static const struct {
        const char *section, *key, *text, *sentence;
    } cases[] = {
        {"store", "store", "x",
            "owed.conf:3: [store] has no key store; in [store] it is called "
            "url"},
        {"store", "lease", "1s",
            "owed.conf:3: [store] has no key lease; in [relay] it is called "
            "lease"},
        {"relay", "leese", "1s", "owed.conf:3: [relay] has no key leese; the nearest is lease"},
        {"relay", "due", "+1s", "owed.conf:3: [relay] has no key due"},
        {"relay", "lease", "x",
            "owed.conf:3: lease: expected a duration such as 90s, 5m, 1h30m or "
            "250ms, 3660d at most, found \"x\""},
        {"relay", "lease", "4000d",
            "owed.conf:3: lease: expected a duration such as 90s, 5m, "
            "1h30m or 250ms, 3660d at most, found \"4000d\""},
        {"relay", "publish", "maybe",
            "owed.conf:3: publish: expected true or false, found "
            "\"maybe\""},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        check_case(
            file(cases[i].section, cases[i].key, cases[i].text) == OWED_CONFIG, cases[i].sentence);
        assert_string_equal(err.text, cases[i].sentence);
    }
}

static void
a_bool_is_spelt_in_four_ways_outside_the_command_line(void **state)
{
    (void)state;
    static const char *const words[] = {"false", "true", "no", "yes", "off", "on", "0", "1"};
    for (int i = 0; i < (int)COUNT(words); i++) {
        assert_int_equal(file("relay", "publish", words[i]), OWED_OK);
        assert_int_equal(options_number(options, "publish"), i % 2);
    }
}

static void
a_list_adds_up_flags_and_splits_other_texts_at_commas(void **state)
{
    (void)state;
    char operands[64];
    assert_int_equal(file("relay", "lane", " a , b,,c "), OWED_OK);
    const char *const *lanes = options_list(options, "lane");
    assert_string_equal(lanes[0], "a");
    assert_string_equal(lanes[1], "b");
    assert_string_equal(lanes[2], "c");
    assert_null(lanes[3]);
    assert_int_equal(FLAGS("--lane", "x", "--lane=y"), OWED_OK);
    lanes = options_list(options, "lane");
    assert_string_equal(lanes[0], "x");
    assert_string_equal(lanes[1], "y");
    assert_null(lanes[2]);
    assert_int_equal(file("relay", "lane", ""), OWED_OK);
    assert_string_equal(options_list(options, "lane")[1], "y");
}

static void
a_table_that_contradicts_itself_is_a_bug(void **state)
{
    (void)state;
    static const struct option wrong[] = {
        {.name = "n", .type = OPTION_INT, .argument = "N", .fallback = "many", .help = "x"},
        {0},
    };
    static const struct option *const twice[] = {common, common, NULL};
    static const struct option *const bad[] = {wrong, NULL};
    struct options *other = NULL;
    assert_int_equal(options_new(twice, 0, &other, &err), OWED_BUG);
    assert_int_equal(options_new(bad, 0, &other, &err), OWED_BUG);
    assert_null(other);
}

static void
help_is_in_columns_and_shows_fallbacks(void **state)
{
    (void)state;
    struct buf text;
    buf_init(&text, 1 << 16);
    options_help(common, &text);
    options_help(settings, &text);
    assert_string_equal(buf_text(&text),
        "  -c, --config FILE  read settings from FILE\n"
        "  -j, --json         write JSON\n"
        "  -q, --quiet        say nothing\n"
        "      --store URL     where deliveries are kept\n"
        "      --batch-size N  rows of one claim (default: 50)\n"
        "      --passes N      stop after N claims\n"
        "      --lease T       how long a claim holds (default: 5m)\n"
        "      --due T         not before T\n"
        "      --lane LANE     serve this lane; may come several times (default: default)\n"
        "      --[no-]publish  publish at start (default: true)\n");
    buf_done(&text);
}

static void
help_too_long_for_a_line_goes_on_in_its_column(void **state)
{
    (void)state;
    static const struct option table[] = {
        {.name = "poll",
            .type = OPTION_DURATION,
            .argument = "TIME",
            .fallback = "1s",
            .help =
                "how long an idle relay waits at most; longer while wake-ups are seen to arrive"},
        {.name = "log",
            .type = OPTION_TEXT,
            .argument = "W",
            .help =
                "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa b"},
        {0},
    };
    struct buf text;
    buf_init(&text, 1 << 16);
    options_help(table, &text);
    assert_string_equal(buf_text(&text),
        "      --poll TIME  how long an idle relay waits at most; longer while wake-ups\n"
        "                   are seen to arrive (default: 1s)\n"
        "      --log W      "
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n"
        "                   b\n");
    buf_done(&text);
}

static void
the_manual_page_names_every_place_an_option_is_spelt_in(void **state)
{
    (void)state;
    static const struct option table[] = {
        {.name = "store",
            .letter = 's',
            .type = OPTION_TEXT,
            .argument = "URL",
            .section = "store",
            .key = "url",
            .fallback = ".\\owed.db",
            .help = "where deliveries are kept"},
        {.name = "lane", .type = OPTION_LIST, .argument = "LANE", .help = ".lane served"},
        {0},
    };
    struct buf text;
    buf_init(&text, 1 << 16);
    options_mdoc(table, &text);
    assert_string_equal(buf_text(&text),
        ".Bl -tag -width Ds\n"
        ".It Fl s , Fl -store Ar URL\n"
        "Where deliveries are kept.\n"
        "The default is\n"
        ".Ql \\&.\\eowed.db .\n"
        "Also\n"
        ".Ev OWED_STORE\n"
        "in the environment, and\n"
        ".Ic url\n"
        "in section\n"
        ".Ic [store]\n"
        "of\n"
        ".Xr owed.conf 5 .\n"
        ".It Fl -lane Ar LANE\n"
        "\\&.lane served.\n"
        "May be given several times.\n"
        ".El\n");
    buf_done(&text);
}

static void
the_nearest_word_is_near(void **state)
{
    (void)state;
    static const char *const words[] = {"lease", "lane", "release", "batch-size", NULL};
    static const struct {
        const char *word, *near;
    } cases[] = {
        {"leases", "lease"},
        {"laen", NULL},
        {"lan", "lane"},
        {"batch_size", "batch-size"},
        {"bat", "batch-size"},
        {"ba", NULL},
        {"elephant", NULL},
        {"", NULL},
        {"a-word-that-is-far-too-long-for-any-option-that-anybody-would-declare-in-a-table", NULL},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        const char *found = nearest(cases[i].word, words);
        if (cases[i].near == NULL)
            check_case(found == NULL, cases[i].word);
        else
            check_case(found != NULL && strcmp(found, cases[i].near) == 0, cases[i].word);
    }
}

#define TEST(function_) cmocka_unit_test_setup_teardown(function_, begin, end)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(fallbacks_hold_until_something_is_said),
        TEST(flags_are_read_in_every_gnu_form_and_operands_are_left),
        TEST(a_command_line_is_copied_without_one_of_its_options),
        TEST(a_bad_command_line_is_refused_with_what_would_be_right),
        TEST(a_flag_wins_over_the_environment_and_that_over_the_file_in_any_order),
        TEST(a_file_uses_its_own_keys_and_only_in_their_section),
        TEST(a_bool_is_spelt_in_four_ways_outside_the_command_line),
        TEST(a_list_adds_up_flags_and_splits_other_texts_at_commas),
        cmocka_unit_test(a_table_that_contradicts_itself_is_a_bug),
        cmocka_unit_test(help_is_in_columns_and_shows_fallbacks),
        cmocka_unit_test(help_too_long_for_a_line_goes_on_in_its_column),
        cmocka_unit_test(the_manual_page_names_every_place_an_option_is_spelt_in),
        cmocka_unit_test(the_nearest_word_is_near),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
