/* SPDX-License-Identifier: MIT
 *
 * ini.c - one line at a time; what a line means is the caller's business.
 */
#include "base/ini.h"

#include <errno.h>
#include <search.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/utf8.h"

struct reader {
    const char *name; // of the file
    int line;
    ini_entry entry;
    void *state;
    struct arena arena;
    const char *section; // NULL before the first head
    const char *subsection;
    void *seen; // tree of struct place
    owed_error *err;
};

/* A key that was set, to find the second one of its name. */
struct place {
    const char *section, *subsection, *key;
    int line;
};

static int
compare_places(const void *a, const void *b)
{
    const struct place *x = a;
    const struct place *y = b;
    int order = strcmp(x->section, y->section);
    if (order == 0)
        order = strcmp(x->subsection, y->subsection);
    return order != 0 ? order : strcmp(x->key, y->key);
}

static owed_status
refuse(const struct reader *reader, const char *why)
{
    return fail(reader->err, OWED_CONFIG, "%s:%d: %s", reader->name, reader->line, why);
}

/* word_length counts the characters of a section's or a key's name. */
static size_t
word_length(struct str text)
{
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
    size_t n = 0;
    while (n < text.len && memchr(allowed, text.p[n], sizeof allowed - 1) != NULL)
        n++;
    return n;
}

static bool
is_comment(struct str text)
{
    return text.len == 0 || text.p[0] == '#' || text.p[0] == ';';
}

/* quoted_length measures "..." from its first quote to its last, both counted; 0: not closed. */
static size_t
quoted_length(struct str text)
{
    for (size_t i = 1; i < text.len; i++) {
        if (text.p[i] == '"')
            return i + 1;
        i += text.p[i] == '\\';
    }
    return 0;
}

/* unquote copies what stands between the quotes; NULL: a backslash before another character than
 * a quote or a backslash, or out of memory. */
static char *
unquote(struct reader *reader, struct str quoted)
{
    char *copy = arena_alloc(&reader->arena, quoted.len);
    size_t n = 0;
    for (size_t i = 1; copy != NULL && i + 1 < quoted.len; i++) {
        if (quoted.p[i] == '\\' && quoted.p[++i] != '"' && quoted.p[i] != '\\')
            return NULL;
        copy[n++] = quoted.p[i];
    }
    return copy;
}

#define QUOTE_OPEN "a quote is not closed; write \\\" for a quote inside quotes"
#define QUOTE_ESCAPE "inside quotes a backslash may only stand before \" or \\"

/* read_quoted reads a "..." that text begins with, and steps over it. */
static owed_status
read_quoted(struct reader *reader, struct str *text, const char **ret_value)
{
    size_t len = quoted_length(*text);
    if (len == 0)
        return refuse(reader, QUOTE_OPEN);
    *ret_value = unquote(reader, (struct str){text->p, len});
    if (*ret_value == NULL)
        return refuse(reader, QUOTE_ESCAPE);
    *text = str_skip(*text, len);
    return OWED_OK;
}

/* plain_length measures a value without quotes around it: to its comment or the end of the line.
 * Quotes within it are its own, and hide a # or ; from being a comment. SIZE_MAX: one is open. */
static size_t
plain_length(struct str text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (i > 0 && is_space(text.p[i - 1]) && is_comment(str_skip(text, i)))
            return i;
        if (text.p[i] != '"')
            continue;
        size_t len = quoted_length(str_skip(text, i));
        if (len == 0)
            return SIZE_MAX;
        i += len - 1;
    }
    return text.len;
}

static owed_status
read_value(struct reader *reader, struct str text, const char **ret_value)
{
    if (is_comment(text)) {
        *ret_value = "";
        return OWED_OK;
    }
    if (text.p[0] == '"') {
        owed_status status = read_quoted(reader, &text, ret_value);
        if (status == OWED_OK && !is_comment(str_trim(text)))
            return refuse(reader, "expected the end of the line after the closing quote");
        return status;
    }
    size_t len = plain_length(text);
    if (len == SIZE_MAX)
        return refuse(reader, QUOTE_OPEN);
    *ret_value = arena_copy(&reader->arena, str_trim((struct str){text.p, len}));
    return *ret_value == NULL ? fail_memory(reader->err) : OWED_OK;
}

static owed_status
read_head(struct reader *reader, struct str text)
{
    text = str_trim(str_skip(text, 1));
    size_t len = word_length(text);
    if (len == 0)
        return refuse(reader, "expected a section's name after [, of letters, digits, - and _");
    reader->section = arena_copy(&reader->arena, (struct str){text.p, len});
    reader->subsection = "";
    if (reader->section == NULL)
        return fail_memory(reader->err);
    text = str_trim(str_skip(text, len));
    if (text.len > 0 && text.p[0] == '"') {
        owed_status status = read_quoted(reader, &text, &reader->subsection);
        if (status != OWED_OK)
            return status;
        text = str_trim(text);
    }
    if (text.len == 0 || text.p[0] != ']' || !is_comment(str_trim(str_skip(text, 1))))
        return refuse(reader, "expected [section] or [section \"name\"] alone on its line");
    return reader->entry(
        reader->state, reader->line, reader->section, reader->subsection, NULL, NULL, reader->err);
}

