/* SPDX-License-Identifier: MIT
 *
 * slow.c - a look at all that is under way, ten times a second.
 */
#include "receive/slow.h"

#include "base/clock.h"
#include "receive/call.h"
#include "receive/later.h"

#define SLOW_US US_PER_SECOND
#define LOOK_US (INT64_C(100) * US_PER_MS)

/* leave_lines puts off those that waited for long: their host is slow. */
static void
leave_lines(struct calls *calls, int64_t now_us)
{
    struct call *next = NULL;
    for (struct call *c = calls->flying; c != NULL; c = next) {
        next = c->next;
        if (c->waits_in_line && c->flown_mono_us <= now_us - SLOW_US)
            calls_land(calls, c,
                later_some(
                    calls->landing, c->flight, PUT_OFF_US, "its host takes its time with others"));
    }
}

bool
slow_leave_places(struct calls *calls)
{
    int64_t now_us = calls_now_us();
    int32_t before = calls->slow;
    if (now_us < calls->look_mono_us)
        return false;
    calls->look_mono_us = now_us + LOOK_US;
    leave_lines(calls, now_us);
    for (struct call *c = calls->flying; c != NULL && calls->slow < calls->slow_limit;
         c = c->next) {
        const struct receiver *receiver = c->flight->delivery.receiver;
        bool is_under_way = c->is_on_wire || c->lookup != NULL;
        if (c->is_slow || !is_under_way || c->flown_mono_us > now_us - SLOW_US)
            continue;
        c->is_slow = true;
        calls->slow++;
        share_give(&calls->landing->shares[receiver->runner], receiver);
    }
    return calls->slow > before;
}
