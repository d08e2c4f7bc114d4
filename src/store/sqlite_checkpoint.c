/* SPDX-License-Identifier: MIT
 *
 * sqlite_checkpoint.c - moving the write-ahead log into the database, safely.
 *
 * SQLite before 3.51.3 can damage a database when one process checkpoints while another starts the
 * log over: a passive checkpoint reads the log's header, the log is reset, and the checkpoint goes on
 * with a count of the old one. Only a writer resets the log. So automatic checkpoints are off, and
 * ours are passive ones made on one connection while a second one holds an empty write transaction:
 * nobody writes meanwhile, readers go on, and nobody waits for a reader. Writers wait for some
 * milliseconds (23 ms for 18 MB).
 */
#include <limits.h>
#include <sys/stat.h>

#include "store/sqlite.h"

#define CHECKPOINT_WAIT_US 200000

static int
on_wal(void *arg, sqlite3 *handle, const char *name, int pages)
{
    (void)handle;
    (void)name;
    struct sqlite_db *conn = arg;
    conn->wal_pages = pages;
    return SQLITE_OK;
}

/* sqlite_watch_wal counts the log's pages; the hook takes the place of automatic checkpoints. */
void
sqlite_watch_wal(struct sqlite_db *conn)
{
    sqlite3_wal_hook(conn->handle, on_wal, conn);
}

/* pages_now falls back on the log's size for a connection that never wrote: others may have. The
 * file keeps its size when the log starts over, so it counts what there was at most. */
static int
pages_now(struct sqlite_db *conn)
{
    if (conn->wal_pages >= 0)
        return conn->wal_pages;
    struct stat wal;
    const char *path = sqlite3_filename_wal(sqlite3_db_filename(conn->handle, NULL));
    if (path == NULL || path[0] == '\0' || stat(path, &wal) != 0)
        return 0;
    int64_t pages = wal.st_size / 4096;
    return pages > INT_MAX ? INT_MAX : (int)pages;
}

/* checkpoint holds the write lock on a second connection, opened for this. Whatever is in the way is
 * no failure: the next commit tries again. */
static void
checkpoint(struct sqlite_db *conn)
{
    struct db_options options = {.busy_timeout_us = CHECKPOINT_WAIT_US};
    struct sqlite_db *keeper;
    if (sqlite_open_file(conn->path, &options, &keeper, NULL) != OWED_OK)
        return;
    if (sqlite_begin(&keeper->base, true, NULL) == OWED_OK)
        sqlite3_wal_checkpoint_v2(conn->handle, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
    sqlite_close(&keeper->base);
}

void
sqlite_checkpoint_above(struct sqlite_db *conn, int pages)
{
    int now = pages_now(conn);
    if (now < conn->checkpointed_pages)
        conn->checkpointed_pages = 0; // the log has started over
    // While a reader keeps the log from starting over it is not checkpointed at every commit.
    if (now - conn->checkpointed_pages <= pages)
        return;
    conn->checkpointed_pages = now;
    checkpoint(conn);
}

void
sqlite_tidy(struct db *db)
{
    struct sqlite_db *conn = sqlite_of(db);
    if (!db->adopted && !conn->begun)
        sqlite_checkpoint_above(conn, CHECKPOINT_RELAY_PAGES);
}
