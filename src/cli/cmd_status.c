/* SPDX-License-Identifier: MIT
 *
 * cmd_status.c - owed status: what is owed, what is stuck, who delivers.
 */
#include <inttypes.h>

#include "base/json.h"
#include "base/moment.h"
#include "cli/common.h"
#include "cli/filter.h"
#include "cli/rows.h"
#include "operate/health.h"

static int run_status(struct cli *cli);

static const struct option status_options[] = {OPTION_JSON_DOCUMENT, {.name = NULL}};

const struct command cmd_status = {
    .name = "status",
    .summary = "show what is owed, what is dead, and who delivers",
    .usage = "",
    .text =
        "Counts what is owed (pending, failed and claimed), and of that what is due now, what would be but is held "
        "by a pause, what is scheduled for later, what is claimed by a relay, whose lease has lapsed, and what "
        "was handed back; what is dead and what is orphaned; and says how long the oldest due "
        "delivery has waited. The same for each receiver and each lane that has any of it, the one with "
        "most owed first. Then what an operator has paused, and the workers of the relays. What "
        "has ended well costs nothing to look past, however much of it there is.\n\n"
        "The exit code says nothing about what was found. Two alerts are worth having: the "
        "age of the oldest due delivery, and anything dead.\n\n"
        "With --json, the keys are events (how many are kept; more_events is true where they are more than "
        "the hundred thousand that were counted), owed, due, held, scheduled, claimed, lapsed_leases, handed_back, "
        "failed (owed, and tried before), dead, orphaned, oldest_due_age_seconds (null where nothing is due), relays (alive), "
        "receivers, lanes, paused and workers. An element of receivers has key, lane and the same counts, one of lanes has lane "
        "and the counts. One of paused has lane, receiver (null: the lane with all its receivers), endpoint (null: none; what is "
        "kept for one counts as scheduled), paused_at, paused_until "
        "(null: until it is resumed), paused_by and reason. One of workers is a line of owed relays.",
    .examples = "    owed status\n"
                "    owed status --json | jq .oldest_due_age_seconds\n"
                "    owed status --json | jq -r '.lanes[] | select(.due > 1000) | .lane'",
    .options = status_options,
    .run = run_status,
};

/* A line as it is shown. */
struct shown {
    struct status_line line;
    int64_t age_us; // of the oldest due; -1: none is
};

#define COUNT_FIELDS \
    FIELD(struct shown, line.owed, "owed", "OWED", SHAPE_INT), \
        FIELD(struct shown, line.due, "due", "DUE", SHAPE_INT), \
        FIELD(struct shown, line.held, "held", "HELD", SHAPE_INT), \
        FIELD(struct shown, line.scheduled, "scheduled", "SCHEDULED", SHAPE_INT), \
        FIELD(struct shown, line.claimed, "claimed", "CLAIMED", SHAPE_INT), \
        FIELD(struct shown, line.lapsed, "lapsed_leases", "LAPSED", SHAPE_INT), \
        FIELD(struct shown, line.handed_back, "handed_back", "HANDED BACK", SHAPE_INT), \
        FIELD(struct shown, line.failed, "failed", "FAILED", SHAPE_INT), \
        FIELD(struct shown, line.dead, "dead", "DEAD", SHAPE_INT), \
        FIELD(struct shown, line.orphaned, "orphaned", "ORPHANED", SHAPE_INT), \
        FIELD(struct shown, age_us, "oldest_due_age_seconds", "OLDEST DUE", SHAPE_AGE), FIELDS_END

static const struct field total_fields[] = {COUNT_FIELDS};
static const struct field lane_fields[] = {
    FIELD(struct shown, line.lane, "lane", "LANE", SHAPE_TEXT), COUNT_FIELDS};
static const struct field receiver_fields[] = {
    FIELD(struct shown, line.receiver_key, "key", "RECEIVER", SHAPE_TEXT),
    FIELD(struct shown, line.lane, "lane", "LANE", SHAPE_TEXT), COUNT_FIELDS};
static const struct field paused_fields[] = {
    FIELD(struct paused_row, lane, "lane", "PAUSED LANE", SHAPE_TEXT),
    FIELD(struct paused_row, receiver_key, "receiver", "RECEIVER", SHAPE_KEY),
    FIELD(struct paused_row, endpoint, "endpoint", "ENDPOINT", SHAPE_KEY),
    FIELD(struct paused_row, paused_at_us, "paused_at", "SINCE", SHAPE_TIME),
    FIELD(struct paused_row, paused_until_us, "paused_until", "UNTIL", SHAPE_TIME),
    FIELD(struct paused_row, paused_by, "paused_by", "BY", SHAPE_KEY),
    FIELD(struct paused_row, reason, "reason", "REASON", SHAPE_KEY, .width = 40),
    FIELDS_END,
};

