/* SPDX-License-Identifier: MIT
 *
 * driver.h - what a client library must do for us: a dozen functions, and the dialect's SQL.
 *
 * Stores differ in their statements (sql/<dialect>/), not in C: store.c says the domain's verbs once,
 * and a driver runs statements. An adopted connection is the application's: we never begin, commit or
 * close it.
 */
#ifndef STORE_DRIVER_H
#define STORE_DRIVER_H

#include <stdbool.h>
#include <stdint.h>

#include <owed/error.h>
#include <owed/owed.h>

#include "base/str.h"

/* Every statement: STATEMENT(NAME, file in sql/<dialect>/query without .sql, parameters, columns).
 * The list is src/store/statements.def. */
enum stmt {
#define STATEMENT(name, file, parameters, columns) STMT_##name,
#include "store/statements.def"
#undef STATEMENT
    STMT_MAX
};

/* A time is a parameter only: microseconds since 1970-01-01 UTC, that moment itself for "not yet". It
 * is bound as the store's own type; columns of that type come back as VALUE_INT. An array (array.h) is a
 * parameter of statements that PostgreSQL alone has. */
enum value_type { VALUE_NULL, VALUE_INT, VALUE_TIME, VALUE_TEXT, VALUE_BLOB, VALUE_ARRAY };

/* One parameter or column. bytes is borrowed: from the caller, or from the row until the next one. */
struct value {
    enum value_type type;
    int64_t integer;
    struct str bytes;
};

/* A file of sql/, embedded. */
struct script {
    int version;      // migrations: its number; routines: 0
    const char *name; // "0001_tables"
    const char *text;
    const char *checksum; // SHA-256 of the text, in hex
};

struct sql {                       // one dialect, generated from sql/<dialect>/
    const char *const *statements; // STMT_MAX of them
    const struct script *schema;   // ends with a NULL name
    const struct script *routines; // ends with a NULL name
    const char *session;           // script for every connection that we open
    // Where the client library counts "?": of each statement the parameters in the order in which they
    // appear, ended by 0. NULL: parameters have their numbers in the text.
    const uint8_t *const *orders;
    const char *zone; // follows a time that is written as text; NULL: times are integers
    const char *wrap; // takes a routine as a literal, where it is printed; NULL: it stands as it is
    const char
        *delimiter; // a client is told to cut at it instead of ";" where one is printed; or NULL
};

struct db_options {
    int64_t busy_timeout_us;      // 0: 5 s; below 0: no wait at all
    bool create;                  // make the file where there is none
    bool read_only;               // for commands that only look
    int64_t connect_timeout_us;   // 0: 10 s. This and what follows: of servers
    int64_t statement_timeout_us; // 0: none
    const char *application;      // the name that the server shows; NULL: "owed"
    int stop_fd;                  // readable: who connects gives up; 0: none
};

struct db;   // one connection
struct rows; // of one run statement

struct driver {
    const char *scheme; // "sqlite"
    const struct sql *sql;
    bool single_writer; // a write transaction keeps all others waiting
    // Nothing can keep a receiver from committing what its neighbours wrote: each outcome goes into the
    // transaction before its savepoint is released.
    bool settles_early;
    // A statement that is refused is undone, and the transaction goes on; not one that was cut short.
    bool undoes_refused;

    /* open: CONFIG for a bad URL, UNAVAILABLE where there is no such store and create is not set. */
    owed_status (*open)(
        const char *url, const struct db_options *options, struct db **ret_db, owed_error *err);
    owed_status (*adopt)(void *native, struct db **ret_db, owed_error *err);
    void (*close)(struct db *db);

    /* light makes the commit of the next transaction, or of the next statement outside of one, a cheap
     * one: it outlives this process, but a power cut may undo it, with what came after it. For what can
     * as well be done again. */
    void (*light)(struct db *db);

    /* A write transaction takes the writer's lock at once where the store has one. */
    owed_status (*begin)(struct db *db, bool write, owed_error *err);
    owed_status (*commit)(struct db *db, owed_error *err); // UNSURE: the answer was lost
    void (*rollback)(struct db *db);
    bool (*in_transaction)(struct db *db);

    /* One savepoint of ours at a time. release and rollback_to answer ABORTED when it is gone. */
    owed_status (*savepoint)(struct db *db, owed_error *err);
    owed_status (*release)(struct db *db, owed_error *err);
    owed_status (*rollback_to)(struct db *db, owed_error *err);

