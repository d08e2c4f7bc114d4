/* SPDX-License-Identifier: MIT
 *
 * health.c - the store's counts, read against the clock.
 */
#include "operate/health.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

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

bool
relay_is_alive(const struct relay_row *relay, int64_t now_us)
{
    return relay->heartbeat_at_us > now_us - RELAY_SILENCE_US;
}

int64_t
relays_alive(const struct relay_row *relays, size_t count, int64_t now_us)
{
    int64_t alive = 0;
    const char *last = NULL;
    for (size_t i = 0; i < count; i++) {
        if (!relay_is_alive(&relays[i], now_us) ||
            (last != NULL && is_same_relay(last, relays[i].id)))
            continue;
        alive++;
        last = relays[i].id;
    }
    return alive;
}

static int
by_lane(const void *a, const void *b)
{
    const struct status_line *x = a, *y = b;
    return strcmp(x->lane, y->lane);
}

static int
by_most_owed(const void *a, const void *b)
{
    int order = status_compare(a, b);
    return order != 0 ? order : by_lane(a, b);
}

/* sum_lanes adds up the lines of the receivers, lane by lane. */
static owed_status
sum_lanes(struct health *health, struct arena *arena, owed_error *err)
{
    size_t count = health->status.count;
    struct status_line *lanes = arena_alloc(arena, (count + 1) * sizeof *lanes);
    if (lanes == NULL)
        return fail_memory(err);
    for (size_t i = 0; i < count; i++) {
        lanes[i] = health->status.lines[i];
        lanes[i].receiver_key = "";
    }
    qsort(lanes, count, sizeof *lanes, by_lane);
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (kept > 0 && by_lane(&lanes[kept - 1], &lanes[i]) == 0)
            status_add(&lanes[kept - 1], &lanes[i]);
        else
            lanes[kept++] = lanes[i];
    }
    qsort(lanes, kept, sizeof *lanes, by_most_owed);
    health->lanes = lanes;
    health->lane_count = kept;
    return OWED_OK;
}

owed_status
health_read(
    struct db *db, int64_t now_us, struct arena *arena, struct health *ret_health, owed_error *err)
{
    struct health health = {0};
    owed_status status = store_status(db, now_us, arena, &health.status, err);
    if (status == OWED_OK)
        status = sum_lanes(&health, arena, err);
    if (status == OWED_OK)
        status = store_paused(db, arena, &health.paused, &health.paused_count, err);
    if (status == OWED_OK)
        status = store_relays(db, arena, &health.workers, &health.worker_count, err);
    if (status != OWED_OK)
        return status;
    health.relays = relays_alive(health.workers, health.worker_count, now_us);
    health.oldest_due_age_us = health_age_us(&health.status.total, now_us);
    health.quiet = health.status.total.owed == 0 && health.status.total.dead == 0;
    *ret_health = health;
    return OWED_OK;
}
