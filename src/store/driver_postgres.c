/* SPDX-License-Identifier: MIT
 *
 * driver_postgres.c - PostgreSQL as a store: the table of its functions.
 */
#include "store/postgres.h"

extern const struct sql sql_postgres; // made from sql/postgres/

/* path: nothing of a server's is a file of ours. */
static const char *
path(struct db *db)
{
    (void)db;
    return "";
}

static owed_status
still_there(struct db *db, owed_error *err)
{
    // Another server would be another connection.
    (void)db;
    (void)err;
    return OWED_OK;
}

static void
tidy(struct db *db)
{
    (void)db; // the server does its upkeep itself
}

OWED_API const struct driver driver_postgres = {
    .scheme = "postgres",
    .sql = &sql_postgres,
    .open = postgres_open,
    .adopt = postgres_adopt,
    .close = postgres_close,
    .light = postgres_light,
    .begin = postgres_begin,
    .commit = postgres_commit,
    .rollback = postgres_rollback,
    .in_transaction = postgres_in_transaction,
    .savepoint = postgres_savepoint,
    .release = postgres_release,
    .rollback_to = postgres_rollback_to,
    .guard = postgres_guard,
    .veto = postgres_veto,
    .hurry = postgres_hurry,
    .contention = postgres_contention,
    .sweep = postgres_sweep,
    .run = postgres_run,
    .next = postgres_next,
    .column = postgres_column,
    .finish = postgres_finish,
    .script = postgres_script,
    .now = postgres_now,
    .session = postgres_session,
    .end_session = postgres_end_session,
    .wake_fd = postgres_wake_fd,
    .changed = postgres_changed,
    .asleep = postgres_asleep,
    .deaf = postgres_deaf,
    .still_there = still_there,
    .path = path,
    .where = postgres_where,
    .warning = postgres_warning,
    .tidy = tidy,
    .native = postgres_native,
};
