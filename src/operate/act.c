/* SPDX-License-Identifier: MIT
 *
 * act.c - an act is noted before it begins, and with each piece of it.
 */
#include "operate/act.h"

owed_status
act_begin(struct db *db, const struct acting *acting, const char *action, int64_t *ret_id,
    owed_error *err)
{
    *ret_id = 0;
    if (acting->dry_run)
        return OWED_OK;
    const struct audit_row audit = {
        .began_at_us = acting->now_us, .who = acting->who, .action = action, .what = acting->what};
    return store_audit_begin(db, &audit, ret_id, err);
}

owed_status
act_step(struct db *db, const struct acting *acting, int64_t id, int64_t how_many, int64_t so_far,
    owed_error *err)
{
    if (acting->step != NULL)
        acting->step(acting->state, so_far);
    return how_many == 0 ? OWED_OK : store_audit_add(db, id, how_many, 0, err);
}

owed_status
act_end(struct db *db, const struct acting *acting, int64_t id, owed_error *err)
{
    int64_t now_us = acting->now_us;
    if (id == 0)
        return OWED_OK;
    owed_status status = store_now(db, &now_us, err);
    return status == OWED_OK ? store_audit_add(db, id, 0, now_us, err) : status;
}
