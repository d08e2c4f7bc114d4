/* SPDX-License-Identifier: MIT
 *
 * cmd_publish.c - owed publish: declarations, written to the store's catalogue.
 */
#include <inttypes.h>

#include "base/clock.h"
#include "cli/common.h"
#include "cli/filter.h"
#include "declare/publish.h"

static int run_publish(struct cli *cli);

static const struct option publish_options[] = {
    {.name = "retire",
        .type = OPTION_TEXT,
        .argument = "APP",
        .help = "mark everything that APP declared as removed, and publish nothing"},
    OPTION_JSON_DOCUMENT,
    {.name = NULL},
};

const struct command cmd_publish = {
    .name = "publish",
    .summary = "write what owed.conf and the modules declare to the catalogue",
    .usage = "",
    .text =
        "From then on every event is owed to these receivers, whoever fires it. A relay "
        "and owed fire publish, too; this command is for a deployment that wants it "
        "done before either runs.\n\n"
        "Without --release nothing is ever removed. With it, receivers that an older "
        "release declared and this one does not are marked as removed: what they are "
        "still owed is orphaned after the grace (orphan-grace). A publish never removes "
        "what a newer release declared.\n\n"
        "With --json, the keys are event_types, receivers and changed (rows of the catalogue), or retired.",
    .examples = "    owed publish -c /etc/owed/shop.conf --release 42\n"
                "    owed publish --store sqlite:shop.db --retire billing",
    .options = publish_options,
    .run = run_publish,
};

static int
retire(struct cli *cli, const char *app)
{
    int64_t changed = 0;
    if (cli_open_store(cli, true) != OWED_OK ||
        store_retire(cli->db, app, cli->now_us, &changed, &cli->err) != OWED_OK)
        return cli_fail(cli);
    out_printf(&cli->out, cli_json(cli) ? "{\"retired\":%" PRId64 "}\n" : "retired: %" PRId64 "\n",
        changed);
    if (changed == 0)
        cli_warn("the catalogue has nothing of an app '%s'", app);
    return EXIT_DONE;
}

static int
run_publish(struct cli *cli)
{
    const char *app = options_text(cli->flags, "retire");
    if (app != NULL)
        return retire(cli, app);
    if (cli_declare(cli) != OWED_OK || cli_open_store(cli, true) != OWED_OK)
        return cli_fail(cli);
    int64_t changed = 0;
    owed_status status = publish_registry(cli->db, cli->registry,
        options_number(cli->settings, "release"), cli->now_us, &changed, &cli->err);
    if (status != OWED_OK)
        return cli_fail(cli);
    size_t types = cli->registry->type_count;
    size_t receivers = cli->registry->receiver_count;
    if (cli_json(cli)) {
        out_printf(&cli->out, "{\"event_types\":%zu,\"receivers\":%zu,\"changed\":%" PRId64 "}\n",
            types, receivers, changed);
        return EXIT_DONE;
    }
    out_printf(&cli->out, "published: %zu event type%s, %zu receiver%s, %" PRId64 " changed\n",
        types, types == 1 ? "" : "s", receivers, receivers == 1 ? "" : "s", changed);
    return EXIT_DONE;
}
