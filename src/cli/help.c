/* SPDX-License-Identifier: MIT
 *
 * help.c - what --help prints, from the tables.
 */
#include "cli/command.h"
#include "cli/prose.h"
#include "declare/settings.h"

const struct option common_options[] = {
    {.name = "config",
        .letter = 'c',
        .type = OPTION_TEXT,
        .argument = "FILE",
        .help = "configuration; else OWED_CONFIG, else ./owed.conf where there is one"},
    {.name = "help", .letter = 'h', .type = OPTION_BOOL, .help = "show this"},
    {.name = NULL},
};

/* The tables of a command under their headings; the first one is its own. */
static const struct {
    const char *heading;
    const struct option *table;
    bool relays;
} shared_tables[] = {
    {"Settings of a relay", settings_relay, true},
    {"Common options", common_options, false},
    {"The store", settings_store, false},
    {"The log", settings_log, false},
};
#define SHARED_TABLES (sizeof shared_tables / sizeof shared_tables[0])

void
command_tables(const struct command *command, const struct option *tables[COMMAND_TABLES])
{
    size_t count = 0;
    if (command->options != NULL)
        tables[count++] = command->options;
    for (size_t i = 0; i < SHARED_TABLES; i++) {
        if (!shared_tables[i].relays || command->relays)
            tables[count++] = shared_tables[i].table;
    }
    tables[count] = NULL;
}

void
help_commands(struct buf *text)
{
    buf_puts(text, "usage: owed COMMAND [OPTION...]\n\n");
    for (size_t i = 0; commands[i] != NULL; i++)
        buf_printf(text, "  %-12s%s\n", commands[i]->name, commands[i]->summary);
    buf_puts(text,
        "\nowed COMMAND --help says more of each; owed --version says which release this is.\n");
}

void
help_command(const struct command *command, struct buf *text)
{
    buf_printf(text, "usage: owed %s [OPTION...]%s%s\n\n", command->name,
        is_empty(command->usage) ? "" : " ", command->usage);
    prose_text(command->text, 0, text);
    if (command->options != NULL) {
        buf_puts(text, "\nOptions\n");
        options_help(command->options, text);
    }
    for (size_t i = 0; i < SHARED_TABLES; i++) {
        if (shared_tables[i].relays && !command->relays)
            continue;
        buf_printf(text, "\n%s\n", shared_tables[i].heading);
        options_help(shared_tables[i].table, text);
    }
    if (command->examples == NULL)
        return;
    buf_puts(text, "\nExamples\n");
    prose_text(command->examples, 0, text);
}
