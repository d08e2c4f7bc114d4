/* SPDX-License-Identifier: MIT
 *
 * cmd_relays.c - owed relays: who delivers for this store.
 */
#include "cli/common.h"
#include "cli/filter.h"
#include "cli/rows.h"

static int run_relays(struct cli *cli);

static const struct option relays_options[] = {OPTION_JSON_LINES, {.name = NULL}};

const struct command cmd_relays = {
    .name = "relays",
    .summary = "list the relays of a store",
    .usage = "",
    .text =
        "Lists the workers of all relays that have said they serve this store, the lanes they "
        "serve, and when they last said so: one line for each, as in HOST-PID.START/WORKER. One "
        "that was killed stays in the list with an old heartbeat.",
    .examples = "    owed relays --json | jq -r .heartbeat_at",
    .options = relays_options,
    .run = run_relays,
};

static int
run_relays(struct cli *cli)
{
    struct relay_row *rows = NULL;
    size_t count = 0;
    if (cli_open_store(cli, false) != OWED_OK ||
        store_relays(cli->db, &cli->arena, &rows, &count, &cli->err) != OWED_OK)
        return cli_fail(cli);
    cli_list(cli, relay_fields, rows, count, sizeof *rows);
    return EXIT_DONE;
}
