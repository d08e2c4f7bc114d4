/* SPDX-License-Identifier: MIT
 *
 * connect.c - connections to a store, and their transactions.
 */
#include "store/verbs.h"

static const struct driver *const drivers[] = {&driver_sqlite};

owed_status
driver_for(const char *url, const struct driver **ret_driver, owed_error *err)
{
    const char *colon = url == NULL ? NULL : strchr(url, ':');
    size_t len = colon == NULL ? 0 : (size_t)(colon - url);
    for (size_t i = 0; i < sizeof drivers / sizeof drivers[0]; i++) {
        if (!str_is((struct str){url, len}, drivers[i]->scheme))
            continue;
        *ret_driver = drivers[i];
        return OWED_OK;
    }
    return fail(err, OWED_CONFIG,
        "store URL '%.200s' begins with no scheme that is known here; write sqlite:shop.db",
        or_empty(url));
}

owed_status
store_open(const char *url, const struct db_options *options, struct db **ret_db, owed_error *err)
{
    const struct driver *driver;
    owed_status status = driver_for(url, &driver, err);
    return status == OWED_OK ? driver->open(url, options, ret_db, err) : status;
}

void
store_close(struct db *db)
{
    if (db != NULL)
        db->driver->close(db);
}

owed_status
store_begin(struct db *db, bool write, owed_error *err)
{
    return db->driver->begin(db, write, err);
}

owed_status
store_commit(struct db *db, owed_error *err)
{
    return db->driver->commit(db, err);
}

void
store_rollback(struct db *db)
{
    db->driver->rollback(db);
}

bool
store_in_transaction(struct db *db)
{
    return db->driver->in_transaction(db);
}
