/* SPDX-License-Identifier: MIT
 *
 * complete.c - completion for bash, from the tables.
 */
#include "cli/command.h"

static void
add_words(const struct command *command, struct buf *text)
{
    const struct option *tables[COMMAND_TABLES];
    command_tables(command, tables);
    for (size_t i = 0; tables[i] != NULL; i++) {
        for (const struct option *option = tables[i]; option->name != NULL; option++)
            buf_printf(text, " --%s", option->name);
    }
}

void
complete_bash(struct buf *text)
{
    buf_puts(text,
        "# Completion of owed(1) for bash, made from the program's own tables.\n"
        "_owed() {\n"
        "    local words\n"
        "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
        "        words='");
    for (size_t i = 0; commands[i] != NULL; i++)
        buf_printf(text, "%s ", commands[i]->name);
    buf_puts(text,
        "--help --version'\n"
        "    else\n"
        "        case ${COMP_WORDS[1]} in\n");
    for (size_t i = 0; commands[i] != NULL; i++) {
        buf_printf(text, "        %s) words='", commands[i]->name);
        add_words(commands[i], text);
        buf_puts(text, "' ;;\n");
    }
    buf_puts(text,
        "        *) words='' ;;\n"
        "        esac\n"
        "    fi\n"
        "    case $2 in\n"
        "    -*) mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$2\") ;;\n"
        "    *)\n"
        "        if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
        "            mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$2\")\n"
        "        else\n"
        "            mapfile -t COMPREPLY < <(compgen -f -- \"$2\")\n"
        "        fi\n"
        "        ;;\n"
        "    esac\n"
        "}\n"
        "complete -F _owed owed\n");
}
