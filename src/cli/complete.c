/* SPDX-License-Identifier: MIT
 *
 * complete.c - completion for bash and zsh, from the tables.
 */
#include "cli/command.h"

#include <string.h>

/* Options of which the words are known. */
static const struct {
    const char *option;
    const char *words;
} known_words[] = {
    {"log-level", "debug info warning error"},
    {"log-format", "text json"},
    {"status", "pending claimed succeeded failed dead orphaned cancelled"},
};
#define KNOWN_WORDS (sizeof known_words / sizeof known_words[0])

static bool
is_of_file(const struct option *option)
{
    return option->argument != NULL && strcmp(option->argument, "FILE") == 0;
}

static const char *
words_of(const struct option *option)
{
    for (size_t i = 0; i < KNOWN_WORDS; i++)
        if (strcmp(known_words[i].option, option->name) == 0)
            return known_words[i].words;
    return NULL;
}

static void
add_options(const struct command *command, struct buf *text)
{
    const struct option *tables[COMMAND_TABLES];
    command_tables(command, tables);
    for (size_t i = 0; tables[i] != NULL; i++)
        for (const struct option *option = tables[i]; option->name != NULL; option++) {
            buf_printf(text, " --%s", option->name);
            if (option->type == OPTION_BOOL && strcmp(option->name, "help") != 0)
                buf_printf(text, " --no-%s", option->name);
        }
}

static void
add_commands(struct buf *text)
{
    for (size_t i = 0; commands[i] != NULL; i++)
        buf_printf(text, "%s ", commands[i]->name);
}

void
complete_bash(struct buf *text)
{
    buf_puts(text,
        "# Completion of owed(1) for bash, made from the program's own tables.\n"
        "_owed() {\n"
        "    local words=''\n"
        "    case $3 in\n");
    for (size_t i = 0; i < KNOWN_WORDS; i++)
        buf_printf(text, "    --%s) words='%s' ;;\n", known_words[i].option, known_words[i].words);
    buf_puts(text,
        "    esac\n"
        "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
        "        words='");
    add_commands(text);
    buf_puts(text,
        "--help --version'\n"
        "    elif [ -z \"$words\" ]; then\n"
        "        case ${COMP_WORDS[1]}$2 in\n"
        "        help[!-]* | help) words='");
    add_commands(text);
    buf_puts(text, "' ;;\n");
    for (size_t i = 0; commands[i] != NULL; i++) {
        buf_printf(text, "        %s-*) words='", commands[i]->name);
        add_options(commands[i], text);
        buf_puts(text, "' ;;\n");
    }
    buf_puts(text,
        "        esac\n"
        "    fi\n"
        "    if [ -n \"$words\" ]; then\n"
        "        mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$2\")\n"
        "    else\n"
        "        mapfile -t COMPREPLY < <(compgen -f -- \"$2\")\n"
        "    fi\n"
        "}\n"
        "complete -F _owed owed\n");
}

/* add_quoted writes a text inside single quotes; in brackets of a specification ] and : need a backslash. */
static void
add_quoted(const char *words, struct buf *text)
{
    for (const char *p = words; *p != '\0'; p++) {
        if (*p == '\'')
            buf_puts(text, "'\\''");
        else if (*p == '[' || *p == ']' || *p == ':' || *p == '\\')
            buf_printf(text, "\\%c", *p);
        else
            buf_putc(text, *p);
    }
}

/* add_spec writes one option as _arguments takes it: '--name=[help]:ARG:action'. */
static void
add_spec(const struct option *option, struct buf *text)
{
    bool takes = option->type != OPTION_BOOL;
    const char *words = words_of(option);
    buf_printf(text, " \\\n        '%s--%s%s[", option->type == OPTION_LIST ? "*" : "",
        option->name, takes ? "=" : "");
    add_quoted(option->help, text);
    buf_putc(text, ']');
    if (takes) {
        buf_putc(text, ':');
        add_quoted(option->argument, text);
        buf_putc(text, ':');
        if (words != NULL)
            buf_printf(text, "(%s)", words);
        else if (is_of_file(option))
            buf_puts(text, "_files");
    }
    buf_putc(text, '\'');
}

static void
add_case(const struct command *command, struct buf *text)
{
    const struct option *tables[COMMAND_TABLES];
    command_tables(command, tables);
    buf_printf(text, "    %s)\n        _arguments", command->name);
    for (size_t i = 0; tables[i] != NULL; i++)
        for (const struct option *option = tables[i]; option->name != NULL; option++)
            add_spec(option, text);
    if (strcmp(command->name, "help") == 0) {
        buf_puts(text, " \\\n        '1:COMMAND:(");
        add_commands(text);
        buf_puts(text, ")'");
    } else {
        buf_puts(text, " \\\n        '*:operand:_files'");
    }
    buf_puts(text, "\n        ;;\n");
}

void
complete_zsh(struct buf *text)
{
    buf_puts(text,
        "#compdef owed\n"
        "# Completion of owed(1) for zsh, made from the tables of the program.\n"
        "if (( CURRENT == 2 )); then\n"
        "    local -a known\n"
        "    known=(\n");
    for (size_t i = 0; commands[i] != NULL; i++) {
        buf_printf(text, "        '%s:", commands[i]->name);
        add_quoted(commands[i]->summary, text);
        buf_puts(text, "'\n");
    }
    buf_puts(text,
        "    )\n"
        "    _describe command known\n"
        "    return\n"
        "fi\n"
        "local verb=${words[2]}\n"
        "shift words\n"
        "(( CURRENT-- ))\n"
        "case $verb in\n");
    for (size_t i = 0; commands[i] != NULL; i++)
        add_case(commands[i], text);
    buf_puts(text, "esac\n");
}
