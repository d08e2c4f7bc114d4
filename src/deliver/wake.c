/* SPDX-License-Identifier: MIT
 *
 * wake.c - waiting for somebody's commit without asking for it all the time.
 *
 * Producers of this host send a datagram after their commit. Whoever writes with plain SQL does not,
 * so the store's own sign counts as well. That sign (a write to SQLite's log) comes before the commit
 * can be seen: from then on a close watch looks every millisecond for 20 ms, and ever more rarely
 * until a second has passed, which is how long a slow disk may take to make the commit durable.
 */
#include "deliver/wake.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"

#define CLOSE_WATCH_US (20 * US_PER_MS)
#define CLOSE_LOOK_US US_PER_MS
#define FAR_WATCH_US US_PER_SECOND
#define FAR_LOOK_SHARE \
    4 // beyond the close watch a look may be late by this share of the wait so far
#define SIGNS_AT_START 1
#define SIGNS_AFTER_A_MISS 8
#define BIND_TRIES 3
#define BUSY_CLAIMS 2

enum { FD_SOCKET, FD_SIGN, FD_STOP, FD_COUNT };
_Static_assert(FD_COUNT <= WAKE_FDS, "wake_fds must have room for all");

struct wake {
    owed *owed;
    struct db *db; // the connection whose signs are watched; another one was not watched before
    int socket;    // -1: none
    struct sockaddr_un address;
    int64_t sign_at_us; // CLOCK_MONOTONIC, of the last sign; 0: no watch is kept
    int64_t look_at_us; // the watch's next look
    int signs_missing;  // until wake-ups are proven
    bool is_asleep;     // those who commit know that somebody waits here
    int busy;           // claims in a row that found something
    const char *deaf;   // why they do not, as it was logged
};

// Waits are the kernel's, so their clock is too, whatever clock the handle was given.
static int64_t
now_us(void)
{
    return clock_monotonic_us(&clock_system);
}

/* sign_fd gives what becomes readable at the store's sign; a driver starts the watch when it is asked. */
static int
sign_fd(const struct wake *wake)
{
    struct db *db = wake->owed->db;
    return db == NULL || db->driver->wake_fd == NULL ? -1 : db->driver->wake_fd(db);
}

/* --- the socket --- */

static bool
is_abandoned(const struct sockaddr_un *address)
{
    CLEANUP(close_fd) int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    return fd >= 0 && connect(fd, (const struct sockaddr *)address, sizeof *address) != 0 &&
        errno == ECONNREFUSED;
}

static bool
is_ours(const char *name, const char *prefix)
{
    const char *end = strrchr(name, '.');
    return strncmp(name, prefix, strlen(prefix)) == 0 && end != NULL &&
        (strcmp(end, ".sock") == 0 || strcmp(end, ".new") == 0);
}

static void
closedir_ptr(DIR **dir)
{
    if (*dir != NULL)
        closedir(*dir);
}

/* Where the sockets of a store's relays are: all begin with start, and who may write the store's file may
 * send to them. */
struct place {
    char start[sizeof(((struct sockaddr_un *)NULL)->sun_path)];
    const char *store_path; // NULL: the store is no file
};

/* runtime_folder is where services of this host meet when there is no file to meet at. */
static const char *
runtime_folder(void)
{
    static const char *const variables[] = {"RUNTIME_DIRECTORY", "XDG_RUNTIME_DIR"};
    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++) {
        const char *folder = getenv(variables[i]);
        if (!is_empty(folder) && access(folder, W_OK | X_OK) == 0)
            return folder;
    }
    return "/tmp";
}

/* find_place answers false where the name would be too long for a socket. */
static bool
find_place(struct db *db, struct place *ret_place)
{
    const char *path = db->driver->path == NULL ? NULL : db->driver->path(db);
    ret_place->store_path = is_empty(path) ? NULL : path;
    size_t size = sizeof ret_place->start;
    int len = is_empty(path) ? snprintf(ret_place->start, size, "%s/owed-", runtime_folder())
                             : snprintf(ret_place->start, size, "%s-owed-", path);
    return len > 0 && (size_t)len < size;
}

/* remove_abandoned unlinks the sockets there whose owners are gone. */
static void
remove_abandoned(const struct place *place)
{
    const char *slash = strrchr(place->start, '/');
    int dir_len = slash == NULL ? 0 : (int)(slash - place->start) + 1;
    const char *prefix = place->start + dir_len;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%.*s.", dir_len, place->start);
    CLEANUP(closedir_ptr) DIR *dir = opendir(address.sun_path);
    if (dir == NULL)
        return;
    for (struct dirent *entry = readdir(dir); entry != NULL; entry = readdir(dir)) {
        struct stat file;
        if (!is_ours(entry->d_name, prefix) ||
            fstatat(dirfd(dir), entry->d_name, &file, AT_SYMLINK_NOFOLLOW) != 0 ||
            !S_ISSOCK(file.st_mode))
            continue;
        int len = snprintf(address.sun_path, sizeof address.sun_path, "%.*s%s", dir_len,
            place->start, entry->d_name);
        if ((size_t)len < sizeof address.sun_path && is_abandoned(&address))
            unlink(address.sun_path);
    }
}

