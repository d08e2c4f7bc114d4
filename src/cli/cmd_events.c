/* SPDX-License-Identifier: MIT
 *
 * cmd_events.c - owed events: what was fired, the newest first.
 */
#include "cli/common.h"
#include "cli/filter.h"
#include "cli/rows.h"

static int run_events(struct cli *cli);

static const struct option events_options[] = {
    FILTER_NAME,
    {.name = "correlation-id",
        .type = OPTION_TEXT,
        .argument = "ID",
        .help = "only events of this correlation"},
    FILTER_PAGE,
    OPTION_JSON_LINES,
    {.name = NULL},
};

const struct command cmd_events = {
    .name = "events",
    .summary = "list events, the newest first",
    .usage = "",
    .text = "Lists events with the number of their deliveries, and of those still owed. The next "
            "page begins with --before and the last id of this one.",
    .examples = "    owed events --name shop.OrderPlaced --limit 10\n"
                "    owed events --json | jq .dedupe_key",
    .options = events_options,
    .run = run_events,
};

static int
run_events(struct cli *cli)
{
    struct filter filter = {0};
    int code = filter_read(cli, &filter);
    if (code != EXIT_DONE)
        return code;
    filter.correlation_id = options_text(cli->flags, "correlation-id");
    struct event_row *events = NULL;
    size_t count = 0;
    if (cli_open_store(cli, false) != OWED_OK ||
        store_events(cli->db, &filter, &cli->arena, &events, &count, &cli->err) != OWED_OK)
        return cli_fail(cli);
    cli_list(cli, event_fields, events, count, sizeof *events);
    return EXIT_DONE;
}
