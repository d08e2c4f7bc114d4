/* SPDX-License-Identifier: MIT
 *
 * cmd_replay.c - owed replay: events are owed once more to those who want them now.
 */
#include <inttypes.h>

#include "base/json.h"
#include "cli/act.h"
#include "operate/requeue.h"

static int run_replay(struct cli *cli);

static const struct option replay_options[] = {
    {.name = "event", .type = OPTION_TEXT, .argument = "NAME", .help = "those of this name"},
    {.name = "since", .type = OPTION_TIME, .argument = "TIME", .help = "recorded since"},
    {.name = "until", .type = OPTION_TIME, .argument = "TIME", .help = "recorded before"},
    {.name = "receiver", .type = OPTION_LIST, .argument = "KEY", .help = "to this receiver alone"},
    {.name = "limit",
        .type = OPTION_INT,
        .argument = "N",
        .help = "at most so many events, lowest ids first"},
    {.name = "lane",
        .type = OPTION_TEXT,
        .argument = "NAME",
        .help = "what is owed goes into this side lane, such as +catchup"},
    {.name = "rate",
        .type = OPTION_INT,
        .argument = "N",
        .min = 1,
        .max = 1000000,
        .help = "so many events a second, and not as fast as it goes"},
    ACT_DRY_RUN,
    ACT_YES,
    {.name = NULL},
};

const struct command cmd_replay = {
    .name = "replay",
    .summary = "owe events once more",
    .usage = "[EVENT-ID...]",
    .text =
        "An event is owed to each receiver that wants it now: a delivery that has ended, however, is "
        "reopened as though it had just been fired, and one that never was is added. What is still owed, or "
        "is being run, stays as it is. Where targets are named by a function a relay calls it again; what it "
        "no longer names stays as it is. Endpoints of webhooks are those that it was owed to, as far as they are there and "
        "not disabled; none is added. The idempotency key of a delivery stays the same.\n\n"
        "Events are named by ids, or by --event with --since and --until; each 20 are committed by themselves. "
        "Those that are left alone are named with the reason: there is none of that id, it was suppressed, or no "
        "receiver wants it any more.\n\n"
        "With --lane it stands in a side lane, so that nothing else waits behind it: a name that begins "
        "with \"+\", and that nobody declares. A relay of its own serves it (owed relay --lane +catchup), or one "
        "of all lanes. A delivery whose receiver is paused waits there too. Once it has ended nothing of it is "
        "special: what is requeued or replayed again goes to the lane of its receiver.\n\n"
        "On a terminal it asks before it replays more than 1,000.",
    .examples =
        "    owed replay 42 43 --receiver shop.billing\n"
        "    owed replay --event shop.OrderPlaced --since 2026-11-01T00:00:00Z --lane +catchup --rate 200",
    .options = replay_options,
    .max_operands = -1,
    .run = run_replay,
};

static void
say_skipped(void *state, int64_t event_id, const struct replayed *replayed)
{
    (void)state;
    static const char *const reasons[] = {
        [REPLAY_UNKNOWN] = "there is none of that id",
        [REPLAY_SUPPRESSED] = "it was suppressed when it was fired",
        [REPLAY_UNWANTED] = "no receiver of those asked for wants it now",
    };
    cli_warn("event %" PRId64 "%s%s is left alone: %s", event_id,
        is_empty(replayed->event_name) ? "" : ", ", or_empty(replayed->event_name),
        reasons[replayed->skip]);
}

/* keys writes the receivers that were named as a JSON array. */
static const char *
keys(struct cli *cli)
{
    struct buf json;
    buf_init(&json, (size_t)1024 * 1024);
    buf_putc(&json, '[');
    for (const char *const *key = options_list(cli->flags, "receiver"); *key != NULL; key++) {
        if (json.len > 1)
            buf_putc(&json, ',');
        json_write_string(&json, str_of(*key));
    }
    buf_putc(&json, ']');
    const char *copy = arena_copy(&cli->arena, buf_view(&json));
    buf_done(&json);
    return copy == NULL ? "[]" : copy;
}

static int
read_replaying(struct cli *cli, struct replaying *replaying)
{
    *replaying = (struct replaying){
        .range = {.event_name = options_text(cli->flags, "event"),
            .since_us = options_number(cli->flags, "since"),
            .until_us = options_number(cli->flags, "until")},
        .keys = keys(cli),
        .side_lane = options_text(cli->flags, "lane"),
        .limit = options_is_set(cli->flags, "limit") ? options_number(cli->flags, "limit") : -1,
        .rate = options_number(cli->flags, "rate"),
        .skipped = say_skipped,
    };
    bool by_name = replaying->range.event_name != NULL;
    if (by_name == (cli->operand_count > 0))
        return cli_usage(cli, "replay wants to know which: ids, or --event NAME");
    if (!by_name && (replaying->range.since_us != 0 || replaying->range.until_us != 0))
        return cli_usage(cli, "--since and --until go with --event");
    owed_error why;
    if (replaying->side_lane != NULL &&
        check_side_lane("--lane", replaying->side_lane, &why) != OWED_OK)
        return cli_usage(cli, "%s", why.text);
    return act_ids(cli, "an event", &replaying->ids, &replaying->id_count);
}

/* skip_silently: what is left alone is said when it is done, not when it is counted. */
static void
skip_silently(void *state, int64_t event_id, const struct replayed *replayed)
{
    (void)state;
    (void)event_id;
    (void)replayed;
}

/* ask counts first, for a person. */
static int
ask(struct cli *cli, const struct replaying *replaying)
{
    struct replaying look = *replaying;
    look.skipped = skip_silently;
    const struct acting nobody = {.now_us = cli->now_us, .dry_run = true};
    struct replay_counts counts;
    if (replay_events(cli->owed, &look, &nobody, &counts, &cli->err) != OWED_OK)
        return cli_fail(cli);
    if (!act_confirm(counts.events, "replay %" PRId64 " events?"))
        return cli_refuse(EXIT_FOUND, "nothing was changed");
    return EXIT_DONE;
}

/* warn_unknown looks at each receiver that was named. */
static void
warn_unknown(struct cli *cli)
{
    for (const char *const *key = options_list(cli->flags, "receiver"); *key != NULL; key++)
        act_warn_unknown(cli, *key);
}

static int
run_replay(struct cli *cli)
{
    struct replaying replaying;
    int code = read_replaying(cli, &replaying);
    if (code != EXIT_DONE)
        return code;
    if (cli_open(cli, NULL) != OWED_OK)
        return cli_fail(cli);
    code = act_asks(cli) ? ask(cli, &replaying) : EXIT_DONE;
    if (code != EXIT_DONE)
        return code;
    struct progress progress;
    const struct acting acting = act_fill(cli, &progress);
    struct replay_counts counts;
    owed_status status = replay_events(cli->owed, &replaying, &acting, &counts, &cli->err);
    progress_wipe(&progress);
    if (status != OWED_OK)
        return cli_fail(cli);
    const char *would = acting.dry_run ? "would be " : "";
    out_printf(&cli->out,
        "%sreopened: %" PRId64 ", added: %" PRId64 ", still owed: %" PRId64 ", skipped: %" PRId64
        "\n",
        would, counts.reopened, counts.added, counts.left, counts.skipped);
    if (counts.skipped > 0)
        warn_unknown(cli);
    return EXIT_DONE;
}
