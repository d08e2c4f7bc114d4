/* SPDX-License-Identifier: MIT
 *
 * driver_postgres.c - PostgreSQL as a store: the table of its functions.
 */
#include "store/postgres.h"

extern const struct sql sql_postgres; // made from sql/postgres/

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
    .hold = postgres_hold,
    .holds = postgres_holds,
    .next = postgres_next,
    .column = postgres_column,
    .finish = postgres_finish,
    .keep = postgres_keep,
    .peek = postgres_peek,
    .script = postgres_script,
    .now = postgres_now,
    .session = postgres_session,
    .end_session = postgres_end_session,
    .wake_fd = postgres_wake_fd,
    .changed = postgres_changed,
    .asleep = postgres_asleep,
    .deaf = postgres_deaf,
    .still_there = driver_is_there,
    .path = driver_no_path,
    .where = postgres_where,
    .warning = postgres_warning,
    .tidy = driver_is_tidy,
    .native = postgres_native,
    .pipeline = postgres_pipeline,
    .collect = postgres_collect,
};
