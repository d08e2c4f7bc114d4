/* SPDX-License-Identifier: MIT
 *
 * mariadb.c - the functions of owed/mariadb.h: the application's connection and ours.
 */
#include <owed/mariadb.h>

#include "base/error.h"
#include "deliver/join.h"
#include "store/mariadb.h"

MYSQL *
owed_tx_mariadb(owed_tx *tx)
{
    return owed_driver_native(tx, &driver_mariadb);
}

MYSQL *
owed_delivery_mariadb(owed_delivery *delivery)
{
    return owed_tx_mariadb(owed_delivery_tx(delivery));
}

/* run_at_once is for where nothing can be sent ahead. */
static owed_status
run_at_once(MYSQL *db, struct str text, owed_error *err)
{
    if (db == NULL)
        return fail(err, OWED_INVALID, "the delivery has no transaction on a MariaDB store");
    owed_status status = mariadb_may_send(text, err);
    if (status != OWED_OK)
        return status;
    if (mysql_real_query(db, text.p, (unsigned long)text.len) != 0)
        return fail_native(err, OWED_STORE, (int)mysql_errno(db), "%s", mysql_error(db));
    mysql_free_result(mysql_store_result(db));
    return OWED_OK;
}

owed_status
owed_delivery_mariadb_send(owed_delivery *delivery, const char *sql, size_t len, owed_error *err)
{
    owed_tx *tx = owed_delivery_tx(delivery);
    const struct str text = {sql, len};
    if (owed_driver_sends(tx, &driver_mariadb))
        return owed_driver_send(tx, text, err);
    return run_at_once(owed_tx_mariadb(tx), text, err);
}

owed_status
owed_join_mariadb(owed *handle, MYSQL *db, owed_tx **ret_tx, owed_error *err)
{
    return owed_driver_join(handle, &driver_mariadb, db, ret_tx, err);
}
