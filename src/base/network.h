/* SPDX-License-Identifier: MIT
 *
 * network.h - addresses of the internet protocols, and which of them are nobody else's business.
 */
#ifndef BASE_NETWORK_H
#define BASE_NETWORK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include <owed/error.h>

#include "base/str.h"

#define NETWORK_TEXT_BYTES 46 // of an address as people write it, and its NUL

/* An address. One of IPv4 inside IPv6 (::ffff:a.b.c.d) is that IPv4 address: so it is called, too. */
struct address {
    bool is_v6;
    uint8_t bytes[16]; // IPv4: the first four
};

struct network {
    struct address base;
    int bits; // of base that count
};

struct networks {
    const struct network *list;
    size_t count;
};

/* address_of takes it from a socket's; false: another family. */
bool address_of(const struct sockaddr *from, struct address *ret_address);
/* address_read takes the plain form of either protocol: "192.0.2.1", "2001:db8::1". */
bool address_read(const char *text, struct address *ret_address);
const char *address_write(const struct address *address, char ret_text[static NETWORK_TEXT_BYTES]);

/* network_read takes "10.0.0.0/8", "fd00::/8" or a single address. CONFIG says what is wrong. */
owed_status network_read(const char *text, struct network *ret_network, owed_error *err);
bool network_holds(const struct network *network, const struct address *address);

/*
 * address_problem says what keeps a request from going to an address, as in "a loopback address"; NULL:
 * nothing, it is on the public internet. What wraps an IPv4 address (mapped, compatible, translated, NAT64, 6to4,
 * Teredo, ISATAP) is judged by that one, too. A network of allowed lifts it; a metadata service is allowed only
 * where its very address is named.
 */
const char *address_problem(const struct address *address, struct networks allowed);

#endif
