/* SPDX-License-Identifier: MIT
 *
 * guard.h - where a URL that a stranger gave us may lead.
 *
 * It is asked twice: when an endpoint is added, and before each connection, since a name may lead elsewhere by
 * then. The connection goes to the addresses that were checked, never to those of another look-up.
 */
#ifndef RECEIVE_GUARD_H
#define RECEIVE_GUARD_H

#include <owed/resolve.h>

#include "base/buf.h"
#include "base/network.h"

#define GUARD_URL_BYTES 2000
#define GUARD_HOST_BYTES 256
#define GUARD_ADDRESSES 16

struct guard {
    struct networks allowed; // in spite of what they are
    owed_resolve resolve;    // NULL: getaddrinfo
    void *resolve_state;
};

struct owed_address_list {
    struct address list[GUARD_ADDRESSES];
    size_t count;
};

/* A URL as libcurl reads it: what is checked is what is called. */
struct place {
    char url[GUARD_URL_BYTES + 1]; // ASCII
    char host[GUARD_HOST_BYTES];   // a name, or an address without brackets
    int port;
    bool is_tls;
};

/* guard_read takes a URL apart; a host beyond ASCII is written as xn--. INVALID says what is wrong. */
owed_status guard_read(const char *url, struct place *ret_place, owed_error *err);

/* guard_resolve finds all addresses of a place. INVALID: one of them is out of bounds. UNAVAILABLE: the look-up
 * failed, and may do better next time. */
owed_status guard_resolve(const struct guard *guard, const struct place *place,
    owed_address_list *ret_list, owed_error *err);

/* guard_write_pin writes what CURLOPT_RESOLVE wants: "host:443:192.0.2.1,[2001:db8::1]". */
void guard_write_pin(const struct place *place, const owed_address_list *list, struct buf *text);

#endif