/* One of the lists below the total. */
struct part {
    const char *name; // in JSON
    const struct field *fields;
    const void *rows;
    size_t count;
    size_t size;
};
#define PARTS 4

static struct shown *
shown(struct cli *cli, const struct status_line *lines, size_t count)
{
    struct shown *rows = arena_alloc(&cli->arena, (count + 1) * sizeof *rows);
    for (size_t i = 0; i < count && rows != NULL; i++)
        rows[i] = (struct shown){lines[i], health_age_us(&lines[i], cli->now_us)};
    return rows;
}

static bool
list_parts(struct cli *cli, const struct health *health, struct part parts[static PARTS])
{
    const struct status *status = &health->status;
    parts[0] = (struct part){"receivers", receiver_fields, shown(cli, status->lines, status->count),
        status->count, sizeof(struct shown)};
    parts[1] = (struct part){"lanes", lane_fields, shown(cli, health->lanes, health->lane_count),
        health->lane_count, sizeof(struct shown)};
    parts[2] = (struct part){
        "paused", paused_fields, health->paused, health->paused_count, sizeof *health->paused};
    parts[3] = (struct part){"workers", relay_fields,
        show_relays(cli, health->workers, health->worker_count), health->worker_count,
        sizeof(struct shown_relay)};
    return parts[0].rows != NULL && parts[1].rows != NULL && parts[3].rows != NULL;
}

static void
write_json(struct cli *cli, const struct health *health, const struct part parts[static PARTS])
{
    struct buf *json = &cli->out.text;
    struct shown total = {health->status.total, health->oldest_due_age_us};
    buf_printf(json, "{\"events\":%" PRId64 ",\"more_events\":%s,", health->status.events,
        health->status.more_events ? "true" : "false");
    fields_members(total_fields, &total, json);
    buf_printf(json, ",\"relays\":%" PRId64, health->relays);
    for (size_t p = 0; p < PARTS; p++) {
        buf_printf(json, ",\"%s\":[", parts[p].name);
        for (size_t i = 0; i < parts[p].count; i++) {
            buf_puts(json, i == 0 ? "" : ",");
            fields_json(parts[p].fields, (const char *)parts[p].rows + i * parts[p].size, json);
        }
        buf_puts(json, "]");
    }
    buf_puts(json, "}\n");
}

static void
write_total(struct cli *cli, const struct health *health)
{
    const struct status_line *total = &health->status.total;
    char age[MOMENT_BYTES];
    bool is_due = health->oldest_due_age_us >= 0;
    out_printf(&cli->out, "events      %s%" PRId64 "\n",
        health->status.more_events ? "more than " : "", health->status.events);
    out_printf(&cli->out,
        "owed        %" PRId64 "  (due %" PRId64 ", held %" PRId64 ", scheduled %" PRId64
        ", claimed %" PRId64 ", lapsed %" PRId64 ", handed back %" PRId64 ", failed before %" PRId64
        ")\n",
        total->owed, total->due, total->held, total->scheduled, total->claimed, total->lapsed,
        total->handed_back, total->failed);
    out_printf(&cli->out, "dead        %" PRId64 "\n", total->dead);
    out_printf(&cli->out, "orphaned    %" PRId64 "\n", total->orphaned);
    out_printf(&cli->out, "oldest due  %s\n",
        is_due ? duration_rough(health->oldest_due_age_us, age) : "-");
    out_printf(&cli->out, "relays      %" PRId64 "%s\n", health->relays,
        health->relays == 0 && total->due > 0 ? "  (nobody delivers: run owed relay)" : "");
    if (health->quiet)
        out_puts(&cli->out, "Nothing is owed and nothing is dead.\n");
}

static int
run_status(struct cli *cli)
{
    struct health health;
    struct part parts[PARTS];
    if (cli_open_store(cli, false) != OWED_OK ||
        health_read(cli->db, cli->now_us, &cli->arena, &health, &cli->err) != OWED_OK)
        return cli_fail(cli);
    if (!list_parts(cli, &health, parts))
        return cli_refuse(EXIT_AGAIN, "out of memory");
    if (cli_json(cli)) {
        write_json(cli, &health, parts);
        return EXIT_DONE;
    }
    write_total(cli, &health);
    for (size_t p = 0; p < PARTS; p++) {
        if (parts[p].count == 0)
            continue;
        out_puts(&cli->out, "\n");
        fields_table(parts[p].fields, parts[p].rows, parts[p].count, parts[p].size, &cli->out);
    }
    return EXIT_DONE;
}
