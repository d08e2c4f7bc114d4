/* SPDX-License-Identifier: MIT
 *
 * handle.c - a connection to the store, and everything that goes with it.
 */
#include "deliver/handle.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/limits.h"
#include "declare/publish.h"

#define DEFAULT_BUSY_TIMEOUT_US (5 * US_PER_SECOND)
#define KEEP_CLOCK_US (60 * US_PER_SECOND)
#define NO_APP "owed" // of the empty registry: it publishes nothing

static owed_status
check_settings(const owed_settings *settings, owed_error *err)
{
    if (settings == NULL || is_empty(settings->url))
        return fail(err, OWED_CONFIG, "no store: settings need a url such as sqlite:shop.db");
    if (settings->release < 0)
        return fail(err, OWED_CONFIG, "release %lld is negative: it counts up from 1, or is 0",
            (long long)settings->release);
    if (settings->busy_timeout_us < 0 || settings->busy_timeout_us > LIMIT_DURATION_US)
        return fail(err, OWED_CONFIG, "busy_timeout_us %lld is out of range: 0 is the default, 5 s",
            (long long)settings->busy_timeout_us);
    return OWED_OK;
}

owed_status
handle_connect_again(const owed *handle, struct db **ret_db, owed_error *err)
{
    const struct db_options options = {
        .busy_timeout_us = handle->busy_timeout_us, .stop_fd = handle->stop_fd};
    return store_open(handle->url, &options, ret_db, err);
}

owed_status
handle_connect(const owed *handle, struct db **ret_db, owed_error *err)
{
    struct db *db = NULL;
    owed_status status = handle_connect_again(handle, &db, err);
    if (status == OWED_OK)
        status = store_check(db, err);
    if (status != OWED_OK) {
        store_close(db);
        return status;
    }
    db->dice = handle->dice;
    *ret_db = db;
    return OWED_OK;
}

owed_status
handle_read_clock(owed *handle, owed_error *err)
{
    if (handle->has_own_clock || handle->db->driver->now == NULL)
        return OWED_OK;
    handle->clock_read_at_us = clock_monotonic_us(&clock_system);
    owed_status status = store_clock_read(&handle->store_clock, handle->db, err);
    // Log lines keep the host's time, as those of all else on this host do.
    if (status == OWED_OK)
        handle->clock = store_clock_of(&handle->store_clock);
    return status;
}

void
handle_keep_clock(owed *handle)
{
    int64_t age_us = clock_monotonic_us(&clock_system) - handle->clock_read_at_us;
    // A store that does not answer will say so to whoever needs it.
    if (age_us >= KEEP_CLOCK_US && !store_in_transaction(handle->db))
        (void)handle_read_clock(handle, NULL);
}

static owed_status
take_settings(owed *handle, const owed_settings *settings, owed_error *err)
{
    handle->clock = clock_or_system(settings->clock);
    handle->has_own_clock = settings->clock.now_us != NULL;
    store_clock_init(&handle->store_clock);
    handle->dice = dice_or_system(settings->dice);
    handle->release = settings->release;
    handle->busy_timeout_us =
        settings->busy_timeout_us != 0 ? settings->busy_timeout_us : DEFAULT_BUSY_TIMEOUT_US;
    handle->log =
        (struct log){.write = settings->log, .state = settings->log_state, .clock = handle->clock};
    handle->registry = settings->registry;
    handle->url = strdup(settings->url);
    handle->wakers = wakers_new();
    if (handle->url == NULL || handle->wakers == NULL)
        return fail_memory(err);
    handle->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (handle->stop_fd < 0)
        return fail_native(
            err, OWED_UNAVAILABLE, errno, "no eventfd could be opened (errno %d)", errno);
    if (handle->registry != NULL)
        return OWED_OK;
    owed_status status = owed_registry_new(NO_APP, &handle->own_registry, err);
    handle->registry = handle->own_registry;
    return status;
}

/* warn_of_server says what the operator of a server should know of it. */
static void
warn_of_server(const owed *handle)
{
    const struct driver *driver = handle->db->driver;
    const char *sentence = driver->warning == NULL ? NULL : driver->warning(handle->db);
    if (sentence != NULL)
        log_say(&handle->log, OWED_LOG_WARNING, sentence, LOG_TEXT("store", driver->scheme));
}

