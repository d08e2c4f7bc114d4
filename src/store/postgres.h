/* SPDX-License-Identifier: MIT
 *
 * postgres.h - what the files of the PostgreSQL driver share: the connection behind a struct db.
 */
#ifndef STORE_POSTGRES_H
#define STORE_POSTGRES_H

#include <libpq-fe.h>

#include <owed/error.h>

#include "base/cleanup.h"
#include "store/driver.h"

#define POSTGRES_PARAMETERS_MAX 24
#define POSTGRES_QUEUE_MAX 8

/* One statement on its way. */
struct command {
    enum stmt stmt;
    const struct value *args;
    size_t count;
    bool flush; // its result is wanted before those that follow are worked on
    bool alone; // kept or lost by itself, whatever becomes of those that follow
};

/* A statement's arguments as libpq takes them. */
struct bound {
    int count;
    Oid types[POSTGRES_PARAMETERS_MAX];
    const char *values[POSTGRES_PARAMETERS_MAX];
    int lengths[POSTGRES_PARAMETERS_MAX];
    int formats[POSTGRES_PARAMETERS_MAX];
    uint64_t numbers[POSTGRES_PARAMETERS_MAX];
};

/* A run of one statement. */
struct rows {
    struct postgres_db *conn; // NULL: kept
    PGresult *result;         // NULL: not running
    int row;                  // that next gave out; -1: none yet
};

/* A statement that goes with the next one, or with the commit; command points to what is kept of its arguments. */
struct held {
    bool is;
    struct command command;
    struct kept_args kept;
};

/* How a statement stands on the server, where it was prepared at its first use. */
struct prepared {
    bool is;
    unsigned times; // it was prepared before under other names, which are of no use any more
    uint8_t kinds[POSTGRES_PARAMETERS_MAX]; // enum value_type; VALUE_NULL: whatever its cast says
};

/* What waits for notifications, and for nothing else. */
struct listener {
    struct postgres_db *ear; // NULL: none
    bool heard;              // something came that changed has not told yet
    bool is_asleep;          // producers know that somebody waits
    bool is_sure;            // and all who began before they did are done
    bool is_proven;          // what was sent to it came
    bool probing;            // what was sent last has not come yet
    int64_t probed_at_us;    // monotonic
    int64_t again_at_us;     // monotonic: before that no new one is opened
    int64_t pause_us;        // how long that was the last time
    const char *deaf;        // why nothing is heard; NULL: it is, or nobody knows yet
};

struct postgres_db {
    struct db base;
    PGconn *handle;
    char *url;   // may hold a password; NULL: adopted
    char *place; // for sentences: "shop on db.example:5432"
    char *application;
    struct db_options options;
    char session[48];
    char where[160];              // "": not asked yet
    char timeline[16];            // of the server, when the connection was made
    struct value lock_timeout_ms; // null: the operator's own
    bool is_unprepared; // adopted, or the server at the other end may be another one each time
    bool is_pooled;     // settings of the session would be somebody else's
    bool is_overdue;    // an answer did not come in its time
    bool repeat;        // the latest failure was that of a plan: once more, and it is made anew
    bool was_lent;      // an application had the handle: what it set may still be set
    bool is_shared;     // it has had it once, and may have kept it

    struct prepared prepared[STMT_MAX];
    struct rows rows[STMT_MAX];

    // What goes out with the next statement, and why that could not be done.
    enum stmt queue[POSTGRES_QUEUE_MAX];
    size_t queued;
    owed_error queue_error;
    struct held held;
    unsigned in_full; // so many that go with their commit are not tried alone

    // The transaction that we began.
    bool begun;
    bool is_sent; // BEGIN is not in the queue any more
    bool lost;    // somebody else ended it
    bool is_light;
    bool writes;
    int64_t number; // the server's for it, where a statement said it; 0: none has
    bool vetoed;
    bool hurried;
    bool light_next;
    bool guard_wanted;
    bool guarded;
    bool is_piped;         // what a receiver sent may not be answered yet
    owed_error pipe_error; // why something of it was refused

    struct listener listener;
};

struct postgres_db *postgres_of(struct db *db);
int64_t postgres_monotonic_us(void);

static inline void
clear_result(PGresult **result)
{
    PQclear(*result);
}

/* --- postgres_error.c --- */

/* postgres_fail says what the server said: "claim_pick: deadlock detected (shop on /run:5432)". Its
 * native code is the SQLSTATE, packed as owed/postgres.h says. */
owed_status postgres_fail(
    const struct postgres_db *conn, const PGresult *result, const char *what, owed_error *err);
/* postgres_fail_lost is for a connection that is gone, or of no use any more. */
owed_status postgres_fail_lost(
    const struct postgres_db *conn, PGconn *handle, const char *what, owed_error *err);
bool postgres_says(const PGresult *result, const char *sqlstate);
/* postgres_sentence copies a message of libpq's: one line, no password. */
void postgres_sentence(PGconn *handle, const char *said, char *text, size_t size);

/* --- postgres_values.c --- */

/* postgres_bind points into the command's arguments; false: there are too many, or one too long. */
bool postgres_bind(const struct command *command, struct bound *bound);
struct value postgres_value(const PGresult *result, int row, int column);
bool postgres_reads(const PGresult *result, int column); // a column of its type

/* --- postgres_talk.c: sending and waiting --- */

