/* SPDX-License-Identifier: MIT
 *
 * doctor.c - what the store says of its own troubles.
 */
#include "store/doctor.h"
#include "store/verbs.h"

/* No lane begins below the first of these, or at the second: of all apps, then. */
#define LANES_FROM ""
#define LANES_TO "~"

static void
read_trouble(struct reader *r, void *item)
{
    struct trouble *trouble = item;
    trouble->subject = read_text(r);
    trouble->detail = read_text(r);
    trouble->amount = read_int(r);
    trouble->other = read_int(r);
}

owed_status
store_troubles(struct db *db, enum stmt stmt, const struct value *args, size_t arg_count,
    struct arena *arena, struct trouble **ret_troubles, size_t *ret_count, owed_error *err)
{
    *ret_troubles = NULL;
    *ret_count = 0;
    if (db->driver->sql->statements[stmt] == NULL)
        return OWED_OK;
    struct list list = {sizeof(struct trouble), read_trouble, arena};
    void *items = NULL;
    owed_status status =
        read_all(db, stmt, (struct args){args, arg_count}, &list, &items, ret_count, err);
    if (status == OWED_OK)
        *ret_troubles = items;
    return status;
}

owed_status
store_limit_looks(struct db *db, owed_error *err)
{
    if (db->driver->sql->statements[STMT_DOCTOR_LIMIT] == NULL)
        return OWED_OK;
    return change(db, STMT_DOCTOR_LIMIT, NO_ARGS, NULL, err);
}

static void
read_name(struct reader *r, void *item)
{
    *(const char **)item = read_text(r);
}

owed_status
store_lanes_in_use(struct db *db, struct arena *arena, const char *const **ret_lanes,
    size_t *ret_count, owed_error *err)
{
    struct list list = {sizeof(const char *), read_name, arena};
    void *items = NULL;
    owed_status status = read_all(
        db, STMT_LANES, ARGS(V_TEXT(LANES_FROM), V_TEXT(LANES_TO)), &list, &items, ret_count, err);
    if (status == OWED_OK)
        *ret_lanes = items;
    return status;
}

/* A receiver that something is owed to: amount is whether the catalogue has it. */
static void
read_owed_receiver(struct reader *r, void *item)
{
    struct trouble *trouble = item;
    trouble->subject = read_text(r);
    trouble->detail = "";
    trouble->amount = read_int(r);
}

owed_status
store_unpublished(struct db *db, struct arena *arena, struct trouble **ret_troubles,
    size_t *ret_count, owed_error *err)
{
    struct list list = {sizeof(struct trouble), read_owed_receiver, arena};
    void *items = NULL;
    size_t count = 0;
    *ret_count = 0;
    owed_status status = read_all(db, STMT_OWED_RECEIVERS, NO_ARGS, &list, &items, &count, err);
    if (status != OWED_OK)
        return status;
    struct trouble *troubles = items;
    for (size_t i = 0; i < count; i++)
        if (troubles[i].amount == 0)
            troubles[(*ret_count)++] = troubles[i];
    *ret_troubles = troubles;
    return OWED_OK;
}
