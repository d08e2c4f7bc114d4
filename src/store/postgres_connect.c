/* SPDX-License-Identifier: MIT
 *
 * postgres_connect.c - reaching a PostgreSQL server, in a time of our choosing.
 *
 * libpq's own connecting does not end by itself where a server takes a connection and says nothing, and
 * asked step by step it does not go on to the next host of a list either. So hosts are tried one by one,
 * each with the whole of the time, and a stop ends it all.
 */
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "store/postgres.h"

#define CONNECT_DEFAULT_US (10 * US_PER_SECOND)
#define OLDEST_VERSION 140000
#define HOST_BYTES 512
#define HOSTS_MAX 16

/* One host of the list, as options that go before the list. */
struct host {
    bool is_one; // of several
    char name[HOST_BYTES];
    char address[HOST_BYTES];
    char port[16];
};

/* What is being waited for. */
struct wait {
    int64_t timeout_us;
    int64_t deadline_us;
    int stop_fd; // 0: none
    bool is_stopped;
};

static void
finish_handle(PGconn **handle)
{
    PQfinish(*handle);
}

static void
hear_nothing(void *arg, const char *message)
{
    (void)arg;
    (void)message;
}

/* start: what stands before dbname holds unless the URL says otherwise, what follows it always. */
static PGconn *
start(const char *url, const struct db_options *options, const struct host *host)
{
    const char *application = is_empty(options->application) ? "owed" : options->application;
    const struct {
        const char *keyword;
        const char *value;
    } settings[] = {
        {"fallback_application_name", application},
        {"keepalives_idle", "30"},
        {"keepalives_interval", "10"},
        {"keepalives_count", "3"},
        {"tcp_user_timeout", "30000"},
        {"dbname", url},
        {"client_encoding", "UTF8"},
        {host->is_one ? "host" : NULL, host->name},
        {"hostaddr", host->address},
        {"port", host->port},
    };
    enum { COUNT = sizeof settings / sizeof settings[0] };
    const char *keywords[COUNT + 1] = {NULL};
    const char *values[COUNT + 1] = {NULL};
    for (int i = 0; i < COUNT && settings[i].keyword != NULL; i++) {
        keywords[i] = settings[i].keyword;
        values[i] = settings[i].value;
    }
    return PQconnectStartParams(keywords, values, 1);
}

/* poll_once waits for what libpq waits for; false: the time is over, or a stop was asked for. */
static bool
poll_once(PGconn *handle, PostgresPollingStatusType wants, struct wait *wait)
{
    int64_t left_us = wait->deadline_us - postgres_monotonic_us();
    if (left_us <= 0)
        return false;
    short events = wants == PGRES_POLLING_WRITING ? POLLOUT : POLLIN;
    struct pollfd fds[] = {
        {.fd = PQsocket(handle), .events = events},
        {.fd = wait->stop_fd > 0 ? wait->stop_fd : -1, .events = POLLIN},
    };
    struct timespec timeout = {.tv_sec = (time_t)(left_us / US_PER_SECOND),
        .tv_nsec = (long)(left_us % US_PER_SECOND) * 1000};
    int ready = ppoll(fds, 2, &timeout, NULL);
    wait->is_stopped = ready > 0 && fds[1].revents != 0;
    return ready != 0 && !wait->is_stopped;
}

static owed_status
cannot_connect(PGconn *handle, owed_error *err)
{
    char text[sizeof err->text];
    postgres_sentence(handle, PQerrorMessage(handle), text, sizeof text);
    return fail(err, OWED_UNAVAILABLE, "PostgreSQL cannot be reached: %s", text);
}

/* cannot_start tells a setting that libpq refuses, which no waiting mends, from a server that is away. */
static owed_status
cannot_start(PGconn *handle, owed_error *err)
{
    static const char refusal[] = "invalid ";
    char text[sizeof err->text];
    if (strncmp(PQerrorMessage(handle), refusal, strlen(refusal)) != 0)
        return cannot_connect(handle, err);
    postgres_sentence(handle, PQerrorMessage(handle), text, sizeof text);
    return fail(
        err, OWED_CONFIG, "the store URL, or what libpq finds besides it, is wrong: %s", text);
}

static owed_status
no_answer(const PGconn *handle, const struct wait *wait, owed_error *err)
{
    if (wait->is_stopped)
        return fail(err, OWED_UNAVAILABLE,
            "PostgreSQL was not reached at %s, port %s, before a stop was asked for",
            or_empty(PQhost(handle)), or_empty(PQport(handle)));
    return fail(err, OWED_UNAVAILABLE,
        "PostgreSQL cannot be reached: no answer from %s, port %s, within %lld ms",
        or_empty(PQhost(handle)), or_empty(PQport(handle)),
        (long long)(wait->timeout_us / US_PER_MS));
}

