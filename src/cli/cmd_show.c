/* SPDX-License-Identifier: MIT
 *
 * cmd_show.c - owed show: one event or one delivery, with all that belongs to it.
 */
#include <inttypes.h>

#include "cli/common.h"
#include "cli/filter.h"
#include "cli/rows.h"

#define SHOWN_DELIVERIES 10000

static int run_show(struct cli *cli);

static const struct option show_options[] = {
    {.name = "delivery", .type = OPTION_BOOL, .help = "ID is a delivery's, not an event's"},
    OPTION_JSON_DOCUMENT,
    {.name = NULL},
};

const struct command cmd_show = {
    .name = "show",
    .summary = "show an event with its deliveries and their attempts",
    .usage = "ID",
    .text =
        "Shows the facts of an event, its payload as it was fired, every delivery of it and "
        "what each attempt came to. With --delivery, the same of one delivery.\n\n"
        "In JSON an event has the key deliveries, and a delivery the key history for its attempts.",
    .examples = "    owed show 7\n"
                "    owed show --delivery 42 --json",
    .options = show_options,
    .max_operands = 1,
    .run = run_show,
};

/* One delivery and its attempts. */
struct view {
    struct delivery_row delivery;
    struct attempt_row *attempts;
    size_t attempt_count;
};

static owed_status
read_attempts(struct cli *cli, struct view *view)
{
    return store_attempts(
        cli->db, view->delivery.id, &cli->arena, &view->attempts, &view->attempt_count, &cli->err);
}

static void
json_delivery(struct cli *cli, const struct view *view)
{
    struct buf *json = &cli->out.text;
    buf_putc(json, '{');
    fields_members(delivery_fields, &view->delivery, json);
    buf_puts(json, ",\"history\":[");
    for (size_t i = 0; i < view->attempt_count; i++) {
        buf_puts(json, i == 0 ? "" : ",");
        fields_json(attempt_fields, &view->attempts[i], json);
    }
    buf_puts(json, "]}");
}

static void
text_delivery(struct cli *cli, const struct view *view)
{
    out_printf(&cli->out, "delivery %" PRId64 "\n", view->delivery.id);
    fields_page(delivery_fields, &view->delivery, &cli->out);
    if (view->attempt_count == 0)
        return;
    out_puts(&cli->out, "\n");
    fields_table(
        attempt_fields, view->attempts, view->attempt_count, sizeof view->attempts[0], &cli->out);
}

static int
show_delivery(struct cli *cli, int64_t id)
{
    struct view view = {0};
    if (store_delivery(cli->db, id, &cli->arena, &view.delivery, &cli->err) != OWED_OK ||
        read_attempts(cli, &view) != OWED_OK)
        return cli_fail(cli);
    if (cli_json(cli)) {
        json_delivery(cli, &view);
        out_puts(&cli->out, "\n");
    } else {
        text_delivery(cli, &view);
    }
    return EXIT_DONE;
}

static void
json_event(struct cli *cli, const struct event_row *event, const struct view *views, size_t count)
{
    struct buf *json = &cli->out.text;
    buf_putc(json, '{');
    fields_members(event_whole_fields, event, json);
    buf_puts(json, ",\"deliveries\":[");
    for (size_t i = 0; i < count; i++) {
        buf_puts(json, i == 0 ? "" : ",");
        json_delivery(cli, &views[i]);
    }
    buf_puts(json, "]}\n");
}

static void
text_event(struct cli *cli, const struct event_row *event, const struct view *views, size_t count)
{
    out_printf(&cli->out, "event %" PRId64 "\n", event->id);
    fields_page(event_whole_fields, event, &cli->out);
    for (size_t i = 0; i < count; i++) {
        out_puts(&cli->out, "\n");
        text_delivery(cli, &views[i]);
    }
}

static int
show_event(struct cli *cli, int64_t id)
{
    struct event_row event;
    struct filter filter = {.limit = SHOWN_DELIVERIES, .event_id = id};
    struct delivery_row *rows = NULL;
    size_t count = 0;
    if (store_event(cli->db, id, &cli->arena, &event, &cli->err) != OWED_OK ||
        store_deliveries(cli->db, &filter, &cli->arena, &rows, &count, &cli->err) != OWED_OK)
        return cli_fail(cli);
    struct view *views = arena_alloc(&cli->arena, (count + 1) * sizeof *views);
    if (views == NULL)
        return cli_refuse(EXIT_AGAIN, "out of memory");
    for (size_t i = 0; i < count; i++) {
        views[i].delivery = rows[count - 1 - i]; // in the order they came to be
        if (read_attempts(cli, &views[i]) != OWED_OK)
            return cli_fail(cli);
    }
    (cli_json(cli) ? json_event : text_event)(cli, &event, views, count);
    return EXIT_DONE;
}

static int
run_show(struct cli *cli)
{
    bool delivery = options_number(cli->flags, "delivery") != 0;
    int64_t id = 0;
    if (cli->operand_count == 0)
        return cli_usage(cli, "show wants the id of %s", delivery ? "a delivery" : "an event");
    if (!cli_id(cli->operands[0], &id))
        return cli_usage(
            cli, "'%s' is no id of %s", cli->operands[0], delivery ? "a delivery" : "an event");
    if (cli_open_store(cli, false) != OWED_OK)
        return cli_fail(cli);
    return delivery ? show_delivery(cli, id) : show_event(cli, id);
}
