/* SPDX-License-Identifier: MIT
 *
 * driver.c - what drivers have in common: when a transaction may begin and be committed, and what a
 * server has no use for.
 */
#include "store/driver.h"

#include <string.h>

#include "base/error.h"

owed_status
driver_may_begin(const struct db *db, bool begun, const char *place, owed_error *err)
{
    if (db->adopted || begun)
        return fail(err, OWED_BUG, "a transaction is open on %s already", place);
    return OWED_OK;
}

owed_status
driver_has_begun(const struct db *db, bool begun, const char *place, owed_error *err)
{
    if (db->adopted || !begun)
        return fail(err, OWED_BUG, "no transaction of ours is open on %s", place);
    return OWED_OK;
}

owed_status
driver_fail_vetoed(owed_error *err)
{
    return fail(err, OWED_VETOED, "an inline receiver refused the change; it was rolled back");
}

owed_status
driver_fail_ended(const char *place, owed_error *err)
{
    return fail(err, OWED_ABORTED,
        "the transaction that was open on %s has been ended by somebody else: nothing more can be "
        "written in it",
        place);
}

bool
driver_keep(struct kept_args *kept, const struct value *args, size_t count)
{
    size_t len = 0;
    if (count > KEPT_ARGS)
        return false;
    for (size_t i = 0; i < count; i++) {
        kept->args[i] = args[i];
        if (args[i].bytes.len == 0)
            continue;
        if (args[i].bytes.len > sizeof kept->bytes - len)
            return false;
        kept->args[i].bytes.p = memcpy(kept->bytes + len, args[i].bytes.p, args[i].bytes.len);
        len += args[i].bytes.len;
    }
    kept->count = count;
    return true;
}

const char *
driver_no_path(struct db *db)
{
    (void)db;
    return "";
}

owed_status
driver_is_there(struct db *db, owed_error *err)
{
    (void)db;
    (void)err;
    return OWED_OK;
}

void
driver_is_tidy(struct db *db)
{
    (void)db;
}
