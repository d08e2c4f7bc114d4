/* SPDX-License-Identifier: MIT
 *
 * effects_mariadb.c - an effect on MariaDB.
 */
#include "effects.h"

#include <inttypes.h>
#include <owed/mariadb.h>
#include <stdio.h>
#include <string.h>

bool
effect_insert(owed_delivery *delivery, char why[static 200])
{
    MYSQL *db = owed_delivery_mariadb(delivery);
    if (db == NULL)
        return false;
    char sql[200];
    snprintf(sql, sizeof sql, "insert into effect (delivery, receiver) values (%" PRId64 ", '%s')",
        owed_delivery_id(delivery), owed_delivery_receiver_key(delivery));
    bool done = mysql_real_query(db, sql, strlen(sql)) == 0;
    if (!done)
        snprintf(why, 200, "%s", mysql_error(db));
    return done;
}