/* note_key remembers the key, and refuses it where it was set before. */
static owed_status
note_key(struct reader *reader, const char *key)
{
    struct place *place = arena_alloc(&reader->arena, sizeof *place);
    if (place == NULL)
        return fail_memory(reader->err);
    *place = (struct place){reader->section, reader->subsection, key, reader->line};
    struct place **found = tsearch(place, &reader->seen, compare_places);
    if (found == NULL)
        return fail_memory(reader->err);
    if (*found != place)
        return fail(reader->err, OWED_CONFIG, "%s:%d: %s is already set in line %d", reader->name,
            reader->line, key, (*found)->line);
    return OWED_OK;
}

static owed_status
read_key(struct reader *reader, struct str text)
{
    size_t len = word_length(text);
    struct str rest = str_trim(str_skip(text, len));
    if (len == 0)
        return refuse(reader, "expected [section], key = value, or a comment");
    if (rest.len == 0 || rest.p[0] != '=')
        return fail(reader->err, OWED_CONFIG,
            "%s:%d: expected [section], key = value, or a comment, found \"%.*s\" without a =",
            reader->name, reader->line, (int)(len < 60 ? len : 60), text.p);
    const char *key = arena_copy(&reader->arena, (struct str){text.p, len});
    if (key == NULL)
        return fail_memory(reader->err);
    if (reader->section == NULL)
        return fail(reader->err, OWED_CONFIG, "%s:%d: %s stands before the first [section]",
            reader->name, reader->line, key);
    const char *value = NULL;
    owed_status status = read_value(reader, str_trim(str_skip(rest, 1)), &value);
    if (status == OWED_OK)
        status = note_key(reader, key);
    if (status != OWED_OK)
        return status;
    return reader->entry(
        reader->state, reader->line, reader->section, reader->subsection, key, value, reader->err);
}

static owed_status
read_line(struct reader *reader, struct str text)
{
    if (text.len > LIMIT_CONFIG_LINE_BYTES)
        return fail(reader->err, OWED_CONFIG, "%s:%d: the line is longer than %zu bytes",
            reader->name, reader->line, LIMIT_CONFIG_LINE_BYTES);
    if (text.len > 0 && text.p[text.len - 1] == '\r')
        text.len--;
    if (memchr(text.p, '\0', text.len) != NULL || !utf8_is_valid(text))
        return refuse(reader, "the line is not UTF-8 text");
    text = str_trim(text);
    if (is_comment(text))
        return OWED_OK;
    return text.p[0] == '[' ? read_head(reader, text) : read_key(reader, text);
}

static void
leave_place(void *place)
{
    (void)place; // it lives in the arena
}

owed_status
ini_parse(struct str text, const char *name, ini_entry entry, void *state, owed_error *err)
{
    struct reader reader = {.name = name, .entry = entry, .state = state, .err = err};
    owed_status status = OWED_OK;
    if (text.len >= 3 && memcmp(text.p, "\xef\xbb\xbf", 3) == 0)
        text = str_skip(text, 3);
    arena_init(&reader.arena, 0);
    while (text.len > 0 && status == OWED_OK) {
        const char *end = memchr(text.p, '\n', text.len);
        size_t len = end == NULL ? text.len : (size_t)(end - text.p);
        reader.line++;
        status = read_line(&reader, (struct str){text.p, len});
        text = str_skip(text, end == NULL ? len : len + 1);
    }
    tdestroy(reader.seen, leave_place);
    arena_done(&reader.arena);
    return status;
}

owed_status
ini_read(const char *path, ini_entry entry, void *state, owed_error *err)
{
    CLEANUP(fclose_ptr) FILE *file = fopen(path, "re");
    if (file == NULL)
        return fail_native(err, errno == ENOENT ? OWED_NOT_FOUND : OWED_CONFIG, errno,
            "%s cannot be opened: %m", path);
    CLEANUP(buf_done) struct buf text;
    buf_init(&text, LIMIT_CONFIG_BYTES);
    if (!buf_add_file(&text, file))
        return fail_native(err, OWED_CONFIG, errno, "%s cannot be read: %m", path);
    if (text.failed)
        return fail(err, OWED_CONFIG, "%s is longer than %zu bytes", path, LIMIT_CONFIG_BYTES);
    return ini_parse(buf_view(&text), path, entry, state, err);
}
