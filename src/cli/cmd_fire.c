/* SPDX-License-Identifier: MIT
 *
 * cmd_fire.c - owed fire: one event, or one for each line of standard input.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/limits.h"
#include "cli/common.h"
#include "cli/filter.h"
#include "cli/fire_lines.h"
#include "cli/known.h"
#include "cli/origin.h"
#include "declare/publish.h"

static int run_fire(struct cli *cli);

static const struct option fire_options[] = {
    {.name = "version",
        .type = OPTION_INT,
        .argument = "N",
        .min = 1,
        .max = LIMIT_VERSION,
        .help = "version of the payload (the declared one, else 1)"},
    {.name = "due",
        .type = OPTION_TIME,
        .argument = "TIME",
        .help = "nothing of it runs before this time (RFC 3339, or +90s)"},
    {.name = "occurred-at",
        .type = OPTION_TIME,
        .argument = "TIME",
        .help = "when it happened, where that is not now"},
    {.name = "dedupe-key",
        .type = OPTION_TEXT,
        .argument = "KEY",
        .help = "fire nothing where an event with this key exists"},
    {.name = "actor", .type = OPTION_TEXT, .argument = "KEY", .help = "who did it"},
    {.name = "actor-label",
        .type = OPTION_TEXT,
        .argument = "TEXT",
        .help = "how that one is called"},
    {.name = "correlation-id", .type = OPTION_TEXT, .argument = "ID", .help = "what it belongs to"},
    {.name = "causation-id",
        .type = OPTION_INT,
        .argument = "ID",
        .min = 1,
        .max = INT64_MAX,
        .help = "event that led to it"},
    {.name = "traceparent",
        .type = OPTION_TEXT,
        .argument = "TEXT",
        .help = "W3C Trace Context of whoever fires"},
    {.name = "scope", .type = OPTION_TEXT, .argument = "JSON", .help = "an object of your own"},
    {.name = "lines",
        .type = OPTION_BOOL,
        .help = "fire one event for each JSON line of standard input"},
    {.name = "batch",
        .type = OPTION_INT,
        .argument = "N",
        .fallback = "1000",
        .min = 1,
        .max = 100000,
        .help = "lines in one transaction, with --lines"},
    OPTION_JSON_DOCUMENT,
    {.name = NULL},
};

const struct command cmd_fire = {
    .name = "fire",
    .summary = "fire an event, or one for each line of input",
    .usage = "NAME [PAYLOAD|-]",
    .text =
        "Records the event and what is owed for it in one transaction, and prints its id. The "
        "payload is JSON and is kept byte for byte; it is {} where none is given, and with - it is "
        "read from standard input, without the line end that closes it. An event with the same "
        "--dedupe-key is not fired again: its id is printed.\n\n"
        "In a program that a relay runs, what is fired into the same store has the event that is being delivered as "
        "its cause, and its correlation, unless told otherwise. The environment variable TRACEPARENT, if it is well "
        "formed, says what --traceparent does.\n\n"
        "A name that nobody declared is recorded all the same, with a warning that names the "
        "nearest known one.\n\n"
        "With --lines, each line of standard input is an object with the keys name, payload and "
        "any of version, dedupe_key, due_at, occurred_at, actor_key, actor_label, correlation_id, "
        "causation_id, traceparent and scope. Lines are fired in transactions of many; one that is "
        "refused takes its transaction with it, and the message says through which line the events "
        "are committed. Where the input pauses for a second, or after 16 MiB, a transaction is "
        "smaller than --batch.",
    .examples =
        "    owed fire shop.OrderPlaced '{\"order_id\": 7}' --dedupe-key order-7\n"
        "    owed fire shop.Reminder --due +2h < /dev/null\n"
        "    jq -c '{name: \"shop.OrderPlaced\", payload: .}' orders.json | owed fire --lines",
    .options = fire_options,
    .max_operands = 2,
    .run = run_fire,
};

/* read_all reads standard input, and drops the one line end that a shell adds. */
static int
read_all(struct buf *text)
{
    char block[65536];
    ssize_t n = 0;
    while ((n = read(STDIN_FILENO, block, sizeof block)) != 0) {
        if (n < 0 && errno != EINTR)
            return cli_refuse(EXIT_INPUT, "standard input cannot be read: %m");
        if (n > 0)
            buf_add(text, block, (size_t)n);
        if (text->failed)
            return cli_refuse(EXIT_INPUT,
                "the payload on standard input is over the limit of %zu MiB",
                LIMIT_PAYLOAD_BYTES / 1024 / 1024);
    }
    if (text->len > 0 && text->p[text->len - 1] == '\n')
        text->len--;
    return EXIT_DONE;
}

