/* SPDX-License-Identifier: MIT
 *
 * cmd_cancel.c - owed cancel: what is owed is withdrawn.
 */
#include <inttypes.h>

#include "cli/act.h"
#include "operate/requeue.h"

static int run_cancel(struct cli *cli);

static const struct option cancel_options[] = {
    {.name = "receiver", .type = OPTION_TEXT, .argument = "KEY", .help = "those of this receiver"},
    {.name = "all", .type = OPTION_BOOL, .help = "those of every receiver"},
    {.name = "limit",
        .type = OPTION_INT,
        .argument = "N",
        .help = "at most so many, lowest ids first"},
    ACT_DRY_RUN,
    ACT_YES,
    {.name = NULL},
};

const struct command cmd_cancel = {
    .name = "cancel",
    .summary = "withdraw what is owed",
    .usage = "[DELIVERY-ID...]",
    .text =
        "Deliveries that are pending, failed or claimed become cancelled: nobody attempts them any more. "
        "One that is being run is withdrawn from whoever runs it: what an inside receiver wrote is "
        "rolled back, a receiver that asks whether its row was taken hears so, and what it comes to "
        "is discarded; if its outcome was written first, that stands and nothing is cancelled. on_failure is "
        "not told.\n\n"
        "Ids and --receiver narrow each other; at least one of ids, --receiver and --all must be given. "
        "A cancelled delivery is not requeued; owed replay owes its event again.\n\n"
        "On a terminal it asks before it touches more than 1,000.",
    .examples = "    owed cancel 42 43\n"
                "    owed cancel --receiver shop.billing --dry-run",
    .options = cancel_options,
    .max_operands = -1,
    .run = run_cancel,
};

static int
read_selection(struct cli *cli, struct requeue *which)
{
    *which = (struct requeue){
        .receiver_key = options_text(cli->flags, "receiver"),
        .limit = options_is_set(cli->flags, "limit") ? options_number(cli->flags, "limit") : -1,
    };
    bool all = options_number(cli->flags, "all") != 0;
    bool some = cli->operand_count > 0 || which->receiver_key != NULL;
    if (!all && !some)
        return cli_usage(cli, "cancel wants to know which: ids, --receiver KEY, or --all");
    if (all && some)
        return cli_usage(cli, "--all goes with neither ids nor --receiver");
    return act_ids(cli, "a delivery", &which->ids, &which->id_count);
}

/* ask counts first, for a person. */
static int
ask(struct cli *cli, const struct requeue *which)
{
    const struct acting look = {.now_us = cli->now_us, .dry_run = true};
    int64_t count = 0;
    if (cancel_owed(cli->owed, which, &look, &count, NULL, &cli->err) != OWED_OK)
        return cli_fail(cli);
    if (!act_confirm(count, "withdraw %" PRId64 " deliveries?"))
        return cli_refuse(EXIT_FOUND, "nothing was changed");
    return EXIT_DONE;
}

static int
run_cancel(struct cli *cli)
{
    struct requeue which;
    int code = read_selection(cli, &which);
    if (code != EXIT_DONE)
        return code;
    if (cli_open(cli, NULL) != OWED_OK)
        return cli_fail(cli);
    code = act_asks(cli) ? ask(cli, &which) : EXIT_DONE;
    if (code != EXIT_DONE)
        return code;
    static const char *const owed_states[] = {"pending", "failed", "claimed", NULL};
    act_warn_left(cli, which.ids, which.id_count, owed_states, "only what is owed is withdrawn");
    struct progress progress;
    const struct acting acting = act_fill(cli, &progress);
    int64_t count = 0;
    int64_t running = 0;
    owed_status status = cancel_owed(cli->owed, &which, &acting, &count, &running, &cli->err);
    progress_wipe(&progress);
    if (status != OWED_OK)
        return cli_fail(cli);
    out_printf(&cli->out, acting.dry_run ? "would cancel: %" PRId64 : "cancelled: %" PRId64, count);
    if (running > 0)
        out_printf(&cli->out, ", of which were running: %" PRId64, running);
    out_printf(&cli->out, "\n");
    if (count == 0 && which.receiver_key != NULL)
        act_warn_unknown(cli, which.receiver_key);
    return EXIT_DONE;
}
