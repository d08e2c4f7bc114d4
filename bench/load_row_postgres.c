/* SPDX-License-Identifier: MIT
 *
 * load_row_postgres.c - a row on PostgreSQL.
 */
#include "load_module.h"

#include <inttypes.h>
#include <owed/postgres.h>
#include <stdio.h>

static bool
prepare(PGconn *db)
{
    static int prepared_on;
    if (PQbackendPID(db) == prepared_on)
        return true;
    PGresult *result =
        PQprepare(db, "load_row", "insert into load_row (delivery) values ($1::bigint)", 1, NULL);
    bool done = PQresultStatus(result) == PGRES_COMMAND_OK;
    PQclear(result);
    if (done)
        prepared_on = PQbackendPID(db);
    return done;
}

owed_outcome
load_write_row(owed_delivery *delivery, const void *payload)
{
    (void)payload;
    PGconn *db = owed_delivery_postgres(delivery);
    if (db == NULL || !prepare(db))
        return owed_failed(delivery, "no statement");
    char id[32];
    snprintf(id, sizeof id, "%" PRId64, owed_delivery_id(delivery));
    PGresult *result = PQexecPrepared(db, "load_row", 1, (const char *const[]){id}, NULL, NULL, 0);
    bool done = PQresultStatus(result) == PGRES_COMMAND_OK;
    PQclear(result);
    return done ? owed_done() : owed_failed(delivery, "%s", PQerrorMessage(db));
}
