/* SPDX-License-Identifier: MIT
 *
 * cmd_prune.c - owed prune: events that nobody needs any more are deleted.
 */
#include <inttypes.h>

#include "base/clock.h"
#include "cli/act.h"

#define DAYS_MAX 36500

static int run_prune(struct cli *cli);

static const struct option prune_options[] = {
    {.name = "days",
        .type = OPTION_INT,
        .argument = "N",
        .max = DAYS_MAX,
        .help = "the ordinary window, in place of the setting retention"},
    {.name = "limit", .type = OPTION_INT, .argument = "N", .help = "at most so many events"},
    {.name = "batch-size",
        .type = OPTION_INT,
        .argument = "N",
        .min = 1,
        .max = 1000000,
        .help = "events and deliveries of one transaction; 1,000 unless told, on SQLite 40"},
    ACT_DRY_RUN,
    ACT_YES,
    {.name = NULL},
};

const struct command cmd_prune = {
    .name = "prune",
    .summary = "delete events that nobody needs any more",
    .usage = "",
    .text =
        "An event goes, with all that was owed for it, when it says that it goes once all of it has "
        "succeeded or settled, and it did; or when all of it has ended and it is past its own window, "
        "or the ordinary one where it has none. What is still owed keeps its event, whatever its age. "
        "When each receiver last succeeded is kept.\n\n"
        "Batches are short and committed one by one, with a rest after each, so that those who write do not wait "
        "for it: cut off, it is simply run again. A relay does the "
        "same by itself (prune and retention in owed.conf).\n\n"
        "On a terminal it asks before it deletes more than 1,000.",
    .examples = "    owed prune --dry-run\n"
                "    owed prune --days 30 --limit 100000",
    .options = prune_options,
    .max_operands = 0,
    .run = run_prune,
};

static struct prune
read_prune(struct cli *cli)
{
    struct prune prune = {
        .now_us = cli->now_us,
        .retention_us = options_number(cli->settings, "retention"),
        .batch_rows = options_is_set(cli->flags, "batch-size")
            ? options_number(cli->flags, "batch-size")
            : prune_batch_rows(cli->db),
        .limit = options_is_set(cli->flags, "limit") ? options_number(cli->flags, "limit") : -1,
        .most_held = -1,
        .dry_run = act_is_dry(cli),
    };
    if (options_is_set(cli->flags, "days"))
        prune.retention_us = options_number(cli->flags, "days") * 24 * 3600 * US_PER_SECOND;
    return prune;
}

/* ask counts first, for a person. */
static int
ask(struct cli *cli, const struct prune *prune)
{
    struct prune look = *prune;
    look.dry_run = true;
    struct acting nobody = {.dry_run = true};
    int64_t count = 0;
    if (prune_all(cli->db, &look, &nobody, &count, &cli->err) != OWED_OK)
        return cli_fail(cli);
    if (!act_confirm(count, "delete %" PRId64 " events?"))
        return cli_refuse(EXIT_FOUND, "nothing was changed");
    return EXIT_DONE;
}

static int
run_prune(struct cli *cli)
{
    if (cli_open_store(cli, true) != OWED_OK)
        return cli_fail(cli);
    struct prune prune = read_prune(cli);
    if (store_now(cli->db, &prune.now_us, &cli->err) != OWED_OK)
        return cli_fail(cli);
    int code = act_asks(cli) ? ask(cli, &prune) : EXIT_DONE;
    if (code != EXIT_DONE)
        return code;
    struct progress progress;
    struct acting acting = act_fill(cli, &progress);
    int64_t events = 0;
    owed_status status = prune_all(cli->db, &prune, &acting, &events, &cli->err);
    progress_wipe(&progress);
    if (status != OWED_OK)
        return cli_fail(cli);
    out_printf(&cli->out, "%s: %" PRId64 "\n", prune.dry_run ? "would delete" : "deleted", events);
    return EXIT_DONE;
}
