/* SPDX-License-Identifier: MIT
 *
 * mariadb.c - the functions of owed/mariadb.h: the application's connection and ours.
 */
#include <owed/mariadb.h>

#include "deliver/join.h"

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

owed_status
owed_join_mariadb(owed *handle, MYSQL *db, owed_tx **ret_tx, owed_error *err)
{
    return owed_driver_join(handle, &driver_mariadb, db, ret_tx, err);
}
