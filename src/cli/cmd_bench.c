/* SPDX-License-Identifier: MIT
 *
 * cmd_bench.c - owed bench: is this database fast enough?
 */
#include <inttypes.h>
#include <signal.h>

#include "base/clock.h"
#include "base/limits.h"
#include "bench/bench.h"
#include "cli/common.h"
#include "cli/filter.h"

static int run_bench(struct cli *cli);

static const struct option bench_options[] = {
    {.name = "rows",
        .type = OPTION_INT,
        .argument = "N",
        .min = 1,
        .max = 100000000,
        .help = "events that are measured"},
    {.name = "backlog",
        .type = OPTION_INT,
        .argument = "N",
        .max = 100000000,
        .help = "events that are owed behind them"},
    {.name = "history",
        .type = OPTION_INT,
        .argument = "N",
        .max = 100000000,
        .help = "events that were delivered before; under churn, so many are kept"},
    {.name = "payload-size",
        .type = OPTION_INT,
        .argument = "BYTES",
        .min = 11,
        .max = (int64_t)1024 * 1024,
        .help = "of each event"},
    {.name = "receivers",
        .type = OPTION_INT,
        .argument = "N",
        .min = 1,
        .max = BENCH_RECEIVERS_MAX,
        .help = "of each event"},
    {.name = "concurrency",
        .type = OPTION_INT,
        .argument = "N",
        .min = 1,
        .max = BENCH_CONCURRENCY_MAX,
        .help = "connections that fire, or relays that deliver"},
    {.name = "batch",
        .type = OPTION_INT,
        .argument = "N",
        .min = 1,
        .max = 500,
        .help = "events in one transaction, or rows in one claim"},
    {.name = "inserts",
        .type = OPTION_BOOL,
        .help = "receivers insert a row, in the transaction that carries the acknowledgement"},
    {.name = "groups",
        .type = OPTION_BOOL,
        .help = "with --inserts: receivers touch only this database, and share transactions"},
    {.name = "duration",
        .type = OPTION_DURATION,
        .argument = "TIME",
        .min = US_PER_SECOND,
        .max = 7 * 24 * 3600 * US_PER_SECOND,
        .help = "how long it goes on"},
    {.name = "force",
        .type = OPTION_BOOL,
        .help = "also in a store that others use; their rows are not touched"},
    OPTION_JSON_DOCUMENT,
    {.name = NULL},
};

/* Which option sets what. */
static const struct {
    enum knob knob;
    const char *option;
} knob_options[] = {
    {KNOB_ROWS, "rows"},
    {KNOB_BACKLOG, "backlog"},
    {KNOB_HISTORY, "history"},
    {KNOB_PAYLOAD_SIZE, "payload-size"},
    {KNOB_RECEIVERS, "receivers"},
    {KNOB_CONCURRENCY, "concurrency"},
    {KNOB_BATCH, "batch"},
    {KNOB_INSERTS, "inserts"},
    {KNOB_GROUPS, "groups"},
    {KNOB_DURATION_US, "duration"},
};

const struct command cmd_bench = {
    .name = "bench",
    .summary = "measure whether this store is fast enough",
    .usage = "BENCHMARK",
    .text =
        "Fires events of its own for receivers of its own, measures, and takes back all that it "
        "wrote. The benchmarks, and what they take where nothing is said:\n\n"
        "    fire     events fired a second: --rows 2000 --batch 1\n"
        "    drain    deliveries claimed, run and acknowledged a second: --rows 20000 --batch 50\n"
        "    claim    what a claim costs before a backlog: --rows 5000 --backlog 20000 --batch 50\n"
        "    latency  from a commit to the start of its receiver, in an idle relay: --rows 200\n"
        "    idle     what a relay costs that has nothing to do: --duration 10s\n"
        "    churn    fire, deliver and delete at half the highest rate: --duration 60s --batch 50\n"
        "             --history 20000; told by twelfths of the time\n"
        "    clean    takes back what a benchmark that was killed has left\n\n"
        "Otherwise an event has one receiver and 200 bytes, one connection fires, one relay delivers, and what "
        "--inserts writes is committed in groups.\n\n"
        "A rate stands beside that of a bare loop, which does the same durable work in the plainest "
        "way: on one connection of the same client library, in small tables of its own, with one "
        "prepared statement for each row, and as many rows in a transaction. It has no lease, no "
        "retry, no history and no backlog, and asks a server once for each row, so that a ratio "
        "above 1 is possible there. It is no limit of the machine, but moves with it, so that ratios of "
        "two machines can be compared where rates cannot.\n\n"
        "Bytes of log are those of the server, and so are transactions: whoever else writes there is "
        "counted as well. On SQLite they are what was written to its files, checkpoints included. "
        "Dead tuples and sizes are told on PostgreSQL.\n\n"
        "A store that holds anything of somebody else is refused without --force. With it, rows of "
        "others are still not touched; relays that serve them are woken now and then, and "
        "find nothing. Where a receiver is owed every event, no benchmark runs at all. Afterwards "
        "the store has the rows that it had; a file keeps its size, and a server has rows to vacuum. "
        "Tables are made and dropped: on a server that takes the rights that owed init takes.",
    .examples = "    owed bench fire --store sqlite:/tmp/bench.db\n"
                "    owed bench drain --rows 100000 --concurrency 4 --json\n"
                "    owed bench drain --inserts --no-groups",
    .options = bench_options,
    .max_operands = 1,
    .run = run_bench,
};

