/* SPDX-License-Identifier: MIT
 *
 * cmd_templates.c - owed templates: the texts of notifications, listed, checked, and tried out.
 */
#include <stdio.h>

#include "base/cleanup.h"
#include "base/json.h"
#include "base/limits.h"
#include "cli/common.h"
#include "cli/fields.h"
#include "cli/filter.h"
#include "declare/kinds.h"
#include "notify/template.h"
#include "notify/templates.h"

static int run_templates(struct cli *cli);

static const struct option templates_options[] = {
    {.name = "folder",
        .type = OPTION_TEXT,
        .argument = "FOLDER",
        .help = "this folder, and not that of owed.conf"},
    {.name = "context",
        .type = OPTION_TEXT,
        .argument = "FILE",
        .help = "the variables' values, a JSON object; - reads standard input, with render"},
    {.name = "locale",
        .type = OPTION_TEXT,
        .argument = "TAG",
        .help = "the recipient's language, such as de or pt-BR, with render"},
    OPTION_JSON_LINES,
    {.name = NULL},
};

const struct command cmd_templates = {
    .name = "templates",
    .summary = "list the texts of notifications, check them, or try one out",
    .usage = "[check|render NAME]",
    .text =
        "Lists the templates of the folder that [templates] names in owed.conf: their languages, their "
        "parts, and the variables that they want. With check, every file that cannot be is a line with its "
        "file and line and what would be right, and the exit code is 1. With render, one is filled in as it "
        "would be sent, and nothing is sent.\n\n"
        "A template is a file NAME.txt, or one for each language, as NAME.en.txt; its HTML is in NAME.html "
        "or NAME.en.html beside it. A .txt begins with a header, which an empty line ends; the rest is the "
        "text. This is order_confirmed.en.txt:\n\n"
        "    subject: Your order {order_id}\n"
        "    variables: order_id text, items int64, total decimal\n"
        "    default: en\n"
        "    \n"
        "    Thank you for {items} items, {total:,.2f} EUR in all.\n\n"
        "The subject may be left out. Variables are text, bool, int64, double or decimal, and each is "
        "used; all languages declare the same. The default is for everybody whose language there is "
        "not, and needed where there are several. A line with # is a comment. A file that needs no "
        "header begins with the empty line; a .html has none.\n\n"
        "In the text {name} is the value, {total:,.2f} the value formatted as Python would, {{ and }} are "
        "braces. In HTML the values are escaped.",
    .examples = "    owed templates\n"
                "    owed templates check\n"
                "    echo '{\"order_id\": \"A-7\", \"items\": 3, \"total\": \"59.90\"}' |\n"
                "        owed templates render order_confirmed --context - --locale de-AT",
    .options = templates_options,
    .max_operands = 2,
    .run = run_templates,
};

static const char *
find_folder(struct cli *cli)
{
    const char *folder = options_text(cli->flags, "folder");
    return folder != NULL ? folder : options_text(cli->settings, "templates");
}

/* --- the list --- */

struct template_row {
    const char *name;
    const char *languages;
    const char *fallback;
    const char *parts;
    const char *variables;
};

static const struct field template_fields[] = {
    FIELD(struct template_row, name, "name", "NAME", SHAPE_TEXT),
    FIELD(struct template_row, languages, "languages", "LANGUAGES", SHAPE_WORDS),
    FIELD(struct template_row, fallback, "default", "DEFAULT", SHAPE_KEY),
    FIELD(struct template_row, parts, "parts", "PARTS", SHAPE_WORDS),
    FIELD(struct template_row, variables, "variables", "VARIABLES", SHAPE_WORDS),
    FIELDS_END,
};

static void
add_word(struct buf *words, const char *word)
{
    buf_puts(words, words->len == 0 ? "[" : ",");
    json_write_string(words, str_of(word));
}

static const char *
end_words(struct cli *cli, struct buf *words)
{
    buf_puts(words, words->len == 0 ? "[]" : "]");
    const char *text = words->failed ? NULL : arena_copy(&cli->arena, buf_view(words));
    buf_done(words);
    return text;
}

static const char *
languages_of(struct cli *cli, const owed_template *tmpl)
{
    struct buf words;
    buf_init(&words, SIZE_MAX / 2);
    for (size_t i = 0; i < tmpl->count; i++)
        if (tmpl->variants[i].locale != NULL)
            add_word(&words, tmpl->variants[i].locale);
    return end_words(cli, &words);
}

/* parts_of names the parts that any language has. */
static const char *
parts_of(struct cli *cli, const owed_template *tmpl)
{
    struct buf words;
    buf_init(&words, SIZE_MAX / 2);
    for (int kind = 0; kind < PART_COUNT; kind++) {
        bool is_there = false;
        for (size_t i = 0; i < tmpl->count; i++)
            is_there = is_there || tmpl->variants[i].parts[kind].is_there;
        if (is_there)
            add_word(&words, part_names[kind]);
    }
    return end_words(cli, &words);
}

static const char *
variables_of(struct cli *cli, const owed_template *tmpl)
{
    struct buf words;
    char word[LIMIT_VARIABLE_BYTES + 32];
    const struct variant *variant = &tmpl->variants[0];
    buf_init(&words, SIZE_MAX / 2);
    for (size_t i = 0; i < variant->variable_count; i++) {
        const owed_variable *variable = &variant->variables[i];
        snprintf(word, sizeof word, "%s %s", variable->name, kind_of(variable->kind)->name);
        add_word(&words, word);
    }
    return end_words(cli, &words);
}

