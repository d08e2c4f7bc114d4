/* SPDX-License-Identifier: MIT
 *
 * loopback.c - see loopback.h.
 */
#include "loopback.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../unit.h"

static struct sockaddr_in
address_of(int port)
{
    return (struct sockaddr_in){.sin_family = AF_INET,
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
        .sin_port = htons((uint16_t)port)};
}

/* bound answers a socket with a port that was free. */
static int
bound(int *ret_port)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in address = address_of(0);
    socklen_t len = sizeof address;
    assert_int_equal(bind(fd, (struct sockaddr *)&address, len), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &len), 0);
    *ret_port = ntohs(address.sin_port);
    return fd;
}

int
loopback_listen(int backlog, int *ret_port)
{
    int fd = bound(ret_port);
    assert_int_equal(listen(fd, backlog), 0);
    return fd;
}

int
loopback_closed_port(void)
{
    int port;
    close(bound(&port));
    return port;
}

int
loopback_connect(int port)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in address = address_of(port);
    if (connect(fd, (struct sockaddr *)&address, sizeof address) == 0)
        return fd;
    close(fd);
    return -1;
}

int
loopback_knock(int port)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    struct sockaddr_in address = address_of(port);
    connect(fd, (struct sockaddr *)&address, sizeof address);
    return fd;
}

void
loopback_full_open(struct loopback_full *full)
{
    full->fd = loopback_listen(0, &full->port);
    for (size_t i = 0; i < COUNT(full->knocks); i++)
        full->knocks[i] = loopback_knock(full->port);
}

void
loopback_full_close(struct loopback_full *full)
{
    for (size_t i = 0; i < COUNT(full->knocks); i++)
        close(full->knocks[i]);
    close(full->fd);
}

bool
loopback_send(int fd, const char *bytes, size_t len)
{
    while (len > 0) {
        ssize_t n = send(fd, bytes, len, MSG_NOSIGNAL);
        if (n <= 0)
            return false;
        bytes += n;
        len -= (size_t)n;
    }
    return true;
}
