/* SPDX-License-Identifier: MIT
 *
 * wake_socket.h - the datagram socket of a worker.
 */
#ifndef DELIVER_WAKE_SOCKET_H
#define DELIVER_WAKE_SOCKET_H

#include <sys/un.h>

#include "store/driver.h"

/* wake_socket_open binds a socket for this instance beside the store's file, or in the folder where services of
 * the host meet, and removes those that dead ones left there; -1 where that cannot be. */
int wake_socket_open(struct db *db, const char *instance, struct sockaddr_un *ret_address);

#endif
