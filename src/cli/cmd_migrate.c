/* SPDX-License-Identifier: MIT
 *
 * cmd_migrate.c - owed migrate: an older store brought up to date, or the SQL that would do it.
 */
#include "cli/common.h"

static int run_migrate(struct cli *cli);

static const struct option migrate_options[] = {
    {.name = "print",
        .type = OPTION_BOOL,
        .help = "print the SQL that would be run, and change nothing"},
    {.name = NULL},
};

const struct command cmd_migrate = {
    .name = "migrate",
    .summary = "bring the tables of a store up to date, or print how",
    .usage = "",
    .text = "Runs what this release adds to the tables, and replaces the routines. A relay "
            "never does this by itself. A store that a newer release has migrated is "
            "refused.\n\n"
            "With --print the scripts go to standard output, for people who run SQL with a "
            "tool of their own; without a store, those of an empty one.",
    .examples = "    owed migrate --store sqlite:shop.db\n"
                "    owed migrate --print | sqlite3 shop.db",
    .options = migrate_options,
    .run = run_migrate,
};

static void
print_script(void *state, const char *name, const char *text)
{
    struct out *out = state;
    out_printf(out, "-- %s\n", name);
    out_puts(out, text);
    out_puts(out, "\n");
}

/* The scheme ends at the colon; without a URL it is that of the store at hand everywhere. */
static const char *
scheme_of(struct cli *cli, const char *url)
{
    const char *colon = url == NULL ? NULL : strchr(url, ':');
    if (colon == NULL)
        return "sqlite";
    return arena_copy(&cli->arena, (struct str){url, (size_t)(colon - url)});
}

static int
print_migrations(struct cli *cli)
{
    const char *url = options_text(cli->settings, "store");
    struct db_options options = {
        .busy_timeout_us = options_number(cli->settings, "busy-timeout"), .read_only = true};
    owed_status status =
        is_empty(url) ? OWED_UNAVAILABLE : store_open(url, &options, &cli->db, &cli->err);
    // A store that is not there yet is an empty one.
    if (status != OWED_OK && status != OWED_UNAVAILABLE)
        return cli_fail(cli);
    const struct printer printer = {print_script, &cli->out};
    status = store_print_migrations(scheme_of(cli, url), cli->db, cli->now_us, &printer, &cli->err);
    return status == OWED_OK ? EXIT_DONE : cli_fail(cli);
}

static int
run_migrate(struct cli *cli)
{
    if (options_number(cli->flags, "print") != 0)
        return print_migrations(cli);
    const char *url = NULL;
    if (cli_url(cli, &url) != OWED_OK)
        return cli_fail(cli);
    struct db_options options = {.busy_timeout_us = options_number(cli->settings, "busy-timeout")};
    if (store_open(url, &options, &cli->db, &cli->err) != OWED_OK)
        return cli_fail(cli);
    int applied = 0;
    if (store_now(cli->db, &cli->now_us, &cli->err) != OWED_OK ||
        store_migrate(cli->db, cli->now_us, &applied, &cli->err) != OWED_OK)
        return cli_fail(cli);
    out_printf(&cli->out, "migrated: %d\n", applied);
    return EXIT_DONE;
}
