/* SPDX-License-Identifier: MIT
 *
 * cmd_explain.c - owed explain: why a delivery has not run.
 */
#include <inttypes.h>

#include "base/json.h"
#include "cli/common.h"
#include "cli/filter.h"
#include "operate/explain.h"

#define SENTENCE_BYTES ((size_t)128 * 1024) // it quotes the last error

static int run_explain(struct cli *cli);

static const struct option explain_options[] = {OPTION_JSON_DOCUMENT, {.name = NULL}};

const struct command cmd_explain = {
    .name = "explain",
    .summary = "say in one sentence why a delivery has not run, or what became of it",
    .usage = "DELIVERY-ID",
    .text =
        "Looks at the delivery, its receiver in the catalogue, what stands before it in its lane "
        "and which relays are alive, and names the first reason that holds.\n\n"
        "In JSON the keys are id, reason (a word for programs) and sentence.",
    .examples = "    owed explain 42",
    .options = explain_options,
    .max_operands = 1,
    .run = run_explain,
};

static void
show_sentence(struct cli *cli, int64_t id, enum reason reason, const struct buf *sentence)
{
    if (!cli_json(cli)) {
        out_printf(&cli->out, "%s\n", buf_text(sentence));
        return;
    }
    struct buf *json = &cli->out.text;
    buf_printf(
        json, "{\"id\":%" PRId64 ",\"reason\":\"%s\",\"sentence\":", id, reason_name(reason));
    json_write_string(json, buf_view(sentence));
    out_puts(&cli->out, "}\n");
}

static int
run_explain(struct cli *cli)
{
    int64_t id = 0;
    if (cli->operand_count == 0)
        return cli_usage(cli, "explain wants the id of a delivery");
    if (!cli_id(cli->operands[0], &id))
        return cli_usage(cli, "'%s' is no id of a delivery", cli->operands[0]);
    struct buf sentence;
    buf_init(&sentence, SENTENCE_BYTES);
    enum reason reason = REASON_NEXT;
    bool known = cli_open_store(cli, false) == OWED_OK &&
        explain_delivery(cli->db, id, cli->now_us, &cli->arena, &reason, &sentence, &cli->err) ==
            OWED_OK;
    if (known)
        show_sentence(cli, id, reason, &sentence);
    buf_done(&sentence);
    return known ? EXIT_DONE : cli_fail(cli);
}
