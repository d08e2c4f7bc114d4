/* SPDX-License-Identifier: MIT
 *
 * option_print.c - a table of options for people: --help and the manual page.
 */
#include <ctype.h>
#include <string.h>

#include "base/option_value.h"

#define WIDEST 32     // of the column of flags; a wider one pushes its help to the right
#define LINE_WIDTH 80 // of a terminal that nobody has widened
#define HELP_BYTES 4096

/* spelling writes "--name ARGUMENT", or "--[no-]name" for a bool that is true unless told. */
static void
spelling(const struct option *option, struct buf *text)
{
    bool is_on = option->type == OPTION_BOOL && option->fallback != NULL;
    buf_printf(text, "--%s%s", is_on ? "[no-]" : "", option->name);
    if (option->argument != NULL && option->type != OPTION_BOOL)
        buf_printf(text, " %s", option->argument);
}

static size_t
spelling_width(const struct option *option)
{
    struct buf text;
    buf_init(&text, 256);
    spelling(option, &text);
    size_t width = text.len;
    buf_done(&text);
    return width;
}

static size_t
column_width(const struct option *table)
{
    size_t widest = 0;
    for (; table->name != NULL; table++) {
        size_t width = spelling_width(table);
        if (width > widest && width <= WIDEST)
            widest = width;
    }
    return widest;
}

static bool
shows_fallback(const struct option *option)
{
    return !is_empty(option->fallback) &&
        !(option->type == OPTION_BOOL && strcmp(option->fallback, "false") == 0);
}

/* add_wrapped writes words from the column on, on as many lines as it takes. */
static void
add_wrapped(struct buf *text, struct str words, size_t column)
{
    size_t used = column;
    while (words.len > 0) {
        const char *space = memchr(words.p, ' ', words.len);
        size_t len = space == NULL ? words.len : (size_t)(space - words.p);
        bool is_first = used == column;
        if (!is_first && used + 1 + len > LINE_WIDTH) {
            buf_printf(text, "\n%*s", (int)column, "");
            used = column;
        } else if (!is_first) {
            buf_putc(text, ' ');
            used++;
        }
        buf_add(text, words.p, len);
        used += len;
        words = str_skip(words, space == NULL ? len : len + 1);
    }
    buf_putc(text, '\n');
}

static void
add_help(const struct option *option, size_t column, struct buf *text)
{
    struct buf help;
    buf_init(&help, HELP_BYTES);
    buf_puts(&help, option->help);
    if (option->type == OPTION_LIST)
        buf_puts(&help, "; may come several times");
    if (shows_fallback(option))
        buf_printf(&help, " (default: %s)", option->fallback);
    add_wrapped(text, buf_view(&help), column);
    buf_done(&help);
}

void
options_help(const struct option *table, struct buf *text)
{
    size_t column = column_width(table);
    for (; table->name != NULL; table++) {
        size_t width = spelling_width(table);
        if (table->letter != 0)
            buf_printf(text, "  -%c, ", table->letter);
        else
            buf_puts(text, "      ");
        spelling(table, text);
        buf_printf(text, "%*s  ", (int)(width < column ? column - width : 0), "");
        add_help(table, 6 + column + 2, text);
    }
}

/* add_roff writes text of ours so that no character of it is an order to roff. */
static void
add_roff(struct buf *text, const char *words)
{
    if (words[0] == '.' || words[0] == '\'')
        buf_puts(text, "\\&");
    for (; *words != '\0'; words++) {
        if (*words == '\\')
            buf_puts(text, "\\e");
        else
            buf_putc(text, *words);
    }
}

/* add_sentence makes a sentence of a line of help. */
static void
add_sentence(struct buf *text, const char *help)
{
    char first[2] = {(char)toupper((unsigned char)help[0]), '\0'};
    add_roff(text, first);
    if (first[0] != '\0')
        add_roff(text, help + 1);
    buf_puts(text, ".\n");
}

static void
add_item(const struct option *option, struct buf *text)
{
    buf_puts(text, ".It ");
    if (option->letter != 0)
        buf_printf(text, "Fl %c , ", option->letter);
    buf_printf(text, "Fl -%s", option->name);
    if (option->type == OPTION_BOOL && option->fallback != NULL)
        buf_printf(text, " , Fl -no-%s", option->name);
    else if (option->argument != NULL && option->type != OPTION_BOOL)
        buf_printf(text, " Ar %s", option->argument);
    buf_putc(text, '\n');
}

static void
add_body(const struct option *option, struct buf *text)
{
    add_sentence(text, option->help);
    if (option->type == OPTION_LIST)
        buf_puts(text, "May be given several times.\n");
    if (shows_fallback(option)) {
        buf_puts(text, "The default is\n.Ql ");
        add_roff(text, option->fallback);
        buf_puts(text, " .\n");
    }
    if (option->section == NULL)
        return;
    char name[OPTION_ENVIRONMENT_BYTES];
    buf_printf(text, "Also\n.Ev %s\nin the environment, and\n.Ic %s\nin section\n.Ic [%s]\n",
        option_environment(option, name), option_key(option), option->section);
    buf_puts(text, "of\n.Xr owed.conf 5 .\n");
}

void
options_mdoc(const struct option *table, struct buf *text)
{
    buf_puts(text, ".Bl -tag -width Ds\n");
    for (; table->name != NULL; table++) {
        add_item(table, text);
        add_body(table, text);
    }
    buf_puts(text, ".El\n");
}
