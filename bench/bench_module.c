/* SPDX-License-Identifier: MIT
 *
 * bench_module.c - the receivers of commit_latency: one for each way in which a relay writes.
 *
 * Linked into the bench, which fires for them, and loaded by owed relay, which runs them.
 */
#include <owed/sqlite.h>

#include "bench_module.h"

const owed_event_type bench_taken = {.name = "bench.Taken"};
const owed_event_type bench_written = {.name = "bench.Written"};
const owed_event_type bench_grouped = {.name = "bench.Grouped"};

/* write_row does what a receiver typically does: one row in the application's own table. */
static owed_outcome
write_row(owed_delivery *delivery, const void *payload)
{
    (void)payload;
    sqlite3 *db = owed_delivery_sqlite(delivery);
    if (db == NULL)
        return owed_failed(delivery, "no transaction");
    sqlite3_stmt *stmt = NULL;
    int code = sqlite3_prepare_v2(db, "insert into effect (event_id) values (?1)", -1, &stmt, NULL);
    if (code == SQLITE_OK)
        code = sqlite3_bind_int64(stmt, 1, owed_delivery_event_id(delivery));
    if (code == SQLITE_OK)
        code = sqlite3_step(stmt);
    sqlite3_finalize(stmt);
    return code == SQLITE_DONE ? owed_done() : owed_failed(delivery, "%s", sqlite3_errmsg(db));
}

OWED_API owed_status
owed_module_init(owed_registry *registry, owed_error *err)
{
    const owed_receiver receivers[] = {
        {.key = "bench.taken", .event = &bench_taken, .discard = true},
        {.key = "bench.written", .event = &bench_written, .run = write_row},
        {.key = "bench.grouped", .event = &bench_grouped, .run = write_row, .database_only = true},
    };
    owed_status status = OWED_OK;
    for (size_t i = 0; status == OWED_OK && i < sizeof receivers / sizeof receivers[0]; i++)
        status = owed_declare_receiver(registry, &receivers[i], err);
    return status;
}