bool postgres_is_lost(const PGconn *handle);
/* postgres_get waits for the next result; NULL: no more, or the connection was lost. */
PGresult *postgres_get(PGconn *handle, int64_t deadline_us);
/* postgres_cut ends a connection that nothing more is to come from; its handle stays. */
void postgres_cut(PGconn *handle);
int64_t postgres_deadline_us(const struct postgres_db *conn);

/*
 * postgres_talk runs what is queued and then these commands, in one round trip. results[i] belongs to
 * commands[i] and is the caller's to clear, on failure too; NULL: no answer came. err is about the
 * first that failed.
 */
owed_status postgres_talk(struct postgres_db *conn, const struct command *commands, size_t count,
    PGresult **results, owed_error *err);
/* postgres_wants_preparing tells whether the server has no such statement yet, or none that takes these arguments. */
bool postgres_wants_preparing(const struct postgres_db *conn, const struct command *command);
void postgres_queue(struct postgres_db *conn, enum stmt stmt);
/* postgres_flush runs what is queued. */
owed_status postgres_flush(struct postgres_db *conn, owed_error *err);

/* --- postgres_statement.c --- */

const char *postgres_file(enum stmt stmt);
bool postgres_has(const struct postgres_db *conn, enum stmt stmt);
owed_status postgres_run(struct db *db, enum stmt stmt, const struct value *args, size_t count,
    struct rows **ret_rows, owed_error *err);
bool postgres_next(struct rows *rows);
struct value postgres_column(const struct rows *rows, unsigned column);
owed_status postgres_finish(struct rows *rows, int64_t *ret_changed, owed_error *err);
struct rows *postgres_keep(struct rows *rows, size_t *ret_count);
struct value postgres_peek(const struct rows *kept, size_t row, unsigned column);
owed_status postgres_script(struct db *db, const char *text, owed_error *err);
/* postgres_note_number keeps the number of the open transaction, where a statement says it: nobody has to ask. */
void postgres_note_number(struct postgres_db *conn, enum stmt stmt, const PGresult *result);
/* postgres_do runs a statement without rows. */
owed_status postgres_do(struct postgres_db *conn, enum stmt stmt, owed_error *err);
void postgres_end_rows(struct postgres_db *conn);

/* --- postgres_transaction.c --- */

void postgres_light(struct db *db);
owed_status postgres_begin(struct db *db, bool write, owed_error *err);
owed_status postgres_commit(struct db *db, owed_error *err);
void postgres_rollback(struct db *db);
bool postgres_in_transaction(struct db *db);
owed_status postgres_savepoint(struct db *db, owed_error *err);
owed_status postgres_release(struct db *db, owed_error *err);
owed_status postgres_rollback_to(struct db *db, owed_error *err);
void postgres_guard(struct db *db, bool on);
void postgres_veto(struct db *db);
owed_status postgres_hurry(struct db *db, owed_error *err);
owed_status postgres_contention(struct db *db, bool failed);
void *postgres_native(struct db *db);
/* postgres_lend gives the handle to an application, once what is queued has been sent. */
PGconn *postgres_lend(struct postgres_db *conn);
/* postgres_still_ours answers ABORTED where the transaction that we began was ended by somebody else. */
owed_status postgres_still_ours(struct postgres_db *conn, owed_error *err);

/* --- postgres_held.c --- */

bool postgres_hold(struct db *db, enum stmt stmt, const struct value *args, size_t count);
bool postgres_holds(struct db *db);

/* --- postgres_doubt.c --- */

/* postgres_settle_doubt is for a commit whose answer did not come; number is what the server answered to the
 * question for the transaction's, where it was asked, and held what went along with the commit and is all that
 * was written; or NULL. What was refused before it never reached it. */
owed_status postgres_settle_doubt(
    struct postgres_db *conn, const PGresult *number, const struct command *held, owed_error *err);

/* --- postgres_sweep.c --- */

void postgres_sweep(struct db *db);
void *postgres_pipeline(struct db *db);
owed_status postgres_collect(struct db *db, bool wait, owed_error *err);

/* --- postgres_url.c --- */

/* postgres_check_url answers CONFIG for what is no URL of libpq's, and shows nothing of its inside. */
owed_status postgres_check_url(const char *url, owed_error *err);

/* --- postgres_connect.c --- */

/* postgres_connect opens a bare connection: no session is set up. */
owed_status postgres_connect(
    const char *url, const struct db_options *options, PGconn **ret_handle, owed_error *err);

/* --- postgres_connection.c --- */

owed_status postgres_open(
    const char *url, const struct db_options *options, struct db **ret_db, owed_error *err);
owed_status postgres_adopt(void *native, struct db **ret_db, owed_error *err);
void postgres_close(struct db *db);
owed_status postgres_now(struct db *db, int64_t *ret_now_us, owed_error *err);
const char *postgres_where(struct db *db);
const char *postgres_warning(struct db *db);
const char *postgres_session(struct db *db);
/* postgres_session_values reads the arguments of session_end; false: it names no session. */
bool postgres_session_values(const char *session, struct value ret_args[static 2]);
owed_status postgres_end_session(struct db *db, const char *session, owed_error *err);

/* --- postgres_wake.c --- */

int postgres_wake_fd(struct db *db);
bool postgres_changed(struct db *db);
bool postgres_asleep(struct db *db, bool on);
const char *postgres_deaf(struct db *db);
void postgres_wake_close(struct postgres_db *conn);

#endif
