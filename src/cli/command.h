/* SPDX-License-Identifier: MIT
 *
 * command.h - what a command is: one table feeds parsing, --help, the manual pages and completion.
 */
#ifndef CLI_COMMAND_H
#define CLI_COMMAND_H

#include "base/options.h"

struct cli; // one run of the program, see common.h

/*
 * The texts are paragraphs parted by an empty line; a paragraph whose lines begin with four blanks
 * is shown as it stands.
 */
struct command {
    const char *name;
    const char *summary;              // one line, without a full stop
    const char *usage;                // operands, as in "NAME [PAYLOAD|-]"; "" for none
    const char *text;                 // what it does
    const char *examples;             // or NULL
    const struct option *options;     // its own; NULL: none
    void (*manual)(struct buf *text); // more sections of its manual page, in mdoc; NULL: none
    bool relays;                      // takes the settings of a relay, too
    int max_operands;                 // -1: any number
    int (*run)(struct cli *cli);      // returns the exit code
};

/* Every command, in the order of the help; ends with NULL. */
extern const struct command *const commands[];

/* Words that every command takes, next to those of [store] and [log] (declare/settings.h). */
extern const struct option common_options[];

const struct command *command_find(const char *name);

/* command_nearest returns the name of the command that is closest to word, or NULL. */
const char *command_nearest(const char *word);

/* command_tables fills in the option tables of a command, NULL-ended, in the order of the help. */
#define COMMAND_TABLES 6
void command_tables(const struct command *command, const struct option *tables[COMMAND_TABLES]);

/* What the program can print about itself: help.c, mdoc.c, mdoc_concepts.c and complete.c. */
void help_commands(struct buf *text);
void help_command(const struct command *command, struct buf *text);
void mdoc_overview(struct buf *text);
void mdoc_command(const struct command *command, struct buf *text);
void mdoc_conf(struct buf *text);
void mdoc_troubles(struct buf *text); // these two: troubles.c
void mdoc_checks(struct buf *text);
void mdoc_concepts(struct buf *text);
void mdoc_head(
    struct buf *text, const char *title, int section, const char *name, const char *summary);
void complete_bash(struct buf *text);
void complete_zsh(struct buf *text);

#endif
