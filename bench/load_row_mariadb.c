/* SPDX-License-Identifier: MIT
 *
 * load_row_mariadb.c - a row on MariaDB.
 */
#include "load_module.h"

#include <inttypes.h>
#include <owed/mariadb.h>
#include <stdio.h>

owed_outcome
load_write_row(owed_delivery *delivery, const void *payload)
{
    (void)payload;
    MYSQL *db = owed_delivery_mariadb(delivery);
    char sql[100];
    int len = snprintf(sql, sizeof sql, "insert into load_row (delivery) values (%" PRId64 ")",
        owed_delivery_id(delivery));
    if (db == NULL || mysql_real_query(db, sql, (unsigned long)len) != 0)
        return owed_failed(delivery, "%s", db == NULL ? "no transaction" : mysql_error(db));
    return owed_done();
}
