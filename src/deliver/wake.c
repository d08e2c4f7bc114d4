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

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "deliver/wake_socket.h"

#define CLOSE_WATCH_US (20 * US_PER_MS)
#define CLOSE_LOOK_US US_PER_MS
#define FAR_WATCH_US US_PER_SECOND
#define FAR_LOOK_SHARE \
    4 // beyond the close watch a look may be late by this share of the wait so far
#define SIGNS_AT_START 1
#define SIGNS_AFTER_A_MISS 8
#define BUSY_CLAIMS 2
#define AGAIN_MIN_US (10 * US_PER_MS)
#define AGAIN_MAX_US US_PER_SECOND

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
    int64_t again_us;   // how long until they are told again, where that was in vain
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

owed_status
wake_open(owed *owed, const char *instance, struct wake **ret_wake, owed_error *err)
{
    struct wake *wake = calloc(1, sizeof *wake);
    if (wake == NULL)
        return fail_memory(err);
    *wake = (struct wake){.owed = owed, .socket = -1, .signs_missing = SIGNS_AT_START};
    wake->socket = wake_socket_open(owed->db, instance, &wake->address);
    // The watch begins now, so that the first commit of this very worker proves it; a connection that
    // listens is opened once there is something to wait for.
    if (owed->db->driver->asleep == NULL)
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

const char *
wake_deaf(const struct wake *wake)
{
    return wake->deaf == NULL ? "" : wake->deaf;
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
    wake->again_us = wake->again_us * 2 > AGAIN_MAX_US ? AGAIN_MAX_US : wake->again_us * 2;
    if (wake->is_asleep || wake->again_us < AGAIN_MIN_US)
        wake->again_us = AGAIN_MIN_US;
    say_deaf(wake);
    if (was_asleep)
        return false;
    // What was announced while that was asked came with the answer, and the descriptor says nothing of it any more.
    bool has_heard = sign_fd(wake) >= 0 && db->driver->changed(db);
    if (!wake->is_asleep && !has_heard)
        return false;
    // All is looked at now: what was missed before is none of the next wait's.
    wake->db = db;
    return true;
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

/* is_look_set tells whether the next look is so near that another sign would change nothing. A writer gives
 * one with each page, and this worker would do little else than read them. Where producers announce a
 * commit, it is there. */
static bool
is_look_set(const struct wake *wake)
{
    const struct db *db = wake->owed->db;
    int64_t now = now_us();
    return db != NULL && db->driver->asleep == NULL && !is_unwatched(wake) &&
        wake->sign_at_us != 0 && now < wake->look_at_us && wake->look_at_us - now <= CLOSE_LOOK_US;
}

/* fill_to_wait leaves out what is looked at soon anyway. */
static void
fill_to_wait(const struct wake *wake, struct pollfd fds[static FD_COUNT])
{
    fill(wake, fds);
    if (is_look_set(wake))
        fds[FD_SIGN].fd = -1;
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
    fill_to_wait(wake, fds);
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

/* may_sleep tells whether others could be told that somebody waits, and were not. */
static bool
may_sleep(const struct wake *wake)
{
    const struct db *db = wake->owed->db;
    return db != NULL && db->driver->asleep != NULL && !wake->is_asleep;
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
        fill_to_wait(wake, fds);
        int64_t wait_us = left_us > 0 ? left_us : 0;
        // Who began before he could know that somebody waits announces nothing, and is soon done.
        if (may_sleep(wake) && wake->again_us < wait_us)
            wait_us = wake->again_us;
        poll_us(fds, wake_timeout_us(wake, wait_us));
        if (wake_take(wake))
            return true;
        // The proof that announcements come through may have come, or the last one be done who makes none.
        if (!wake->is_asleep && wake_sleep(wake))
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
    const struct db *db = wake->owed->db;
    if (db == NULL || sign_fd(wake) < 0)
        return false;
    // Who can be told that somebody waits has seen that announcements come through.
    return db->driver->asleep == NULL ? wake->signs_missing == 0 : wake->is_asleep;
}
