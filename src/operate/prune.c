/* SPDX-License-Identifier: MIT
 *
 * prune.c - all that can go is deleted, batch by batch.
 */
#include "operate/act.h"

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
        status = store_prune_step(db, &course, err);
        if (status == OWED_OK)
            status = act_step(db, acting, audit_id, course.events - before, course.events, err);
    }
    *ret_events = course.events;
    return status == OWED_OK ? act_end(db, acting, audit_id, err) : status;
}
