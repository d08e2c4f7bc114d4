/* SPDX-License-Identifier: MIT
 *
 * sqlite_transaction.c - transactions on SQLite, and noticing when somebody else ends ours.
 *
 * A receiver writes on the connection that carries its acknowledgement, and could say COMMIT there.
 * The two hooks of a connection of ours see every end of a transaction: what we did not ask for marks
 * it as lost, and while it is guarded a foreign COMMIT becomes a rollback. A veto does the same to
 * everybody, us included. On an adopted connection hooks stand only from a veto to the rollback.
 */
#include "base/error.h"
#include "store/sqlite.h"

/* on_commit answers 1 to turn the commit into a rollback. */
static int
on_commit(void *arg)
{
    struct sqlite_db *conn = arg;
    if (!conn->begun)
        return 0;
    if (conn->committing)
        return conn->vetoed;
    conn->lost = true;
    return conn->guarded || conn->vetoed;
}

static void
on_rollback(void *arg)
{
    struct sqlite_db *conn = arg;
    if (conn->begun)
        conn->lost = true;
    conn->vetoed = false;
}

void
sqlite_hook(struct sqlite_db *conn)
{
    sqlite3_commit_hook(conn->handle, on_commit, conn);
    sqlite3_rollback_hook(conn->handle, on_rollback, conn);
}

/* refuse and lift need no state but the handle, so they may outlive the struct db: an application
 * can forget us and still say COMMIT. */
static int
refuse(void *handle)
{
    (void)handle;
    return 1;
}

static void
lift(void *handle)
{
    sqlite3_commit_hook(handle, NULL, NULL);
    sqlite3_rollback_hook(handle, NULL, NULL);
}

void
sqlite_veto(struct db *db)
{
    struct sqlite_db *conn = sqlite_of(db);
    if (!sqlite_in_transaction(db))
        return;
    conn->vetoed = true;
    if (!db->adopted)
        return;
    sqlite3_commit_hook(conn->handle, refuse, conn->handle);
    sqlite3_rollback_hook(conn->handle, lift, conn->handle);
}

void
sqlite_guard(struct db *db, bool on)
{
    sqlite_of(db)->guarded = on;
}

bool
sqlite_in_transaction(struct db *db)
{
    struct sqlite_db *conn = sqlite_of(db);
    bool open = sqlite3_get_autocommit(conn->handle) == 0;
    return db->adopted ? open : open && conn->begun && !conn->lost;
}

owed_status
sqlite_still_ours(struct sqlite_db *conn, owed_error *err)
{
    if (!conn->begun || (!conn->lost && sqlite3_get_autocommit(conn->handle) == 0))
        return OWED_OK;
    return driver_fail_ended(conn->path, err);
}

static void
forget(struct sqlite_db *conn)
{
    conn->begun = conn->committing = conn->lost = conn->vetoed = false;
}

void
sqlite_light(struct db *db)
{
    sqlite_of(db)->light_next = true;
}

/* SQLite takes the setting when the text is prepared, and only outside transactions. */
owed_status
sqlite_sync_commits(struct sqlite_db *conn, bool on, owed_error *err)
{
    if (conn->is_light == !on)
        return OWED_OK;
    const struct sql *sql = conn->base.driver->sql;
    owed_status status = sqlite_script(
        &conn->base, sql->statements[on ? STMT_SYNC_COMMITS : STMT_LIGHT_COMMITS], err);
    if (status == OWED_OK)
        conn->is_light = !on;
    return status;
}

owed_status
sqlite_begin(struct db *db, bool write, owed_error *err)
{
    struct sqlite_db *conn = sqlite_of(db);
    owed_status status = driver_may_begin(db, conn->begun, conn->path, err);
    if (status != OWED_OK)
        return status;
    status = write ? sqlite_still_there(db, err) : OWED_OK;
    if (status == OWED_OK)
        status = sqlite_sync_commits(conn, !conn->light_next, err);
    conn->light_next = false;
    if (status == OWED_OK)
        status = sqlite_do(conn, write ? STMT_BEGIN_WRITE : STMT_BEGIN_READ, err);
    conn->begun = status == OWED_OK;
    return status;
}

/* end_by_commit says COMMIT. Frames that could not be synced may still be found, whole, when the log
 * is recovered after a crash: whether such a commit happened is not known. */
static owed_status
end_by_commit(struct sqlite_db *conn, owed_error *err)
{
    conn->committing = true;
    owed_status status = sqlite_do(conn, STMT_COMMIT, err);
    int code = sqlite3_extended_errcode(conn->handle);
    if (status != OWED_UNAVAILABLE || (code & 0xff) != SQLITE_IOERR)
        return status;
    return fail_native(err, OWED_UNSURE, code,
        "commit: %s (%s): the change is lost, or comes back with the next recovery",
        sqlite3_errstr(code), conn->path);
}

owed_status
sqlite_commit(struct db *db, owed_error *err)
{
    struct sqlite_db *conn = sqlite_of(db);
    owed_status status = sqlite_still_ours(conn, err);
    if (status == OWED_OK && driver_has_begun(db, conn->begun, conn->path, err) != OWED_OK)
        return OWED_BUG;
    if (status == OWED_OK && conn->vetoed)
        status = driver_fail_vetoed(err);
    if (status == OWED_OK)
        status = end_by_commit(conn, err);
    if (status != OWED_OK) {
        sqlite_rollback(db);
        return status;
    }
    forget(conn);
    sqlite_checkpoint_above(conn, CHECKPOINT_ALWAYS_PAGES);
    return OWED_OK;
}

void
sqlite_rollback(struct db *db)
{
    struct sqlite_db *conn = sqlite_of(db);
    if (db->adopted)
        return;
    forget(conn);
    if (sqlite3_get_autocommit(conn->handle) == 0)
        sqlite_do(conn, STMT_ROLLBACK, NULL);
}

owed_status
sqlite_savepoint(struct db *db, owed_error *err)
{
    return sqlite_do(sqlite_of(db), STMT_SAVEPOINT, err);
}

/* end_savepoint reads the refusal of a savepoint that is not there: whoever ended the transaction took it. */
static owed_status
end_savepoint(struct db *db, enum stmt stmt, owed_error *err)
{
    struct sqlite_db *conn = sqlite_of(db);
    owed_status status = sqlite_do(conn, stmt, err);
    if (status != OWED_STORE || sqlite3_errcode(conn->handle) != SQLITE_ERROR)
        return status;
    return fail(err, OWED_ABORTED,
        "the savepoint on %s is gone: somebody else has ended it, or the transaction", conn->path);
}

owed_status
sqlite_release(struct db *db, owed_error *err)
{
    return end_savepoint(db, STMT_RELEASE, err);
}

owed_status
sqlite_rollback_to(struct db *db, owed_error *err)
{
    return end_savepoint(db, STMT_ROLLBACK_TO, err);
}
