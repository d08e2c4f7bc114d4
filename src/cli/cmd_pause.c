/* SPDX-License-Identifier: MIT
 *
 * cmd_pause.c - owed pause and owed resume: lanes and receivers that get nothing for a while.
 */
#include <inttypes.h>

#include "cli/act.h"
#include "deliver/handle.h"

static int run_pause(struct cli *cli);
static int run_resume(struct cli *cli);

#define OPTION_RECEIVER \
    { \
        .name = "receiver", .type = OPTION_TEXT, .argument = "KEY", \
        .help = "this receiver, and not a lane" \
    }

static const struct option pause_options[] = {
    OPTION_RECEIVER,
    {.name = "until",
        .type = OPTION_TIME,
        .argument = "TIME",
        .help = "a relay resumes it then, within a minute; until it is resumed unless told"},
    {.name = "reason",
        .type = OPTION_TEXT,
        .argument = "TEXT",
        .help = "what owed lanes says of it"},
    ACT_DRY_RUN,
    ACT_YES,
    {.name = NULL},
};

static const struct option resume_options[] = {
    OPTION_RECEIVER,
    ACT_DRY_RUN,
    ACT_YES,
    {.name = NULL},
};

const struct command cmd_pause = {
    .name = "pause",
    .summary = "let a lane or a receiver wait",
    .usage = "[LANE]",
    .text =
        "What is owed to the receivers of a lane, or to one receiver, is kept and not attempted, "
        "whichever relay serves it; what is fired meanwhile joins it. What is being run is finished. "
        "Nothing of it fails, and it costs a relay nothing.\n\n"
        "A receiver that is published into the lane later is not paused with it.\n\n"
        "What is owed follows in chunks; cut off, a relay moves the rest within a minute, or the command run again. On "
        "a terminal it asks where more than 1,000 deliveries wait.",
    .examples = "    owed pause mail --until +2h --reason 'provider is down'\n"
                "    owed pause --receiver shop.billing",
    .options = pause_options,
    .max_operands = 1,
    .run = run_pause,
};

const struct command cmd_resume = {
    .name = "resume",
    .summary = "end a pause",
    .usage = "[LANE]",
    .text =
        "What was paused flows on, in the order in which it was due. A receiver that was paused by "
        "itself stays paused when its lane is resumed.\n\n"
        "On a terminal it asks where more than 1,000 deliveries wait.",
    .examples = "    owed resume mail\n"
                "    owed resume --receiver shop.billing",
    .options = resume_options,
    .max_operands = 1,
    .run = run_resume,
};

static int
read_pausing(struct cli *cli, struct pausing *pausing)
{
    const char *key = options_text(cli->flags, "receiver");
    if ((cli->operand_count == 1) == (key != NULL))
        return cli_usage(
            cli, "%s wants to know which: a lane, or --receiver KEY", cli->command->name);
    *pausing = (struct pausing){.lane = cli_lane(cli, cli->operands[0]), .receiver_key = key};
    return EXIT_DONE;
}

/* refuse_unknown: of a misspelt name nothing is paused, and what should wait would go on. */
static int
refuse_unknown(struct cli *cli, const struct pausing *pausing)
{
    struct catalogue_receiver *all = NULL;
    size_t count = 0;
    if (store_catalogue_receivers(cli->db, &cli->arena, &all, &count, &cli->err) != OWED_OK)
        return cli_fail(cli);
    const char **names = arena_alloc(&cli->arena, (count + 1) * sizeof *names);
    if (names == NULL)
        return cli_refuse(EXIT_AGAIN, "out of memory");
    if (pausing->lane != NULL && is_side_lane(pausing->lane, NULL))
        return cli_refuse(EXIT_INPUT,
            "%s is a side lane of a replay: stop the relay that serves it, or pause the receivers that are owed",
            pausing->lane);
    const char *wanted = pausing->lane != NULL ? pausing->lane : pausing->receiver_key;
    for (size_t i = 0; i < count; i++) {
        names[i] = pausing->lane != NULL ? all[i].lane : all[i].key;
        if (strcmp(names[i], wanted) == 0)
            return EXIT_DONE;
    }
    const char *near = nearest(wanted, names);
    return cli_refuse(EXIT_INPUT, "the catalogue has no %s %s%s%s",
        pausing->lane != NULL ? "receiver in lane" : "receiver", wanted,
        near == NULL ? "" : "; the nearest is ", or_empty(near));
}

