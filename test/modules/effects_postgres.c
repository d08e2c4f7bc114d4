/* SPDX-License-Identifier: MIT
 *
 * effects_postgres.c - an effect on PostgreSQL.
 */
#include "effects.h"

#include <inttypes.h>
#include <owed/postgres.h>
#include <stdio.h>

bool
effect_insert(owed_delivery *delivery, char why[static 200])
{
    PGconn *db = owed_delivery_postgres(delivery);
    if (db == NULL)
        return false;
    char id[32];
    snprintf(id, sizeof id, "%" PRId64, owed_delivery_id(delivery));
    const char *const values[] = {id, owed_delivery_receiver_key(delivery)};
    PGresult *result =
        PQexecParams(db, "insert into effect (delivery, receiver) values ($1::bigint, $2)", 2, NULL,
            values, NULL, NULL, 0);
    bool done = PQresultStatus(result) == PGRES_COMMAND_OK;
    if (!done)
        snprintf(why, 200, "%s", PQerrorMessage(db));
    PQclear(result);
    return done;
}
