/* SPDX-License-Identifier: MIT
 *
 * cmd_deliveries.c - owed deliveries: what is owed and what became of it, the newest first.
 */
#include "cli/common.h"
#include "cli/filter.h"
#include "cli/rows.h"
#include "engine/states.h"

static int run_deliveries(struct cli *cli);

static const struct option deliveries_options[] = {
    FILTER_NAME,
    {.name = "receiver", .type = OPTION_TEXT, .argument = "KEY", .help = "only of this receiver"},
    {.name = "status",
        .type = OPTION_TEXT,
        .argument = "STATUS",
        .help = "only pending, claimed, failed, succeeded, dead, orphaned or cancelled ones"},
    {.name = "lane",
        .type = OPTION_TEXT,
        .argument = "LANE",
        .help = "only of this lane, in full or of the configured app"},
    {.name = "event", .type = OPTION_INT, .argument = "ID", .help = "only of this event"},
    FILTER_PAGE,
    OPTION_JSON_LINES,
    {.name = NULL},
};

const struct command cmd_deliveries = {
    .name = "deliveries",
    .summary = "list deliveries, the newest first",
    .usage = "",
    .text = "Lists what is owed to receivers and what became of it. The next page begins with "
            "--before and the last id of this one.",
    .examples = "    owed deliveries --status dead --receiver shop.billing\n"
                "    owed deliveries --event 7 --json",
    .options = deliveries_options,
    .run = run_deliveries,
};

static int
check_status(struct cli *cli, const char *word)
{
    enum state state;
    if (word == NULL || (state_parse(word, &state) && state != STATE_NONE))
        return EXIT_DONE;
    const char *words[STATE_COUNT + 1] = {NULL};
    for (int i = STATE_PENDING; i < STATE_COUNT; i++)
        words[i - STATE_PENDING] = state_name((enum state)i);
    const char *known = nearest(word, words);
    if (known != NULL)
        return cli_usage(cli, "--status: there is no status '%s'; the nearest is %s", word, known);
    return cli_usage(cli,
        "--status: there is no status '%s'; they are pending, claimed, failed, succeeded, dead, "
        "orphaned and cancelled",
        word);
}

static int
run_deliveries(struct cli *cli)
{
    struct filter filter = {0};
    int code = filter_read(cli, &filter);
    if (code != EXIT_DONE)
        return code;
    filter.receiver_key = options_text(cli->flags, "receiver");
    filter.status = options_text(cli->flags, "status");
    filter.lane = cli_lane(cli, options_text(cli->flags, "lane"));
    filter.event_id = options_number(cli->flags, "event");
    code = check_status(cli, filter.status);
    if (code != EXIT_DONE)
        return code;
    struct delivery_row *rows = NULL;
    size_t count = 0;
    if (cli_open_store(cli, false) != OWED_OK ||
        store_deliveries(cli->db, &filter, &cli->arena, &rows, &count, &cli->err) != OWED_OK)
        return cli_fail(cli);
    cli_list(cli, delivery_fields, rows, count, sizeof *rows);
    return EXIT_DONE;
}
