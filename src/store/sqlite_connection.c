/* SPDX-License-Identifier: MIT
 *
 * sqlite_connection.c - opening, adopting and closing SQLite connections, and what their errors mean.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "store/sqlite.h"

#define BUSY_DEFAULT_US (5 * US_PER_SECOND)
#define BUSY_POLL_NS 500000

struct sqlite_db *
sqlite_of(struct db *db)
{
    return (struct sqlite_db *)db;
}

/* What a primary result code means to the caller; all others: STORE. */
static const struct {
    int code;
    owed_status status;
} meanings[] = {
    {SQLITE_BUSY, OWED_BUSY},
    {SQLITE_LOCKED, OWED_BUSY},
    {SQLITE_NOMEM, OWED_NOMEM},
    {SQLITE_CANTOPEN, OWED_UNAVAILABLE},
    {SQLITE_IOERR, OWED_UNAVAILABLE},
    {SQLITE_NOTADB, OWED_UNAVAILABLE},
    {SQLITE_CORRUPT, OWED_UNAVAILABLE},
    {SQLITE_READONLY, OWED_UNAVAILABLE},
    {SQLITE_PERM, OWED_UNAVAILABLE},
    {SQLITE_PROTOCOL, OWED_UNAVAILABLE},
    {SQLITE_AUTH, OWED_UNAVAILABLE},
    {SQLITE_TOOBIG, OWED_LIMIT},
    {SQLITE_MISUSE, OWED_BUG},
    {SQLITE_RANGE, OWED_BUG},
};

static owed_status
meaning(int code)
{
    for (size_t i = 0; i < sizeof meanings / sizeof meanings[0]; i++)
        if (meanings[i].code == (code & 0xff))
            return meanings[i].status;
    return OWED_STORE;
}

owed_status
sqlite_fail(struct sqlite_db *conn, int code, const char *what, owed_error *err)
{
    const char *said = sqlite3_errmsg(conn->handle);
    if ((code & 0xff) == SQLITE_FULL)
        return fail_native(err, OWED_UNAVAILABLE, code,
            "%s: %s is full or over its limit (%s): nothing was written; make room and try again",
            what, conn->path, said);
    if ((code & 0xff) == SQLITE_READONLY && code != SQLITE_READONLY_DBMOVED)
        return fail_native(err, OWED_UNAVAILABLE, code,
            "%s: %s cannot be written (%s): the file and its folder have to be writable for this account",
            what, conn->path, said);
    // The message is all there is to tell a missing table from any other mistake.
    if (code == SQLITE_ERROR && strncmp(said, "no such table: owed_", 20) == 0)
        return fail_native(err, OWED_SCHEMA, code,
            "%s: %s has no tables of owed (%s): run owed init", what, conn->path, said);
    return fail_native(err, meaning(code), code, "%s: %s (%s)", what, said, conn->path);
}

static int64_t
monotonic_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * US_PER_SECOND + now.tv_nsec / 1000;
}

/* on_busy waits in short even steps: SQLite's own handler waits longer and longer, and loses to
 * whoever comes back at once. */
static int
on_busy(void *arg, int times)
{
    struct sqlite_db *conn = arg;
    int64_t now = monotonic_us();
    if (times == 0)
        conn->busy_since_us = now;
    if (now - conn->busy_since_us >= conn->busy_timeout_us)
        return 0;
    struct timespec step = {.tv_nsec = BUSY_POLL_NS};
    nanosleep(&step, NULL);
    return 1;
}

static struct sqlite_db *
new_connection(bool adopted)
{
    struct sqlite_db *conn = calloc(1, sizeof *conn);
    if (conn == NULL)
        return NULL;
    conn->base = (struct db){.driver = &driver_sqlite, .adopted = adopted};
    conn->inotify = conn->wal_watch = conn->directory_watch = -1;
    conn->wal_pages = -1;
    return conn;
}

/* take_path keeps the file's absolute name, as SQLite resolved it. */
static owed_status
take_path(struct sqlite_db *conn, owed_error *err)
{
    const char *path = sqlite3_db_filename(conn->handle, NULL);
    char *copy = strdup(path == NULL ? "" : path);
    if (copy == NULL)
        return fail_memory(err);
    free(conn->path);
    conn->path = copy;
    return OWED_OK;
}

static void
free_connection(struct sqlite_db **conn)
{
    if (*conn != NULL)
        sqlite_close(&(*conn)->base);
}

static int
open_flags(const struct db_options *options)
{
    int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
    if (options->read_only)
        return flags | SQLITE_OPEN_READONLY;
    return flags | SQLITE_OPEN_READWRITE | (options->create ? SQLITE_OPEN_CREATE : 0);
}

