/* SPDX-License-Identifier: MIT
 *
 * cmd_show.c - owed show: one event or one delivery, with all that belongs to it.
 */
#include <inttypes.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/limits.h"
#include "cli/common.h"
#include "cli/filter.h"
#include "cli/rows.h"
#include "declare/mask.h"

#define SHOWN_DELIVERIES 10000
#define SHOWN_EFFECTS 100

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
        "what each attempt came to. With --delivery, the same of one delivery. What its type or "
        "owed.conf declares secret is shown as ***, there and in the words of receivers.\n\n"
        "The event that led to it is named, and up to 100 that it led to itself; owed events "
        "--correlation draws all of them.\n\n"
        "In JSON an event has the keys deliveries, cause (an id and a name; null where there is none) "
        "and effects, and a delivery the key history for its attempts.",
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

/* What is hidden of an event, and where that stands. */
struct veil {
    struct mask mask;
    struct str payload;
};

/* read_veil looks up what the catalogue says is secret of the event's payload. */
static owed_status
read_veil(struct cli *cli, const struct event_row *event, struct veil *ret_veil)
{
    struct catalogue_event *types = NULL;
    size_t count = 0;
    owed_status status = store_catalogue_events(cli->db, &cli->arena, &types, &count, &cli->err);
    *ret_veil = (struct veil){.payload = event->payload};
    for (size_t i = 0; i < count && status == OWED_OK; i++)
        if (strcmp(types[i].name, event->name) == 0)
            mask_add(&ret_veil->mask, types[i].fields);
    return status;
}

static void
hide(struct cli *cli, const struct veil *veil, const char **text)
{
    if (veil->mask.count > 0 && *text != NULL)
        *text = mask_text(&veil->mask, veil->payload, *text, &cli->arena);
}

/* read_attempts reads them, and hides there and in the delivery what was kept before it was a secret. */
static owed_status
read_attempts(struct cli *cli, const struct veil *veil, struct view *view)
{
    owed_status status = store_attempts(
        cli->db, view->delivery.id, &cli->arena, &view->attempts, &view->attempt_count, &cli->err);
    hide(cli, veil, &view->delivery.last_error);
    hide(cli, veil, &view->delivery.result);
    for (size_t i = 0; i < view->attempt_count && status == OWED_OK; i++) {
        hide(cli, veil, &view->attempts[i].error);
        hide(cli, veil, &view->attempts[i].excerpt);
    }
    return status;
}

static owed_status
hide_payload(struct cli *cli, const struct veil *veil, struct event_row *event)
{
    if (veil->mask.count == 0)
        return OWED_OK;
    CLEANUP(buf_done) struct buf shown;
    buf_init(&shown, 2 * LIMIT_PAYLOAD_BYTES);
    mask_payload(&veil->mask, veil->payload, &shown);
    const char *copy = shown.failed ? NULL : arena_copy(&cli->arena, buf_view(&shown));
    event->payload = (struct str){copy, copy == NULL ? 0 : shown.len};
    return copy == NULL ? fail_memory(&cli->err) : OWED_OK;
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
    attempts_in_words(view->attempts, view->attempt_count);
    out_puts(&cli->out, "\n");
    fields_table(
        attempt_fields, view->attempts, view->attempt_count, sizeof view->attempts[0], &cli->out);
}

static int
show_delivery(struct cli *cli, int64_t id)
{
    struct view view = {0};
    struct veil veil = {0};
    struct event_row event;
    if (store_delivery(cli->db, id, &cli->arena, &view.delivery, &cli->err) != OWED_OK)
        return cli_fail(cli);
    // One whose event is gone has no payload that could be told.
    owed_status status =
        store_event(cli->db, view.delivery.event_id, &cli->arena, &event, &cli->err);
    if (status == OWED_OK)
        status = read_veil(cli, &event, &veil);
    if ((status != OWED_OK && status != OWED_NOT_FOUND) ||
        read_attempts(cli, &veil, &view) != OWED_OK)
        return cli_fail(cli);
    if (cli_json(cli)) {
        json_delivery(cli, &view);
        out_puts(&cli->out, "\n");
    } else {
        text_delivery(cli, &view);
    }
    return EXIT_DONE;
}

