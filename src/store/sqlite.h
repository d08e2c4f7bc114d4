/* SPDX-License-Identifier: MIT
 *
 * sqlite.h - what the files of the SQLite driver share: the connection behind a struct db.
 */
#ifndef STORE_SQLITE_H
#define STORE_SQLITE_H

#include <sqlite3.h>

#include <owed/error.h>

#include "store/driver.h"

/* A run of one statement. */
struct rows {
    struct sqlite_db *conn;
    sqlite3_stmt *stmt; // NULL: not running
    bool fetched;       // run has stepped to a row that next has not given out yet
    bool done;
    owed_status status; // of a step that failed; its sentence is the connection's
    int64_t changed;
};

struct sqlite_db {
    struct db base;
    sqlite3 *handle;
    char *path; // absolute, of the database file
    int64_t busy_timeout_us;
    int64_t busy_since_us; // monotonic: when the wait under way began

    sqlite3_stmt *stmts[STMT_MAX]; // prepared at first use, finalized at close
    struct rows rows[STMT_MAX];
    owed_error step_error;

    // The transaction that we began, as the hooks see it.
    bool begun;
    bool committing; // by us
    bool lost;       // somebody else ended it
    bool guarded;
    bool vetoed;
    bool light_next; // the next transaction need not be synced
    bool is_light;   // commits are not synced now

    int wal_pages;          // in the log after our latest commit; -1: none yet
    int checkpointed_pages; // in the log at our latest checkpoint
    int inotify;            // -1: none
    int wal_watch;
    int directory_watch;
    int64_t data_version;
};

struct sqlite_db *sqlite_of(struct db *db);

/* sqlite_fail says what SQLite said: "claim_pick: database disk image is malformed (/srv/shop.db)". */
owed_status sqlite_fail(struct sqlite_db *conn, int code, const char *what, owed_error *err);

/* sqlite_url.c: sqlite_path takes the path out of "sqlite:path"; CONFIG. Free it. */
owed_status sqlite_path(const char *url, char **ret_path, owed_error *err);

/* sqlite_statement.c */
owed_status sqlite_run(struct db *db, enum stmt stmt, const struct value *args, size_t count,
    struct rows **ret_rows, owed_error *err);
bool sqlite_next(struct rows *rows);
struct value sqlite_column(const struct rows *rows, unsigned column);
owed_status sqlite_finish(struct rows *rows, int64_t *ret_changed, owed_error *err);
owed_status sqlite_script(struct db *db, const char *text, owed_error *err);
/* sqlite_do runs a statement without parameters or rows. */
owed_status sqlite_do(struct sqlite_db *conn, enum stmt stmt, owed_error *err);
void sqlite_sweep(struct db *db);
void sqlite_finalize_all(struct sqlite_db *conn);

/* sqlite_transaction.c */
void sqlite_hook(struct sqlite_db *conn);
void sqlite_light(struct db *db);
/* sqlite_sync_commits switches between commits that are synced and light ones, where that differs. */
owed_status sqlite_sync_commits(struct sqlite_db *conn, bool on, owed_error *err);
owed_status sqlite_begin(struct db *db, bool write, owed_error *err);
owed_status sqlite_commit(struct db *db, owed_error *err);
void sqlite_rollback(struct db *db);
bool sqlite_in_transaction(struct db *db);
owed_status sqlite_savepoint(struct db *db, owed_error *err);
owed_status sqlite_release(struct db *db, owed_error *err);
owed_status sqlite_rollback_to(struct db *db, owed_error *err);
void sqlite_guard(struct db *db, bool on);
void sqlite_veto(struct db *db);
/* sqlite_still_ours answers ABORTED where the transaction that we began was ended by somebody else. */
owed_status sqlite_still_ours(struct sqlite_db *conn, owed_error *err);

/* sqlite_alone.c */
bool sqlite_alone(struct db *db, bool (*is_ours)(void *state, int pid), void *state);

/* sqlite_wake.c */
int sqlite_wake_fd(struct db *db);
bool sqlite_changed(struct db *db);
void sqlite_wake_close(struct sqlite_db *conn);

/* sqlite_checkpoint.c. Thresholds are in pages (usually of 4 KiB). */
#define CHECKPOINT_RELAY_PAGES 1024
#define CHECKPOINT_ALWAYS_PAGES 16384
void sqlite_watch_wal(struct sqlite_db *conn);
void sqlite_checkpoint_above(struct sqlite_db *conn, int pages);
void sqlite_tidy(struct db *db);

/* sqlite_connection.c: sqlite_open_file opens a store by its path. */
owed_status sqlite_open_file(const char *path, const struct db_options *options,
    struct sqlite_db **ret_conn, owed_error *err);
owed_status sqlite_still_there(struct db *db, owed_error *err);
owed_status sqlite_open(
    const char *url, const struct db_options *options, struct db **ret_db, owed_error *err);
owed_status sqlite_adopt(void *native, struct db **ret_db, owed_error *err);
void sqlite_close(struct db *db);

#endif
