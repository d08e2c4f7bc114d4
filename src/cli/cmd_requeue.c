/* SPDX-License-Identifier: MIT
 *
 * cmd_requeue.c - owed requeue: dead deliveries get another life.
 */
#include <inttypes.h>

#include "cli/act.h"
#include "operate/requeue.h"

static int run_requeue(struct cli *cli);

static const struct option requeue_options[] = {
    {.name = "receiver", .type = OPTION_TEXT, .argument = "KEY", .help = "those of this receiver"},
    {.name = "error",
        .type = OPTION_TEXT,
        .argument = "TEXT",
        .help = "those whose last error holds this text"},
    {.name = "since", .type = OPTION_TIME, .argument = "TIME", .help = "those that ended since"},
    {.name = "until", .type = OPTION_TIME, .argument = "TIME", .help = "those that ended before"},
    {.name = "all", .type = OPTION_BOOL, .help = "those of every receiver"},
    {.name = "orphaned",
        .type = OPTION_BOOL,
        .help = "orphaned ones too, where their receiver is in the catalogue by now"},
    {.name = "limit",
        .type = OPTION_INT,
        .argument = "N",
        .help = "at most so many, lowest ids first"},
    ACT_DRY_RUN,
    ACT_YES,
    {.name = NULL},
};

const struct command cmd_requeue = {
    .name = "requeue",
    .summary = "make dead deliveries owed again",
    .usage = "[DELIVERY-ID...]",
    .text =
        "Dead deliveries become pending again: no attempts, no error, due now, as though they "
        "had just been fired. Ids, --receiver, --error, --since and --until narrow each other; at "
        "least one of them, or --all, must be given. What is not dead is left alone.\n\n"
        "Each 500 are committed by themselves: cut off, it is simply run again. On a terminal it "
        "asks before it touches more than 1,000.",
    .examples = "    owed requeue 42 43\n"
                "    owed requeue --receiver shop.billing --error 'timed out' --dry-run",
    .options = requeue_options,
    .max_operands = -1,
    .run = run_requeue,
};

static int
read_selection(struct cli *cli, struct requeue *requeue)
{
    *requeue = (struct requeue){
        .receiver_key = options_text(cli->flags, "receiver"),
        .error_text = options_text(cli->flags, "error"),
        .since_us = options_number(cli->flags, "since"),
        .until_us = options_number(cli->flags, "until"),
        .orphaned = options_number(cli->flags, "orphaned") != 0,
        .limit = options_is_set(cli->flags, "limit") ? options_number(cli->flags, "limit") : -1,
    };
    bool all = options_number(cli->flags, "all") != 0;
    bool some = cli->operand_count > 0 || requeue->receiver_key != NULL ||
        requeue->error_text != NULL || requeue->since_us != 0 || requeue->until_us != 0;
    if (!all && !some)
        return cli_usage(cli,
            "requeue wants to know which: ids, --receiver KEY, --error TEXT, --since or --until TIME, or "
            "--all");
    if (all && (cli->operand_count > 0 || requeue->receiver_key != NULL))
        return cli_usage(cli, "--all goes with neither ids nor --receiver");
    return act_ids(cli, "a delivery", &requeue->ids, &requeue->id_count);
}

/* ask counts first, for a person. */
static int
ask(struct cli *cli, const struct requeue *requeue)
{
    const struct acting look = {.now_us = cli->now_us, .dry_run = true};
    int64_t count = 0;
    if (requeue_dead(cli->owed, requeue, &look, &count, &cli->err) != OWED_OK)
        return cli_fail(cli);
    if (!act_confirm(count, "make %" PRId64 " deliveries owed again?"))
        return cli_refuse(EXIT_FOUND, "nothing was changed");
    return EXIT_DONE;
}

static void
warn_left(struct cli *cli, const struct requeue *requeue)
{
    static const char *const dead[] = {"dead", NULL}, *const ended[] = {"dead", "orphaned", NULL};
    act_warn_left(cli, requeue->ids, requeue->id_count, requeue->orphaned ? ended : dead,
        requeue->orphaned ? "only what is dead or orphaned is requeued"
                          : "only what is dead is requeued, or with --orphaned what is orphaned");
}

static int
run_requeue(struct cli *cli)
{
    struct requeue requeue;
    int code = read_selection(cli, &requeue);
    if (code != EXIT_DONE)
        return code;
    if (cli_open(cli, NULL) != OWED_OK)
        return cli_fail(cli);
    code = act_asks(cli) ? ask(cli, &requeue) : EXIT_DONE;
    if (code != EXIT_DONE)
        return code;
    warn_left(cli, &requeue);
    struct progress progress;
    const struct acting acting = act_fill(cli, &progress);
    int64_t count = 0;
    owed_status status = requeue_dead(cli->owed, &requeue, &acting, &count, &cli->err);
    progress_wipe(&progress);
    if (status != OWED_OK)
        return cli_fail(cli);
    out_printf(&cli->out,
        acting.dry_run ? "would requeue: %" PRId64 "\n" : "requeued: %" PRId64 "\n", count);
    if (count == 0 && requeue.receiver_key != NULL)
        act_warn_unknown(cli, requeue.receiver_key);
    return EXIT_DONE;
}
