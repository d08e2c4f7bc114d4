/* SPDX-License-Identifier: MIT
 *
 * cmd_lanes.c - owed lanes: what waits in each lane, and which an operator paused.
 */
#include "cli/common.h"
#include "cli/fields.h"
#include "cli/filter.h"
#include "store/look.h"

static int run_lanes(struct cli *cli);

static const struct option lanes_options[] = {OPTION_JSON_LINES, {.name = NULL}};

const struct command cmd_lanes = {
    .name = "lanes",
    .summary = "list the lanes and what waits in them",
    .usage = "",
    .text =
        "Lists every lane that a receiver is published in, that was paused, or that a replay has filled beside "
        "them (+name): how many receivers it has "
        "and how many of them are paused, how many deliveries wait for a relay, and beside them how many "
        "are held for paused receivers; since when the lane is paused, until when, by whom and why.",
    .examples = "    owed lanes --json | jq -r 'select(.paused_at != null) | .lane'",
    .options = lanes_options,
    .run = run_lanes,
};

static const struct field lane_fields[] = {
    FIELD(struct lane_row, lane, "lane", "LANE", SHAPE_TEXT),
    FIELD(struct lane_row, receivers, "receivers", "RECEIVERS", SHAPE_INT),
    FIELD(struct lane_row, paused_receivers, "paused_receivers", "PAUSED", SHAPE_INT),
    FIELD(struct lane_row, waiting, "waiting", "WAITING", SHAPE_INT),
    FIELD(struct lane_row, paused_waiting, "paused_waiting", "HELD", SHAPE_INT),
    FIELD(struct lane_row, paused_at_us, "paused_at", "SINCE", SHAPE_TIME),
    FIELD(struct lane_row, paused_until_us, "paused_until", "UNTIL", SHAPE_TIME),
    FIELD(struct lane_row, paused_by, "paused_by", "BY", SHAPE_KEY),
    FIELD(struct lane_row, reason, "reason", "REASON", SHAPE_KEY, .width = 40),
    FIELDS_END,
};

static int
run_lanes(struct cli *cli)
{
    struct lane_row *rows = NULL;
    size_t count = 0;
    if (cli_open_store(cli, false) != OWED_OK ||
        store_lanes(cli->db, &cli->arena, &rows, &count, &cli->err) != OWED_OK)
        return cli_fail(cli);
    cli_list(cli, lane_fields, rows, count, sizeof *rows);
    return EXIT_DONE;
}
