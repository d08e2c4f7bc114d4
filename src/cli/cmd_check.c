/* SPDX-License-Identifier: MIT
 *
 * cmd_check.c - owed check: what was declared well and still cannot work here.
 */
#include "base/json.h"
#include "cli/common.h"
#include "cli/filter.h"
#include "declare/checks.h"
#include "notify/templates.h"

static int run_check(struct cli *cli);

static const struct option check_options[] = {OPTION_JSON_LINES, {.name = NULL}};

const struct command cmd_check = {
    .name = "check",
    .summary = "check the configuration and what it names",
    .usage = "",
    .text =
        "Reads owed.conf and loads the modules, looks at the programs, files and secrets that "
        "receivers name on this host, at the templates, the channels, and at the store, where one is named, for what is owed "
        "to receivers that nobody declares or that want another event by now, and for payloads that are owed and that the types "
        "of the modules cannot read: a relay would give them up. Nothing is run but upgrades, "
        "and nothing is written or sent.\n\n"
        "Each finding is a line that begins with error or warning; with any, the exit code "
        "is 1. With --json each is an object with level (error or warning) and text, and nothing is "
        "printed where nothing was found.",
    .examples = "    owed check -c /etc/owed/shop.conf\n"
                "    owed check --json | jq -r 'select(.level == \"error\") | .text'",
    .options = check_options,
    .run = run_check,
};

static void
print_finding(void *state, enum finding finding, const char *sentence)
{
    struct cli *cli = state;
    struct out *out = &cli->out;
    if (cli_json(cli)) {
        out_printf(out, "{\"level\":\"%s\",\"text\":", finding_name(finding));
        json_write_string(&out->text, str_of(sentence));
        out_puts(out, "}\n");
        return;
    }
    out_printf(out, "%s: ", finding_name(finding));
    out_puts(out, sentence);
    out_puts(out, "\n");
}

static owed_status
check_store(struct cli *cli, size_t *ret_count)
{
    owed_status status = cli_open_store(cli, false);
    if (status != OWED_OK)
        return status;
    size_t unread = 0;
    status =
        checks_store(cli->db, cli->registry, cli->now_us, print_finding, cli, ret_count, &cli->err);
    if (status == OWED_OK)
        status = checks_payloads(cli->db, cli->registry, print_finding, cli, &unread, &cli->err);
    *ret_count += unread;
    return status;
}

struct check_templates {
    struct cli *cli;
    size_t count;
};

static void
print_template(void *state, const char *sentence)
{
    struct check_templates *check = state;
    check->count++;
    print_finding(check->cli, FINDING_ERROR, sentence);
}

/* check_templates counts what is wrong in the folder of templates, where one is named. */
static owed_status
check_templates(struct cli *cli, size_t *ret_count)
{
    const char *folder = cli_templates(cli);
    struct check_templates check = {.cli = cli};
    const struct templates_visitor visitor = {print_template, &check};
    owed_templates *set = NULL;
    owed_status status = OWED_OK;
    if (folder != NULL)
        status = owed_templates_new(&set, &cli->err);
    if (status == OWED_OK && set != NULL)
        status = templates_scan(set, folder, &visitor, &cli->err);
    owed_templates_free(set);
    if (status == OWED_OK && cli->notices.is_read)
        status = notices_check(&cli->notices, folder, print_template, &check, &cli->err);
    *ret_count += check.count;
    return status;
}

static int
run_check(struct cli *cli)
{
    if (cli_declare(cli) != OWED_OK)
        return cli_fail(cli);
    size_t count = checks_run(cli->registry, print_finding, cli);
    size_t stored = 0;
    if (check_templates(cli, &count) != OWED_OK)
        return cli_fail(cli);
    if (!is_empty(options_text(cli->settings, "store")) && check_store(cli, &stored) != OWED_OK)
        return cli_fail(cli);
    if (count + stored > 0)
        return EXIT_FOUND;
    if (cli_json(cli))
        return EXIT_DONE;
    out_puts(&cli->out,
        cli->registry->receiver_count > 0 ? "ok\n" : "ok, but no receiver is declared\n");
    return EXIT_DONE;
}