static void
close_ptr(owed **handle)
{
    owed_close(*handle);
}

owed_status
owed_open(const owed_settings *settings, owed **ret_owed, owed_error *err)
{
    owed_status status = check_settings(settings, err);
    if (status != OWED_OK)
        return status;
    CLEANUP(close_ptr) owed *handle = calloc(1, sizeof *handle);
    if (handle == NULL)
        return fail_memory(err);
    handle->stop_fd = -1;
    status = take_settings(handle, settings, err);
    if (status == OWED_OK)
        status = handle_connect(handle, &handle->db, err);
    if (status == OWED_OK)
        warn_of_server(handle);
    if (status == OWED_OK)
        status = handle_read_clock(handle, err);
    if (status == OWED_OK && settings->registry != NULL && !settings->no_publish)
        status = publish_registry(handle->db, handle->registry, handle->release,
            clock_now_us(&handle->clock), &(int64_t){0}, err);
    if (status != OWED_OK)
        return status;
    *ret_owed = steal(&handle);
    return OWED_OK;
}

void
owed_close(owed *handle)
{
    if (handle == NULL)
        return;
    owed_rollback(handle->tx);
    store_close(handle->db);
    wakers_free(handle->wakers);
    owed_registry_free(handle->own_registry);
    if (handle->stop_fd >= 0)
        close(handle->stop_fd);
    free(handle->url);
    free(handle);
}

/* end_old ends what the server may still think that it serves: a connection that only we have given up
 * keeps its locks. */
static owed_status
end_old(struct db *old, struct db *fresh, owed_error *err)
{
    const char *session = old->driver->session == NULL ? "" : or_empty(old->driver->session(old));
    if (session[0] == '\0' || fresh->driver->end_session == NULL)
        return OWED_OK;
    owed_status status = fresh->driver->end_session(fresh, session, err);
    // Where it may not be ended, its locks keep us waiting; that is all.
    return status == OWED_UNAVAILABLE ? status : OWED_OK;
}

owed_status
handle_reconnect(owed *handle, owed_error *err)
{
    struct db *fresh = NULL;
    owed_status status = handle_connect(handle, &fresh, err);
    if (status == OWED_OK)
        status = end_old(handle->db, fresh, err);
    if (status != OWED_OK) {
        store_close(fresh);
        return status;
    }
    store_close(handle->db);
    handle->db = fresh;
    // On a disk that is full the store's own log may be what fills it.
    fresh->driver->tidy(fresh);
    return handle_read_clock(handle, err);
}

bool
handle_end_stray(owed *handle)
{
    if (handle->tx == NULL && !store_in_transaction(handle->db))
        return false;
    owed_rollback(handle->tx);
    if (store_in_transaction(handle->db))
        store_rollback(handle->db);
    return true;
}

owed_status
owed_init(const char *url, owed_error *err)
{
    if (is_empty(url))
        return fail(err, OWED_CONFIG, "no store: give a url such as sqlite:shop.db");
    struct db_options options = {.busy_timeout_us = DEFAULT_BUSY_TIMEOUT_US, .create = true};
    struct db *db = NULL;
    int64_t now_us = 0;
    owed_status status = store_open(url, &options, &db, err);
    if (status == OWED_OK)
        status = store_now(db, &now_us, err);
    if (status == OWED_OK)
        status = store_migrate(db, now_us, &(int){0}, err);
    store_close(db);
    return status;
}

void
owed_relay_stop(owed *handle)
{
    // From a signal handler: an atomic and one write, and errno as the interrupted code had it.
    int saved = errno;
    atomic_fetch_add(&handle->stop, 1);
    uint64_t one = 1;
    ssize_t written = write(handle->stop_fd, &one, sizeof one);
    (void)written;
    errno = saved;
}

void
handle_forget_stop(owed *handle)
{
    if (atomic_exchange(&handle->stop, 0) == 0)
        return;
    uint64_t stops;
    ssize_t n = read(handle->stop_fd, &stops, sizeof stops);
    (void)n;
}
