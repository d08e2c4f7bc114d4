/* SPDX-License-Identifier: MIT
 *
 * cmd_worker.c - owed worker: the task site, where what a relay handed to a queue is run.
 */
#include <inttypes.h>
#include <signal.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/notify.h"
#include "cli/common.h"
#include "declare/settings.h"
#include "deliver/relay.h"

#define SIGNAL_EXIT 128
#define COUNT_LIMIT INT64_C(1000000000000)

static int run_worker(struct cli *cli);

static const struct option worker_options[] = {
    {.name = "from",
        .type = OPTION_TEXT,
        .argument = "URL",
        .help = "take what was handed to this broker: redis://host:6379/0, amqp://user@host/vhost, "
                "nats://host:4222; task-queue unless told"},
    {.name = "topic",
        .type = OPTION_TEXT,
        .argument = "NAME",
        .help = "the stream, queue or subject there; task-topic unless told"},
    {.name = "password-file",
        .type = OPTION_TEXT,
        .argument = "PATH",
        .help = "holds the broker's password, one line; task-password-file unless told"},
    {.name = "ca-file",
        .type = OPTION_TEXT,
        .argument = "PATH",
        .help = "by TLS: the authorities that are trusted; task-ca-file unless told"},
    {.name = "credentials-file",
        .type = OPTION_TEXT,
        .argument = "PATH",
        .help =
            "of NATS: a .creds file, or the seed of an NKey; task-credentials-file unless told"},
    {.name = "worker-id",
        .type = OPTION_TEXT,
        .argument = "ID",
        .help = "name of this worker, <host>-<pid> unless told"},
    {.name = "once",
        .type = OPTION_BOOL,
        .help = "end when the queue has given nothing for a second"},
    {.name = "limit",
        .type = OPTION_INT,
        .argument = "N",
        .min = 1,
        .max = COUNT_LIMIT,
        .help = "end after N messages"},
    {.name = NULL},
};

const struct command cmd_worker = {
    .name = "worker",
    .summary = "run what a relay handed to a task queue",
    .usage = "",
    .text =
        "Takes messages from a queue, and runs what they are for: a receiver whose site is task, of "
        "owed.conf or of a --module. A relay puts them there that has the same task-queue. The row is "
        "taken under the claim that the message carries before its receiver runs, so that a message that "
        "comes twice, or late, runs nothing. It is acknowledged once the attempt has ended; one that "
        "failed is handed on again by a relay when its wait is over, never by the queue.\n\n"
        "A worker runs one delivery at a time: start as many as there is work for. SIGTERM and SIGINT "
        "end it cleanly: the delivery in hand is finished, what was taken beyond it goes back to the "
        "queue. A second signal ends it at once. A broker or a store that is away is waited for, "
        "and so is a broker that refuses the user, the password, the database or the vhost, which the log says. systemd's watchdog "
        "hears of it between deliveries alone: WatchdogSec has to be longer than any of them takes.\n\n"
        "A message that is not owed's, or that carries a claim that nobody holds any more, is logged and "
        "dropped. So is one whose receiver is not declared here: its delivery comes back when the lease is "
        "over, so each store and app needs a topic of its own (one that a receiver publishes to is refused), and every worker all of its receivers. What is not owed's is "
        "only acknowledged in a Redis stream, since that may have other readers; a queue of RabbitMQ and a stream of NATS forget it.\n\n"
        "What is missing at the broker is made: on Redis a stream with the consumer group owed, from which another "
        "worker takes what was not acknowledged for a minute; on RabbitMQ a durable queue named by the topic, on NATS a "
        "stream of JetStream with the retention workqueue and its pull consumer owed, which brings a "
        "message again that was not acknowledged for a minute. A queue, a stream that takes the topic, or a consumer "
        "of that name that is there already is used with the settings that it has.\n\n"
        "With --once or --limit it prints how many attempts ended how, or that nothing was handed on.",
    .examples = "    owed worker --from redis://127.0.0.1/0 --module /usr/lib/shop/receivers.so\n"
                "    owed worker -c /etc/owed/shop.conf --once",
    .options = worker_options,
    .run = run_worker,
};

/* What a signal stops. */
static owed *stopping;
static volatile sig_atomic_t signals_seen;

static void
stop(int signal)
{
    if (signals_seen++ > 0)
        _exit(SIGNAL_EXIT + signal);
    owed_relay_stop(stopping);
}