static owed_status
check_version(const PGconn *handle, owed_error *err)
{
    int version = PQserverVersion(handle);
    if (version >= OLDEST_VERSION)
        return OWED_OK;
    return fail(
        err, OWED_CONFIG, "PostgreSQL %d is too old: 14 or later is needed", version / 10000);
}

/* go_on takes a connection that was begun to its end. */
static owed_status
go_on(PGconn *handle, struct wait *wait, owed_error *err)
{
    if (PQstatus(handle) == CONNECTION_BAD)
        return cannot_start(handle, err);
    PQsetNoticeProcessor(handle, hear_nothing, NULL);
    PostgresPollingStatusType wants = PGRES_POLLING_WRITING;
    wait->deadline_us = postgres_monotonic_us() + wait->timeout_us;
    while (wants != PGRES_POLLING_OK) {
        if (!poll_once(handle, wants, wait))
            return no_answer(handle, wait, err);
        wants = PQconnectPoll(handle);
        if (wants == PGRES_POLLING_FAILED)
            return cannot_connect(handle, err);
    }
    return check_version(handle, err);
}

/* --- hosts --- */

static void
free_options(PQconninfoOption **options)
{
    PQconninfoFree(*options);
}

static const char *
option(const PQconninfoOption *options, const char *keyword)
{
    for (; options->keyword != NULL; options++)
        if (strcmp(options->keyword, keyword) == 0)
            return or_empty(options->val);
    return "";
}

static int
count_items(const char *list)
{
    int count = 1;
    for (; *list != '\0'; list++)
        count += *list == ',';
    return count;
}

/* copy_item copies one of a list, or the only one, which is everybody's. */
static bool
copy_item(const char *list, int place, char *text, size_t size)
{
    for (int i = count_items(list) == 1 ? 0 : place; i > 0; i--)
        list += strcspn(list, ",") + 1;
    size_t len = strcspn(list, ",");
    if (len >= size)
        return false;
    memcpy(text, list, len);
    text[len] = '\0';
    return true;
}

/* read_hosts takes the list apart as libpq reads it, wherever it came from; a list that is chosen from by
 * what its servers are is libpq's own business, and counts as one. */
static int
read_hosts(PGconn *handle, struct host hosts[static HOSTS_MAX])
{
    CLEANUP(free_options) PQconninfoOption *options = PQconninfo(handle);
    if (options == NULL || strcmp(option(options, "target_session_attrs"), "prefer-standby") == 0)
        return 1;
    const char *names = option(options, "host");
    const char *addresses = option(options, "hostaddr");
    int count = count_items(addresses[0] == '\0' ? names : addresses);
    if (count > HOSTS_MAX)
        return 1;
    for (int i = 0; i < count && count > 1; i++) {
        hosts[i].is_one = copy_item(names, i, hosts[i].name, sizeof hosts[i].name) &&
            copy_item(addresses, i, hosts[i].address, sizeof hosts[i].address) &&
            copy_item(option(options, "port"), i, hosts[i].port, sizeof hosts[i].port);
        if (!hosts[i].is_one)
            return 1;
    }
    return count;
}

owed_status
postgres_connect(
    const char *url, const struct db_options *options, PGconn **ret_handle, owed_error *err)
{
    struct wait wait = {.timeout_us = options->connect_timeout_us, .stop_fd = options->stop_fd};
    if (wait.timeout_us <= 0)
        wait.timeout_us = CONNECT_DEFAULT_US;
    CLEANUP(free_ptr) struct host *hosts = calloc(HOSTS_MAX, sizeof *hosts);
    CLEANUP(finish_handle)
    PGconn *handle = hosts == NULL ? NULL : start(url, options, &(struct host){0});
    if (handle == NULL)
        return fail_memory(err);
    int count = read_hosts(handle, hosts);
    owed_status status = OWED_UNAVAILABLE;
    for (int i = 0; i < count && status == OWED_UNAVAILABLE && !wait.is_stopped; i++) {
        if (count > 1) {
            PQfinish(handle);
            handle = start(url, options, &hosts[i]);
        }
        status = handle == NULL ? fail_memory(err) : go_on(handle, &wait, err);
    }
    if (status == OWED_OK)
        *ret_handle = steal(&handle);
    return status;
}
