/* SPDX-License-Identifier: MIT
 *
 * landing.c - a list, filled at its end.
 */
#include "receive/landing.h"

#include "base/clock.h"

void
landing_add(struct landing *landing, struct flight *flight, owed_outcome outcome)
{
    const struct receiver *receiver = flight->delivery.receiver;
    share_give(&landing->shares[receiver->runner], receiver);
    flight->outcome = outcome;
    flight->duration_us = clock_monotonic_us(&landing->clock) - flight->started_mono_us;
    if (flight->duration_us < 0)
        flight->duration_us = 0;
    flight->next = NULL;
    if (landing->last == NULL)
        landing->first = flight;
    else
        landing->last->next = flight;
    landing->last = flight;
}

struct flight *
landing_take(struct landing *landing)
{
    struct flight *first = landing->first;
    landing->first = NULL;
    landing->last = NULL;
    return first;
}

void
landing_drop(struct landing *landing, struct flight *flight)
{
    struct flight *rest = landing_take(landing);
    while (rest != NULL) {
        struct flight *next = rest->next;
        rest->next = NULL;
        if (rest != flight) {
            if (landing->last == NULL)
                landing->first = rest;
            else
                landing->last->next = rest;
            landing->last = rest;
        }
        rest = next;
    }
}
