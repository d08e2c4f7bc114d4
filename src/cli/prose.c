/* SPDX-License-Identifier: MIT
 *
 * prose.c - wrapping, and what roff must not mistake for an order.
 */
#include "cli/prose.h"

#include <ctype.h>

#define WIDTH 79
#define VERBATIM "    "

/* next_paragraph takes the paragraph at *prose; false at the end. */
static bool
next_paragraph(const char **prose, struct str *ret_paragraph)
{
    while (**prose == '\n')
        (*prose)++;
    if (**prose == '\0')
        return false;
    const char *end = strstr(*prose, "\n\n");
    size_t len = end == NULL ? strlen(*prose) : (size_t)(end - *prose);
    *ret_paragraph = (struct str){*prose, len};
    *prose += len;
    return true;
}

static bool
is_verbatim(struct str paragraph)
{
    size_t len = sizeof VERBATIM - 1;
    return paragraph.len > len && memcmp(paragraph.p, VERBATIM, len) == 0;
}

/* next_piece takes what comes before the separator out of *rest; false at the end. */
static bool
next_piece(struct str *rest, char separator, struct str *ret_piece)
{
    if (rest->len == 0)
        return false;
    const char *end = memchr(rest->p, separator, rest->len);
    size_t len = end == NULL ? rest->len : (size_t)(end - rest->p);
    *ret_piece = (struct str){rest->p, len};
    size_t step = len + (end != NULL);
    *rest = (struct str){rest->p + step, rest->len - step};
    return true;
}

static void
indent_by(struct buf *text, size_t count)
{
    while (count-- > 0)
        buf_putc(text, ' ');
}

static void
wrap(struct str paragraph, size_t indent, struct buf *text)
{
    size_t column = 0;
    struct str word;
    while (next_piece(&paragraph, ' ', &word)) {
        if (column > 0 && column + 1 + word.len > WIDTH) {
            buf_putc(text, '\n');
            column = 0;
        }
        if (column > 0)
            buf_putc(text, ' ');
        else
            indent_by(text, indent);
        column += word.len + (column > 0 ? 1 : indent);
        buf_str(text, word);
    }
    buf_putc(text, '\n');
}

static void
copy_lines(struct str paragraph, size_t indent, struct buf *text)
{
    struct str line;
    while (next_piece(&paragraph, '\n', &line)) {
        indent_by(text, indent);
        buf_str(text, line);
        buf_putc(text, '\n');
    }
}

void
prose_text(const char *prose, size_t indent, struct buf *text)
{
    struct str paragraph;
    for (bool first = true; next_paragraph(&prose, &paragraph); first = false) {
        if (!first)
            buf_putc(text, '\n');
        (is_verbatim(paragraph) ? copy_lines : wrap)(paragraph, indent, text);
    }
}

void
prose_roff(struct buf *text, struct str words)
{
    if (words.len > 0 && (words.p[0] == '.' || words.p[0] == '\''))
        buf_puts(text, "\\&");
    for (size_t i = 0; i < words.len; i++) {
        if (words.p[i] == '\\')
            buf_puts(text, "\\e");
        else if (words.p[i] == '-')
            buf_puts(text, "\\-");
        else
            buf_putc(text, words.p[i]);
    }
}

void
prose_sentence(const char *help, struct buf *text)
{
    size_t start = text->len;
    prose_roff(text, str_of(help));
    if (!text->failed && text->len > start)
        text->p[start] = (char)toupper((unsigned char)text->p[start]);
    buf_puts(text, ".\n");
}

/* A sentence a line: roff sets the right space behind its full stop. */
static void
mdoc_paragraph(struct str paragraph, struct buf *text)
{
    size_t start = 0;
    for (size_t i = 0; i < paragraph.len; i++) {
        bool stops = paragraph.p[i] == '.' && i + 2 < paragraph.len && paragraph.p[i + 1] == ' ' &&
            isupper((unsigned char)paragraph.p[i + 2]);
        if (!stops && i + 1 < paragraph.len)
            continue;
        prose_roff(text, (struct str){paragraph.p + start, i + 1 - start});
        buf_putc(text, '\n');
        start = i + 2;
        i++;
    }
}

static void
mdoc_verbatim(struct str paragraph, struct buf *text)
{
    struct str line;
    buf_puts(text, ".Bd -literal -offset indent\n");
    while (next_piece(&paragraph, '\n', &line)) {
        size_t blanks = line.len < sizeof VERBATIM - 1 ? line.len : sizeof VERBATIM - 1;
        prose_roff(text, (struct str){line.p + blanks, line.len - blanks});
        buf_putc(text, '\n');
    }
    buf_puts(text, ".Ed\n");
}

void
prose_mdoc(const char *prose, struct buf *text)
{
    struct str paragraph;
    bool separate = false;
    while (next_paragraph(&prose, &paragraph)) {
        bool verbatim = is_verbatim(paragraph);
        if (separate && !verbatim)
            buf_puts(text, ".Pp\n");
        (verbatim ? mdoc_verbatim : mdoc_paragraph)(paragraph, text);
        separate = true;
    }
}
