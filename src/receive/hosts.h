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

#define HOSTS_MAX \
    20000 // above it those that nobody uses, and nothing is known against, are forgotten
#define HOSTS_BREAK_AFTER 3 // failures in a row
#define HOSTS_REST_US INT64_C(5000000)
#define HOSTS_LONGEST_REST_US INT64_C(300000000)
#define HOSTS_LONGEST_WAIT_US INT64_C(86400000000)

struct call;

struct host {
    const char *name; // "host:port"
    int32_t users;    // that found it, and have not left it
    int32_t in_flight;
    int32_t window;   // at once
    int32_t failures; // in a row
    int64_t not_before_us;
    int64_t rest_us; // the latest one
    // Its addresses, as they were checked, until:
    owed_address_list addresses;
    int64_t addresses_until_us;
    bool is_looked_up; // just now
    // Calls that wait for their turn, in that order.
    struct call *first_in_line, *last_in_line;
    size_t in_line;
};

struct hosts {
    void *tree; // of struct host, by name
    int32_t count;
};

/* hosts_find makes what is not there; NULL: out of memory. It stays until host_leave. */
struct host *hosts_find(struct hosts *hosts, const char *name, int64_t now_us);
void host_leave(struct host *host);
void hosts_done(struct hosts *hosts);

/* host_ask tells how long a request to it is to wait; 0: it may start. HOSTS_FULL: until another has ended. */
#define HOSTS_FULL INT64_MAX
int64_t host_ask(const struct host *host, int64_t now_us);
/* host_begin counts one that starts; host_end what it came to. */
void host_begin(struct host *host);
enum host_word {
    HOST_WELL, // it answered, whatever it said
    HOST_ILL,  // it did not, or asked to be left alone: 429, 502 to 504
    HOST_SILENT // nothing is known: the request was given up, or what is behind that URL has an error
};
/* host_word_of tells what an answer says of its host. Others' endpoints may be at that host, too: an error in whatever is
 * behind one URL, 500 and the like, is nothing against it. */
enum host_word host_word_of(bool is_there, int32_t code);
void host_end(struct host *host, enum host_word word, int32_t limit, int64_t now_us);
/* host_miss: it could not be looked up. */
void host_miss(struct host *host, int64_t now_us);
/* host_wait_asked keeps to what the host asked for, for a day at most: it may be that of others' endpoints, too. */
void host_wait_asked(struct host *host, int64_t asked_us, int64_t now_us);
void host_wait_until(struct host *host, int64_t at_us);

#endif
