/* SPDX-License-Identifier: MIT
 *
 * cmd_doctor.c - owed doctor: what is wrong with a live store, and the command that sets it right.
 */
#include "base/cleanup.h"
#include "base/clock.h"
#include "cli/common.h"
#include "cli/fields.h"
#include "cli/filter.h"
#include "operate/doctor.h"

#define WORDS_BYTES 8192
#define LOOK_SECONDS 15 // a server that is slower than its own limit is given up

static int run_doctor(struct cli *cli);

static const struct option doctor_options[] = {
    {.name = "long",
        .type = OPTION_DURATION,
        .argument = "DURATION",
        .fallback = "5m",
        .help = "a transaction that is open for so long is a finding"},
    OPTION_JSON_LINES,
    {.name = NULL},
};

const struct command cmd_doctor = {
    .name = "doctor",
    .summary = "look for trouble in a live store, and say what sets it right",
    .usage = "",
    .text =
        "Looks at the store, at those who deliver for it, and at its server or its file, and says what is "
        "wrong: a sentence for each finding, and behind four blanks the command that sets it right, ready to "
        "be pasted. Read it before you do: some of these commands end somebody's transaction, or lock a "
        "table. Nothing is written; on a server no look takes longer than 15 seconds, and none reads a "
        "table of a million rows through.\n\n"
        "With a finding the exit code is 1; a healthy store is one line, and 0. What this user may not see "
        "is said in a line that begins with unseen, and is no finding.\n\n"
        "In JSON, each finding is one object: check (a word for programs), state (found, or unseen), "
        "subject, sentence and command.",
    .examples = "    owed doctor\n"
                "    owed doctor --json | jq -r .command",
    .options = doctor_options,
    .manual = mdoc_checks,
    .run = run_doctor,
};

static const struct field finding_fields[] = {
    FIELD(struct doctor_finding, check, "check", NULL, SHAPE_TEXT),
    FIELD(struct doctor_finding, state, "state", NULL, SHAPE_TEXT),
    FIELD(struct doctor_finding, subject, "subject", NULL, SHAPE_KEY),
    FIELD(struct doctor_finding, sentence, "sentence", NULL, SHAPE_TEXT),
    FIELD(struct doctor_finding, command, "command", NULL, SHAPE_KEY),
    FIELDS_END,
};

struct printing {
    struct cli *cli;
    const char *last_command; // one command may set several findings right
};

static void
print_finding(void *state, const struct doctor_finding *finding)
{
    struct printing *printing = state;
    struct cli *cli = printing->cli;
    if (cli_json(cli)) {
        fields_lines(finding_fields, finding, 1, sizeof *finding, &cli->out);
        return;
    }
    bool is_unseen = strcmp(finding->state, "unseen") == 0;
    out_printf(
        &cli->out, "%s%s: %s\n", is_unseen ? "unseen: " : "", finding->check, finding->sentence);
    if (is_empty(finding->command))
        return;
    if (strcmp(finding->command, or_empty(printing->last_command)) != 0)
        out_printf(&cli->out, "    %s\n", finding->command);
    printing->last_command = finding->command;
}

/* words_of repeats what this command line said of where the store is. */
static const char *
words_of(struct cli *cli)
{
    static const struct {
        const char *option;
        const char *word;
    } kept[] = {{"config", " -c "}, {"store", " --store "}, {"app", " --app "}};
    CLEANUP(buf_done) struct buf words;
    buf_init(&words, WORDS_BYTES);
    for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++) {
        if (!options_is_set(cli->flags, kept[i].option))
            continue;
        CLEANUP(buf_done) struct buf shown;
        buf_init(&shown, WORDS_BYTES);
        const char *text = options_text(cli->flags, kept[i].option);
        if (strcmp(kept[i].option, "store") == 0)
            url_without_password(&shown, text);
        else
            buf_puts(&shown, text);
        buf_puts(&words, kept[i].word);
        shell_quote(&words, buf_text(&shown));
    }
    return or_empty(arena_strdup(&cli->arena, buf_text(&words)));
}

static owed_status
open_store(struct cli *cli, const char **ret_url)
{
    struct db_options options = {
        .busy_timeout_us = options_number(cli->settings, "busy-timeout"),
        .read_only = true,
        .statement_timeout_us = OWED_SECONDS(LOOK_SECONDS),
    };
    owed_status status = cli_url(cli, ret_url);
    if (status == OWED_OK)
        status = store_open(*ret_url, &options, &cli->db, &cli->err);
    return status == OWED_OK ? store_now(cli->db, &cli->now_us, &cli->err) : status;
}

static int
run_doctor(struct cli *cli)
{
    struct doctor doctor = {.arena = &cli->arena, .words = words_of(cli)};
    if (cli_declare(cli) != OWED_OK || open_store(cli, &doctor.url) != OWED_OK)
        return cli_fail(cli);
    doctor.db = cli->db;
    doctor.registry = cli->registry;
    doctor.now_us = cli->now_us;
    doctor.host_now_us = clock_now_us(&clock_system);
    doctor.retention_us = options_number(cli->settings, "retention");
    doctor.long_us = options_number(cli->flags, "long");
    size_t found = 0, checks = 0;
    if (doctor_run(&doctor, print_finding, &(struct printing){.cli = cli}, &found, &checks,
            &cli->err) != OWED_OK)
        return cli_fail(cli);
    if (found > 0)
        return EXIT_FOUND;
    if (!cli_json(cli))
        out_printf(&cli->out, "healthy: %zu checks found nothing\n", checks);
    return EXIT_DONE;
}