static owed_status
no_such_file(
    const struct sqlite_db *conn, const struct db_options *options, int code, owed_error *err)
{
    int native = sqlite3_system_errno(conn->handle);
    if (options->create && native != 0)
        return fail_native(err, OWED_UNAVAILABLE, code, "%s cannot be made: %s", conn->path,
            native == ENOENT ? "its folder does not exist" : strerrordesc_np(native));
    if (access(conn->path, F_OK) != 0 && errno == ENOENT)
        return fail_native(
            err, OWED_UNAVAILABLE, code, "there is no file %s: owed init makes it", conn->path);
    return fail_native(err, OWED_UNAVAILABLE, code, "%s cannot be opened: %s", conn->path,
        conn->handle == NULL ? "out of memory" : sqlite3_errmsg(conn->handle));
}

/* set_up prepares a session. Two that make a file at once meet at its journal mode, where SQLite does
 * not call the busy handler: then it is tried again. */
static owed_status
set_up(struct sqlite_db *conn, const struct db_options *options, owed_error *err)
{
    sqlite3_busy_handler(conn->handle, on_busy, conn);
    sqlite_watch_wal(conn);
    sqlite_hook(conn);
    if (options->read_only)
        return OWED_OK;
    owed_status status;
    int times = 0;
    do {
        status = sqlite_script(&conn->base, driver_sqlite.sql->session, err);
    } while (status == OWED_BUSY && on_busy(conn, times++) == 1);
    return status;
}

owed_status
sqlite_open_file(const char *path, const struct db_options *options, struct sqlite_db **ret_conn,
    owed_error *err)
{
    CLEANUP(free_connection) struct sqlite_db *conn = new_connection(false);
    if (conn == NULL || (conn->path = strdup(path)) == NULL)
        return fail_memory(err);
    int64_t timeout = options->busy_timeout_us;
    conn->busy_timeout_us = timeout == 0 ? BUSY_DEFAULT_US : timeout;
    int code = sqlite3_open_v2(path, &conn->handle, open_flags(options), NULL);
    if (code != SQLITE_OK)
        return no_such_file(conn, options, code, err);
    owed_status status = take_path(conn, err);
    if (status == OWED_OK)
        status = set_up(conn, options, err);
    if (status == OWED_OK)
        *ret_conn = steal(&conn);
    return status;
}

owed_status
sqlite_open(const char *url, const struct db_options *options, struct db **ret_db, owed_error *err)
{
    CLEANUP(free_ptr) char *path = NULL;
    owed_status status = sqlite_path(url, &path, err);
    struct sqlite_db *conn;
    if (status == OWED_OK)
        status = sqlite_open_file(path, options, &conn, err);
    if (status == OWED_OK)
        *ret_db = &conn->base;
    return status;
}

/* sqlite_still_there: whoever writes to a file without a name writes to nobody. */
owed_status
sqlite_still_there(struct db *db, owed_error *err)
{
    struct sqlite_db *conn = sqlite_of(db);
    int moved = 0;
    sqlite3_file_control(conn->handle, NULL, SQLITE_FCNTL_HAS_MOVED, &moved);
    if (moved == 0)
        return OWED_OK;
    return fail(err, OWED_UNAVAILABLE,
        "%s was deleted or replaced since it was opened: it has to be opened anew", conn->path);
}

/* stop_autocheckpoint switches SQLite's own off where it is on. They live in the hook on the log: one
 * that the application has put there stays. */
static owed_status
stop_autocheckpoint(struct sqlite_db *conn, owed_error *err)
{
    struct rows *rows;
    owed_status status = sqlite_run(&conn->base, STMT_AUTOCHECKPOINT, NULL, 0, &rows, err);
    if (status != OWED_OK)
        return status;
    int64_t pages = sqlite_next(rows) ? sqlite_column(rows, 0).integer : 0;
    status = sqlite_finish(rows, NULL, err);
    if (status == OWED_OK && pages != 0)
        sqlite3_wal_autocheckpoint(conn->handle, 0);
    return status;
}

owed_status
sqlite_adopt(void *native, struct db **ret_db, owed_error *err)
{
    CLEANUP(free_connection) struct sqlite_db *conn = new_connection(true);
    if (conn == NULL)
        return fail_memory(err);
    conn->handle = native;
    owed_status status = take_path(conn, err);
    if (status == OWED_OK)
        status = stop_autocheckpoint(conn, err);
    if (status == OWED_OK)
        *ret_db = &steal(&conn)->base;
    return status;
}

void
sqlite_close(struct db *db)
{
    if (db == NULL)
        return;
    struct sqlite_db *conn = sqlite_of(db);
    sqlite_wake_close(conn);
    sqlite_finalize_all(conn);
    // The hooks must not see the rollback of what is still open: their state goes away here.
    if (!db->adopted && conn->handle != NULL) {
        sqlite3_commit_hook(conn->handle, NULL, NULL);
        sqlite3_rollback_hook(conn->handle, NULL, NULL);
        // A receiver may still hold statements of its own: the connection ends with the last of them.
        sqlite_sweep(db);
        sqlite3_close_v2(conn->handle);
    }
    free(conn->path);
    free(conn);
}
