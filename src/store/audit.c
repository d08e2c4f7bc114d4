/* SPDX-License-Identifier: MIT
 *
 * audit.c - what operators did, noted before it begins and with each piece of it.
 */
#include "store/look.h"
#include "store/verbs.h"

owed_status
store_audit_begin(struct db *db, const struct audit_row *audit, int64_t *ret_id, owed_error *err)
{
    return query_int(db, STMT_AUDIT_BEGIN,
        ARGS(V_TIME(audit->began_at_us), V_TEXT(audit->who), V_TEXT(audit->action),
            V_TEXT(audit->what)),
        ret_id, NULL, err);
}

owed_status
store_audit_add(struct db *db, int64_t id, int64_t how_many, int64_t ended_at_us, owed_error *err)
{
    if (id == 0)
        return OWED_OK;
    return change(
        db, STMT_AUDIT_ADD, ARGS(V_INT(id), V_INT(how_many), V_TIME(ended_at_us)), NULL, err);
}

static void
read_audit(struct reader *r, void *item)
{
    struct audit_row *audit = item;
    audit->id = read_int(r);
    audit->began_at_us = read_int(r);
    audit->ended_at_us = read_int(r);
    audit->who = read_text(r);
    audit->action = read_text(r);
    audit->what = read_text(r);
    audit->how_many = read_int(r);
}

owed_status
store_audits(struct db *db, const struct filter *filter, struct arena *arena,
    struct audit_row **ret_audits, size_t *ret_count, owed_error *err)
{
    int64_t before_id = filter->before_id > 0 ? filter->before_id : INT64_MAX;
    struct list list = {sizeof(struct audit_row), read_audit, arena};
    void *items = NULL;
    owed_status status = read_all(db, STMT_AUDITS, ARGS(V_INT(before_id), V_INT(filter->limit)),
        &list, &items, ret_count, err);
    if (status == OWED_OK)
        *ret_audits = items;
    return status;
}
