/* SPDX-License-Identifier: MIT
 *
 * tasks.c - the task queue of owed.conf, or of the command line, and where in it a word is wrong.
 */
#include "base/error.h"
#include "cli/common.h"
#include "receive/task_queue.h"

/* refuse puts before a sentence where the word stands, or the queue that it goes with. */
static owed_status
refuse(struct cli *cli, const char *word, owed_status status)
{
    const owed_error why = cli->err;
    const char *where = options_where(cli->settings, word);
    if (where[0] == '\0')
        where = options_where(cli->settings, "task-queue");
    return status == OWED_NOMEM ? status : fail(&cli->err, status, "%s: %s", where, why.text);
}

/* check_feeds: whoever reads the queue takes each message, and drops what is not owed's. */
static owed_status
check_feeds(struct cli *cli)
{
    for (const struct receiver *r = cli->registry->receivers; r != NULL; r = r->next) {
        if (!task_queue_is_fed(cli->tasks, r))
            continue;
        fail(&cli->err, OWED_CONFIG,
            "%s is also what receiver \"%s\"%s%s publishes to, and a worker drops what is no task; a "
            "topic of its own is right",
            cli->tasks->topic, r->declared.key, r->where[0] == '\0' ? "" : " of ", r->where);
        return refuse(cli, "task-topic", OWED_CONFIG);
    }
    return OWED_OK;
}

owed_status
cli_hand_on_tasks(struct cli *cli)
{
    const char *url = options_text(cli->settings, "task-queue");
    const char *word = NULL;
    if (is_empty(url))
        return OWED_OK;
    const owed_task_queue_settings settings = {
        .topic = options_text(cli->settings, "task-topic"),
        .password_file = options_text(cli->settings, "task-password-file"),
        .ca_file = options_text(cli->settings, "task-ca-file"),
        .credentials_file = options_text(cli->settings, "task-credentials-file"),
    };
    owed_status status = task_queue_open(url, &settings, &word, &cli->tasks, &cli->err);
    if (status != OWED_OK)
        return refuse(cli, word, status);
    status = check_feeds(cli);
    if (status != OWED_OK)
        return status;
    const owed_task_backend backend = owed_task_queue_backend(cli->tasks);
    return owed_registry_set_task_backend(cli->registry, &backend, &cli->err);
}
