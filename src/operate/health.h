/* SPDX-License-Identifier: MIT
 *
 * health.h - how a store stands: what is owed, what is stuck, who delivers.
 */
#ifndef OPERATE_HEALTH_H
#define OPERATE_HEALTH_H

#include "store/look.h"

/* A relay says every 30 s that it lives; one that missed two of these is taken for dead. */
#define RELAY_SILENCE_US OWED_SECONDS(90)

struct health {
    struct status status;
    struct status_line
        *lanes; // the same counts by lane, by most owed, most dead, lane; no receiver_key
    size_t lane_count;
    struct paused_row *paused;
    size_t paused_count;
    struct relay_row *workers; // of all relays, dead ones too
    size_t worker_count;
    int64_t relays;            // alive
    int64_t oldest_due_age_us; // how long the oldest due row has waited; -1: nothing is due
    bool quiet;                // nothing owed and nothing dead
};

owed_status health_read(
    struct db *db, int64_t now_us, struct arena *arena, struct health *ret_health, owed_error *err);

/* health_age_us is how long the oldest due row of a line has waited; -1: none is due. */
int64_t health_age_us(const struct status_line *line, int64_t now_us);

/* relay_is_alive: it has said so lately. */
bool relay_is_alive(const struct relay_row *relay, int64_t now_us);

/* relays_alive counts a relay once, however many of its workers speak; rows are in order of id. */
int64_t relays_alive(const struct relay_row *relays, size_t count, int64_t now_us);

#endif