/* share lets those send to a socket who may write the store's file. Where there is none, whoever can reach
 * the folder: all that they can say is that it is time for a look. */
static void
share(const char *socket_path, const char *store_path)
{
    struct stat store = {.st_mode = 0666};
    if (store_path != NULL && stat(store_path, &store) != 0)
        return;
    // Who is neither the owner nor root cannot, and need not.
    if (store_path != NULL && chown(socket_path, store.st_uid, store.st_gid) != 0)
        errno = 0;
    if (chmod(socket_path, store.st_mode & 0666) != 0)
        errno = 0;
}

static bool
name_socket(const struct place *place, const char *tag, const char *ending, struct sockaddr_un *to)
{
    int len = snprintf(
        to->sun_path, sizeof to->sun_path, "%s%d-%.8s.%s", place->start, getpid(), tag, ending);
    return len > 0 && (size_t)len < sizeof to->sun_path;
}

/* bind_there binds fd to "<start><pid>-<tag>.sock", under another name until it is ready. */
static bool
bind_there(int fd, const struct place *place, const char *tag, struct sockaddr_un *ret_address)
{
    struct sockaddr_un fresh = {.sun_family = AF_UNIX};
    struct sockaddr_un final = {.sun_family = AF_UNIX};
    if (!name_socket(place, tag, "sock", &final) || !name_socket(place, tag, "new", &fresh))
        return false;
    if (bind(fd, (const struct sockaddr *)&fresh, sizeof fresh) != 0)
        return false;
    share(fresh.sun_path, place->store_path);
    if (rename(fresh.sun_path, final.sun_path) != 0) {
        unlink(fresh.sun_path);
        return false;
    }
    *ret_address = final;
    return true;
}

static void
open_socket(struct wake *wake, const char *instance)
{
    struct place place;
    if (wake->owed->db == NULL || !find_place(wake->owed->db, &place))
        return;
    const char *dot = strrchr(instance, '.');
    const char *tag = dot == NULL ? instance : dot + 1;
    remove_abandoned(&place);
    // Another worker that cleans up may take a socket for abandoned in the instant of its birth.
    for (int i = 0; i < BIND_TRIES && wake->socket < 0; i++) {
        int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (fd >= 0 && bind_there(fd, &place, tag, &wake->address))
            wake->socket = fd;
        else
            close_fd(&fd);
    }
}

owed_status
wake_open(owed *owed, const char *instance, struct wake **ret_wake, owed_error *err)
{
    struct wake *wake = calloc(1, sizeof *wake);
    if (wake == NULL)
        return fail_memory(err);
    *wake = (struct wake){.owed = owed, .socket = -1, .signs_missing = SIGNS_AT_START};
    open_socket(wake, instance);
    // The watch begins now, so that the first commit of this very worker proves it.
    sign_fd(wake);
    *ret_wake = wake;
    return OWED_OK;
}

const char *
wake_path(const struct wake *wake)
{
    return wake->address.sun_path;
}

void
wake_close(struct wake *wake)
{
    if (wake == NULL)
        return;
    close_fd(&wake->socket);
    if (wake->address.sun_path[0] != '\0')
        unlink(wake->address.sun_path);
    free(wake);
}

/* --- telling others --- */

/* is_unwatched tells whether signs of the present connection may have been missed so far. */
static bool
is_unwatched(const struct wake *wake)
{
    return wake->owed->db != wake->db;
}

/* say_deaf logs once why commits of others are not announced. */
static void
say_deaf(struct wake *wake)
{
    const struct db *db = wake->owed->db;
    const char *deaf = db->driver->deaf == NULL ? NULL : db->driver->deaf(wake->owed->db);
    if (deaf != NULL && deaf != wake->deaf)
        log_say(&wake->owed->log, OWED_LOG_WARNING, "nobody tells this relay of a commit: it polls",
            LOG_TEXT("reason", deaf));
    wake->deaf = deaf;
}

bool
wake_sleep(struct wake *wake)
{
    struct db *db = wake->owed->db;
    wake->busy = 0;
    if (db == NULL || db->driver->asleep == NULL)
        return false;
    bool was_asleep = wake->is_asleep && !is_unwatched(wake);
    wake->is_asleep = sign_fd(wake) >= 0 && db->driver->asleep(db, true);
    say_deaf(wake);
    return wake->is_asleep && !was_asleep;
}

void
wake_busy(struct wake *wake)
{
    struct db *db = wake->owed->db;
    // One that works off what comes now and then is told of it all the while.
    if (++wake->busy < BUSY_CLAIMS || !wake->is_asleep)
        return;
    if (db != NULL && db->driver->asleep != NULL)
        db->driver->asleep(db, false);
    wake->is_asleep = false;
}

/* --- waiting --- */

