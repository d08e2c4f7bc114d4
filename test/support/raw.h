/* SPDX-License-Identifier: MIT
 *
 * raw.h - a plain connection to a store, as an application or a person at a prompt has one.
 *
 * SQL that goes through it is the same on every store: || joins texts, "key" is a name, two functions
 * stand for what dialects write in their own ways: micros(t) is a stored time in microseconds UTC,
 * moment(n) the time to store. A time that raw_number reads comes in microseconds by itself.
 * A statement that does not work fails the test, but in raw_try.
 */
#ifndef TEST_SUPPORT_RAW_H
#define TEST_SUPPORT_RAW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct raw; // a connection
struct db;

/* raw_open connects to what the URL of a store names; no statement waits for a lock over 10 s. */
struct raw *raw_open(const char *url);
void raw_close(struct raw *raw);

/* raw_of borrows the connection of an open store: what is done with it happens in its transaction. */
struct raw *raw_of(struct db *db);

void raw_run(struct raw *raw, const char *statements);
void raw_runf(struct raw *raw, const char *format, ...) __attribute__((format(printf, 2, 3)));
bool raw_try(struct raw *raw, const char *statements);
/* raw_refused expects the statements to fail, and the server's words to hold these. */
void raw_refused(struct raw *raw, const char *statements, const char *words);

/* The first column of the first row. Without a row the test fails; NULL is 0 and "". */
int64_t raw_number(struct raw *raw, const char *query);
int64_t raw_numberf(struct raw *raw, const char *format, ...) __attribute__((format(printf, 2, 3)));
void raw_text(struct raw *raw, const char *query, char text[static 256]);

/* raw_rows hands each row's first column, as text, to take. */
void raw_rows(
    struct raw *raw, const char *query, void (*take)(void *state, const char *text), void *state);

/* raw_list joins the first column of all rows with commas; text that is too long is cut. */
void raw_list(struct raw *raw, const char *query, char text[static 256]);

const char *raw_scheme(const struct raw *raw); // "sqlite", "postgres", "mariadb"
/* The client library's own handle: sqlite3 *, PGconn *, MYSQL *. */
void *raw_native(struct raw *raw);
/* raw_in_transaction tells whether one is open on the connection. */
bool raw_in_transaction(struct raw *raw);

/* raw_session is what a server calls the connection by. */
int64_t raw_session(struct raw *raw);
struct raw_locks {
    bool is_waiting; // for a lock that another session holds
    int64_t rows;    // locked by its transaction; MariaDB alone tells
};
/* raw_locks_of is what a session's transaction holds now; any connection to the server may ask. */
struct raw_locks raw_locks_of(struct raw *raw, int64_t session);
/* raw_await_waiter returns once the session waits for a lock; after 20 s the test fails. */
void raw_await_waiter(struct raw *raw, int64_t session);

/* raw_fire fires in plain SQL, through the door that the store has for it. */
void raw_fire(struct raw *raw, const char *name, const char *payload);

/*
 * raw_refuse makes a trigger that lets no row of table be inserted (or updated) that fits: new.status
 * = 'dead', say. The error says message. raw_allow takes it away.
 */
void raw_refuse(struct raw *raw, const char *table, const char *event, const char *condition,
    const char *message);
void raw_allow(struct raw *raw, const char *table, const char *event);

#endif
