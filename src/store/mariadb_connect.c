/* SPDX-License-Identifier: MIT
 *
 * mariadb_connect.c - a connection that is given up when a stop is asked for.
 *
 * The client library connects in one call, which a server that says nothing keeps for as long as the
 * connect timeout. So a thread makes it. Who waits for it may leave; the thread then ends by itself, and
 * what it had goes with the last of the two.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/error.h"
#include "store/mariadb.h"

struct attempt {
    MYSQL *handle;
    struct mariadb_url url; // a copy of what the call wants
    int done_fd;
    bool ok;
    atomic_int owners;
};

static bool
connect_now(MYSQL *handle, const struct mariadb_url *url)
{
    return mysql_real_connect(handle, url->host, url->user, url->password, url->database, url->port,
               url->options[MARIADB_SOCKET], 0) != NULL;
}

static void
let_go(struct attempt *attempt)
{
    if (atomic_fetch_sub(&attempt->owners, 1) > 1)
        return;
    if (attempt->handle != NULL)
        mysql_close(attempt->handle);
    mariadb_url_done(&attempt->url);
    close(attempt->done_fd);
    free(attempt);
}

static void *
make_attempt(void *arg)
{
    struct attempt *attempt = arg;
    const uint64_t one = 1;
    attempt->ok = connect_now(attempt->handle, &attempt->url);
    if (write(attempt->done_fd, &one, sizeof one) < 0)
        attempt->ok = false;
    let_go(attempt);
    return NULL;
}

static bool
copy_text(char **ret_copy, const char *text)
{
    *ret_copy = text == NULL ? NULL : strdup(text);
    return text == NULL || *ret_copy != NULL;
}

static struct attempt *
new_attempt(MYSQL *handle, const struct mariadb_url *url)
{
    struct attempt *attempt = calloc(1, sizeof *attempt);
    if (attempt == NULL)
        return NULL;
    attempt->done_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    attempt->url.port = url->port;
    atomic_init(&attempt->owners, 1);
    bool ok = attempt->done_fd >= 0 && copy_text(&attempt->url.host, url->host) &&
        copy_text(&attempt->url.user, url->user) &&
        copy_text(&attempt->url.password, url->password) &&
        copy_text(&attempt->url.database, url->database) &&
        copy_text(&attempt->url.options[MARIADB_SOCKET], url->options[MARIADB_SOCKET]);
    if (ok) {
        attempt->handle = handle;
        return attempt;
    }
    let_go(attempt);
    return NULL;
}

/* start_thread: signals are for the threads of the program. */
static bool
start_thread(struct attempt *attempt)
{
    sigset_t all;
    sigset_t before;
    pthread_t thread;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    atomic_store(&attempt->owners, 2);
    bool ok = pthread_create(&thread, NULL, make_attempt, attempt) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (ok)
        pthread_detach(thread);
    return ok;
}

/* is_done waits for the thread, or for the stop. */
static bool
is_done(const struct attempt *attempt, int stop_fd)
{
    struct pollfd fds[] = {
        {.fd = attempt->done_fd, .events = POLLIN}, {.fd = stop_fd, .events = POLLIN}};
    while (poll(fds, 2, -1) < 0 && errno == EINTR)
        continue;
    return (fds[0].revents & POLLIN) != 0;
}

enum mariadb_connected
mariadb_try_connect(MYSQL **handle, const struct mariadb_url *url, int stop_fd)
{
    struct attempt *attempt = stop_fd > 0 ? new_attempt(*handle, url) : NULL;
    if (attempt == NULL)
        return connect_now(*handle, url) ? MARIADB_CONNECTED : MARIADB_REFUSED;
    if (!start_thread(attempt)) {
        attempt->handle = NULL;
        atomic_store(&attempt->owners, 1);
        let_go(attempt);
        return connect_now(*handle, url) ? MARIADB_CONNECTED : MARIADB_REFUSED;
    }
    enum mariadb_connected end = MARIADB_STOPPED;
    if (is_done(attempt, stop_fd)) {
        end = attempt->ok ? MARIADB_CONNECTED : MARIADB_REFUSED;
        attempt->handle = NULL;
    } else {
        *handle = NULL;
    }
    let_go(attempt);
    return end;
}
