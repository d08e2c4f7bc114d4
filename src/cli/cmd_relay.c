/* SPDX-License-Identifier: MIT
 *
 * cmd_relay.c - owed relay: a supervisor, or one of its workers.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/moment.h"
#include "cli/common.h"
#include "declare/settings.h"
#include "deliver/relay.h"
#include "deliver/supervisor.h"

static int run_relay(struct cli *cli);

const struct command cmd_relay = {
    .name = "relay",
    .summary = "deliver what is owed",
    .usage = "",
    .text =
        "Claims deliveries and runs their receivers: those of owed.conf, and those in C that a "
        "--module declares. It goes on until it is told to stop, or with --once until nothing is "
        "due and nothing is in flight. It serves the lane default alone unless told otherwise.\n\n"
        "A relay is a supervisor and its workers. A receiver that crashes takes a worker with it: "
        "that is a failed attempt of its delivery, and another worker goes on. SIGTERM and SIGINT "
        "end it cleanly: the delivery in hand is finished, what was claimed and not begun is free "
        "for others at once. A second signal ends it at once.\n\n"
        "With --once, --limit or --passes it prints how many attempts ended how, how many deliveries were handed on to a task site, and last how many deliveries "
        "were put off without one, since their destination had no room or their time had not come, or that nothing was "
        "owed. With --once what would have room within a few seconds is waited for.",
    .examples = "    owed relay --once\n"
                "    owed relay -c /etc/owed/shop.conf --module /usr/lib/shop/receivers.so "
                "--all-lanes",
    .relays = true,
    .run = run_relay,
};

/* What a signal stops. */
static owed *stopping;

static void
stop(int signal)
{
    (void)signal;
    if (stopping != NULL)
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

/* Words that contradict each other. A flag wins over a file that says otherwise. */
static int
check_words(struct cli *cli)
{
    if (options_is_set(cli->flags, "lane") && options_number(cli->flags, "all-lanes") != 0)
        return cli_usage(cli, "--lane and --all-lanes do not go together");
    if (options_is_set(cli->flags, "limit") && options_is_set(cli->flags, "batch-size"))
        return cli_usage(cli, "--limit and --batch-size do not go together: a limit is one claim");
    return EXIT_DONE;
}

static owed_relay_settings
read_settings(struct cli *cli)
{
    owed_relay_settings settings = {0};
    settings_fill_relay(cli->settings, &settings);
    if (options_is_set(cli->flags, "lane"))
        settings.all_lanes = false;
    else if (settings.all_lanes)
        settings.lanes = NULL;
    // A limit is one claim: the size of others has no say in it.
    if (settings.limit > 0)
        settings.batch_size = 0;
    return settings;
}

/* is_patient: a relay that is to end soon does not wait for a store. */
static bool
is_patient(const owed_relay_settings *settings)
{
    return !settings->once && settings->limit == 0 && settings->passes == 0;
}

static int
work(struct cli *cli, const struct relay_seat *seat)
{
    owed_relay_settings settings = read_settings(cli);
    if (cli_declare(cli) != OWED_OK || cli_open_notices(cli) != OWED_OK ||
        cli_open_patiently(cli, is_patient(&settings), false) != OWED_OK)
        return cli_fail(cli);
    catch_signals(cli->owed);
    owed_status status = relay_work(cli->owed, &settings, seat, NULL, &cli->err);
    stopping = NULL;
    return status == OWED_OK ? EXIT_DONE : cli_fail(cli);
}

static int
inside_workers(struct cli *cli, const char *url, int *ret_count)
{
    const struct driver *driver = NULL;
    *ret_count = (int)options_number(cli->settings, "concurrency");
    if (*ret_count == 1)
        return EXIT_DONE; // no client library is loaded where it makes no difference
    if (driver_for(url, &driver, &cli->err) != OWED_OK)
        return cli_fail(cli);
    if (!driver->single_writer)
        return EXIT_DONE;
    cli_warn("concurrency %d is 1 here: %s has a single writer", *ret_count, driver->scheme);
    *ret_count = 1;
    return EXIT_DONE;
}

/* try_out opens what every worker is going to open. Settings that do not fit are a matter of words. */
static int
try_out(struct cli *cli, const owed_relay_settings *settings)
{
    if (cli_declare(cli) != OWED_OK || cli_open_notices(cli) != OWED_OK)
        return cli_fail(cli);
    if (cli_open(cli, cli->registry) != OWED_OK) {
        if (!is_patient(settings) || !cli_may_come(cli))
            return cli_fail(cli);
        log_say(&cli->log, OWED_LOG_ERROR, "the store is away: the relay waits until it is back",
            LOG_TEXT("error", cli->err.text));
        return EXIT_DONE;
    }
    cli->owed->log.write = NULL; // the workers are going to say it
    owed_status status = relay_check(cli->owed, settings, &cli->err);
    if (status == OWED_INVALID)
        return cli_usage(cli, "%s", cli->err.text);
    return status == OWED_OK ? EXIT_DONE : cli_fail(cli);
}

/* rehearse tries in a child, so that what is wrong is said once. This process must not: what it had
 * open would be carried over to its workers. */
static int
rehearse(struct cli *cli, const owed_relay_settings *settings)
{
    pid_t pid = fork();
    if (pid < 0)
        return cli_refuse(EXIT_AGAIN, "no process can be started: %m");
    if (pid == 0)
        _exit(try_out(cli, settings));
    int how = 0;
    while (waitpid(pid, &how, 0) < 0) {
        if (errno != EINTR)
            return cli_refuse(EXIT_BUG, "a child of this process was lost: %m");
    }
    if (WIFEXITED(how))
        return WEXITSTATUS(how);
    return cli_refuse(EXIT_CONFIG, "the process ended by SIG%s while it loaded its modules",
        or_empty(sigabbrev_np(WTERMSIG(how))));
}

static void
print_counts(struct cli *cli, const owed_relay_counts *counts)
{
    const struct {
        const char *word;
        int64_t count;
    } lines[] = {
        {"dead", counts->dead},
        {"failed", counts->failed},
        {"handed_back", counts->handed_back},
        {"orphaned", counts->orphaned},
        {"succeeded", counts->succeeded},
    };
    bool any = counts->handed_on > 0;
    char due[MOMENT_BYTES];
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        if (lines[i].count == 0)
            continue;
        out_printf(&cli->out, "%s: %" PRId64 "\n", lines[i].word, lines[i].count);
        any = true;
    }
    const char *at = moment_write(counts->next_due_us, due);
    bool is_more = counts->next_due_us != 0;
    if (counts->put_off > 0)
        out_printf(&cli->out, "put off: %" PRId64 "%s%s\n", counts->put_off,
            is_more ? "; the next is due at " : "", is_more ? at : "");
    else if (!any && is_more)
        out_printf(&cli->out, "Nothing delivered; the next is due at %s.\n", at);
    else if (!any)
        out_puts(&cli->out, "Nothing owed.\n");
    if (counts->handed_on > 0)
        out_printf(&cli->out, "handed on: %" PRId64 "\n", counts->handed_on);
}

