/* SPDX-License-Identifier: MIT
 *
 * hosts.h - how much each host of endpoints is asked to take, as a mail queue does it.
 *
 * A host begins with two requests at once; each answer lets it have one more, up to a limit, and each failure half as many.
 * One that fails again and again is left alone for a while that doubles, and then gets a single request to try.
 * What it said itself (Retry-After) is kept to. Pure: time is passed in, of a monotonic clock.
 */
#ifndef RECEIVE_HOSTS_H
#define RECEIVE_HOSTS_H

#include <stdbool.h>
#include <stdint.h>

#include "receive/guard.h"

#define HOSTS_BREAK_AFTER 3 // failures in a row
#define HOSTS_REST_US INT64_C(5000000)
#define HOSTS_LONGEST_REST_US INT64_C(300000000)

struct host {
    const char *name; // "host:port"
    int32_t in_flight;
    int32_t window;   // at once
    int32_t failures; // in a row
    int64_t not_before_us;
    int64_t rest_us; // the latest one
    int64_t used_us;
    // Its addresses, as they were checked, until:
    owed_address_list addresses;
    int64_t addresses_until_us;
};

struct hosts {
    void *tree; // of struct host, by name
    int32_t count;
};

/* hosts_find makes what is not there; NULL: out of memory. It stays while a request is in flight. */
struct host *hosts_find(struct hosts *hosts, const char *name, int64_t now_us);
void hosts_done(struct hosts *hosts);

/* host_ask tells how long a request to it is to wait; 0: it may start. HOSTS_FULL: until another has ended. */
#define HOSTS_FULL INT64_MAX
int64_t host_ask(const struct host *host, int64_t now_us);
/* host_begin counts one that starts; host_end what it came to. */
void host_begin(struct host *host);
enum host_word {
    HOST_WELL,  // it answered, whatever it said
    HOST_ILL,   // it did not, or with 5xx or 429
    HOST_SILENT // nothing is known: the request was given up
};
void host_end(struct host *host, enum host_word word, int32_t limit, int64_t now_us);
/* host_wait_until keeps to what the host asked for. */
void host_wait_until(struct host *host, int64_t at_us);

#endif
