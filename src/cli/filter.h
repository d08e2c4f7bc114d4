/* SPDX-License-Identifier: MIT
 *
 * filter.h - the options that lists share.
 */
#ifndef CLI_FILTER_H
#define CLI_FILTER_H

#include "cli/common.h"
#include "store/look.h"

#define FILTER_NAME \
    { \
        .name = "name", .type = OPTION_TEXT, .argument = "NAME", \
        .help = "only of events of this name" \
    }
#define FILTER_PAGE \
    {.name = "limit", \
        .type = OPTION_INT, \
        .argument = "N", \
        .fallback = "50", \
        .min = 1, \
        .max = 100000, \
        .help = "at most so many rows"}, \
    { \
        .name = "before", .type = OPTION_INT, .argument = "ID", .help = "only ids below this one" \
    }
#define OPTION_JSON_LINES \
    { \
        .name = "json", .type = OPTION_BOOL, .help = "one JSON object a line" \
    }
#define OPTION_JSON_DOCUMENT \
    { \
        .name = "json", .type = OPTION_BOOL, .help = "one JSON document" \
    }

/* filter_read fills in what FILTER_NAME and FILTER_PAGE took, and returns an exit code. */
int filter_read(struct cli *cli, struct filter *filter);

#endif
