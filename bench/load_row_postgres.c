/* SPDX-License-Identifier: MIT
 *
 * load_row_postgres.c - a row on PostgreSQL, sent ahead: nobody waits for each answer.
 */
#include "load_module.h"

#include <inttypes.h>
#include <owed/postgres.h>
#include <stdio.h>

static bool
prepare(owed_delivery *delivery, PGconn *db)
{
    static int prepared_on;
    if (PQbackendPID(db) == prepared_on)
        return true;
    db = owed_delivery_postgres(delivery);
    PGresult *result =
        PQprepare(db, "load_row", "insert into load_row (delivery) values ($1::bigint)", 1, NULL);
    bool done = PQresultStatus(result) == PGRES_COMMAND_OK;
    PQclear(result);
    if (done)
        prepared_on = PQbackendPID(db);
    return done && owed_delivery_postgres_pipeline(delivery) == db;
}

owed_outcome
load_write_row(owed_delivery *delivery, const void *payload)
{
    (void)payload;
    PGconn *db = owed_delivery_postgres_pipeline(delivery);
    if (db == NULL || !prepare(delivery, db))
        return owed_failed(delivery, "no statement");
    char id[32];
    snprintf(id, sizeof id, "%" PRId64, owed_delivery_id(delivery));
    const char *const values[] = {id};
    bool done = PQsendQueryPrepared(db, "load_row", 1, values, NULL, NULL, 0) == 1;
    return done ? owed_done() : owed_failed(delivery, "%s", PQerrorMessage(db));
}
