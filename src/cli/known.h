/* SPDX-License-Identifier: MIT
 *
 * known.h - the event names that anybody declared, to warn of a misspelt one.
 */
#ifndef CLI_KNOWN_H
#define CLI_KNOWN_H

#include "cli/common.h"

struct known {
    const char **names; // sorted, NULL-ended
    size_t count;
    char last[256]; // the name that was found last
    int warned;     // unknown names so far
};

/* known_load reads the registry and the store's catalogue. */
owed_status known_load(struct cli *cli, struct known *ret_known);

/* known_warn says on standard error that nobody declared the name, once for each. */
void known_warn(struct cli *cli, struct known *known, const char *name);

#endif
