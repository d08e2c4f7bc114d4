/* SPDX-License-Identifier: MIT
 *
 * prune.c - all that can go is deleted, batch by batch.
 */
#include <poll.h>

#include "base/clock.h"
#include "operate/act.h"

/* rest leaves the store to those who write, as a relay that cleans does. */
static void
rest(const struct db *db, int64_t took_us)
{
    int64_t rest_us = prune_rest_us(db, took_us);
    const struct timespec timeout = {
        .tv_sec = rest_us / US_PER_SECOND, .tv_nsec = rest_us % US_PER_SECOND * 1000};
    ppoll(NULL, 0, &timeout, NULL);
}

owed_status
prune_all(struct db *db, const struct prune *prune, const struct acting *acting,
    int64_t *ret_events, owed_error *err)
{
    struct prune_course course = {0};
    int64_t audit_id = 0;
    prune_begin(&course, prune);
    owed_status status = act_begin(db, acting, "prune", &audit_id, err);
    while (status == OWED_OK && !course.is_over) {
        int64_t before = course.events;
        int64_t rows = course.rows;
        int64_t begun_us = clock_monotonic_us(&clock_system);
        status = store_prune_step(db, &course, err);
        if (course.rows > rows && !course.is_over && !acting->dry_run)
            rest(db, clock_monotonic_us(&clock_system) - begun_us);
        if (status == OWED_OK)
            status = act_step(db, acting, audit_id, course.events - before, course.events, err);
    }
    *ret_events = course.events;
    return status == OWED_OK ? act_end(db, acting, audit_id, err) : status;
}
