/* SPDX-License-Identifier: MIT
 *
 * patience.c - a service waits for its store.
 */
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/common.h"
#include "deliver/relay.h"

bool
cli_may_come(struct cli *cli)
{
    const char *url = NULL;
    const struct driver *driver = NULL;
    return cli->err.status == OWED_UNAVAILABLE && cli_url(cli, &url) == OWED_OK &&
        driver_for(url, &driver, NULL) == OWED_OK && driver->now != NULL;
}

/* leave ends a worker that has nothing yet to be ended in order. */
static void
leave(int signal)
{
    (void)signal;
    _exit(EXIT_DONE);
}

owed_status
cli_open_patiently(struct cli *cli, bool patient, bool says)
{
    const struct sigaction action = {.sa_handler = leave};
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
    owed_status status = cli_open(cli, cli->registry);
    for (int failures = 1; status != OWED_OK && patient && cli_may_come(cli); failures++) {
        const struct timespec timeout = {
            .tv_sec = (time_t)(relay_back_off_us(failures) / US_PER_SECOND)};
        if (says && failures == 1)
            log_say(&cli->log, OWED_LOG_ERROR, "the store is away: it is waited for",
                LOG_TEXT("error", cli->err.text));
        ppoll(NULL, 0, &timeout, NULL);
        status = cli_open(cli, cli->registry);
    }
    return status;
}
