/* SPDX-License-Identifier: MIT
 *
 * pause.c - pauses of operators, noted.
 */
#include "operate/act.h"

static owed_status
finish(struct db *db, const struct acting *acting, int64_t audit_id, int64_t count, owed_error *err)
{
    if (audit_id == 0)
        return OWED_OK;
    owed_status status = act_step(db, acting, audit_id, count, count, err);
    return status == OWED_OK ? act_end(db, acting, audit_id, err) : status;
}

owed_status
pause_all(struct db *db, const struct pausing *pausing, const struct acting *acting,
    int64_t *ret_receivers, owed_error *err)
{
    int64_t audit_id = 0;
    owed_status status = act_begin(db, acting, "pause", &audit_id, err);
    if (status == OWED_OK)
        status = store_pause(db, pausing, ret_receivers, err);
    return status == OWED_OK ? finish(db, acting, audit_id, *ret_receivers, err) : status;
}

owed_status
resume_all(struct db *db, const struct pausing *pausing, const struct acting *acting,
    int64_t *ret_receivers, owed_error *err)
{
    int64_t audit_id = 0;
    owed_status status = act_begin(db, acting, "resume", &audit_id, err);
    if (status == OWED_OK)
        status = store_resume(db, pausing, ret_receivers, err);
    return status == OWED_OK ? finish(db, acting, audit_id, *ret_receivers, err) : status;
}
