/* SPDX-License-Identifier: MIT
 *
 * cmd_quiet.c - owed quiet: which receivers have not succeeded for long.
 */
#include "cli/common.h"
#include "cli/fields.h"
#include "cli/filter.h"
#include "store/look.h"

static int run_quiet(struct cli *cli);

static const struct option quiet_options[] = {
    {.name = "within",
        .type = OPTION_DURATION,
        .argument = "TIME",
        .min = 1,
        .help = "a success within this time is recent; the retention unless told"},
    OPTION_JSON_LINES,
    {.name = NULL},
};

const struct command cmd_quiet = {
    .name = "quiet",
    .summary = "list the receivers that have gone quiet",
    .usage = "",
    .text =
        "Lists the durable receivers of the catalogue, of all apps, that have not succeeded within a time, or never: with when one last "
        "did, how many events were owed to it since, at most 1000, and when the newest of these was recorded. With events since, "
        "it fails or nobody delivers; without, nothing came for it.\n\n"
        "A success counts also when its event was pruned or replayed since: relays note it every half minute, and when they end. The exit code says nothing about what was found.\n\n"
        "With --json, the keys are key, app, event_name, lane, last_success_at (null: never), "
        "last_success_age_seconds, events and last_event_at.",
    .examples = "    owed quiet --within 7d\n"
                "    owed quiet --json | jq -r 'select(.events > 0) | .key'",
    .options = quiet_options,
    .run = run_quiet,
};

struct shown {
    struct quiet_row row;
    int64_t age_us; // of the last success; -1: none
};

static const struct field quiet_fields[] = {
    FIELD(struct shown, row.receiver_key, "key", "RECEIVER", SHAPE_TEXT),
    FIELD(struct shown, row.app, "app", NULL, SHAPE_TEXT),
    FIELD(struct shown, row.event_name, "event_name", "EVENT", SHAPE_TEXT),
    FIELD(struct shown, row.lane, "lane", "LANE", SHAPE_TEXT),
    FIELD(struct shown, row.last_success_at_us, "last_success_at", "LAST SUCCESS", SHAPE_TIME),
    FIELD(struct shown, age_us, "last_success_age_seconds", "AGE", SHAPE_AGE),
    FIELD(struct shown, row.events, "events", "EVENTS SINCE", SHAPE_INT),
    FIELD(struct shown, row.last_event_at_us, "last_event_at", "NEWEST", SHAPE_TIME),
    FIELDS_END,
};

static int
run_quiet(struct cli *cli)
{
    struct quiet_row *rows = NULL;
    size_t count = 0;
    int64_t within_us = options_is_set(cli->flags, "within")
        ? options_number(cli->flags, "within")
        : options_number(cli->settings, "retention");
    if (cli_open_store(cli, false) != OWED_OK ||
        store_quiet(cli->db, cli->now_us - within_us, QUIET_EVENTS, &cli->arena, &rows, &count,
            &cli->err) != OWED_OK)
        return cli_fail(cli);
    struct shown *shown = arena_alloc(&cli->arena, (count + 1) * sizeof *shown);
    if (shown == NULL)
        return cli_refuse(EXIT_AGAIN, "out of memory");
    for (size_t i = 0; i < count; i++) {
        int64_t last_us = rows[i].last_success_at_us;
        shown[i] = (struct shown){rows[i], last_us == 0 ? -1 : cli->now_us - last_us};
    }
    cli_list(cli, quiet_fields, shown, count, sizeof *shown);
    return EXIT_DONE;
}
