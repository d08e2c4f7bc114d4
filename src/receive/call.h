/* SPDX-License-Identifier: MIT
 *
 * call.h - one request to an endpoint.
 */
#ifndef RECEIVE_CALL_H
#define RECEIVE_CALL_H

#include "receive/answer.h"
#include "receive/headers.h"
#include "receive/hosts.h"
#include "receive/lookup.h"

struct call {
    struct transfer transfer; // the first member: the wire hands back transfers
    struct flight *flight;
    struct host *host;
    struct lookup *lookup; // while its host is looked up
    struct place place;
    char *shown;
    char host_name[GUARD_HOST_BYTES + 8];
    struct networks allowed;
    struct buf body;
    struct headers headers;
    struct answer answer;
    struct curl_slist pin_node;
    struct buf pin;
    char refused[NETWORK_TEXT_BYTES + 80];       // by the last look before the connection
    char stopped[sizeof((owed_error *)0)->text]; // why a redirect was not followed
    int32_t hops;                                // that were
    int64_t spent_us;                            // in these
    int64_t timeout_us;
    int64_t flown_mono_us; // since when it is on the wire, or in line
    bool waits_in_line, is_on_wire, is_slow;
    struct call *before, *behind; // in its host's line
    struct call *next;
    struct call **link; // in flying: what points here
};

/* call_is_ping: somebody asked for this very one. */
bool call_is_ping(const struct flight *flight);

/* call_is_wanted tells whether the endpoint still wants it; if not, the flight's excerpt says why. */
bool call_is_wanted(struct flight *flight);

/* call_new makes one for a flight whose endpoint is there; NULL: out of memory. call_free takes NULL. */
struct call *call_new(struct flight *flight);
void call_free(struct call *call);

/* call_join_line has a call wait behind others of its host; call_leave_line takes one that waits out of there. */
void call_join_line(struct call *call);
void call_leave_line(struct call *call);

/* call_compose writes body, signatures and headers; call_prepare hands all to libcurl, once the host's addresses are
 * known. false: it cannot be. */
bool call_compose(struct call *call, int64_t now_us);
bool call_prepare(struct call *call);

#endif
