/* SPDX-License-Identifier: MIT
 *
 * health.c - the store's counts, read against the clock.
 */
#include "operate/health.h"

int64_t
health_age_us(const struct status_line *line, int64_t now_us)
{
    if (line->oldest_due_at_us == 0)
        return -1;
    int64_t age = now_us - line->oldest_due_at_us;
    return age > 0 ? age : 0;
}

/* is_same_relay: the ids of two workers differ behind the slash alone. */
static bool
is_same_relay(const char *a, const char *b)
{
    size_t len = strcspn(a, "/");
    return len == strcspn(b, "/") && memcmp(a, b, len) == 0;
}

int64_t
relays_alive(const struct relay_row *relays, size_t count, int64_t now_us)
{
    int64_t alive = 0;
    const char *last = NULL;
    for (size_t i = 0; i < count; i++) {
        bool is_alive = relays[i].heartbeat_at_us > now_us - RELAY_SILENCE_US;
        if (!is_alive || (last != NULL && is_same_relay(last, relays[i].id)))
            continue;
        alive++;
        last = relays[i].id;
    }
    return alive;
}

owed_status
health_read(
    struct db *db, int64_t now_us, struct arena *arena, struct health *ret_health, owed_error *err)
{
    struct health health = {0};
    owed_status status = store_status(db, now_us, arena, &health.status, err);
    if (status != OWED_OK)
        return status;
    struct relay_row *relays = NULL;
    size_t count = 0;
    status = store_relays(db, arena, &relays, &count, err);
    if (status != OWED_OK)
        return status;
    health.relays = relays_alive(relays, count, now_us);
    health.oldest_due_age_us = health_age_us(&health.status.total, now_us);
    health.quiet = health.status.total.owed == 0 && health.status.total.dead == 0;
    *ret_health = health;
    return OWED_OK;
}
