/* SPDX-License-Identifier: MIT
 *
 * calls.c - the way of a call: wanted at all, looked up, its host's turn, on the wire, landed.
 *
 * A host that has all it may have in flight keeps a short line here; what finds that full, too, is put off:
 * it goes back to the store, due again soon, and nothing is counted.
 */
#include "receive/calls.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/error.h"
#include "deliver/endpoints.h"
#include "receive/call.h"
#include "receive/later.h"
#include "receive/parcel.h"
#include "receive/redirect.h"
#include "receive/slow.h"

#define ADDRESSES_KEPT_US (INT64_C(10) * US_PER_SECOND)
#define LINE_LEAST 16 // in a host's line, and twice its window more
#define LEFT_ALONE "its host is left alone for a while"

/* --- calls as such --- */

static void
link_call(struct calls *calls, struct call *call)
{
    call->next = calls->flying;
    if (call->next != NULL)
        call->next->link = &call->next;
    call->link = &calls->flying;
    calls->flying = call;
    calls->count++;
}

static void
unlink_call(struct calls *calls, struct call *call)
{
    *call->link = call->next;
    if (call->next != NULL)
        call->next->link = call->link;
    call_leave_line(call);
    if (call->host != NULL)
        host_leave(call->host);
    calls->count--;
}

int64_t
calls_now_us(void)
{
    return clock_monotonic_us(&clock_system);
}

void
calls_land(struct calls *calls, struct call *call, owed_outcome outcome)
{
    struct flight *flight = call->flight;
    const struct receiver *receiver = flight->delivery.receiver;
    if (call->is_slow) {
        calls->slow--;
        share_take(&calls->landing->shares[receiver->runner], receiver);
    }
    flight->builtin = NULL;
    unlink_call(calls, call);
    call_free(call);
    landing_add(calls->landing, flight, outcome);
}

/* --- on its way --- */

static void
fly(struct calls *calls, struct call *call)
{
    host_begin(call->host);
    call_leave_line(call);
    call->flown_mono_us = calls_now_us();
    bool is_ready = call_compose(call, clock_now_us(&calls->landing->clock)) && call_prepare(call);
    call->is_on_wire = is_ready && wire_send(&calls->wire, &call->transfer);
    if (call->is_on_wire)
        return;
    host_end(call->host, HOST_SILENT, 0, calls_now_us());
    calls_land(calls, call,
        owed_failed(
            &call->flight->delivery, "POST %s: the request could not be begun", call->shown));
}

/* join_line has a call wait for its host; false: the line is as long as it may be, or the host is not well. */
static bool
join_line(struct call *call)
{
    const struct host *host = call->host;
    if (host->failures > 0 || host->in_line >= LINE_LEAST + (size_t)host->window * 2)
        return false;
    call_join_line(call);
    call->flown_mono_us = calls_now_us();
    return true;
}

static void
put_off(struct calls *calls, struct call *call, int64_t wait_us, const char *why)
{
    calls_land(calls, call, later_some(calls->landing, call->flight, wait_us, why));
}

/* take_turn starts a call whose host has been looked up, lets it wait in line, or puts it off. */
static void
take_turn(struct calls *calls, struct call *call)
{
    int64_t wait_us = host_ask(call->host, calls_now_us());
    bool is_full = wait_us == HOSTS_FULL;
    if (wait_us == 0)
        fly(calls, call);
    else if (!is_full)
        put_off(calls, call, wait_us, LEFT_ALONE);
    else if (call->host->window == 1 || !join_line(call))
        put_off(calls, call, PUT_OFF_US, "its host has as many requests as it can take");
}

static struct lookup *
new_lookup(const struct call *call)
{
    struct lookup *lookup = calloc(1, sizeof *lookup);
    const struct endpoints *endpoints = call->flight->delivery.receiver->endpoints;
    if (lookup == NULL)
        return NULL;
    lookup->guard =
        (struct guard){endpoints->allowed, endpoints->said.resolve, endpoints->said.resolve_state};
    lookup->place = call->place;
    lookup->host = call->host;
    lookup->is_doubtful = call->host->addresses.count == 0 || call->host->failures > 0;
    return lookup;
}