    /* guard(true) makes any commit but our own impossible, guard(false) ends that. */
    void (*guard)(struct db *db, bool on);
    /* veto makes the commit of the open transaction impossible, whoever tries, until it is rolled
     * back; adopted connections included. */
    void (*veto)(struct db *db);

    /* hurry: until the open transaction ends no statement of it waits for a lock; BUSY instead. NULL
     * where nothing waits row by row. */
    owed_status (*hurry)(struct db *db, owed_error *err);

    /*
     * contention tells how others' locks came between a receiver and the open transaction, by what its last
     * statement on the connection came to. BUSY: it was refused, as it would have had to wait. ABORTED: a
     * deadlock or a serialization failure, and the transaction is of no use any more. UNSURE: it failed,
     * nobody can tell why, and the transaction goes on from a savepoint only. UNAVAILABLE: the
     * connection is lost. OK: none of these. failed: the receiver says that it did, so that it is
     * worth asking. NULL
     * where nothing waits row by row.
     */
    owed_status (*contention)(struct db *db, bool failed);

    /* sweep ends what a receiver left running on the connection; nothing of ours is running. */
    void (*sweep)(struct db *db);

    /* run starts a statement; args live until finish. One run of each statement at a time. Without
     * columns it is done when run returns. */
    owed_status (*run)(struct db *db, enum stmt stmt, const struct value *args, size_t count,
        struct rows **ret_rows, owed_error *err);

    /* takes_rows tells whether a statement without columns may be given the arguments of many rows, one after
     * the other: it runs for each, and where one is refused none is done. NULL: it may not. */
    bool (*takes_rows)(struct db *db);

    /* hold keeps a statement, and what its arguments point to, to go with the next one of the open transaction, or
     * with its commit: what it came to is said by that one, and its rows by nobody. false: run it. holds tells
     * whether one is still kept. Both NULL where there is no such thing. */
    bool (*hold)(struct db *db, enum stmt stmt, const struct value *args, size_t count);
    bool (*holds)(struct db *db);

    bool (*next)(struct rows *rows);
    struct value (*column)(const struct rows *rows, unsigned column);
    /* finish ends rows and says whether they came to their end; ret_changed may be NULL. */
    owed_status (*finish)(struct rows *rows, int64_t *ret_changed, owed_error *err);

    /* keep takes all rows of a run, none of which was read, away from the connection: they are read and
     * finished as any, by any thread, and the run is still to be finished. peek reads a column of one of these.
     * NULL: there is none, or no memory. Both NULL where rows come one by one. */
    struct rows *(*keep)(struct rows *rows, size_t *ret_count);
    struct value (*peek)(const struct rows *kept, size_t row, unsigned column);

    /* script runs several statements; for migrations and routines. */
    owed_status (*script)(struct db *db, const char *text, owed_error *err);

    /* now reads the store's clock, by which all its times are compared. NULL: the host's is it. */
    owed_status (*now)(struct db *db, int64_t *ret_now_us, owed_error *err);

    /* session names this connection on its server, for others to end it when its process is dead, and
     * with it what it still holds. end_session answers OK also where there is no such session any
     * more. Both NULL where a connection dies with its process. */
    const char *(*session)(struct db *db);
    owed_status (*end_session)(struct db *db, const char *session, owed_error *err);

    /* wake_fd becomes readable when somebody may have committed; -1 where there is no such thing.
     * changed empties it and tells whether another connection did commit since the last call. On
     * SQLite the fd may speak before the commit can be seen, and not again: after it spoke, look
     * closely (every 50 us for up to 20 ms) until changed says so. */
    int (*wake_fd)(struct db *db);
    bool (*changed)(struct db *db);

    /*
     * asleep(true) lets those who commit know that somebody waits: when it answers true, whatever is
     * committed from here on is announced by wake_fd, and who now looks once more misses nothing. false:
     * that cannot be relied on, because somebody who began before is not done yet, or because nothing was
     * seen to come through: poll, and ask again. asleep(false) ends it. NULL: everything is announced always.
     */
    bool (*asleep)(struct db *db, bool on);
    /* deaf is a sentence on why nothing is announced here; NULL, also as a member: it is. */
    const char *(*deaf)(struct db *db);

