/* SPDX-License-Identifier: MIT
 *
 * filter.c - the filter of a list, from its options.
 */
#include "cli/filter.h"

int
filter_read(struct cli *cli, struct filter *filter)
{
    if (options_is_set(cli->flags, "before") && options_number(cli->flags, "before") == 0)
        return cli_usage(cli, "--before 0: ids begin at 1");
    filter->event_name = options_text(cli->flags, "name");
    filter->limit = (int32_t)options_number(cli->flags, "limit");
    filter->before_id = options_number(cli->flags, "before");
    return EXIT_DONE;
}
