/* SPDX-License-Identifier: MIT
 *
 * cmd_events.c - owed events: what was fired, the newest first.
 */
#include <inttypes.h>

#include "base/moment.h"
#include "cli/causes.h"
#include "cli/common.h"
#include "cli/filter.h"
#include "cli/rows.h"

#define TREE_EVENTS 10000

static int run_events(struct cli *cli);

static const struct option events_options[] = {
    FILTER_NAME,
    {.name = "correlation-id",
        .type = OPTION_TEXT,
        .argument = "ID",
        .help = "only events of this correlation"},
    {.name = "correlation",
        .type = OPTION_TEXT,
        .argument = "ID",
        .help = "draw the events of this correlation as a tree, each under its cause"},
    FILTER_PAGE,
    OPTION_JSON_LINES,
    {.name = NULL},
};

const struct command cmd_events = {
    .name = "events",
    .summary = "list events, the newest first",
    .usage = "",
    .text =
        "Lists events with the number of their deliveries, and of those still owed. The next "
        "page begins with --before and the last id of this one.\n\n"
        "With --correlation, each event stands under the one that led to it, the oldest first: up to 10000 of "
        "them, or --limit, the newest. A cause that is not among them is named. In JSON the lines come in the "
        "same order, with the key depth.",
    .examples = "    owed events --name shop.OrderPlaced --limit 10\n"
                "    owed events --correlation req-42\n"
                "    owed events --json | jq .dedupe_key",
    .options = events_options,
    .run = run_events,
};

static void
text_line(struct cli *cli, const struct cause_line *line, const char *prefix)
{
    const struct event_row *event = line->event;
    char at[MOMENT_BYTES];
    out_printf(&cli->out, "%s%" PRId64 " %s  %s  owed %" PRId64 " of %" PRId64, prefix, event->id,
        event->name, moment_write(event->occurred_at_us, at), event->owed, event->deliveries);
    if (!is_empty(event->suppressed_reason))
        out_puts(&cli->out, "  suppressed");
    if (line->is_circle)
        out_printf(
            &cli->out, "  caused by %" PRId64 ", which it led to itself", event->causation_id);
    else if (line->depth == 0 && event->causation_id > 0)
        out_printf(&cli->out, "  caused by %" PRId64, event->causation_id);
    out_puts(&cli->out, "\n");
}

static void
json_line(struct cli *cli, const struct cause_line *line)
{
    struct buf *json = &cli->out.text;
    buf_putc(json, '{');
    fields_members(event_fields, line->event, json);
    buf_printf(json, ",\"depth\":%" PRId32 "}\n", line->depth);
}

static int
draw_tree(struct cli *cli, const struct event_row *events, size_t count)
{
    const struct cause_line *lines = causes_order(events, count, &cli->arena);
    if (lines == NULL)
        return cli_refuse(EXIT_AGAIN, "out of memory");
    bool rails[CAUSES_DEEPEST + 1] = {false};
    char prefix[CAUSES_PREFIX_BYTES];
    for (size_t i = 0; i < count && !out_gone(&cli->out); i++) {
        causes_prefix(&lines[i], rails, prefix);
        if (cli_json(cli))
            json_line(cli, &lines[i]);
        else
            text_line(cli, &lines[i], prefix);
        out_step(&cli->out);
    }
    return EXIT_DONE;
}

static int
run_tree(struct cli *cli)
{
    static const char *const others[] = {"name", "correlation-id", "before"};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (options_is_set(cli->flags, others[i]))
            return cli_usage(
                cli, "--%s does not go with --correlation, which draws all of it", others[i]);
    bool is_bounded = options_is_set(cli->flags, "limit");
    struct filter filter = {
        .limit = is_bounded ? (int32_t)options_number(cli->flags, "limit") : TREE_EVENTS,
        .correlation_id = options_text(cli->flags, "correlation"),
    };
    if (is_empty(filter.correlation_id))
        return cli_usage(cli, "--correlation wants an id");
    struct event_row *events = NULL;
    size_t count = 0;
    if (cli_open_store(cli, false) != OWED_OK ||
        store_events(cli->db, &filter, &cli->arena, &events, &count, &cli->err) != OWED_OK)
        return cli_fail(cli);
    if (count == 0)
        cli_warn("no event has the correlation %s", filter.correlation_id);
    if (count == (size_t)filter.limit)
        fprintf(stderr, "the newest %zu events at most are drawn\n", count);
    return draw_tree(cli, events, count);
}

static int
run_events(struct cli *cli)
{
    if (options_is_set(cli->flags, "correlation"))
        return run_tree(cli);
    struct filter filter = {0};
    int code = filter_read(cli, &filter);
    if (code != EXIT_DONE)
        return code;
    filter.correlation_id = options_text(cli->flags, "correlation-id");
    struct event_row *events = NULL;
    size_t count = 0;
    if (cli_open_store(cli, false) != OWED_OK ||
        store_events(cli->db, &filter, &cli->arena, &events, &count, &cli->err) != OWED_OK)
        return cli_fail(cli);
    cli_list(cli, event_fields, events, count, sizeof *events);
    return EXIT_DONE;
}