static int
list_templates(struct cli *cli, const owed_templates *set)
{
    size_t count = owed_templates_count(set);
    struct template_row *rows = arena_alloc(&cli->arena, (count + 1) * sizeof *rows);
    for (size_t i = 0; rows != NULL && i < count; i++) {
        const owed_template *tmpl = owed_templates_at(set, i);
        const char *name = arena_strdup(&cli->arena, owed_template_name(tmpl));
        const char *fallback = tmpl->variants[tmpl->fallback].locale;
        rows[i] = (struct template_row){.name = name,
            .languages = languages_of(cli, tmpl),
            .fallback = fallback == NULL ? NULL : arena_strdup(&cli->arena, fallback),
            .parts = parts_of(cli, tmpl),
            .variables = variables_of(cli, tmpl)};
    }
    if (rows == NULL)
        return cli_refuse(EXIT_AGAIN, "out of memory");
    cli_list(cli, template_fields, rows, count, sizeof *rows);
    return EXIT_DONE;
}

/* --- check --- */

struct findings {
    struct cli *cli;
    size_t count;
};

static void
print_finding(void *state, const char *sentence)
{
    struct findings *findings = state;
    struct out *out = &findings->cli->out;
    findings->count++;
    if (!cli_json(findings->cli)) {
        out_printf(out, "error: %s\n", sentence);
        return;
    }
    out_puts(out, "{\"level\":\"error\",\"text\":");
    json_write_string(&out->text, str_of(sentence));
    out_puts(out, "}\n");
}

static int
check_folder(struct cli *cli, owed_templates *set, const char *folder)
{
    struct findings findings = {.cli = cli};
    const struct templates_visitor visitor = {print_finding, &findings};
    if (templates_scan(set, folder, &visitor, &cli->err) != OWED_OK)
        return cli_fail(cli);
    if (findings.count > 0)
        return EXIT_FOUND;
    if (!cli_json(cli))
        out_puts(&cli->out, owed_templates_count(set) > 0 ? "ok\n" : "ok, but there are none\n");
    return EXIT_DONE;
}

/* --- render --- */

static int
read_context(struct cli *cli, struct buf *text)
{
    const char *path = options_text(cli->flags, "context");
    if (path != NULL)
        return cli_read_file("context", path, text);
    buf_puts(text, "{}");
    return EXIT_DONE;
}

static const struct field rendered_fields[] = {
    FIELD(owed_rendered, name, "name", NULL, SHAPE_KEY),
    FIELD(owed_rendered, locale, "locale", NULL, SHAPE_KEY),
    FIELD(owed_rendered, subject, "subject", NULL, SHAPE_KEY),
    FIELD(owed_rendered, text, "text", NULL, SHAPE_TEXT),
    FIELD(owed_rendered, html, "html", NULL, SHAPE_KEY),
    FIELDS_END,
};

static void
print_rendered(struct cli *cli, const owed_rendered *rendered)
{
    struct out *out = &cli->out;
    if (cli_json(cli)) {
        fields_lines(rendered_fields, rendered, 1, sizeof *rendered, out);
        return;
    }
    if (rendered->locale != NULL)
        out_printf(out, "locale: %s\n", rendered->locale);
    if (rendered->subject != NULL) {
        out_puts(out, "subject: ");
        out_puts(out, rendered->subject);
        out_puts(out, "\n");
    }
    out_puts(out, "\n");
    out_puts(out, rendered->text);
    out_puts(out, "\n");
    if (rendered->html == NULL)
        return;
    out_puts(out, "\nhtml:\n\n");
    out_puts(out, rendered->html);
    out_puts(out, "\n");
}

static int
render(struct cli *cli, const owed_templates *set, const char *name)
{
    struct buf context CLEANUP(buf_done);
    const owed_template *tmpl = NULL;
    owed_rendered rendered;
    buf_init(&context, LIMIT_PAYLOAD_BYTES);
    if (owed_templates_find(set, name, &tmpl, &cli->err) != OWED_OK)
        return cli_fail(cli);
    int code = read_context(cli, &context);
    if (code != EXIT_DONE)
        return code;
    const char *locale = options_text(cli->flags, "locale");
    if (owed_template_render_json(tmpl, locale, buf_text(&context), &rendered, &cli->err) !=
        OWED_OK)
        return cli_fail(cli);
    print_rendered(cli, &rendered);
    owed_rendered_done(&rendered);
    return EXIT_DONE;
}

static int
run_in(struct cli *cli, owed_templates *set, const char *folder)
{
    const char *verb = cli->operands[0];
    if (verb != NULL && strcmp(verb, "check") == 0)
        return check_folder(cli, set, folder);
    if (owed_templates_load(set, folder, &cli->err) != OWED_OK)
        return cli_fail(cli);
    return verb == NULL ? list_templates(cli, set) : render(cli, set, cli->operands[1]);
}

static int
run_templates(struct cli *cli)
{
    const char *verb = cli->operands[0];
    bool renders = verb != NULL && strcmp(verb, "render") == 0;
    if (verb != NULL && !renders && strcmp(verb, "check") != 0)
        return cli_usage(cli, "templates takes check or render, not '%s'", verb);
    if (renders && cli->operand_count < 2)
        return cli_usage(cli, "templates render wants the name of one");
    if (!renders && cli->operand_count > 1)
        return cli_usage(cli, "templates check takes no name");
    const char *folder = find_folder(cli);
    if (is_empty(folder))
        return cli_refuse(EXIT_CONFIG,
            "no folder of templates is named: folder in [templates] of owed.conf, or --folder");
    owed_templates *set = NULL;
    if (owed_templates_new(&set, &cli->err) != OWED_OK)
        return cli_fail(cli);
    int code = run_in(cli, set, folder);
    owed_templates_free(set);
    return code;
}