static void
catch_signals(owed *handle)
{
    stopping = handle;
    // A receiver that reads or waits just then is to finish what it does.
    struct sigaction action = {.sa_handler = stop, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
}

/* What the service manager is told, and when next. */
struct pulse {
    struct cli *cli;
    bool is_ready;
    bool is_stopping;
    int64_t every_us; // 0: it wants none
    int64_t next_us;
};

static void
note_stop(struct pulse *pulse)
{
    if (signals_seen == 0 || pulse->is_stopping)
        return;
    pulse->is_stopping = true;
    notify_send("STOPPING=1");
}

static void
beat(void *state, bool is_connected)
{
    struct pulse *pulse = state;
    int64_t now_us = clock_monotonic_us(&clock_system);
    if (is_connected && !pulse->is_ready) {
        pulse->is_ready = true;
        notify_send("READY=1");
        log_say(&pulse->cli->log, OWED_LOG_INFO, "task worker ready");
    }
    note_stop(pulse);
    if (pulse->every_us == 0 || now_us < pulse->next_us)
        return;
    notify_send("WATCHDOG=1");
    pulse->next_us = now_us + pulse->every_us;
}

static void
print_counts(struct cli *cli, const owed_relay_counts *counts)
{
    const struct {
        const char *word;
        int64_t count;
    } lines[] = {
        {"dead", counts->dead}, {"failed", counts->failed}, {"succeeded", counts->succeeded}};
    bool any = false;
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        if (lines[i].count == 0)
            continue;
        out_printf(&cli->out, "%s: %" PRId64 "\n", lines[i].word, lines[i].count);
        any = true;
    }
    if (!any)
        out_puts(&cli->out, "Nothing handed on.\n");
}

/* prefer carries a flag over to the setting that it stands for. */
static owed_status
prefer(struct cli *cli, const char *flag, const char *setting)
{
    const char *text = options_text(cli->flags, flag);
    if (text == NULL)
        return OWED_OK;
    return options_set(cli->settings, NULL, setting, text, SOURCE_FLAG,
        options_where(cli->flags, flag), &cli->err);
}

static int
check_words(struct cli *cli)
{
    static const char *const stand_for[][2] = {
        {"from", "task-queue"},
        {"topic", "task-topic"},
        {"password-file", "task-password-file"},
        {"ca-file", "task-ca-file"},
        {"credentials-file", "task-credentials-file"},
        {"worker-id", "worker-id"},
    };
    for (size_t i = 0; i < sizeof stand_for / sizeof stand_for[0]; i++)
        if (prefer(cli, stand_for[i][0], stand_for[i][1]) != OWED_OK)
            return cli_usage(cli, "%s", cli->err.text);
    if (is_empty(options_text(cli->settings, "task-queue")))
        return cli_usage(
            cli, "no task queue is named: give --from URL, or write task-queue under [relay]");
    return EXIT_DONE;
}

static int
work(struct cli *cli, const owed_relay_settings *relay)
{
    struct pulse pulse = {.cli = cli, .every_us = notify_watchdog_us() / 2};
    const owed_task_worker_settings settings = {.relay = relay, .beat = beat, .beat_state = &pulse};
    owed_relay_counts counts = {0};
    catch_signals(cli->owed);
    owed_status status = owed_task_queue_run(cli->tasks, cli->owed, &settings, &counts, &cli->err);
    note_stop(&pulse);
    if (status != OWED_OK)
        return cli_fail(cli);
    if (relay->once || relay->limit > 0)
        print_counts(cli, &counts);
    return EXIT_DONE;
}

static int
run_worker(struct cli *cli)
{
    char id[RELAY_WORKER_ID_BYTES];
    int code = check_words(cli);
    if (code != EXIT_DONE)
        return code;
    owed_relay_settings relay = {0};
    settings_fill_relay(cli->settings, &relay);
    relay.once = options_number(cli->flags, "once") != 0;
    relay.limit = options_number(cli->flags, "limit");
    if (relay.worker_id == NULL) {
        relay_worker_id(id);
        relay.worker_id = id;
    }
    if (cli_declare(cli) != OWED_OK ||
        cli_open_patiently(cli, !relay.once && relay.limit == 0, true) != OWED_OK)
        return cli_fail(cli);
    return work(cli, &relay);
}