static void
start_lookup(struct calls *calls, struct call *call)
{
    call->lookup = new_lookup(call);
    call->flown_mono_us = calls_now_us();
    if (call->lookup != NULL) {
        call->lookup->owner = call;
        if (lookups_start(&calls->lookups, call->lookup)) {
            call->host->is_looked_up = true;
            call->host->users++; // it may outlast the call
            calls->looking++;
            return;
        }
    }
    free(call->lookup);
    call->lookup = NULL;
    calls_land(calls, call,
        owed_failed(
            &call->flight->delivery, "POST %s: its host could not be looked up", call->shown));
}

/* find_host finds that of the call's place; false: it has landed. */
static bool
find_host(struct calls *calls, struct call *call)
{
    snprintf(call->host_name, sizeof call->host_name, "%s:%d", call->place.host, call->place.port);
    call->host = hosts_find(&calls->hosts, call->host_name, calls_now_us());
    if (call->host != NULL)
        return true;
    calls_land(calls, call, owed_failed(&call->flight->delivery, "out of memory"));
    return false;
}

/* go waits for the host's addresses, where they are not known, and for its turn. A host that rests is not looked up. */
static void
go(struct calls *calls, struct call *call)
{
    int64_t now_us = calls_now_us();
    int64_t wait_us = host_ask(call->host, now_us);
    if (wait_us != 0 && wait_us != HOSTS_FULL)
        put_off(calls, call, wait_us, LEFT_ALONE);
    else if (call->host->addresses_until_us > now_us)
        take_turn(calls, call);
    else if (!call->host->is_looked_up)
        start_lookup(calls, call);
    else if (!join_line(call))
        put_off(calls, call, PUT_OFF_US, "its host is being looked up");
}

/* set_out checks the URL and finds its host. false: it has landed. */
static bool
set_out(struct calls *calls, struct call *call)
{
    owed_delivery *delivery = &call->flight->delivery;
    owed_error err = {0};
    if (guard_read(call->flight->endpoint->row.url, &call->place, &err) != OWED_OK) {
        calls_land(calls, call, owed_permanent(delivery, "%s", err.text));
        return false;
    }
    return find_host(calls, call);
}

static owed_status
open_once(struct calls *calls, owed_error *err)
{
    if (calls->is_open)
        return OWED_OK;
    owed_status status = wire_open(&calls->wire, calls->at_once, err);
    if (status != OWED_OK)
        return status;
    status = lookups_open(&calls->lookups, err);
    if (status != OWED_OK)
        wire_close(&calls->wire);
    calls->is_open = status == OWED_OK;
    return status;
}

void
calls_start(struct calls *calls, struct flight *flight)
{
    owed_error err = {0};
    if (later_keeps(calls->landing, flight))
        return;
    if (!call_is_wanted(flight)) {
        landing_add(calls->landing, flight, owed_done());
        return;
    }
    const struct endpoint_row *row = &flight->endpoint->row;
    struct rate *rate = row->rate > 0 ? rates_find(&calls->rates, row->id) : NULL;
    int64_t wait_us = rate == NULL ? 0 : rate_take(rate, row->rate, calls_now_us());
    if (wait_us > 0) {
        landing_add(calls->landing, flight,
            later(calls->landing, flight, wait_us, "it has had as many requests as it allows"));
        return;
    }
    struct call *call = NULL;
    owed_status status = open_once(calls, &err);
    if (status == OWED_OK)
        call = call_new(flight);
    if (call == NULL) {
        landing_add(calls->landing, flight,
            owed_failed(&flight->delivery, "%s", status == OWED_OK ? "out of memory" : err.text));
        return;
    }
    flight->builtin = call;
    link_call(calls, call);
    if (set_out(calls, call))
        go(calls, call);
}

/* --- the end --- */

/* next_in_line starts those that waited for the host, the oldest first. */
static void
next_in_line(struct calls *calls, const struct host *host)
{
    struct call *oldest;
    while ((oldest = host->first_in_line) != NULL && !host->is_looked_up) {
        if (host_ask(host, calls_now_us()) == HOSTS_FULL)
            return;
        call_leave_line(oldest);
        go(calls, oldest);
    }
}

