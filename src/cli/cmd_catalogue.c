/* SPDX-License-Identifier: MIT
 *
 * cmd_catalogue.c - owed catalogue: who declares what and who wants what.
 */
#include "cli/common.h"
#include "declare/publish.h"
#include "operate/catalogue.h"

static int run_catalogue(struct cli *cli);

static const struct option catalogue_options[] = {
    {.name = "format",
        .type = OPTION_TEXT,
        .argument = "FORMAT",
        .fallback = "markdown",
        .help = "json or markdown"},
    {.name = "json", .type = OPTION_BOOL, .help = "the same as --format json"},
    {.name = "declared",
        .type = OPTION_BOOL,
        .help = "what owed.conf and the modules declare, and not what is in the store"},
    {.name = NULL},
};

const struct command cmd_catalogue = {
    .name = "catalogue",
    .summary = "print which events there are and who wants them",
    .usage = "",
    .text =
        "Prints what every app has published to the store: event types with their fields, version and "
        "retention, and receivers with their mode, site, lane, options, and the arithmetic of their curve. Each wait is drawn evenly "
        "from nothing to a ceiling, which doubles: at most all ceilings together lie between the first attempt and "
        "the last, and half of that on average. What was removed is left out.\n\n"
        "The same declarations give the same bytes, so that the document can be kept beside the code and compared: "
        "with --declared it needs no store.\n\n"
        "In JSON, settings has the backoff of receivers that declare none, any_event the receivers of any event, and "
        "events one element for each name: with declared (by each app: app, version, retention_seconds, delete_when, "
        "fields) and receivers (key, app, mode, options, and of durable ones site, kind, lane, max_attempts, "
        "backoff_base_seconds and backoff_cap_seconds, null where the setting holds, longest_wait_seconds, "
        "mean_wait_seconds, lease_seconds, timeout_seconds, due_seconds, give_up_after_seconds, eager, database_only, targets and pause).",
    .examples = "    owed catalogue >CATALOGUE.md\n"
                "    owed catalogue --declared --format json | diff catalogue.json -",
    .options = catalogue_options,
    .run = run_catalogue,
};

static owed_status
read_store(struct cli *cli, struct catalogue *catalogue)
{
    owed_status status = cli_open_store(cli, false);
    if (status == OWED_OK)
        status = store_catalogue_events(
            cli->db, &cli->arena, &catalogue->events, &catalogue->event_count, &cli->err);
    if (status == OWED_OK)
        status = store_catalogue_receivers(
            cli->db, &cli->arena, &catalogue->receivers, &catalogue->receiver_count, &cli->err);
    return status;
}

static owed_status
read_declarations(struct cli *cli, struct catalogue *catalogue)
{
    owed_status status = cli_declare(cli);
    if (status == OWED_OK)
        status = publish_describe(
            cli->registry, &cli->arena, &catalogue->events, &catalogue->receivers, &cli->err);
    if (status != OWED_OK)
        return status;
    catalogue->event_count = cli->registry->type_count;
    catalogue->receiver_count = cli->registry->receiver_count;
    return OWED_OK;
}

static int
run_catalogue(struct cli *cli)
{
    const char *format = options_text(cli->flags, "format");
    bool json = cli_json(cli) || strcmp(format, "json") == 0;
    if (!json && strcmp(format, "markdown") != 0)
        return cli_usage(cli, "--format '%s' is neither json nor markdown", format);
    struct catalogue catalogue = {
        .curve = {.base_us = options_number(cli->settings, "backoff-base"),
            .cap_us = options_number(cli->settings, "backoff-cap")},
    };
    owed_status status = options_number(cli->flags, "declared") != 0
        ? read_declarations(cli, &catalogue)
        : read_store(cli, &catalogue);
    if (status == OWED_OK)
        status = catalogue_arrange(&catalogue, &cli->arena, &cli->err);
    if (status != OWED_OK)
        return cli_fail(cli);
    (json ? catalogue_json : catalogue_markdown)(&catalogue, &cli->out.text);
    return EXIT_DONE;
}
