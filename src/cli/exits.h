/* SPDX-License-Identifier: MIT
 *
 * exits.h - exit codes, after sysexits(3).
 */
#ifndef CLI_EXITS_H
#define CLI_EXITS_H

#include <owed/error.h>

enum exit_code {
    EXIT_DONE = 0,
    EXIT_FOUND = 1, // a check found something, or the output could not be written
    EXIT_USAGE = 64,
    EXIT_INPUT = 65,
    EXIT_STORE = 69,
    EXIT_BUG = 70,
    EXIT_AGAIN = 75,
    EXIT_CONFIG = 78
};

/* exit_of gives the code for a status. */
int exit_of(owed_status status);

/* One row of the manual's EXIT STATUS; the list ends with a NULL text. */
struct exit_meaning {
    int code;
    const char *text;
};
extern const struct exit_meaning exit_meanings[];

#endif
