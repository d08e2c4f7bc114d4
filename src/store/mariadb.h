/* SPDX-License-Identifier: MIT
 *
 * mariadb.h - what the files of the MariaDB driver share: the connection behind a struct db.
 */
#ifndef STORE_MARIADB_H
#define STORE_MARIADB_H

#include <mysql.h>

#include <owed/error.h>

#include "store/driver.h"

/* A column of the row that was fetched last. */
struct column {
    enum value_type type; // VALUE_INT, also of times; VALUE_TEXT, VALUE_BLOB
    bool is_time;
    int64_t integer;
    MYSQL_TIME time;
    char *bytes; // grows to the longest value seen
    size_t capacity;
    unsigned long len;
    my_bool is_null;
};

/* A run of one statement. Its result is fetched whole when it runs, so that others can run meanwhile.
 * It stays prepared, but not on an adopted connection. */
struct rows {
    struct mariadb_db *conn;
    MYSQL_STMT *stmt; // NULL: to be prepared
    struct column *columns;
    MYSQL_BIND *binds;
    unsigned column_count;
    bool running;
    owed_status status; // of a fetch that failed; its sentence is the connection's
    int64_t changed;
};

/* An event that goes with the commit. */
struct held {
    bool is;
    enum stmt stmt; // that would write it
    struct kept_args kept;
};

struct mariadb_db {
    struct db base;
    MYSQL *handle;
    char *place;    // for people: "shop on db.example:3306"
    char *identity; // of the database, the same for all who have it open
    char session[64];
    uint64_t max_packet; // what the server takes at once; 0: not asked yet

    struct rows rows[STMT_MAX];
    owed_error step_error;

    // The transaction that we began.
    bool begun;
    bool unsent; // its START TRANSACTION goes with the first statement of it that needs one
    struct held held;
    bool
        is_shared; // the connection was given to others, who may know it still: nothing is left unsent
    bool lost;     // somebody else ended it, or the server did
    bool vetoed;
    unsigned savepoints; // of ours, one in the other
    bool hurried;        // the session's lock waits are ours until it ends
    bool in_doubt;       // a statement failed: what that ended is not known yet
    bool broken;         // the connection is gone

    // What was sent before it was read what came of it.
    unsigned unread;    // answers
    owed_error refusal; // the first one, until the transaction or the savepoint before it ends
    bool is_undone;     // the server undid the transaction, to end a deadlock
    bool holds_back;    // autocommit is off until it ends
    bool was_lent;      // the connection was given to others since we last saw to its settings
};

/* Where a store is, as its URL says. What is NULL or 0 the client's option files may say. */
enum mariadb_option {
    MARIADB_SOCKET,
    MARIADB_DEFAULTS_FILE,
    MARIADB_DEFAULTS_GROUP,
    MARIADB_SSL_MODE,
    MARIADB_SSL_CA,
    MARIADB_SSL_CAPATH,
    MARIADB_SSL_CERT,
    MARIADB_SSL_KEY,
    MARIADB_SSL_CIPHER,
    MARIADB_SSL_FINGERPRINT,
    MARIADB_TLS_VERSION,
    MARIADB_CONNECT_TIMEOUT,
    MARIADB_READ_TIMEOUT,
    MARIADB_WRITE_TIMEOUT,
    MARIADB_OPTIONS
};
struct mariadb_url {
    char *user;
    char *password;
    char *host;
    char *database;
    unsigned port;
    char *options[MARIADB_OPTIONS];
};

/* mariadb_url.c: CONFIG, in a sentence without what the URL holds but for the name of an option that
 * resembles a known one. */
owed_status mariadb_url_read(const char *text, struct mariadb_url *ret_url, owed_error *err);
void mariadb_url_done(struct mariadb_url *url);

/* mariadb_error.c */
struct mariadb_db *mariadb_of(struct db *db);
/* mariadb_fail says what the server or the client library said, and notes what that means for the
 * connection and its transaction. */
