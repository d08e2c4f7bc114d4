/* SPDX-License-Identifier: MIT
 *
 * notify.c - one datagram to the socket that the service manager named.
 */
#include "base/notify.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/cleanup.h"

void
notify_send(const char *state)
{
    const char *path = getenv("NOTIFY_SOCKET");
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t len = path == NULL ? 0 : strlen(path);
    if (len < 2 || len >= sizeof address.sun_path || strchr("/@", path[0]) == NULL)
        return;
    memcpy(address.sun_path, path, len);
    if (path[0] == '@') // an abstract name
        address.sun_path[0] = '\0';
    CLEANUP(close_fd) int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return;
    // A manager that does not listen is no reason to stand still.
    socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len);
    sendto(fd, state, strlen(state), MSG_DONTWAIT | MSG_NOSIGNAL, (const struct sockaddr *)&address,
        size);
}

int64_t
notify_watchdog_us(void)
{
    const char *us = getenv("WATCHDOG_USEC");
    const char *pid = getenv("WATCHDOG_PID");
    if (us == NULL || (pid != NULL && strtoll(pid, NULL, 10) != getpid()))
        return 0;
    long long interval = strtoll(us, NULL, 10);
    return interval > 0 ? interval : 0;
}

void
notify_forget(void)
{
    unsetenv("NOTIFY_SOCKET");
    unsetenv("WATCHDOG_USEC");
    unsetenv("WATCHDOG_PID");
}