static owed_fire_options
read_options(struct cli *cli)
{
    return (owed_fire_options){
        .dedupe_key = options_text(cli->flags, "dedupe-key"),
        .due_at_us = options_number(cli->flags, "due"),
        .occurred_at_us = options_number(cli->flags, "occurred-at"),
        .actor_key = options_text(cli->flags, "actor"),
        .actor_label = options_text(cli->flags, "actor-label"),
        .correlation_id = options_text(cli->flags, "correlation-id"),
        .causation_id = options_number(cli->flags, "causation-id"),
        .traceparent = options_text(cli->flags, "traceparent"),
        .scope = options_text(cli->flags, "scope"),
    };
}

static owed_status
fire(struct cli *cli, struct str payload, const struct origin *origin, int64_t *ret_id)
{
    owed_tx *tx = NULL;
    owed_status status = owed_begin(cli->owed, &tx, &cli->err);
    if (status != OWED_OK)
        return status;
    owed_fire_options options = read_options(cli);
    origin_complete(origin, &options);
    status = owed_fire_json(tx, cli->operands[0], (int32_t)options_number(cli->flags, "version"),
        payload.p, payload.len, &options, ret_id, &cli->err);
    if (status != OWED_OK) {
        owed_rollback(tx);
        return status;
    }
    return owed_commit(tx, &cli->err);
}

static int
fire_one(struct cli *cli, struct str payload)
{
    struct known known;
    struct origin origin;
    if (known_load(cli, &known) != OWED_OK || origin_read(cli, &origin) != OWED_OK)
        return cli_fail(cli);
    int64_t id = 0;
    owed_status status = fire(cli, payload, &origin, &id);
    if (status != OWED_OK && status != OWED_DUPLICATE)
        return cli_fail(cli);
    bool duplicate = status == OWED_DUPLICATE;
    if (!duplicate)
        known_warn(cli, &known, cli->operands[0]);
    if (cli_json(cli))
        out_printf(
            &cli->out, "{\"id\":%" PRId64 ",\"duplicate\":%s}\n", id, duplicate ? "true" : "false");
    else
        out_printf(&cli->out, "%" PRId64 "\n", id);
    if (duplicate)
        fprintf(stderr, "duplicate\n");
    return EXIT_DONE;
}

/* What owed.conf declares is published, and events are owed by the catalogue from there on: the handle
 * itself declares only what a module may have to run here. */
static owed_status
open_to_fire(struct cli *cli)
{
    owed_status status = cli_declare(cli);
    if (status != OWED_OK)
        return status;
    if (options_list(cli->settings, "module")[0] != NULL)
        return cli_open(cli, cli->registry);
    status = cli_open(cli, NULL);
    if (status != OWED_OK || cli->registry->receiver_count == 0)
        return status;
    int64_t changed = 0;
    return publish_registry(cli->db, cli->registry, options_number(cli->settings, "release"),
        cli->now_us, &changed, &cli->err);
}

/* What goes with --lines, and what without it. */
static int
check_form(struct cli *cli, bool lines)
{
    if (!lines && cli->operand_count == 0)
        return cli_usage(cli, "fire wants the name of an event, or --lines");
    if (!lines && options_is_set(cli->flags, "batch"))
        return cli_usage(cli, "--batch goes with --lines");
    if (!lines)
        return EXIT_DONE;
    if (cli->operand_count > 0)
        return cli_usage(
            cli, "--lines reads names and payloads from standard input: no '%s'", cli->operands[0]);
    for (const struct option *option = fire_options; strcmp(option->name, "lines") != 0; option++) {
        if (options_is_set(cli->flags, option->name))
            return cli_usage(
                cli, "--%s does not go with --lines: each line has its own", option->name);
    }
    return EXIT_DONE;
}

static int
run_fire(struct cli *cli)
{
    bool lines = options_number(cli->flags, "lines") != 0;
    int code = check_form(cli, lines);
    if (code != EXIT_DONE)
        return code;
    CLEANUP(buf_done) struct buf input;
    buf_init(&input, LIMIT_PAYLOAD_BYTES + 1);
    struct str payload = STR("{}");
    if (cli->operand_count == 2)
        payload = str_of(cli->operands[1]);
    if (str_is(payload, "-")) {
        code = read_all(&input);
        payload = buf_view(&input);
    }
    if (code != EXIT_DONE)
        return code;
    if (open_to_fire(cli) != OWED_OK)
        return cli_fail(cli);
    if (lines)
        return fire_lines(cli, (size_t)options_number(cli->flags, "batch"));
    return fire_one(cli, payload);
}
