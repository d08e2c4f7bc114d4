/* SPDX-License-Identifier: MIT
 *
 * cmd_help.c - owed help: all commands, or one; and, for the build, the manual pages.
 */
#include "cli/common.h"

static int run_help(struct cli *cli);

static const struct option help_options[] = {
    {.name = "mdoc",
        .type = OPTION_BOOL,
        .help =
            "the manual page: of a command, of owed where none is named, of owed.conf, or the concepts in owed.7"},
    {.name = "completion", .type = OPTION_BOOL, .help = "completion for bash"},
    {.name = "zsh", .type = OPTION_BOOL, .help = "completion for zsh instead"},
    {.name = NULL},
};

const struct command cmd_help = {
    .name = "help",
    .summary = "list the commands, or explain one",
    .usage = "[COMMAND]",
    .text = "Prints what owed COMMAND --help prints, or the list of commands.",
    .examples = "    owed help fire",
    .options = help_options,
    .max_operands = 1,
    .run = run_help,
};

static int
print_mdoc(struct cli *cli, const char *word)
{
    struct buf *text = &cli->out.text;
    if (word == NULL) {
        mdoc_overview(text);
        return EXIT_DONE;
    }
    if (strcmp(word, "owed.conf") == 0) {
        mdoc_conf(text);
        return EXIT_DONE;
    }
    if (strcmp(word, "owed.7") == 0) {
        mdoc_concepts(text);
        return EXIT_DONE;
    }
    const struct command *command = command_find(word);
    if (command == NULL)
        return cli_usage(cli, "there is no command '%s'", word);
    mdoc_command(command, text);
    return EXIT_DONE;
}

static int
run_help(struct cli *cli)
{
    const char *word = cli->operands[0];
    if (options_number(cli->flags, "zsh") != 0) {
        complete_zsh(&cli->out.text);
        return EXIT_DONE;
    }
    if (options_number(cli->flags, "completion") != 0) {
        complete_bash(&cli->out.text);
        return EXIT_DONE;
    }
    if (options_number(cli->flags, "mdoc") != 0)
        return print_mdoc(cli, word);
    if (word == NULL) {
        help_commands(&cli->out.text);
        return EXIT_DONE;
    }
    const struct command *command = command_find(word);
    if (command != NULL) {
        help_command(command, &cli->out.text);
        return EXIT_DONE;
    }
    const char *known = command_nearest(word);
    if (known != NULL)
        return cli_usage(cli, "there is no command '%s'; did you mean '%s'?", word, known);
    return cli_usage(cli, "there is no command '%s'", word);
}
