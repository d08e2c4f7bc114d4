/* SPDX-License-Identifier: MIT
 *
 * postgres.c - the functions of owed/postgres.h: the application's connection and ours.
 */
#include <owed/postgres.h>

#include "deliver/join.h"

PGconn *
owed_tx_postgres(owed_tx *tx)
{
    return owed_driver_native(tx, &driver_postgres);
}

PGconn *
owed_delivery_postgres(owed_delivery *delivery)
{
    return owed_tx_postgres(owed_delivery_tx(delivery));
}

PGconn *
owed_delivery_postgres_pipeline(owed_delivery *delivery)
{
    return owed_driver_pipeline(owed_delivery_tx(delivery), &driver_postgres);
}

owed_status
owed_join_postgres(owed *handle, PGconn *conn, owed_tx **ret_tx, owed_error *err)
{
    return owed_driver_join(handle, &driver_postgres, conn, ret_tx, err);
}