/* The signal that stopped it. */
static volatile sig_atomic_t stopped_by;

static void
stop(int signal)
{
    stopped_by = signal;
    bench_stop();
}

/* The first signal lets it clean up; the second ends it. */
static void
catch_signals(void)
{
    struct sigaction action = {.sa_handler = stop, .sa_flags = (int)SA_RESETHAND};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
}

static int
refuse_name(struct cli *cli, const char *name)
{
    const char *names[16] = {"clean"};
    size_t count = 1;
    for (const struct benchmark *b = benchmarks; b->name != NULL; b++)
        names[count++] = b->name;
    const char *near = nearest(name, names);
    if (near != NULL)
        return cli_usage(cli, "there is no benchmark '%s'; did you mean '%s'?", name, near);
    return cli_usage(cli,
        "there is no benchmark '%s': it is one of fire, drain, claim, latency, "
        "idle, churn, or clean",
        name);
}

static int
read_knobs(struct cli *cli, const struct benchmark *benchmark, struct bench_plan *plan)
{
    for (size_t i = 0; i < sizeof knob_options / sizeof knob_options[0]; i++) {
        enum knob knob = knob_options[i].knob;
        const char *option = knob_options[i].option;
        plan->knobs[knob] = benchmark->knobs[knob];
        if (!options_is_set(cli->flags, option))
            continue;
        if (benchmark->knobs[knob] == KNOB_NONE)
            return cli_usage(cli, "the benchmark %s takes no --%s", benchmark->name, option);
        plan->knobs[knob] = options_number(cli->flags, option);
    }
    if (plan->knobs[KNOB_INSERTS] > 0)
        return EXIT_DONE;
    if (options_is_set(cli->flags, "groups"))
        return cli_usage(cli, "--groups says how what --inserts writes is committed: give both");
    plan->knobs[KNOB_GROUPS] = KNOB_NONE;
    return EXIT_DONE;
}

static int
clean(struct cli *cli, const struct bench_plan *plan)
{
    for (size_t i = 0; i < sizeof knob_options / sizeof knob_options[0]; i++)
        if (options_is_set(cli->flags, knob_options[i].option))
            return cli_usage(cli, "clean takes no --%s", knob_options[i].option);
    int64_t events = 0;
    if (bench_clean(plan, &events, &cli->err) != OWED_OK)
        return cli_fail(cli);
    if (cli_json(cli))
        out_printf(&cli->out, "{\"benchmark\":\"clean\",\"events\":%" PRId64 "}\n", events);
    else
        out_printf(&cli->out, "events taken back: %" PRId64 "\n", events);
    return EXIT_DONE;
}

static int
measure(struct cli *cli, const struct benchmark *benchmark, const struct bench_plan *plan)
{
    struct report report;
    catch_signals();
    owed_status status = bench_run(benchmark, plan, &report, &cli->err);
    if (stopped_by != 0 && (status == OWED_OK || status == OWED_ABORTED))
        return cli_refuse(128 + stopped_by, "stopped: nothing is left of the benchmark");
    if (status != OWED_OK)
        return cli_fail(cli);
    if (cli_json(cli))
        report_json(&report, &cli->out.text);
    else
        report_text(&report, &cli->out.text);
    return EXIT_DONE;
}

static int
run_bench(struct cli *cli)
{
    if (cli->operand_count == 0)
        return cli_usage(cli,
            "bench wants to know what: fire, drain, claim, latency, idle, churn, or "
            "clean");
    struct bench_plan plan = {
        .busy_timeout_us = options_number(cli->settings, "busy-timeout"),
        .beside = options_number(cli->flags, "force") != 0,
    };
    const char *name = cli->operands[0];
    bool is_clean = strcmp(name, "clean") == 0;
    const struct benchmark *benchmark = bench_find(name);
    if (benchmark == NULL && !is_clean)
        return refuse_name(cli, name);
    int code = is_clean ? EXIT_DONE : read_knobs(cli, benchmark, &plan);
    if (code != EXIT_DONE)
        return code;
    if (cli_url(cli, &plan.url) != OWED_OK)
        return cli_fail(cli);
    return is_clean ? clean(cli, &plan) : measure(cli, benchmark, &plan);
}