static void
end_lookup(struct calls *calls, const struct lookup *lookup)
{
    struct call *call = lookup->owner;
    struct host *host = lookup->host;
    host->is_looked_up = false;
    calls->looking--;
    if (call != NULL)
        call->lookup = NULL;
    if (lookup->status == OWED_OK) {
        host->addresses = lookup->addresses;
        host->addresses_until_us = calls_now_us() + ADDRESSES_KEPT_US;
        if (call != NULL)
            take_turn(calls, call);
        next_in_line(calls, host);
    } else {
        if (lookup->status != OWED_INVALID) // it was found, and is out of bounds
            host_miss(host, calls_now_us());
        if (call != NULL)
            calls_land(calls, call,
                owed_failed(&call->flight->delivery, "POST %s: %s", call->shown, lookup->err.text));
        while (host->first_in_line != NULL)
            put_off(calls, host->first_in_line, PUT_OFF_US, "its host could not be looked up");
    }
    host_leave(host);
}

/* hop sends a call on to where its answer said; false: it stays. */
static bool
hop(struct calls *calls, struct call *call)
{
    struct host *before = call->host;
    int32_t limit = call->flight->delivery.receiver->endpoints->said.per_host;
    if (!redirect_take(call))
        return false;
    host_end(before, HOST_WELL, limit, calls_now_us());
    call->is_on_wire = false;
    if (find_host(calls, call))
        go(calls, call);
    next_in_line(calls, before);
    host_leave(before);
    return true;
}

static void
finish(struct calls *calls, struct call *call)
{
    struct flight *flight = call->flight;
    owed_delivery *delivery = &flight->delivery;
    struct host *host = call->host;
    bool is_there = answer_is_there(&call->answer, &call->transfer);
    if (is_there && hop(calls, call))
        return;
    int64_t now_us = clock_now_us(&calls->landing->clock), asked_us = 0;
    curl_off_t took_us = 0;
    int64_t spent_us = call->spent_us;
    curl_easy_getinfo(call->transfer.easy, CURLINFO_TOTAL_TIME_T, &took_us);
    const struct called called = {delivery, call->shown, call->host_name, call->timeout_us, now_us,
        call->stopped[0] == '\0' ? NULL : call->stopped};
    owed_outcome outcome = answer_outcome(&call->answer, &call->transfer, &called);
    if (call->refused[0] != '\0' && !is_there)
        outcome = owed_failed(delivery, "POST %s: %s", call->shown, call->refused);
    flight->code = answer_keep(&call->answer, &call->transfer, flight->excerpt);
    int32_t limit = delivery->receiver->endpoints->said.per_host;
    host_end(host, host_word_of(is_there, flight->code), limit, calls_now_us());
    if (answer_wait(&call->transfer, now_us, &asked_us))
        host_wait_asked(host, asked_us, calls_now_us());
    calls_land(calls, call, outcome);
    flight->duration_us = spent_us + took_us; // not until somebody looked
    next_in_line(calls, host);
}

bool
calls_step(struct calls *calls)
{
    if (calls->count == 0 && calls->looking == 0)
        return false;
    struct lookup *next_lookup = NULL;
    for (struct lookup *l = lookups_take(&calls->lookups); l != NULL; l = next_lookup) {
        next_lookup = l->next;
        end_lookup(calls, l);
        free(l);
    }
    struct transfer *next = NULL;
    for (struct transfer *t = wire_take(&calls->wire); t != NULL; t = next) {
        next = t->next;
        finish(calls, (struct call *)t);
    }
    return slow_leave_places(calls);
}

int64_t
calls_next_us(const struct calls *calls)
{
    return calls->count - calls->slow > 0 ? calls->look_mono_us : INT64_MAX;
}

void
calls_abandon(struct calls *calls, struct flight *flight)
{
    struct call *call = flight->builtin;
    const struct receiver *receiver = flight->delivery.receiver;
    if (call->is_slow) {
        calls->slow--;
        share_take(&calls->landing->shares[receiver->runner], receiver);
    }
    if (call->lookup != NULL)
        lookups_leave(&calls->lookups, call->lookup);
    if (call->is_on_wire) {
        wire_drop(&calls->wire, &call->transfer);
        host_end(call->host, HOST_SILENT, 0, calls_now_us());
    }
    unlink_call(calls, call);
    call_free(call);
    flight->builtin = NULL;
}

void
calls_init(struct calls *calls, struct landing *landing, int32_t at_once)
{
    *calls = (struct calls){.landing = landing, .at_once = at_once, .slow_limit = at_once * 4};
}

void
calls_close(struct calls *calls)
{
    if (!calls->is_open)
        return;
    while (calls->flying != NULL)
        calls_abandon(calls, calls->flying->flight);
    lookups_close(&calls->lookups);
    wire_close(&calls->wire);
    hosts_done(&calls->hosts);
    rates_done(&calls->rates);
}
