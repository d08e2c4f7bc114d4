/* SPDX-License-Identifier: MIT
 *
 * settings.c - one table for each section of owed.conf.
 */
#include "declare/settings.h"

#include "base/clock.h"
#include "base/limits.h"

#define LEAST_LEASE_US INT64_C(10000)
#define LEAST_POLL_US INT64_C(1000)
#define LIMIT_ROWS INT64_C(1000000000000)
#define LIMIT_IN_FLIGHT 10000
#define LIMIT_EXEC_IN_FLIGHT 1000
#define LIMIT_WORKERS 32

const struct option settings_store[] = {
    {.name = "store",
        .key = "url",
        .type = OPTION_TEXT,
        .argument = "URL",
        .section = "store",
        .help = "where the tables are, such as sqlite:shop.db"},
    {.name = "app",
        .type = OPTION_TEXT,
        .argument = "APP",
        .fallback = "default",
        .section = "store",
        .help = "name of the application: its lanes and declarations are kept apart by it"},
    {.name = "module",
        .type = OPTION_LIST,
        .argument = "FILE",
        .section = "store",
        .help = "shared object that declares receivers in C"},
    {.name = "release",
        .type = OPTION_INT,
        .argument = "N",
        .fallback = "0",
        .section = "store",
        .help = "number of this deployment, growing; what it no longer declares is removed"},
    {.name = "busy-timeout",
        .type = OPTION_DURATION,
        .argument = "TIME",
        .fallback = "5s",
        .section = "store",
        .max = LIMIT_DURATION_US,
        .min = 1,
        .help = "how long a writer waits for another"},
    {.name = NULL},
};

/* Whoever runs a relay once says so by a flag; these three have no place in a file. */
#define RELAY_FLAGS \
    {.name = "once", \
        .type = OPTION_BOOL, \
        .help = "end when nothing is due and nothing is in flight"}, \
        {.name = "limit", \
            .type = OPTION_INT, \
            .argument = "N", \
            .min = 1, \
            .max = LIMIT_ROWS, \
            .help = "attempt at most N deliveries, each at most once, and end"}, \
    { \
        .name = "passes", .type = OPTION_INT, .argument = "N", .min = 1, .max = LIMIT_ROWS, \
        .help = "end after N claims" \
    }

#define RELAY_NUMBER(name_, fallback_, min_, max_, help_) \
    { \
        .name = (name_), .type = OPTION_INT, .argument = "N", .fallback = (fallback_), \
        .section = "relay", .min = (min_), .max = (max_), .help = (help_) \
    }

#define RELAY_TIME(name_, fallback_, min_, help_) \
    { \
        .name = (name_), .type = OPTION_DURATION, .argument = "TIME", .fallback = (fallback_), \
        .section = "relay", .min = (min_), .max = LIMIT_DURATION_US, .help = (help_) \
    }

const struct option settings_relay[] = {
    {.name = "worker-id",
        .type = OPTION_TEXT,
        .argument = "ID",
        .section = "relay",
        .help = "name of this relay, <host>-<pid> unless told"},
    {.name = "lane",
        .type = OPTION_LIST,
        .argument = "LANE",
        .section = "relay",
        .help = "serve this lane, and not the lane default alone"},
    {.name = "all-lanes",
        .type = OPTION_BOOL,
        .section = "relay",
        .help = "serve every lane of the application"},
    RELAY_FLAGS,
    RELAY_NUMBER("batch-size", "50", 1, LIMIT_BATCH_SIZE,
        "deliveries of one claim, at most; "
        "where nobody sets it, up to 500 while quick ones wait"),
    RELAY_TIME("lease", "5m", LEAST_LEASE_US, "how long a claim holds a delivery"),
    RELAY_TIME("poll", "1s", LEAST_POLL_US,
        "how long an idle relay waits at most; longer while wake-ups are seen to arrive"),
    RELAY_TIME("backoff-base", "2s", 1, "longest wait after the first failure; it doubles"),
    RELAY_TIME("backoff-cap", "1h", 1, "longest wait after any failure"),
    RELAY_TIME("max-retry-delay", "1d", 1, "longest wait that a receiver may ask for"),
    RELAY_NUMBER("max-attempts", "5", 1, LIMIT_MAX_ATTEMPTS,
        "attempts until a delivery is dead, for receivers that do not say; of what is fired from now on"),
    RELAY_TIME("orphan-grace", "10m", 0,
        "how long what is owed to a receiver that nobody declares any more is kept owed"),
    RELAY_NUMBER("max-losses", "10", 0, INT32_MAX,
        "a delivery is dead when so many relays in a row died while they held it; 0: no limit"),
    RELAY_NUMBER("error-length", "2000", 1, LIMIT_ERROR_BYTES, "bytes of an error that are kept"),
    RELAY_NUMBER("in-flight", "200", 1, LIMIT_IN_FLIGHT, "webhook requests at once"),
    RELAY_NUMBER("exec-in-flight", "16", 1, LIMIT_EXEC_IN_FLIGHT, "programs at once"),
    RELAY_NUMBER("outside-workers", "4", 1, LIMIT_WORKERS,
        "processes for receivers in C that run outside a transaction"),
    RELAY_NUMBER("concurrency", "1", 1, LIMIT_WORKERS,
        "processes for receivers that run inside one; a store may allow fewer"),
    RELAY_TIME("stop-grace", NULL, 0,
        "how long a stopping relay waits for what is in flight; as long as it takes unless told"),
    {.name = "task-queue",
        .type = OPTION_TEXT,
        .argument = "URL",
        .section = "relay",
        .help =
            "hand on what runs at a task site to this broker: redis://host:6379/0, amqp://user@host/vhost, "
            "nats://host:4222"},
    {.name = "task-topic",
        .type = OPTION_TEXT,
        .argument = "NAME",
        .fallback = "owed.tasks",
        .section = "relay",
        .help = "of task-queue: the stream, queue or subject; each store and app needs its own"},
    {.name = "task-password-file",
        .type = OPTION_TEXT,
        .argument = "PATH",
        .section = "relay",
        .help = "of task-queue: holds the broker's password, one line"},
    {.name = "task-ca-file",
        .type = OPTION_TEXT,
        .argument = "PATH",
        .section = "relay",
        .help =
            "of task-queue by TLS: the authorities that are trusted; those of the host unless told"},
    {.name = "task-credentials-file",
        .type = OPTION_TEXT,
        .argument = "PATH",
        .section = "relay",
        .help = "of task-queue on NATS: a .creds file, or the seed of an NKey"},
    RELAY_TIME(
        "prune", "60s", 0, "how often a relay deletes events that nobody needs any more; 0: never"),
    RELAY_TIME("retention", "90d", US_PER_SECOND,
        "how long an event is kept, once all that was owed for it has ended, unless it says otherwise"),
    {.name = NULL},
};

