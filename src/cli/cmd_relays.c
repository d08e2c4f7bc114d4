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
        "serve (* for every lane), and when they last said so: one line for each, as in HOST-PID.START/WORKER. A "
        "relay says so every 30 seconds; one that has not for 90 seconds is not alive. One "
        "that was killed stays in the list for a day. DEAF is why it hears of no commit of others and polls, as behind a "
        "pooler. AWAY is whom it cannot hand on to what it should, since when and why: a broker that a receiver publishes to, "
        "or its task site.\n\n"
        "With --json, the keys are id, host, pid, boot_id, lanes, wake_path, started_at, heartbeat_at, "
        "heartbeat_age_seconds, alive, deaf (null: it hears) and "
        "away (null: nobody is).",
    .examples = "    owed relays --json | jq -r 'select(.alive | not) | .id'",
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
    const struct shown_relay *shown = show_relays(cli, rows, count);
    if (shown == NULL)
        return cli_refuse(EXIT_AGAIN, "out of memory");
    cli_list(cli, relay_fields, shown, count, sizeof *shown);
    return EXIT_DONE;
}