owed_status mariadb_fail(
    struct mariadb_db *conn, unsigned code, const char *said, const char *what, owed_error *err);
/* mariadb_fail_last does so for the latest call on the connection. */
owed_status mariadb_fail_last(struct mariadb_db *conn, const char *what, owed_error *err);
/* mariadb_cannot_connect reads the refusal of a connection. */
owed_status mariadb_cannot_connect(
    MYSQL *handle, const char *place, const struct mariadb_url *url, owed_error *err);
/* mariadb_is_over tells whether a connection ends with that error. */
bool mariadb_is_over(unsigned code);

/* mariadb_connection.c */
owed_status mariadb_open(
    const char *url, const struct db_options *options, struct db **ret_db, owed_error *err);
owed_status mariadb_adopt(void *native, struct db **ret_db, owed_error *err);
void mariadb_close(struct db *db);
/* mariadb_check_version: CONFIG for a server too old for our statements. */
owed_status mariadb_check_version(unsigned long version, bool is_mariadb, owed_error *err);

/* mariadb_connect.c: mariadb_try_connect connects until stop_fd (0: none) is readable. A handle whose
 * connecting was stopped is no more the caller's, and NULL. */
enum mariadb_connected { MARIADB_CONNECTED, MARIADB_REFUSED, MARIADB_STOPPED };
enum mariadb_connected mariadb_try_connect(
    MYSQL **handle, const struct mariadb_url *url, int stop_fd);

/* mariadb_options.c: mariadb_handle makes a handle that mysql_real_connect can be asked of. */
owed_status mariadb_handle(const struct mariadb_url *url, const struct db_options *options,
    MYSQL **ret_handle, owed_error *err);
/* mariadb_check_tls: the library itself goes on in the clear with a server that has no TLS. */
owed_status mariadb_check_tls(
    const struct mariadb_db *conn, const struct mariadb_url *url, owed_error *err);
/* mariadb_harden sees to a fresh connection's socket and character set. */
owed_status mariadb_harden(struct mariadb_db *conn, owed_error *err);

/* mariadb_session.c */
/* mariadb_meet asks the server for what stands in identity, session and max_packet. */
owed_status mariadb_meet(struct mariadb_db *conn, owed_error *err);
owed_status mariadb_limit(
    struct mariadb_db *conn, const struct db_options *options, owed_error *err);
owed_status mariadb_hurry(struct db *db, owed_error *err);
/* mariadb_calm gives the session its lock waits and its autocommit back, once nothing is open; nobody waits
 * for the answers. */
void mariadb_calm(struct mariadb_db *conn);
owed_status mariadb_now(struct db *db, int64_t *ret_now_us, owed_error *err);
const char *mariadb_session(struct db *db);
owed_status mariadb_end_session(struct db *db, const char *session, owed_error *err);
const char *mariadb_where(struct db *db);
const char *mariadb_warning(struct db *db);

/* mariadb_statement.c */
owed_status mariadb_run(struct db *db, enum stmt stmt, const struct value *args, size_t count,
    struct rows **ret_rows, owed_error *err);
owed_status mariadb_finish(struct rows *rows, int64_t *ret_changed, owed_error *err);
/* mariadb_is_prepared tells whether a statement is, once that was tried. */
bool mariadb_is_prepared(struct mariadb_db *conn, enum stmt stmt);
/* mariadb_do runs a statement without parameters or rows, as text. */
owed_status mariadb_do(struct mariadb_db *conn, enum stmt stmt, owed_error *err);
owed_status mariadb_script(struct db *db, const char *text, owed_error *err);
void mariadb_sweep(struct db *db);
void mariadb_forget_statements(struct mariadb_db *conn);
const char *mariadb_file(enum stmt stmt);

