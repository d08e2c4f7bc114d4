/* SPDX-License-Identifier: MIT
 *
 * driver_mariadb.c - MariaDB as a store: the table of its functions, and the same one with MySQL's
 * statements. Which of the two a connection has, the server that answers decides.
 */
#include "store/mariadb.h"

extern const struct sql sql_mariadb; // made from sql/mariadb/
extern const struct sql sql_mysql;   // made from that and sql/mysql/

/* There is nothing to listen to: whoever waits looks again after a while. */
static int
wake_fd(struct db *db)
{
    (void)db;
    return -1;
}

static bool
changed(struct db *db)
{
    (void)db;
    return true;
}

/* The scheme names the kind of store to the rest, which is one and the same. */
#define DRIVER(dialect, takes) \
    { \
        .scheme = "mariadb", .sql = &(dialect), .settles_early = true, .undoes_refused = true, \
        .open = mariadb_open, .adopt = mariadb_adopt, .close = mariadb_close, \
        .light = mariadb_light, .begin = mariadb_begin, .commit = mariadb_commit, \
        .rollback = mariadb_rollback, .in_transaction = mariadb_in_transaction, \
        .savepoint = mariadb_savepoint, .release = mariadb_release, \
        .rollback_to = mariadb_rollback_to, .guard = mariadb_guard, .veto = mariadb_veto, \
        .hurry = mariadb_hurry, .contention = mariadb_contention, .sweep = mariadb_sweep, \
        .run = mariadb_run, .hold = mariadb_hold, .holds = mariadb_holds, .next = mariadb_next, \
        .column = mariadb_column, .finish = mariadb_finish, .script = mariadb_script, \
        .now = mariadb_now, .session = mariadb_session, .end_session = mariadb_end_session, \
        .warning = mariadb_warning, .wake_fd = wake_fd, .changed = changed, \
        .still_there = driver_is_there, .path = driver_no_path, .where = mariadb_where, \
        .tidy = driver_is_tidy, .native = mariadb_native, .send = mariadb_send, \
        .collect = mariadb_collect, .takes_rows = (takes), \
    }

OWED_API const struct driver driver_mariadb = DRIVER(sql_mariadb, mariadb_takes_rows);
OWED_API const struct driver driver_mysql = DRIVER(sql_mysql, NULL);
