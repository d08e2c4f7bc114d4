/* SPDX-License-Identifier: MIT
 *
 * template_file.c - what a file of a folder of templates is called, and what its header says.
 */
#include "notify/template_file.h"

#include <string.h>

#include "base/error.h"
#include "base/options.h"
#include "base/utf8.h"
#include "declare/kinds.h"
#include "notify/locale.h"
#include "notify/template.h"

#define SHOWN 40 // bytes of a line, in a sentence

struct head_reader {
    const char *path;
    int line;
    struct str value;
    struct arena *arena;
    struct template_head *head;
    owed_error *err;
};

static bool
is_name_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_' || c == '-';
}

static bool
is_name(struct str name)
{
    for (size_t i = 0; i < name.len; i++)
        if (!is_name_letter(name.p[i]))
            return false;
    return name.len > 0 && name.len <= LIMIT_TEMPLATE_NAME_BYTES;
}

static bool
ends_with(struct str *text, const char *ending)
{
    size_t len = strlen(ending);
    if (text->len < len || memcmp(text->p + text->len - len, ending, len) != 0)
        return false;
    text->len -= len;
    return true;
}

/* read_locale normalises a language tag into the arena. */
static owed_status
read_locale(const char *where, struct str tag, struct arena *arena, const char **ret_locale,
    owed_error *err)
{
    char normal[LOCALE_BYTES];
    const char *text = arena_copy(arena, tag);
    if (text == NULL)
        return fail_memory(err);
    if (owed_locale_normalize(text, normal, NULL) != OWED_OK)
        return fail(err, OWED_MALFORMED_LOCALE,
            "%s: \"%.*s\" is no language; a tag such as de, pt-BR or zh-Hant-TW would be right",
            where, tag.len > SHOWN ? SHOWN : (int)tag.len, tag.p);
    *ret_locale = arena_strdup(arena, normal);
    return *ret_locale == NULL ? fail_memory(err) : OWED_OK;
}

owed_status
template_file_name(const char *path, const char *file, struct arena *arena,
    struct template_file *ret_file, owed_error *err)
{
    struct str rest = str_of(file);
    *ret_file = (struct template_file){.path = path, .file = file};
    ret_file->is_html = ends_with(&rest, ".html");
    if (!ret_file->is_html && !ends_with(&rest, ".txt"))
        return fail(err, OWED_TEMPLATE,
            "%s: a file is called NAME.txt or NAME.html, or NAME.en.txt in a language", path);
    const char *dot = memchr(rest.p, '.', rest.len);
    struct str name = {rest.p, dot == NULL ? rest.len : (size_t)(dot - rest.p)};
    if (!is_name(name))
        return fail(err, OWED_TEMPLATE,
            "%s: a template's name is made of ASCII letters, digits, _ and -, up to %d of them",
            path, LIMIT_TEMPLATE_NAME_BYTES);
    ret_file->name = arena_copy(arena, name);
    if (ret_file->name == NULL)
        return fail_memory(err);
    if (dot == NULL)
        return OWED_OK;
    return read_locale(path, str_skip(rest, name.len + 1), arena, &ret_file->locale, err);
}

/* --- its bytes --- */

owed_status
template_file_check(const char *path, struct str text, owed_error *err)
{
    int line = 1;
    if (text.len >= 3 && memcmp(text.p, "\xef\xbb\xbf", 3) == 0)
        return fail(err, OWED_TEMPLATE,
            "%s:1: it begins with a byte order mark; UTF-8 without one would be right", path);
    for (size_t at = 0; at < text.len;) {
        size_t len = utf8_length(text.p + at, text.p + text.len);
        if (len == 0)
            return fail(err, OWED_TEMPLATE, "%s:%d: a byte that is no UTF-8", path, line);
        if (text.p[at] == '\0')
            return fail(err, OWED_TEMPLATE, "%s:%d: a NUL; a text has none", path, line);
        line += text.p[at] == '\n';
        at += len;
    }
    return OWED_OK;
}

const char *
template_file_body(struct str text, struct arena *arena)
{
    if (ends_with(&text, "\n"))
        (void)ends_with(&text, "\r");
    return arena_copy(arena, text);
}

/* --- its header --- */

static owed_status
refuse(const struct head_reader *reader, const char *why)
{
    return fail(reader->err, OWED_TEMPLATE, "%s:%d: %s", reader->path, reader->line, why);
}

static owed_status
read_subject(struct head_reader *reader)
{
    struct template_head *head = reader->head;
    if (head->subject != NULL)
        return refuse(reader, "a second subject; a template has one");
    if (reader->value.len == 0)
        return refuse(reader, "an empty subject; leave the line out where there is none");
    head->subject = arena_copy(reader->arena, reader->value);
    head->subject_line = reader->line;
    return head->subject == NULL ? fail_memory(reader->err) : OWED_OK;
}

static owed_status
read_default(struct head_reader *reader)
{
    char where[512];
    if (reader->head->fallback != NULL)
        return refuse(reader, "a second default; a template has one");
    snprintf(where, sizeof where, "%s:%d", reader->path, reader->line);
    reader->head->fallback_line = reader->line;
    return read_locale(where, reader->value, reader->arena, &reader->head->fallback, reader->err);
}

static struct str
cut_word(struct str *rest)
{
    *rest = str_trim(*rest);
    size_t len = 0;
    while (len < rest->len && !is_space(rest->p[len]))
        len++;
    struct str word = {rest->p, len};
    *rest = str_trim(str_skip(*rest, len));
    return word;
}

