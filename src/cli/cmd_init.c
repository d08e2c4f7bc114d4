/* SPDX-License-Identifier: MIT
 *
 * cmd_init.c - owed init: the tables of a new store.
 */
#include "cli/common.h"

static int run_init(struct cli *cli);

const struct command cmd_init = {
    .name = "init",
    .summary = "make the tables of a new store, or bring them up to date",
    .usage = "",
    .text = "Makes the store's file where there is none, and every table, view and trigger "
            "of owed in it. What is there already is left alone, so that a second run does "
            "nothing. Other tables of the database are not touched.",
    .examples = "    owed init --store sqlite:shop.db",
    .run = run_init,
};

static int
run_init(struct cli *cli)
{
    const char *url = NULL;
    if (cli_url(cli, &url) != OWED_OK)
        return cli_fail(cli);
    struct db_options options = {
        .busy_timeout_us = options_number(cli->settings, "busy-timeout"), .create = true};
    if (store_open(url, &options, &cli->db, &cli->err) != OWED_OK)
        return cli_fail(cli);
    int applied = 0;
    if (store_now(cli->db, &cli->now_us, &cli->err) != OWED_OK ||
        store_migrate(cli->db, cli->now_us, &applied, &cli->err) != OWED_OK)
        return cli_fail(cli);
    char shown[512];
    store_url_shown(url, shown, sizeof shown);
    out_printf(&cli->out, applied == 0 ? "%s: the tables are up to date\n" : "%s: ready\n", shown);
    return EXIT_DONE;
}
