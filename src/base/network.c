/* SPDX-License-Identifier: MIT
 *
 * network.c - the special ranges of both protocols, one table each, and the forms that wrap IPv4 in
 * IPv6: where one of these leads inside, a look at the outer address alone would let it pass.
 */
#include "base/network.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"

#define V4_BITS 32
#define V6_BITS 128

struct special {
    struct network network;
    const char *what;
};

#define V4(a_, b_, c_, d_, bits_, what_) \
    { \
        {{false, {a_, b_, c_, d_}}, bits_}, what_ \
    }

#define METADATA "a cloud's metadata service"

/* The narrow ones stand before those that hold them. */
static const struct special specials4[] = {
    V4(169, 254, 169, 254, 32, METADATA),
    V4(169, 254, 170, 2, 32, METADATA),
    V4(168, 63, 129, 16, 32, METADATA),
    V4(100, 100, 100, 200, 32, METADATA),
    V4(192, 0, 0, 192, 32, METADATA),
    V4(0, 0, 0, 0, 32, "the unspecified address"),
    V4(255, 255, 255, 255, 32, "the broadcast address"),
    V4(0, 0, 0, 0, 8, "a reserved address"),
    V4(10, 0, 0, 0, 8, "a private address"),
    V4(100, 64, 0, 0, 10, "an address that carriers share"),
    V4(127, 0, 0, 0, 8, "a loopback address"),
    V4(169, 254, 0, 0, 16, "a link-local address"),
    V4(172, 16, 0, 0, 12, "a private address"),
    V4(192, 0, 0, 0, 24, "a reserved address"),
    V4(192, 0, 2, 0, 24, "a reserved address"),
    V4(192, 88, 99, 0, 24, "a reserved address"),
    V4(192, 168, 0, 0, 16, "a private address"),
    V4(198, 18, 0, 0, 15, "a reserved address"),
    V4(198, 51, 100, 0, 24, "a reserved address"),
    V4(203, 0, 113, 0, 24, "a reserved address"),
    V4(224, 0, 0, 0, 4, "a multicast address"),
    V4(240, 0, 0, 0, 4, "a reserved address"),
};

#define V6(bits_, what_, ...) \
    { \
        {{true, {__VA_ARGS__}}, bits_}, what_ \
    }

static const struct special specials6[] = {
    V6(128, METADATA, 0xfd, 0x00, 0x0e, 0xc2, [14] = 0x02, [15] = 0x54),
    V6(128, METADATA, 0xfd, 0x20, 0x00, 0xce, [14] = 0x02, [15] = 0x54),
    V6(128, "the unspecified address", 0),
    V6(128, "a loopback address", [15] = 1),
    V6(23, "a reserved address", 0x20, 0x01),
    V6(32, "a reserved address", 0x20, 0x01, 0x0d, 0xb8),
    V6(20, "a reserved address", 0x3f, 0xff),
    V6(7, "a private address", 0xfc),
    V6(10, "a link-local address", 0xfe, 0x80),
    V6(10, "a private address", 0xfe, 0xc0),
    V6(8, "a multicast address", 0xff),
};
// What is given out to networks of the world; all else is reserved.
static const struct network global6 = {{true, {0x20}}, 3};

/* Where an IPv4 address stands in one of IPv6. */
static const struct wrapping {
    struct network network;
    int at;
    bool inverted;
    bool is_global; // its own range is no reason to refuse it
} wrappings[] = {
    {{{true, {0}}, 96}, 12, false, false},                            // compatible, long gone
    {{{true, {[8] = 0xff, 0xff}}, 96}, 12, false, true},              // translated
    {{{true, {0x00, 0x64, 0xff, 0x9b}}, 96}, 12, false, true},        // NAT64
    {{{true, {0x00, 0x64, 0xff, 0x9b, 0, 1}}, 48}, 12, false, false}, // NAT64 of one's own
    {{{true, {0x20, 0x02}}, 16}, 2, false, true},                     // 6to4
    {{{true, {0x20, 0x01, 0, 0}}, 32}, 4, false, true},               // Teredo: its server
    {{{true, {0x20, 0x01, 0, 0}}, 32}, 12, true, true},               // and its client
};

static const struct address *
unmapped(const struct address *address, struct address *space)
{
    static const struct network mapped = {{true, {[10] = 0xff, 0xff}}, 96};
    if (!network_holds(&mapped, address))
        return address;
    *space = (struct address){0};
    memcpy(space->bytes, address->bytes + 12, 4);
    return space;
}

bool
address_of(const struct sockaddr *from, struct address *ret_address)
{
    struct address read = {.is_v6 = from->sa_family == AF_INET6};
    if (from->sa_family == AF_INET)
        memcpy(read.bytes, &((const struct sockaddr_in *)(const void *)from)->sin_addr, 4);
    else if (from->sa_family == AF_INET6)
        memcpy(read.bytes, &((const struct sockaddr_in6 *)(const void *)from)->sin6_addr, 16);
    else
        return false;
    struct address space;
    *ret_address = *unmapped(&read, &space);
    return true;
}