static owed_status
read_kind(const struct head_reader *reader, struct str word, owed_kind *ret_kind)
{
    static const owed_kind kinds[] = {
        OWED_KIND_TEXT, OWED_KIND_BOOL, OWED_KIND_INT64, OWED_KIND_DOUBLE, OWED_KIND_DECIMAL};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (str_is(word, kind_of(kinds[i])->name)) {
            *ret_kind = kinds[i];
            return OWED_OK;
        }
    return fail(reader->err, OWED_TEMPLATE,
        "%s:%d: \"%.*s\" is no kind of variable; text, bool, int64, double or decimal would be right",
        reader->path, reader->line, word.len > SHOWN ? SHOWN : (int)word.len, word.p);
}

/* read_variable reads "total decimal". */
static owed_status
read_variable(struct head_reader *reader, struct str text)
{
    struct template_head *head = reader->head;
    struct str name = cut_word(&text);
    struct str kind = cut_word(&text);
    if (name.len == 0 || kind.len == 0 || text.len != 0)
        return refuse(reader,
            "variables are written as name and kind, with commas between them: total decimal, order_id text");
    if (head->variable_count == LIMIT_VARIABLES)
        return fail(reader->err, OWED_LIMIT, "%s:%d: over %d variables", reader->path, reader->line,
            LIMIT_VARIABLES);
    owed_variable *variable = &head->variables[head->variable_count];
    owed_status status = read_kind(reader, kind, &variable->kind);
    if (status != OWED_OK)
        return status;
    variable->name = arena_copy(reader->arena, name);
    head->variable_count++;
    return variable->name == NULL ? fail_memory(reader->err) : OWED_OK;
}

static owed_status
read_variables(struct head_reader *reader)
{
    struct str rest = reader->value;
    owed_status status = OWED_OK;
    reader->head->variables_line = reader->line;
    while (status == OWED_OK) {
        const char *comma = memchr(rest.p, ',', rest.len);
        struct str one = {rest.p, comma == NULL ? rest.len : (size_t)(comma - rest.p)};
        status = read_variable(reader, one);
        if (comma == NULL)
            break;
        rest = str_skip(rest, one.len + 1);
    }
    return status;
}

static const struct {
    const char *key;
    owed_status (*read)(struct head_reader *reader);
} head_keys[] = {
    {"subject", read_subject}, {"variables", read_variables}, {"default", read_default}};

static owed_status
refuse_line(const struct head_reader *reader, struct str line)
{
    static const char *const keys[] = {"subject", "variables", "default", NULL};
    char word[SHOWN] = "";
    const char *colon = memchr(line.p, ':', line.len);
    if (colon != NULL && (size_t)(colon - line.p) < sizeof word)
        memcpy(word, line.p, (size_t)(colon - line.p));
    const char *near = word[0] == '\0' ? NULL : nearest(word, keys);
    size_t shown = line.len > SHOWN ? SHOWN : line.len;
    while (shown < line.len && shown > 0 && (line.p[shown] & 0xC0) == 0x80)
        shown--; // not within a character
    if (near != NULL)
        return fail(reader->err, OWED_TEMPLATE, "%s:%d: the header has no %s; the nearest is %s",
            reader->path, reader->line, word, near);
    return fail(reader->err, OWED_TEMPLATE,
        "%s:%d: \"%.*s\" is none of the header's subject:, variables: and default:; an empty line would end the header",
        reader->path, reader->line, (int)shown, line.p);
}

static owed_status
read_line(struct head_reader *reader, struct str line)
{
    if (line.p[0] == '#')
        return OWED_OK;
    const char *colon = memchr(line.p, ':', line.len);
    struct str key = str_trim((struct str){line.p, colon == NULL ? 0 : (size_t)(colon - line.p)});
    for (size_t i = 0; i < sizeof head_keys / sizeof head_keys[0]; i++)
        if (str_is(key, head_keys[i].key)) {
            reader->value = str_trim(str_skip(line, (size_t)(colon - line.p) + 1));
            return head_keys[i].read(reader);
        }
    return refuse_line(reader, line);
}

/* next_line cuts one line off the text, trimmed; false: no line end is left. */
static bool
next_line(struct str *text, struct str *ret_line)
{
    const char *end = memchr(text->p, '\n', text->len);
    size_t len = end == NULL ? text->len : (size_t)(end - text->p);
    *ret_line = str_trim((struct str){text->p, len});
    *text = str_skip(*text, end == NULL ? len : len + 1);
    return end != NULL;
}

owed_status
template_file_parse(const char *path, struct str text, struct arena *arena,
    struct template_head *ret_head, owed_error *err)
{
    struct head_reader reader = {.path = path, .arena = arena, .head = ret_head, .err = err};
    struct str line = {"", 0};
    *ret_head = (struct template_head){
        .variables = arena_alloc(arena, (LIMIT_VARIABLES + 1) * sizeof(owed_variable))};
    if (ret_head->variables == NULL)
        return fail_memory(err);
    for (;;) {
        reader.line++;
        bool is_whole = next_line(&text, &line);
        if (line.len == 0 && is_whole)
            break;
        owed_status status = line.len == 0 ? OWED_OK : read_line(&reader, line);
        if (status != OWED_OK)
            return status;
        if (!is_whole)
            return refuse(
                &reader, "an empty line ends the header, and the text follows it; there is none");
    }
    ret_head->body_line = reader.line + 1;
    ret_head->body = template_file_body(text, arena);
    if (ret_head->body == NULL)
        return fail_memory(err);
    reader.line++;
    return ret_head->body[0] == '\0' ? refuse(&reader, "no text follows the header") : OWED_OK;
}
