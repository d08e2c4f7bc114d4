/* SPDX-License-Identifier: MIT
 *
 * cmd_status.c - owed status: what is owed, what is stuck, who delivers.
 */
#include <inttypes.h>

#include "base/json.h"
#include "base/moment.h"
#include "cli/common.h"
#include "cli/fields.h"
#include "cli/filter.h"
#include "operate/health.h"

static int run_status(struct cli *cli);

static const struct option status_options[] = {OPTION_JSON_DOCUMENT, {.name = NULL}};

const struct command cmd_status = {
    .name = "status",
    .summary = "show what is owed, what is dead, and who delivers",
    .usage = "",
    .text = "Counts what is owed (pending, failed and claimed), and of that what is due now, what "
            "is scheduled for later, what is claimed by a relay, whose lease has lapsed, and what "
            "was handed back; what is dead and what is orphaned; and says how long the oldest due "
            "delivery has waited. The same for each receiver that has any of it.\n\n"
            "The exit code says nothing about what was found. Two alerts are worth having: the "
            "age of the oldest due delivery, and anything dead. In JSON, ages are whole seconds.",
    .examples = "    owed status\n"
                "    owed status --json | jq .oldest_due_age_seconds",
    .options = status_options,
    .run = run_status,
};

/* A line as it is shown. */
struct shown {
    struct status_line line;
    const char *age; // a person's form; "" for none
};

static const struct field line_fields[] = {
    FIELD(struct shown, line.receiver_key, "key", "RECEIVER", SHAPE_TEXT),
    FIELD(struct shown, line.lane, "lane", "LANE", SHAPE_TEXT),
    FIELD(struct shown, line.owed, "owed", "OWED", SHAPE_INT),
    FIELD(struct shown, line.due, "due", "DUE", SHAPE_INT),
    FIELD(struct shown, line.scheduled, "scheduled", "SCHEDULED", SHAPE_INT),
    FIELD(struct shown, line.claimed, "claimed", "CLAIMED", SHAPE_INT),
    FIELD(struct shown, line.lapsed, "lapsed_leases", "LAPSED", SHAPE_INT),
    FIELD(struct shown, line.handed_back, "handed_back", "HANDED BACK", SHAPE_INT),
    FIELD(struct shown, line.failed, "failed", "FAILED", SHAPE_INT),
    FIELD(struct shown, line.dead, "dead", "DEAD", SHAPE_INT),
    FIELD(struct shown, line.orphaned, "orphaned", "ORPHANED", SHAPE_INT),
    FIELD(struct shown, age, NULL, "OLDEST DUE", SHAPE_KEY),
    FIELDS_END,
};
#define FACTS_OF_RECEIVER 2 // fields that the total has not

static const char *
age_text(struct cli *cli, int64_t age_us)
{
    char text[MOMENT_BYTES];
    return age_us < 0 ? "" : or_empty(arena_strdup(&cli->arena, duration_rough(age_us, text)));
}

static void
json_age(struct buf *json, int64_t age_us)
{
    buf_puts(json, ",\"oldest_due_age_seconds\":");
    if (age_us < 0)
        buf_puts(json, "null");
    else
        buf_int(json, age_us / OWED_SECONDS(1));
}

static void
write_json(struct cli *cli, const struct health *health)
{
    struct buf *json = &cli->out.text;
    const struct status *status = &health->status;
    struct shown total = {.line = status->total};
    buf_printf(json, "{\"events\":%" PRId64 ",", status->events);
    fields_members(line_fields + FACTS_OF_RECEIVER, &total, json);
    json_age(json, health->oldest_due_age_us);
    buf_printf(json, ",\"relays\":%" PRId64 ",\"receivers\":[", health->relays);
    for (size_t i = 0; i < status->count; i++) {
        struct shown shown = {.line = status->lines[i]};
        buf_puts(json, i == 0 ? "{" : ",{");
        fields_members(line_fields, &shown, json);
        json_age(json, health_age_us(&shown.line, cli->now_us));
        buf_puts(json, "}");
    }
    buf_puts(json, "]}\n");
}

static void
write_total(struct cli *cli, const struct health *health)
{
    const struct status_line *total = &health->status.total;
    const char *age = age_text(cli, health->oldest_due_age_us);
    out_printf(&cli->out, "events      %" PRId64 "\n", health->status.events);
    out_printf(&cli->out,
        "owed        %" PRId64 "  (due %" PRId64 ", scheduled %" PRId64 ", claimed %" PRId64
        ", lapsed %" PRId64 ", handed back %" PRId64 ", failed before %" PRId64 ")\n",
        total->owed, total->due, total->scheduled, total->claimed, total->lapsed,
        total->handed_back, total->failed);
    out_printf(&cli->out, "dead        %" PRId64 "\n", total->dead);
    out_printf(&cli->out, "orphaned    %" PRId64 "\n", total->orphaned);
    out_printf(&cli->out, "oldest due  %s\n", is_empty(age) ? "-" : age);
    out_printf(&cli->out, "relays      %" PRId64 "%s\n", health->relays,
        health->relays == 0 && total->due > 0 ? "  (nobody delivers: run owed relay)" : "");
    if (health->quiet)
        out_puts(&cli->out, "Nothing is owed and nothing is dead.\n");
}

static int
write_text(struct cli *cli, const struct health *health)
{
    const struct status *status = &health->status;
    write_total(cli, health);
    if (status->count == 0)
        return EXIT_DONE;
    struct shown *lines = arena_alloc(&cli->arena, status->count * sizeof *lines);
    if (lines == NULL)
        return cli_refuse(EXIT_AGAIN, "out of memory");
    for (size_t i = 0; i < status->count; i++) {
        lines[i].line = status->lines[i];
        lines[i].age = age_text(cli, health_age_us(&lines[i].line, cli->now_us));
    }
    out_puts(&cli->out, "\n");
    fields_table(line_fields, lines, status->count, sizeof *lines, &cli->out);
    return EXIT_DONE;
}

static int
run_status(struct cli *cli)
{
    struct health health;
    if (cli_open_store(cli, false) != OWED_OK ||
        health_read(cli->db, cli->now_us, &cli->arena, &health, &cli->err) != OWED_OK)
        return cli_fail(cli);
    if (!cli_json(cli))
        return write_text(cli, &health);
    write_json(cli, &health);
    return EXIT_DONE;
}
