/* SPDX-License-Identifier: MIT
 *
 * driver_sqlite.c - SQLite as a store: the table of its functions.
 */
#include "store/sqlite.h"

extern const struct sql sql_sqlite; // made from sql/sqlite/

static const char *
path(struct db *db)
{
    return sqlite_of(db)->path;
}

static void *
native(struct db *db)
{
    return sqlite_of(db)->handle;
}

const struct driver driver_sqlite = {
    .scheme = "sqlite",
    .sql = &sql_sqlite,
    .single_writer = true,
    .open = sqlite_open,
    .adopt = sqlite_adopt,
    .close = sqlite_close,
    .light = sqlite_light,
    .begin = sqlite_begin,
    .commit = sqlite_commit,
    .rollback = sqlite_rollback,
    .in_transaction = sqlite_in_transaction,
    .savepoint = sqlite_savepoint,
    .release = sqlite_release,
    .rollback_to = sqlite_rollback_to,
    .guard = sqlite_guard,
    .veto = sqlite_veto,
    .sweep = sqlite_sweep,
    .run = sqlite_run,
    .next = sqlite_next,
    .column = sqlite_column,
    .finish = sqlite_finish,
    .script = sqlite_script,
    .wake_fd = sqlite_wake_fd,
    .changed = sqlite_changed,
    .still_there = sqlite_still_there,
    .alone = sqlite_alone,
    .path = path,
    .tidy = sqlite_tidy,
    .native = native,
};