/* What an event followed from, and what followed from it. */
struct links {
    bool has_cause;
    struct event_row cause; // the name is NULL where the event is gone
    struct event_row *effects;
    size_t effect_count;
};

static owed_status
read_links(struct cli *cli, const struct event_row *event, struct links *ret_links)
{
    struct links links = {.has_cause = event->causation_id > 0};
    owed_status status = OWED_OK;
    if (links.has_cause)
        status = store_event(cli->db, event->causation_id, &cli->arena, &links.cause, &cli->err);
    if (status == OWED_NOT_FOUND)
        status = OWED_OK;
    links.cause.id = event->causation_id;
    if (status == OWED_OK)
        status = store_effects(cli->db, event->id, SHOWN_EFFECTS, &cli->arena, &links.effects,
            &links.effect_count, &cli->err);
    *ret_links = links;
    return status;
}

static void
json_links(struct cli *cli, const struct links *links)
{
    struct buf *json = &cli->out.text;
    buf_puts(json, ",\"cause\":");
    if (links->has_cause)
        fields_json(event_link_fields, &links->cause, json);
    else
        buf_puts(json, "null");
    buf_puts(json, ",\"effects\":[");
    for (size_t i = 0; i < links->effect_count; i++) {
        buf_puts(json, i == 0 ? "" : ",");
        fields_json(event_link_fields, &links->effects[i], json);
    }
    buf_puts(json, "]");
}

static void
text_links(struct cli *cli, const struct links *links)
{
    if (links->has_cause)
        out_printf(&cli->out, "\ncaused by %" PRId64 " %s\n", links->cause.id,
            is_empty(links->cause.name) ? "(it is gone)" : links->cause.name);
    if (links->effect_count == 0)
        return;
    out_puts(&cli->out, "\nled to\n");
    for (size_t i = 0; i < links->effect_count; i++)
        out_printf(&cli->out, "  %" PRId64 " %s\n", links->effects[i].id, links->effects[i].name);
}

static void
json_event(struct cli *cli, const struct event_row *event, const struct links *links)
{
    buf_putc(&cli->out.text, '{');
    fields_members(event_whole_fields, event, &cli->out.text);
    json_links(cli, links);
}

static void
json_deliveries(struct cli *cli, const struct view *views, size_t count)
{
    struct buf *json = &cli->out.text;
    buf_puts(json, ",\"deliveries\":[");
    for (size_t i = 0; i < count; i++) {
        buf_puts(json, i == 0 ? "" : ",");
        json_delivery(cli, &views[i]);
    }
    buf_puts(json, "]}\n");
}

static void
text_event(struct cli *cli, const struct event_row *event, const struct links *links)
{
    out_printf(&cli->out, "event %" PRId64 "\n", event->id);
    fields_page(event_whole_fields, event, &cli->out);
    text_links(cli, links);
}

static void
text_deliveries(struct cli *cli, const struct view *views, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        out_puts(&cli->out, "\n");
        text_delivery(cli, &views[i]);
    }
}

static int
show_event(struct cli *cli, int64_t id)
{
    struct event_row event;
    struct links links;
    struct veil veil;
    struct filter filter = {.limit = SHOWN_DELIVERIES, .event_id = id};
    struct delivery_row *rows = NULL;
    size_t count = 0;
    if (store_event(cli->db, id, &cli->arena, &event, &cli->err) != OWED_OK ||
        read_links(cli, &event, &links) != OWED_OK ||
        store_deliveries(cli->db, &filter, &cli->arena, &rows, &count, &cli->err) != OWED_OK ||
        read_veil(cli, &event, &veil) != OWED_OK || hide_payload(cli, &veil, &event) != OWED_OK)
        return cli_fail(cli);
    struct view *views = arena_alloc(&cli->arena, (count + 1) * sizeof *views);
    if (views == NULL)
        return cli_refuse(EXIT_AGAIN, "out of memory");
    for (size_t i = 0; i < count; i++) {
        views[i].delivery = rows[count - 1 - i]; // in the order they came to be
        if (read_attempts(cli, &veil, &views[i]) != OWED_OK)
            return cli_fail(cli);
    }
    (cli_json(cli) ? json_event : text_event)(cli, &event, &links);
    (cli_json(cli) ? json_deliveries : text_deliveries)(cli, views, count);
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