/* mariadb_send.c */
/* mariadb_may_send: INVALID for a text that could do anything else than change rows. */
owed_status mariadb_may_send(struct str text, owed_error *err);
owed_status mariadb_send(struct db *db, struct str text, owed_error *err);
owed_status mariadb_collect(struct db *db, bool wait, owed_error *err);
/* mariadb_send_statement sends one of ours, without parameters, whose answer nobody waits for. */
owed_status mariadb_send_statement(struct mariadb_db *conn, enum stmt stmt, owed_error *err);
/* mariadb_hear reads all that is unread: nothing else can be asked on the connection before. */
void mariadb_hear(struct mariadb_db *conn);

/* mariadb_held.c */
bool mariadb_hold(struct db *db, enum stmt stmt, const struct value *args, size_t count);
bool mariadb_holds(struct db *db);
/* mariadb_let_go writes the event that is held, if one is: something else is to be done in its transaction. */
owed_status mariadb_let_go(struct mariadb_db *conn, owed_error *err);
/* mariadb_commit_held writes and commits it; UNSURE: whether it did is not known. */
owed_status mariadb_commit_held(struct mariadb_db *conn, owed_error *err);

/* mariadb_bind.c: parameters on their way in. */
#define MARIADB_PARAMETERS 64
struct parameters {
    MYSQL_BIND binds[MARIADB_PARAMETERS];
    MYSQL_TIME times[MARIADB_PARAMETERS];
    unsigned long lengths[MARIADB_PARAMETERS];
    size_t count;
    size_t bytes;  // of them all
    unsigned rows; // 0: one; else binds are columns of so many, and lie in columns
    void *columns;
};
/* mariadb_parameters puts args in the order in which the statement has its question marks; those of many rows
 * are freed by mariadb_parameters_done. */
owed_status mariadb_parameters(const struct sql *sql, enum stmt stmt, const struct value *args,
    size_t count, struct parameters *ret_parameters, owed_error *err);
void mariadb_parameters_done(struct parameters *parameters);
MYSQL_TIME mariadb_time(int64_t at_us);

/* mariadb_bulk.c: mariadb_columns binds the arguments of many rows, one row after the other, each of so many. */
bool mariadb_takes_rows(struct db *db);
owed_status mariadb_columns(const uint8_t *order, const struct value *args, size_t each,
    size_t rows, struct parameters *ret_parameters, owed_error *err);

/* mariadb_rows.c: columns on their way out. */
owed_status mariadb_rows_describe(struct rows *rows, owed_error *err);
void mariadb_rows_done(struct rows *rows);
/* mariadb_rows_trim gives back the memory of what was long. */
void mariadb_rows_trim(struct rows *rows);
bool mariadb_next(struct rows *rows);
struct value mariadb_column(const struct rows *rows, unsigned column);

/* mariadb_transaction.c */
void mariadb_light(struct db *db);
owed_status mariadb_begin(struct db *db, bool write, owed_error *err);
owed_status mariadb_commit(struct db *db, owed_error *err);
void mariadb_rollback(struct db *db);
bool mariadb_in_transaction(struct db *db);
owed_status mariadb_savepoint(struct db *db, owed_error *err);
owed_status mariadb_release(struct db *db, owed_error *err);
owed_status mariadb_rollback_to(struct db *db, owed_error *err);
void mariadb_guard(struct db *db, bool on);
void mariadb_veto(struct db *db);
owed_status mariadb_contention(struct db *db, bool failed);
/* mariadb_may_run answers ABORTED where the transaction that we began, or that an adopted connection
 * was in, is over, and UNAVAILABLE where the connection is. */
owed_status mariadb_may_run(struct mariadb_db *conn, enum stmt stmt, owed_error *err);
/* mariadb_beginning is the statement to run in place of one: the same, and it begins the transaction, where
 * that is left to it. */
enum stmt mariadb_beginning(const struct mariadb_db *conn, enum stmt stmt);
/* mariadb_has_begun hears what came of a statement that may have begun the transaction. */
void mariadb_has_begun(struct mariadb_db *conn, owed_status status);
void *mariadb_native(struct db *db);
/* mariadb_goes_on begins anew where a script of ours has ended the transaction: DDL commits. */
owed_status mariadb_goes_on(struct mariadb_db *conn, owed_error *err);

#endif
