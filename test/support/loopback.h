/* SPDX-License-Identifier: MIT
 *
 * loopback.h - ports and plain connections of 127.0.0.1.
 */
#ifndef TEST_SUPPORT_LOOPBACK_H
#define TEST_SUPPORT_LOOPBACK_H

#include <stdbool.h>
#include <stddef.h>

/* loopback_listen opens a port whose queue holds that many, and answers the socket. */
int loopback_listen(int backlog, int *ret_port);
/* loopback_closed_port is one where nobody listens. */
int loopback_closed_port(void);

/* loopback_connect answers a socket; -1: nobody took it. loopback_knock does not wait for an answer. */
int loopback_connect(int port);
int loopback_knock(int port);

/* A listener that takes nobody any more: its queue is full of those who knocked. */
struct loopback_full {
    int fd;
    int port;
    int knocks[8];
};
void loopback_full_open(struct loopback_full *full);
void loopback_full_close(struct loopback_full *full);

/* loopback_send sends all of it; false: the peer is gone. */
bool loopback_send(int fd, const char *bytes, size_t len);

#endif
