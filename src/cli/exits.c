/* SPDX-License-Identifier: MIT
 *
 * exits.c - one table from owed_status to exit code.
 */
#include "cli/exits.h"

#include <stddef.h>

const struct exit_meaning exit_meanings[] = {
    {EXIT_DONE, "Done."},
    {EXIT_FOUND, "A check found something, or the output could not be written."},
    {EXIT_USAGE, "The command line cannot be read this way."},
    {EXIT_INPUT, "The input is refused: a payload, a line, a URL, an id that does not exist."},
    {EXIT_STORE, "The store cannot be reached or refused the work."},
    {EXIT_BUG, "A bug in owed."},
    {EXIT_AGAIN, "The store is busy; the same command may well succeed later."},
    {EXIT_CONFIG, "The configuration, a declaration, a module or the schema is not right."},
    {0, NULL},
};

static const struct {
    owed_status status;
    int code;
} codes[] = {
    {OWED_OK, EXIT_DONE},
    {OWED_INVALID, EXIT_INPUT},
    {OWED_NOMEM, EXIT_AGAIN},
    {OWED_BUSY, EXIT_AGAIN},
    {OWED_UNAVAILABLE, EXIT_STORE},
    {OWED_UNSURE, EXIT_STORE},
    {OWED_DUPLICATE, EXIT_DONE},
    {OWED_VETOED, EXIT_INPUT},
    {OWED_NOT_FOUND, EXIT_INPUT},
    {OWED_LOST, EXIT_AGAIN},
    {OWED_SCHEMA, EXIT_CONFIG},
    {OWED_CONFIG, EXIT_CONFIG},
    {OWED_LIMIT, EXIT_INPUT},
    {OWED_ABORTED, EXIT_AGAIN},
    {OWED_STORE, EXIT_STORE},
    {OWED_BUG, EXIT_BUG},
    {OWED_TEMPLATE, EXIT_CONFIG},
    {OWED_MISSING_VARIABLE, EXIT_INPUT},
    {OWED_UNKNOWN_VARIABLE, EXIT_INPUT},
    {OWED_VARIABLE_TYPE, EXIT_INPUT},
    {OWED_LOCALE, EXIT_CONFIG},
    {OWED_MALFORMED_LOCALE, EXIT_INPUT},
    {OWED_MISSING_LOCALE, EXIT_CONFIG},
    {OWED_LOCALE_MISMATCH, EXIT_CONFIG},
};

int
exit_of(owed_status status)
{
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++) {
        if (codes[i].status == status)
            return codes[i].code;
    }
    return EXIT_BUG;
}
