/* SPDX-License-Identifier: MIT
 *
 * load_row_mariadb.c - a row on MariaDB, sent ahead: nobody waits for each answer.
 */
#include "load_module.h"

#include <inttypes.h>
#include <owed/mariadb.h>
#include <stdio.h>

owed_outcome
load_write_row(owed_delivery *delivery, const void *payload)
{
    (void)payload;
    char sql[100];
    int len = snprintf(sql, sizeof sql, "insert into load_row (delivery) values (%" PRId64 ")",
        owed_delivery_id(delivery));
    owed_error err;
    if (owed_delivery_mariadb_send(delivery, sql, (size_t)len, &err) != OWED_OK)
        return owed_failed(delivery, "%s", err.text);
    return owed_done();
}