/* ask counts first, for a person: what is owed to whom it concerns. */
static int
ask(struct cli *cli, const struct pausing *pausing)
{
    struct status owed_now;
    int64_t count = 0;
    if (store_status(cli->db, pausing->now_us, &cli->arena, &owed_now, &cli->err) != OWED_OK)
        return cli_fail(cli);
    for (size_t i = 0; i < owed_now.count; i++) {
        const struct status_line *line = &owed_now.lines[i];
        bool concerns = pausing->lane != NULL
            ? strcmp(line->lane, pausing->lane) == 0
            : strcmp(line->receiver_key, pausing->receiver_key) == 0;
        count += concerns ? line->owed : 0;
    }
    bool pauses = strcmp(cli->command->name, "pause") == 0;
    if (!act_confirm(count,
            pauses ? "let %" PRId64 " deliveries wait?" : "let %" PRId64 " deliveries flow on?"))
        return cli_refuse(EXIT_FOUND, "nothing was changed");
    return EXIT_DONE;
}

/* begin opens the store, and fills in who acts and when. */
static int
begin(struct cli *cli, struct pausing *pausing, struct acting *acting, struct progress *progress)
{
    int code = read_pausing(cli, pausing);
    if (code != EXIT_DONE)
        return code;
    if (cli_open(cli, NULL) != OWED_OK)
        return cli_fail(cli);
    *acting = act_fill(cli, progress);
    acting->step = NULL;
    pausing->dry_run = acting->dry_run;
    pausing->now_us = acting->now_us;
    pausing->who = acting->who;
    code = refuse_unknown(cli, pausing);
    return code == EXIT_DONE && act_asks(cli) ? ask(cli, pausing) : code;
}

static int
run_pause(struct cli *cli)
{
    struct pausing pausing;
    struct acting acting;
    struct progress progress;
    int64_t receivers = 0;
    int code = begin(cli, &pausing, &acting, &progress);
    if (code != EXIT_DONE)
        return code;
    pausing.until_us = options_number(cli->flags, "until");
    pausing.reason = or_empty(options_text(cli->flags, "reason"));
    if (pausing.until_us != 0 && pausing.until_us <= pausing.now_us)
        return cli_usage(cli, "--until names a moment that is over");
    if (pause_all(cli->db, &pausing, &acting, &receivers, &cli->err) != OWED_OK)
        return cli_fail(cli);
    out_printf(&cli->out,
        acting.dry_run ? "receivers that would be paused: %" PRId64 "\n"
                       : "receivers paused: %" PRId64 "\n",
        receivers);
    return EXIT_DONE;
}

static int
run_resume(struct cli *cli)
{
    struct pausing pausing;
    struct acting acting;
    struct progress progress;
    int64_t receivers = 0;
    int code = begin(cli, &pausing, &acting, &progress);
    if (code != EXIT_DONE)
        return code;
    if (resume_all(cli->db, &pausing, &acting, &receivers, &cli->err) != OWED_OK)
        return cli_fail(cli);
    if (receivers > 0 && !acting.dry_run)
        wakers_send(cli->owed->wakers, cli->db, &cli->owed->clock);
    out_printf(&cli->out,
        acting.dry_run ? "receivers that would be resumed: %" PRId64 "\n"
                       : "receivers resumed: %" PRId64 "\n",
        receivers);
    return EXIT_DONE;
}