static void
fill(const struct wake *wake, struct pollfd fds[static FD_COUNT])
{
    // poll() passes over what is below zero.
    fds[FD_SOCKET] = (struct pollfd){.fd = wake->socket, .events = POLLIN};
    fds[FD_SIGN] = (struct pollfd){.fd = sign_fd(wake), .events = POLLIN};
    fds[FD_STOP] = (struct pollfd){.fd = wake->owed->stop_fd, .events = POLLIN};
}

static void
poll_us(struct pollfd *fds, int64_t timeout_us)
{
    struct timespec timeout = {.tv_sec = (time_t)(timeout_us / US_PER_SECOND),
        .tv_nsec = (long)(timeout_us % US_PER_SECOND) * 1000};
    if (ppoll(fds, FD_COUNT, &timeout, NULL) >= 0)
        return;
    for (int i = 0; i < FD_COUNT; i++)
        fds[i].revents = 0;
}

static bool
take_datagrams(int fd)
{
    bool any = false;
    char byte;
    while (recv(fd, &byte, sizeof byte, MSG_DONTWAIT | MSG_TRUNC) >= 0)
        any = true;
    return any;
}

/* look asks the store whether somebody did commit, and sets the time of the next look. */
static bool
look(struct wake *wake, int64_t now)
{
    struct db *db = wake->owed->db;
    int64_t waited_us = now - wake->sign_at_us;
    if (waited_us > FAR_WATCH_US)
        wake->sign_at_us = 0;
    wake->look_at_us =
        now + (waited_us <= CLOSE_WATCH_US ? CLOSE_LOOK_US : waited_us / FAR_LOOK_SHARE);
    return db->driver->changed(db);
}

/* take_sign looks after a sign, or while one is watched. A commit that is seen does not end the
 * watch: the sign may have been that of the next one. */
static bool
take_sign(struct wake *wake, bool came)
{
    int64_t now = now_us();
    if (came && wake->signs_missing > 0)
        wake->signs_missing--;
    if (came || is_unwatched(wake))
        wake->sign_at_us = wake->look_at_us = now;
    wake->db = wake->owed->db;
    if (sign_fd(wake) < 0 || wake->sign_at_us == 0)
        return false;
    return now >= wake->look_at_us && look(wake, now);
}

static bool
take(struct wake *wake, const struct pollfd *fds)
{
    bool woken = fds[FD_SOCKET].revents != 0 && take_datagrams(wake->socket);
    // The flag stays set: the descriptor must not keep every later wait from waiting.
    uint64_t stops;
    if (fds[FD_STOP].revents != 0 && read(wake->owed->stop_fd, &stops, sizeof stops) < 0)
        errno = 0;
    bool seen = take_sign(wake, fds[FD_SIGN].revents != 0);
    return woken || seen;
}

size_t
wake_fds(struct wake *wake, int ret_fds[static WAKE_FDS])
{
    struct pollfd fds[FD_COUNT];
    fill(wake, fds);
    size_t count = 0;
    for (int i = 0; i < FD_COUNT; i++)
        if (fds[i].fd >= 0)
            ret_fds[count++] = fds[i].fd;
    return count;
}

int64_t
wake_timeout_us(const struct wake *wake, int64_t idle_us)
{
    if (sign_fd(wake) < 0)
        return idle_us;
    if (is_unwatched(wake))
        return 0;
    if (wake->sign_at_us == 0)
        return idle_us;
    int64_t left_us = wake->look_at_us - now_us();
    if (left_us < 0)
        return 0;
    return left_us < idle_us ? left_us : idle_us;
}

bool
wake_take(struct wake *wake)
{
    struct pollfd fds[FD_COUNT];
    fill(wake, fds);
    poll_us(fds, 0);
    return take(wake, fds);
}

/* look_at_the_end catches the commit that gave no sign: a deaf watch is not to be relied on. */
static bool
look_at_the_end(struct wake *wake)
{
    struct db *db = wake->owed->db;
    if (sign_fd(wake) < 0 || !db->driver->changed(db))
        return false;
    wake->signs_missing = SIGNS_AFTER_A_MISS;
    return true;
}

bool
wake_wait(struct wake *wake, int64_t timeout_us)
{
    int64_t end_us = now_us() + timeout_us;
    if (wake_sleep(wake))
        return true;
    while (atomic_load(&wake->owed->stop) == 0) {
        int64_t left_us = end_us - now_us();
        struct pollfd fds[FD_COUNT];
        fill(wake, fds);
        poll_us(fds, wake_timeout_us(wake, left_us > 0 ? left_us : 0));
        if (take(wake, fds))
            return true;
        if (left_us <= 0)
            return look_at_the_end(wake);
    }
    return false;
}

void
wake_expect(struct wake *wake)
{
    wake->sign_at_us = wake->look_at_us = now_us();
}

bool
wake_has_signs(const struct wake *wake)
{
    return sign_fd(wake) >= 0;
}

bool
wake_is_proven(const struct wake *wake)
{
    bool is_announced =
        wake->owed->db != NULL && (wake->owed->db->driver->asleep == NULL || wake->is_asleep);
    return wake->signs_missing == 0 && is_announced && sign_fd(wake) >= 0;
}