    /* still_there answers UNAVAILABLE where what was opened is no longer what others find there: on
     * SQLite, a file that was deleted or replaced. begin asks it before a write. */
    owed_status (*still_there)(struct db *db, owed_error *err);

    /* alone tells whether no process but those that is_ours knows has the store open; false where that
     * cannot be told. NULL: nobody waits for a single writer here. */
    bool (*alone)(struct db *db, bool (*is_ours)(void *state, int pid), void *state);

    /* path is the file that holds the store, absolute; NULL or "" where there is none. */
    const char *(*path)(struct db *db);

    /* where names the tables that are reached on a server, the same to all that reach them. NULL: path
     * names their file. */
    const char *(*where)(struct db *db);

    /* warning is a sentence on the server that its operator should know; NULL, also as a member: none. */
    const char *(*warning)(struct db *db);

    /* tidy does the upkeep that is due now (SQLite: a checkpoint); call it outside transactions. */
    void (*tidy)(struct db *db);
    void *(*native)(struct db *db);

    /*
     * pipeline is native for who sends statements and waits for no answer; send sends one, where a client
     * library cannot tell how many are on their way (INVALID: not this one). collect says what came of them:
     * STORE where one was refused, in the server's words; the transaction is of no use any more then, but
     * from a savepoint that was set before. wait: those that are not answered yet are waited for. Each
     * NULL where there is no such thing.
     */
    void *(*pipeline)(struct db *db);
    owed_status (*send)(struct db *db, struct str text, owed_error *err);
    owed_status (*collect)(struct db *db, bool wait, owed_error *err);
};

/* A driver's own connection embeds this as its first member. */
struct db {
    const struct driver *driver;
    bool adopted;
    owed_dice
        dice; // for how long to wait before a transaction is repeated; next NULL: the system's
};

extern const struct driver driver_sqlite;

/* Those of servers live in libraries of their own, so that nobody needs a client library for a store
 * that he does not use: a program may link one in, else it is loaded when a URL asks for it. */
extern const struct driver driver_postgres __attribute__((weak));
extern const struct driver driver_mariadb __attribute__((weak));
extern const struct driver driver_mysql
    __attribute__((weak)); // the same with statements of its own

/* What every driver's begin and commit refuse, in the same words; place names the store. driver_may_begin and
 * driver_has_begun answer BUG for a connection that is adopted. */
owed_status driver_may_begin(const struct db *db, bool begun, const char *place, owed_error *err);
owed_status driver_has_begun(const struct db *db, bool begun, const char *place, owed_error *err);
owed_status driver_fail_vetoed(owed_error *err);
owed_status driver_fail_ended(const char *place, owed_error *err);

/* What is kept of a statement's arguments, for a driver that holds one. driver_keep copies them; false: they are too
 * long, or too many. */
#define KEPT_ARGS 24
#define KEPT_ARG_BYTES 16384
struct kept_args {
    struct value args[KEPT_ARGS];
    size_t count;
    char bytes[KEPT_ARG_BYTES];
};
bool driver_keep(struct kept_args *kept, const struct value *args, size_t count);

/* path, still_there and tidy of a server: nothing of it is a file of ours, another one would be another
 * connection, whose next statement says so, and it does its upkeep itself. */
const char *driver_no_path(struct db *db);
owed_status driver_is_there(struct db *db, owed_error *err);
void driver_is_tidy(struct db *db);

/* driver_fault wraps a connection of any driver: calls that reach the store are counted, and the
 * one numbered fail_at (from 1; 0: none) fails with status, as a lost connection would: the open
 * transaction is rolled back, and so fails every later call until the count is set anew. */
struct fault {
    int64_t calls;
    int64_t fail_at;
    owed_status status;
    bool after; // the failing call takes effect first: its answer is what is lost
};
struct db *driver_fault_wrap(struct db *inner, struct fault *fault);

/* driver_nest works inside the transaction that is open on inner, and never ends it: to begin is to set
 * a savepoint, to commit is to release it. To be closed before inner; NULL: no memory. */
struct db *driver_nest(struct db *inner);

/* driver_for finds the driver of a URL by its scheme; CONFIG names the known schemes. */
owed_status driver_for(const char *url, const struct driver **ret_driver, owed_error *err);

#endif
