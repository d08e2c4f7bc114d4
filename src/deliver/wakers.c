/* SPDX-License-Identifier: MIT
 *
 * wakers.c - one byte to every relay of this host after a commit, so that it need not poll.
 *
 * Best effort by design: nothing here waits, and nothing that goes wrong is anybody's error. A relay
 * that heard nothing finds the work at its next poll.
 */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "deliver/handle.h"

#define LOOK_EVERY_US US_PER_SECOND
#define WAKERS_MAX 64
#define BOOT_ID_PATH "/proc/sys/kernel/random/boot_id"

struct wakers {
    int fd;
    char host[HOST_NAME_MAX + 1];
    char boot_id[64];
    bool looked;
    int64_t looked_at_us; // monotonic
    size_t count;
    struct sockaddr_un paths[WAKERS_MAX];
};

static void
read_boot_id(char *boot_id, size_t size)
{
    CLEANUP(close_fd) int fd = open(BOOT_ID_PATH, O_RDONLY | O_CLOEXEC);
    ssize_t len = fd < 0 ? -1 : read(fd, boot_id, size - 1);
    boot_id[len > 0 ? len : 0] = '\0';
    boot_id[strcspn(boot_id, "\n")] = '\0';
}

struct wakers *
wakers_new(void)
{
    struct wakers *wakers = calloc(1, sizeof *wakers);
    if (wakers == NULL)
        return NULL;
    wakers->fd = -1;
    read_boot_id(wakers->boot_id, sizeof wakers->boot_id);
    if (gethostname(wakers->host, sizeof wakers->host - 1) != 0)
        wakers->host[0] = '\0';
    return wakers;
}

void
wakers_free(struct wakers *wakers)
{
    if (wakers == NULL)
        return;
    if (wakers->fd >= 0)
        close(wakers->fd);
    free(wakers);
}

/* is_here: the boot id names one run of one kernel; without it, the host's name has to do. */
static bool
is_here(const struct wakers *wakers, const struct relay_row *relay)
{
    if (wakers->boot_id[0] != '\0')
        return strcmp(wakers->boot_id, or_empty(relay->boot_id)) == 0;
    return is_empty(relay->boot_id) && strcmp(wakers->host, or_empty(relay->host)) == 0;
}

static void
add_path(struct wakers *wakers, const char *path)
{
    struct sockaddr_un *address = &wakers->paths[wakers->count];
    if (is_empty(path) || strlen(path) >= sizeof address->sun_path)
        return;
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    snprintf(address->sun_path, sizeof address->sun_path, "%s", path);
    wakers->count++;
}

/* look reads where relays listen. A store that does not answer leaves what was known. */
static void
look(struct wakers *wakers, struct db *db)
{
    CLEANUP(arena_done) struct arena arena;
    arena_init(&arena, 0);
    struct relay_row *relays = NULL;
    size_t count = 0;
    if (store_relays(db, &arena, &relays, &count, NULL) != OWED_OK)
        return;
    wakers->count = 0;
    for (size_t i = 0; i < count && wakers->count < WAKERS_MAX; i++)
        if (is_here(wakers, &relays[i]))
            add_path(wakers, relays[i].wake_path);
}

/* look_now_and_then tells whether it looked. */
static bool
look_now_and_then(struct wakers *wakers, struct db *db, const owed_clock *clock)
{
    int64_t now = clock_monotonic_us(clock);
    if (wakers->looked && now - wakers->looked_at_us < LOOK_EVERY_US)
        return false;
    if (store_in_transaction(db))
        return false;
    wakers->looked = true;
    wakers->looked_at_us = now;
    look(wakers, db);
    return true;
}

static void
tell_all(struct wakers *wakers)
{
    if (wakers->count == 0)
        return;
    if (wakers->fd < 0)
        wakers->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (wakers->fd < 0)
        return;
    for (size_t i = 0; i < wakers->count; i++) {
        const struct sockaddr_un *to = &wakers->paths[i];
        // A full queue means that the relay is about to look anyway.
        ssize_t sent = sendto(wakers->fd, "w", 1, MSG_DONTWAIT | MSG_NOSIGNAL,
            (const struct sockaddr *)to, sizeof *to);
        (void)sent;
    }
}

void
wakers_send(struct wakers *wakers, struct db *db, const owed_clock *clock)
{
    // Those that are known do not wait for a question about others; to be told twice costs them one look.
    tell_all(wakers);
    if (look_now_and_then(wakers, db, clock))
        tell_all(wakers);
}
