/* SPDX-License-Identifier: MIT
 *
 * options.c - any command line and any file's values are taken or refused, and nothing leaks.
 */
#include "base/options.h"

#include <string.h>

#include "fuzz.h"

#define MOST_WORDS 30

static const struct option table[] = {
    {.name = "config", .letter = 'c', .type = OPTION_TEXT, .argument = "FILE", .help = "file"},
    {.name = "batch-size",
        .letter = 'b',
        .type = OPTION_INT,
        .argument = "N",
        .section = "relay",
        .min = 1,
        .max = 10000,
        .fallback = "50",
        .help = "rows"},
    {.name = "lease", .type = OPTION_DURATION, .argument = "T", .section = "relay", .help = "time"},
    {.name = "due", .type = OPTION_TIME, .argument = "T", .section = "relay", .help = "time"},
    {.name = "lane", .type = OPTION_LIST, .argument = "L", .section = "relay", .help = "lane"},
    {.name = "json", .letter = 'j', .type = OPTION_BOOL, .section = "relay", .help = "json"},
    {0},
};

static void
check_values(const struct options *options)
{
    int64_t batch = options_number(options, "batch-size");
    must(batch >= 1 && batch <= 10000);
    must(options_number(options, "lease") >= 0);
    int64_t json = options_number(options, "json");
    must(json == 0 || json == 1);
    for (const char *const *lane = options_list(options, "lane"); *lane != NULL; lane++)
        must((*lane)[0] != '\0');
}

/* split cuts the text into words at line ends, in place. */
static int
split(char *text, char **words)
{
    int count = 0;
    words[count++] = text;
    for (char *p = text; *p != '\0' && count < MOST_WORDS; p++)
        if (*p == '\n') {
            *p = '\0';
            words[count++] = p + 1;
        }
    words[count] = NULL;
    return count;
}

static void
set_from_file(struct options *options, char **words, int count)
{
    owed_error err;
    for (int i = 0; i + 1 < count; i += 2) {
        owed_status status =
            options_set(options, "relay", words[i], words[i + 1], SOURCE_FILE, "fuzz.conf:1", &err);
        must(status == OWED_OK || status == OWED_CONFIG);
        must(status == OWED_OK || memcmp(err.text, "fuzz.conf:1: ", 13) == 0);
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct option *const tables[] = {table, NULL};
    struct options *options;
    must(options_new(tables, 1000000, &options, NULL) == OWED_OK);
    char *text = malloc(size + 1);
    must(text != NULL);
    memcpy(text, data, size);
    text[size] = '\0';
    char *words[MOST_WORDS + 1];
    int count = split(text, words);
    set_from_file(options, words, count);
    check_values(options);
    char **operands;
    if (options_read_flags(options, count, words, &operands, NULL) == OWED_OK)
        while (*operands != NULL)
            must(strlen(*operands++) <= size);
    check_values(options);
    free(text);
    options_free(options);
    return 0;
}
