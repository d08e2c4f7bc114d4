/* SPDX-License-Identifier: MIT
 *
 * raw_sql.c - a plain connection for tests that are no C: what test_store.h and raw.h do, as a program.
 *
 * raw_sql new URL: makes an empty database beside the one that URL names, and prints its URL.
 * raw_sql drop URL NEW-URL: removes it.
 * raw_sql run URL: runs the statements that stand on its input, and prints each row of the last one as
 * a JSON array on a line of its own.
 */
#include "../unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "raw_kind.h"
#include "test_store.h"

static void
print_text(const char *text)
{
    putchar('"');
    for (; *text != '\0'; text++) {
        if (*text == '"' || *text == '\\' || (unsigned char)*text < ' ')
            printf("\\u%04x", (unsigned)*text);
        else
            putchar(*text);
    }
    putchar('"');
}

static void
print_row(void *state, const struct raw_value *values, size_t count)
{
    (void)state;
    putchar('[');
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            putchar(',');
        if (values[i].text == NULL)
            fputs("null", stdout);
        else if (values[i].is_number)
            fputs(values[i].text, stdout);
        else
            print_text(values[i].text);
    }
    puts("]");
}

static int
run(const char *url)
{
    struct buf script;
    buf_init(&script, 64 << 20);
    if (!buf_add_file(&script, stdin))
        return 1;
    struct raw *raw = raw_open(url);
    struct buf error;
    bool worked = raw_each(raw, buf_text(&script), print_row, NULL, &error);
    if (!worked)
        fprintf(stderr, "%s\n", buf_text(&error));
    buf_done(&error);
    raw_close(raw);
    buf_done(&script);
    return worked ? 0 : 1;
}

int
main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "run") == 0)
        return run(argv[2]);
    if (argc == 3 && strcmp(argv[1], "new") == 0) {
        puts(test_store_make(argv[2]));
        return 0;
    }
    if (argc == 4 && strcmp(argv[1], "drop") == 0) {
        test_store_unmake(argv[2], argv[3]);
        return 0;
    }
    fprintf(stderr, "raw_sql new URL | drop URL NEW-URL | run URL\n");
    return 64;
}