/* words_for_workers are the command line's, without the store's URL; NULL: no memory. */
static char *const *
words_for_workers(struct cli *cli)
{
    char **words = arena_alloc(&cli->arena, ((size_t)cli->argc + 1) * sizeof *words);
    if (words == NULL)
        return NULL;
    words[0] = cli->argv[0];
    options_without(cli->flags, cli->argv + 1, "store", words + 1);
    return words;
}

/* take_store takes the URL that the relay's command line named. */
static owed_status
take_store(struct cli *cli)
{
    const char *url = getenv(SEAT_STORE_VARIABLE);
    if (url == NULL)
        return OWED_OK;
    owed_status status =
        options_set(cli->settings, NULL, "store", url, SOURCE_FLAG, "--store", &cli->err);
    unsetenv(SEAT_STORE_VARIABLE);
    return status;
}

static int
supervise(struct cli *cli, const char *url)
{
    owed_relay_settings relay = read_settings(cli);
    int workers = 1;
    int code = inside_workers(cli, url, &workers);
    if (code == EXIT_DONE)
        code = rehearse(cli, &relay);
    if (code != EXIT_DONE)
        return code;
    struct supervisor settings = {
        .argv = words_for_workers(cli),
        .store = options_text(cli->flags, "store"),
        .worker_id = relay.worker_id,
        .inside_workers = workers,
        .outside_workers = (int)options_number(cli->settings, "outside-workers"),
        .once = relay.once,
        .limit = relay.limit,
        .passes = relay.passes,
        .stop_grace_us = options_number(cli->settings, "stop-grace"),
        .dice = dice_system,
        .log = cli->log,
    };
    if (settings.argv == NULL) {
        fail_memory(&cli->err);
        return cli_fail(cli);
    }
    char id[RELAY_WORKER_ID_BYTES];
    if (settings.worker_id == NULL) {
        relay_worker_id(id);
        settings.worker_id = id;
    }
    owed_relay_counts counts = {0};
    if (supervisor_run(&settings, &counts, &code, &cli->err) != OWED_OK)
        return cli_fail(cli);
    if (code == EXIT_DONE && (relay.once || relay.limit > 0 || relay.passes > 0))
        print_counts(cli, &counts);
    return code;
}

static int
run_relay(struct cli *cli)
{
    struct relay_seat seat = {.hole_us = RELAY_HOLE_US};
    if (shared_take_seat(&seat.shared, &seat.slot, &seat.role, &cli->err) != OWED_OK)
        return cli_fail(cli);
    if (seat.shared != NULL && take_store(cli) != OWED_OK)
        return cli_fail(cli);
    int code = check_words(cli);
    if (code != EXIT_DONE)
        return code;
    const char *url = NULL;
    if (cli_url(cli, &url) != OWED_OK)
        return cli_fail(cli);
    return seat.shared != NULL ? work(cli, &seat) : supervise(cli, url);
}