const struct option settings_log[] = {
    {.name = "log-level",
        .type = OPTION_TEXT,
        .argument = "LEVEL",
        .fallback = "info",
        .section = "log",
        .help = "the least that is logged: debug, info, warning or error"},
    {.name = "log-format",
        .type = OPTION_TEXT,
        .argument = "FORMAT",
        .fallback = "text",
        .section = "log",
        .help = "how a line is written: text (key=value) or json"},
    {.name = NULL},
};

const struct option settings_templates[] = {
    {.name = "templates",
        .key = "folder",
        .type = OPTION_TEXT,
        .argument = "FOLDER",
        .section = "templates",
        .help = "the folder of the texts that notifications are made of"},
    {.name = NULL},
};

const struct option *const settings_tables[] = {
    settings_store, settings_relay, settings_log, settings_templates, NULL};

void
settings_fill_store(const struct options *options, owed_settings *settings)
{
    settings->url = options_text(options, "store");
    settings->release = options_number(options, "release");
    settings->busy_timeout_us = options_number(options, "busy-timeout");
}

void
settings_fill_registry(const struct options *options, owed_registry *registry)
{
    registry->max_attempts = (int32_t)options_number(options, "max-attempts");
}

/* or_none gives 0, which a caller of the library cannot say, the number that means "none" there. */
static int64_t
or_none(int64_t number)
{
    return number == 0 ? -1 : number;
}

void
settings_fill_relay(const struct options *options, owed_relay_settings *settings)
{
    const char *const *lanes = options_list(options, "lane");
    settings->worker_id = options_text(options, "worker-id");
    settings->lanes = lanes[0] == NULL ? NULL : lanes;
    settings->all_lanes = options_number(options, "all-lanes") != 0;
    settings->once = options_number(options, "once") != 0;
    settings->limit = options_number(options, "limit");
    settings->passes = options_number(options, "passes");
    // What nobody has set may grow.
    if (options_is_set(options, "batch-size"))
        settings->batch_size = (int32_t)options_number(options, "batch-size");
    settings->lease_us = options_number(options, "lease");
    settings->poll_us = options_number(options, "poll");
    settings->backoff_base_us = options_number(options, "backoff-base");
    settings->backoff_cap_us = options_number(options, "backoff-cap");
    settings->max_retry_delay_us = options_number(options, "max-retry-delay");
    settings->max_attempts = (int32_t)options_number(options, "max-attempts");
    settings->orphan_grace_us = or_none(options_number(options, "orphan-grace"));
    settings->max_losses = (int32_t)or_none(options_number(options, "max-losses"));
    settings->error_length = (int32_t)options_number(options, "error-length");
    settings->in_flight = (int32_t)options_number(options, "in-flight");
    settings->exec_in_flight = (int32_t)options_number(options, "exec-in-flight");
    settings->prune_us = or_none(options_number(options, "prune"));
    settings->retention_us = options_number(options, "retention");
}