bool
address_read(const char *text, struct address *ret_address)
{
    struct address read = {0};
    if (inet_pton(AF_INET, text, read.bytes) == 1) {
        *ret_address = read;
        return true;
    }
    if (inet_pton(AF_INET6, text, read.bytes) != 1)
        return false;
    read.is_v6 = true;
    struct address space;
    *ret_address = *unmapped(&read, &space);
    return true;
}

const char *
address_write(const struct address *address, char ret_text[static NETWORK_TEXT_BYTES])
{
    const char *text = inet_ntop(
        address->is_v6 ? AF_INET6 : AF_INET, address->bytes, ret_text, NETWORK_TEXT_BYTES);
    return text == NULL ? "?" : text;
}

owed_status
network_read(const char *text, struct network *ret_network, owed_error *err)
{
    char base[NETWORK_TEXT_BYTES];
    size_t len = strcspn(text, "/");
    struct network read = {0};
    if (len < sizeof base) {
        memcpy(base, text, len);
        base[len] = '\0';
    }
    if (len >= sizeof base || !address_read(base, &read.base))
        return fail(
            err, OWED_CONFIG, "\"%s\" is no network; 10.0.0.0/8 or fd00::/8 is right", text);
    int most = read.base.is_v6 ? V6_BITS : V4_BITS;
    read.bits = most;
    if (text[len] == '/') {
        char *end = NULL;
        long bits = strtol(text + len + 1, &end, 10);
        if (text[len + 1] < '0' || text[len + 1] > '9' || *end != '\0' || bits > most)
            return fail(
                err, OWED_CONFIG, "network \"%s\": 0 to %d may follow the \"/\"", text, most);
        read.bits = (int)bits;
    }
    *ret_network = read;
    return OWED_OK;
}

bool
network_holds(const struct network *network, const struct address *address)
{
    if (network->base.is_v6 != address->is_v6)
        return false;
    int whole = network->bits / 8;
    int rest = network->bits % 8;
    if (memcmp(network->base.bytes, address->bytes, (size_t)whole) != 0)
        return false;
    if (rest == 0)
        return true;
    unsigned mask = 0xff00U >> (unsigned)rest & 0xffU;
    return ((network->base.bytes[whole] ^ address->bytes[whole]) & mask) == 0;
}

static const char *
special_of(const struct special *specials, size_t count, const struct address *address)
{
    for (size_t i = 0; i < count; i++)
        if (network_holds(&specials[i].network, address))
            return specials[i].what;
    return NULL;
}

static const char *
own_problem(const struct address *address)
{
    if (!address->is_v6)
        return special_of(specials4, sizeof specials4 / sizeof specials4[0], address);
    for (size_t i = 0; i < sizeof wrappings / sizeof wrappings[0]; i++)
        if (wrappings[i].is_global && network_holds(&wrappings[i].network, address))
            return NULL;
    const char *what = special_of(specials6, sizeof specials6 / sizeof specials6[0], address);
    if (what == NULL && !network_holds(&global6, address))
        what = "a reserved address";
    return what;
}

static bool
is_allowed(const struct address *address, const char *what, struct networks allowed)
{
    bool is_exact = strcmp(what, METADATA) == 0;
    for (size_t i = 0; i < allowed.count; i++) {
        const struct network *network = &allowed.list[i];
        int most = network->base.is_v6 ? V6_BITS : V4_BITS;
        if (network_holds(network, address) && (!is_exact || network->bits == most))
            return true;
    }
    return false;
}

static const char *
problem4(const uint8_t bytes[static 4], bool inverted, struct networks allowed)
{
    struct address inner = {0};
    for (int i = 0; i < 4; i++)
        inner.bytes[i] = (uint8_t)(inverted ? ~bytes[i] : bytes[i]);
    const char *what = own_problem(&inner);
    return what == NULL || is_allowed(&inner, what, allowed) ? NULL : what;
}

/* ISATAP: the interface's half of any address. */
static bool
is_isatap(const struct address *address)
{
    return (address->bytes[8] & 0xfc) == 0 && address->bytes[9] == 0 &&
        address->bytes[10] == 0x5e && address->bytes[11] == 0xfe;
}

static const char *
wrapped_problem(const struct address *address, struct networks allowed)
{
    for (size_t i = 0; i < sizeof wrappings / sizeof wrappings[0]; i++) {
        const struct wrapping *w = &wrappings[i];
        if (!network_holds(&w->network, address))
            continue;
        const char *what = problem4(address->bytes + w->at, w->inverted, allowed);
        if (what != NULL)
            return what;
    }
    return is_isatap(address) ? problem4(address->bytes + 12, false, allowed) : NULL;
}

const char *
address_problem(const struct address *address, struct networks allowed)
{
    const char *what = own_problem(address);
    // "::1" and the like are no wrapped 0.0.0.1.
    bool is_named = what != NULL && strcmp(what, "a reserved address") != 0;
    const char *inner = NULL;
    if (address->is_v6 && !is_named)
        inner = wrapped_problem(address, allowed);
    if (inner != NULL && !is_allowed(address, inner, allowed))
        return inner;
    return what == NULL || is_allowed(address, what, allowed) ? NULL : what;
}
