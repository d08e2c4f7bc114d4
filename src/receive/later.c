/* SPDX-License-Identifier: MIT
 *
 * later.c - what is not sent now.
 */
#include "receive/later.h"

#include "base/clock.h"
#include "deliver/endpoints.h"
#include "receive/call.h"

owed_outcome
later(const struct landing *landing, struct flight *flight, int64_t wait_us, const char *why)
{
    int64_t now_us = clock_now_us(&landing->clock);
    flight->is_put_off = true;
    return owed_not_yet(&flight->delivery, now_us + wait_us, "%s", why);
}

owed_outcome
later_some(const struct landing *landing, struct flight *flight, int64_t wait_us, const char *why)
{
    uint32_t spread = (uint32_t)flight->delivery.row->fence.delivery_id * 2654435761U;
    int64_t more_us = (int64_t)(spread % 1000) * wait_us / 2000;
    return later(landing, flight, wait_us + more_us, why);
}

bool
later_keeps(struct landing *landing, struct flight *flight)
{
    const struct card *card = flight->endpoint;
    int64_t now_us = clock_now_us(&landing->clock);
    if (card == NULL || card->is_gone || call_is_ping(flight) ||
        !endpoint_keeps(&card->row, now_us))
        return false;
    int64_t until_us = now_us + ENDPOINT_PAUSED_US;
    if (card->row.paused_until_us != 0 && card->row.paused_until_us < until_us)
        until_us = card->row.paused_until_us;
    landing_add(
        landing, flight, owed_not_yet(&flight->delivery, until_us, "its endpoint is paused"));
    return true;
}
