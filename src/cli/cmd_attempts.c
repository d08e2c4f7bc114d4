/* SPDX-License-Identifier: MIT
 *
 * cmd_attempts.c - owed attempts: what each try of a delivery came to.
 */
#include "cli/common.h"
#include "cli/filter.h"
#include "cli/rows.h"

static int run_attempts(struct cli *cli);

static const struct option attempts_options[] = {OPTION_JSON_LINES, {.name = NULL}};

const struct command cmd_attempts = {
    .name = "attempts",
    .summary = "list the attempts of a delivery",
    .usage = "DELIVERY-ID",
    .text =
        "Lists what was recorded of each attempt: failures always, successes where the "
        "receiver asks for it, as webhooks do. One that ended without a request, since its endpoint is gone "
        "or does not want it, says why. In JSON the duration is in microseconds.",
    .examples = "    owed attempts 42",
    .options = attempts_options,
    .max_operands = 1,
    .run = run_attempts,
};

static int
run_attempts(struct cli *cli)
{
    int64_t id = 0;
    if (cli->operand_count == 0)
        return cli_usage(cli, "attempts wants the id of a delivery");
    if (!cli_id(cli->operands[0], &id))
        return cli_usage(cli, "'%s' is no id of a delivery", cli->operands[0]);
    struct delivery_row delivery;
    struct attempt_row *rows = NULL;
    size_t count = 0;
    if (cli_open_store(cli, false) != OWED_OK ||
        store_delivery(cli->db, id, &cli->arena, &delivery, &cli->err) != OWED_OK ||
        store_attempts(cli->db, id, &cli->arena, &rows, &count, &cli->err) != OWED_OK)
        return cli_fail(cli);
    if (!cli_json(cli))
        attempts_in_words(rows, count);
    cli_list(cli, attempt_fields, rows, count, sizeof *rows);
    return EXIT_DONE;
}
