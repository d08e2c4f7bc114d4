/* SPDX-License-Identifier: MIT
 *
 * template_parse.c - a part's text, cut at its placeholders.
 */
#include "notify/template.h"

#include <string.h>

#include "base/error.h"
#include "base/options.h"

struct parse {
    struct variant *variant;
    enum part_kind kind;
    struct str text;
    size_t at;
    struct part *part;
    bool *used;
    owed_error *err;
};

static owed_status
refuse(const struct parse *parse, const char *what, struct str found, const char *why)
{
    int line = 1;
    for (size_t i = 0; i < parse->at; i++)
        line += parse->text.p[i] == '\n';
    int shown = found.len > 60 ? 60 : (int)found.len;
    const struct template_places *places = parse->variant->places;
    if (places != NULL)
        return fail(parse->err, OWED_TEMPLATE, "%s:%d: %s%.*s%s%s", places->parts[parse->kind].path,
            places->parts[parse->kind].line + line - 1, what, shown, found.p,
            what[0] == '\0' ? "" : ": ", why);
    return fail(parse->err, OWED_TEMPLATE, "%s, %s, line %d: %s%.*s%s%s", parse->variant->name,
        part_names[parse->kind], line, what, shown, found.p, what[0] == '\0' ? "" : ": ", why);
}

static void
add_text(struct parse *parse, size_t from, size_t to)
{
    if (to > from)
        parse->part->pieces[parse->part->count++] =
            (struct piece){.text = {parse->text.p + from, to - from}, .variable = -1};
}

/* why_no_name says what is wrong with a placeholder's name, or NULL. */
static const char *
why_no_name(struct str name)
{
    if (name.len == 0 || is_digit(name.p[0]))
        return "a placeholder says the name of its variable, as in {total}";
    if (memchr(name.p, '.', name.len) != NULL || memchr(name.p, '[', name.len) != NULL)
        return "a placeholder is one variable, not a part of one";
    return NULL;
}

static owed_status
refuse_undeclared(const struct parse *parse, struct str name)
{
    const char *known[LIMIT_VARIABLES + 1] = {0};
    char word[LIMIT_VARIABLE_BYTES + 1] = {0};
    char why[160];
    for (size_t i = 0; i < parse->variant->variable_count; i++)
        known[i] = parse->variant->variables[i].name;
    memcpy(word, name.p, name.len < sizeof word ? name.len : sizeof word - 1);
    const char *near = nearest(word, known);
    snprintf(why, sizeof why, "no such variable is declared%s%s%s",
        near == NULL ? "" : " (did you mean \"", or_empty(near), near == NULL ? "" : "\"?)");
    return refuse(parse, "placeholder ", name, why);
}

static owed_status
add_variable(struct parse *parse, struct str inside)
{
    const char *colon = memchr(inside.p, ':', inside.len);
    struct str name = {inside.p, colon == NULL ? inside.len : (size_t)(colon - inside.p)};
    struct str spec = colon == NULL ? (struct str){"", 0} : str_skip(inside, name.len + 1);
    const char *why = why_no_name(name);
    if (why != NULL)
        return refuse(parse, "placeholder ", name, why);
    if (memchr(name.p, '!', name.len) != NULL)
        return refuse(parse, "placeholder ", name, "conversions such as !r are not known here");
    struct piece piece = {.variable = variable_find(parse->variant, name)};
    if (piece.variable < 0)
        return refuse_undeclared(parse, name);
    why = format_read(spec, parse->variant->variables[piece.variable].kind, &piece.format);
    if (why != NULL)
        return refuse(parse, "placeholder ", inside, why);
    parse->used[piece.variable] = true;
    parse->part->pieces[parse->part->count++] = piece;
    return OWED_OK;
}

/* placeholder reads what stands after an opening brace, and steps behind the closing one. */
static owed_status
placeholder(struct parse *parse)
{
    struct str rest = str_skip(parse->text, parse->at + 1);
    size_t len = 0;
    while (len < rest.len && rest.p[len] != '{' && rest.p[len] != '}')
        len++;
    struct str inside = {rest.p, len};
    if (len == rest.len)
        return refuse(parse, "", (struct str){"", 0}, "a { that nothing closes; {{ writes one");
    if (rest.p[len] == '{')
        return refuse(parse, "placeholder ", inside, "a placeholder holds no other");
    owed_status status = add_variable(parse, inside);
    parse->at += len + 2;
    return status;
}

static size_t
count_braces(struct str text)
{
    size_t count = 0;
    for (size_t i = 0; i < text.len; i++)
        count += text.p[i] == '{' || text.p[i] == '}';
    return count;
}

static owed_status
parse_all(struct parse *parse)
{
    size_t from = 0;
    while (parse->at < parse->text.len) {
        char c = parse->text.p[parse->at];
        if (c != '{' && c != '}') {
            parse->at++;
            continue;
        }
        bool is_doubled = parse->at + 1 < parse->text.len && parse->text.p[parse->at + 1] == c;
        add_text(parse, from, parse->at + is_doubled);
        if (is_doubled) {
            parse->at += 2;
        } else if (c == '}') {
            return refuse(parse, "", (struct str){"", 0}, "a } that nothing opened; }} writes one");
        } else {
            owed_status status = placeholder(parse);
            if (status != OWED_OK)
                return status;
        }
        from = parse->at;
    }
    add_text(parse, from, parse->text.len);
    return OWED_OK;
}

owed_status
part_parse(struct variant *variant, enum part_kind kind, struct str text, struct arena *arena,
    bool *used, owed_error *err)
{
    struct part *part = &variant->parts[kind];
    part->is_there = true;
    // Each brace ends a piece and begins another, at the most.
    part->pieces = arena_alloc(arena, (2 * count_braces(text) + 1) * sizeof *part->pieces);
    if (part->pieces == NULL)
        return fail_memory(err);
    struct parse parse = {
        .variant = variant, .kind = kind, .text = text, .part = part, .used = used, .err = err};
    return parse_all(&parse);
}
